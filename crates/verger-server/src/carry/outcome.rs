//! What became of a job, in the core's words.

use verger_act::{Done, Reply, RunEnd, Unreachable};
use verger_core::effect::Outcome;

/// Of something that was to be ended: a program that succeeds has ended it, and so has a webhook, unless it answers
/// that it has only begun (202).
pub(super) fn of_stop(done: &Done) -> Outcome {
    match of(done) {
        Outcome::Delivered if has_only_begun(done) => Outcome::Delivered,
        Outcome::Delivered => Outcome::Stopped,
        other => other,
    }
}

/// Of anything else.
pub(super) fn of(done: &Done) -> Outcome {
    match done {
        Done::Ran(report) => match report.end {
            RunEnd::Exited(0) => Outcome::Delivered,
            RunEnd::Exited(_) | RunEnd::Signalled(_) | RunEnd::Overdue | RunEnd::NotStarted(_) => {
                Outcome::Failed
            }
        },
        Done::Posted(delivery) => match &delivery.reply {
            Reply::Accepted(_) => Outcome::Delivered,
            Reply::Refused(_) => Outcome::Rejected,
            // It was certainly not done.
            Reply::Failed(_)
            | Reply::Unreachable(
                Unreachable::NoAddress
                | Unreachable::NobodyListens
                | Unreachable::Untrusted(_)
                | Unreachable::NoConnection,
            ) => Outcome::Failed,
            Reply::Unreachable(Unreachable::TooSlow | Unreachable::BrokenOff) => Outcome::Unreachable,
        },
    }
}

/// Whether nobody was there to be told: it was certainly not done, and may be in a moment.
pub(super) fn is_undone(done: &Done) -> bool {
    use Unreachable::{NoConnection, NobodyListens};
    matches!(done, Done::Posted(delivery)
        if matches!(delivery.reply, Reply::Unreachable(NobodyListens | NoConnection)))
}

fn has_only_begun(done: &Done) -> bool {
    matches!(done, Done::Posted(delivery) if matches!(&delivery.reply, Reply::Accepted(answer) if answer.status == 202))
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_act::{Answer, Delivery};

    fn posted(status: u16) -> Done {
        let reply = Reply::from(Answer { status, body: String::new(), retry_after: None });
        Done::Posted(Delivery { host: "host".to_owned(), reply })
    }

    #[test]
    fn who_only_begins_to_stop_an_agent_has_not_stopped_it() {
        assert_eq!(of_stop(&posted(200)), Outcome::Stopped);
        assert_eq!(of_stop(&posted(202)), Outcome::Delivered);
        assert_eq!(of_stop(&posted(403)), Outcome::Rejected);
        assert_eq!(of_stop(&posted(503)), Outcome::Failed);
        assert_eq!(of(&posted(202)), Outcome::Delivered);
    }

    #[test]
    fn what_may_have_been_done_is_not_called_undone() {
        let silent = |why| Done::Posted(Delivery { host: "host".to_owned(), reply: Reply::Unreachable(why) });
        assert_eq!(of(&silent(Unreachable::TooSlow)), Outcome::Unreachable);
        assert_eq!(of(&silent(Unreachable::NobodyListens)), Outcome::Failed);
        assert!(is_undone(&silent(Unreachable::NobodyListens)) && !is_undone(&silent(Unreachable::TooSlow)));
        assert!(!is_undone(&posted(503)), "it was heard");
    }
}
