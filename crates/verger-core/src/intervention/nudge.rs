//! The words of a reminder, and of a question.

use std::sync::Arc;

use crate::id::TaskId;
use crate::stretch::Stretch;
use crate::time::Span;

/// 000 §2.3, word for word.
const DEFAULT: &str = "REMINDER: You have been working for {duration} without checkpoint update. Please either:\n\
                       - Update your progress\n\
                       - Request handoff if stuck\n\
                       - Report blockers";

/// The reminder for an agent that got nowhere for `duration`. One that goes round in circles is told which.
pub fn nudge_text(template: Option<&str>, duration: Span, stretch: Option<&Stretch>) -> Arc<str> {
    let usual = template.unwrap_or(DEFAULT).replace("{duration}", &in_words(duration));
    match stretch {
        Some(stretch) => {
            format!("You seem to go round in circles: {stretch}. Try another way.\n{usual}").into()
        }
        None => usual.into(),
    }
}

/// What an agent is asked, about a task as 001 §1.5.3 has it.
pub fn inquiry_text(task: Option<&TaskId>, within: Span) -> Arc<str> {
    let what = match task {
        Some(task) => format!("Your task ({task}) appears stalled."),
        None => "Nothing has been heard of you.".to_owned(),
    };
    format!("{what} Please provide a status update within {}.", in_words(within)).into()
}

fn in_words(duration: Span) -> String {
    let minutes = duration.as_secs() / 60;
    match minutes {
        0 => "less than a minute".to_owned(),
        1 => "1 minute".to_owned(),
        2..120 => format!("{minutes} minutes"),
        _ => format!("{} hours", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l20_the_reminder_names_the_duration_and_three_options() {
        insta::assert_snapshot!(nudge_text(None, Span::minutes(31), None), @r"
        REMINDER: You have been working for 31 minutes without checkpoint update. Please either:
        - Update your progress
        - Request handoff if stuck
        - Report blockers
        ");
        assert_eq!(&*nudge_text(Some("{duration}!"), Span::secs(20), None), "less than a minute!");
        assert_eq!(&*nudge_text(Some("{duration}!"), Span::secs(60), None), "1 minute!");
        assert_eq!(&*nudge_text(Some("{duration}!"), Span::hours(5), None), "5 hours!");
        assert_eq!(&*nudge_text(Some("no placeholder"), Span::hours(5), None), "no placeholder");
    }

    #[test]
    fn r07_the_question_names_the_task_and_the_time() {
        let task = TaskId::from("task-20250115-001");
        insta::assert_snapshot!(inquiry_text(Some(&task), Span::minutes(5)), @"Your task (task-20250115-001) appears stalled. Please provide a status update within 5 minutes.");
        insta::assert_snapshot!(inquiry_text(None, Span::minutes(5)), @"Nothing has been heard of you. Please provide a status update within 5 minutes.");
    }
}
