//! Tasks and messages: the words of a script, and what is noted down of them.
//!
//! Tasks: `give T [nobody] [due=SPAN] [anew|again]` (a person gives it to the agent), `update T [N%] [STATUS]`,
//! `explain T [for=SPAN]`, `cannot T` (the agent says it), `close T STATUS`, `more T SPAN` (a person says it).
//! Messages: `send M to=A [PRIORITY] [reply=M] [task=T]` (the agent sends it), `ack M`, `settle M` (a person does).

use verger_core::Span;
use verger_core::messages::{self, NewMessage, Priority, Receipt, Taken};
use verger_core::notice::{Notice, Reply, Speaker, TaskWord};
use verger_core::tasks::{self, Assigned, Start, TaskStatus, Updated};

use super::Timeline;
use super::script::{Words, span};

impl Timeline {
    pub(super) fn desk_words(&mut self, agent: &str, verb: &str, words: &Words<'_>) -> bool {
        let agent_says = || Speaker::Agent { id: agent.into(), trust: self.trust };
        let person_says = || Speaker::Person("ada".into());
        let task = |by, word| Notice::Task { task: words.first().into(), by, word: Box::new(word) };
        let notice = match verb {
            "give" => task(person_says(), given(agent, words)),
            "update" => task(agent_says(), update(words)),
            "close" => task(person_says(), update(words)),
            "more" => task(person_says(), TaskWord::Due { within: span(words.0[1]) }),
            "explain" => {
                let lasting = words.value("for").map(span);
                task(agent_says(), TaskWord::Explained { text: Some("slow".into()), lasting })
            }
            "cannot" => task(agent_says(), TaskWord::CannotGoOn),
            "send" => Notice::Send(Box::new(NewMessage {
                id: words.first().into(),
                from: agent.into(),
                to: words.value("to").expect("a receiver").into(),
                priority: priority(words),
                reply_to: words.value("reply").map(Into::into),
                task: words.value("task").map(Into::into),
            })),
            "ack" => Notice::Acknowledge { message: words.first().into(), by: agent_says() },
            "settle" => Notice::Acknowledge { message: words.first().into(), by: person_says() },
            _ => return false,
        };
        match self.notice(&notice) {
            Err(error) => self.note(&format!("refused: {error} ({})", error.code())),
            Ok(reply) if is_plain(&reply) => {}
            Ok(reply) => self.note(&format!("answer: {reply:?}")),
        }
        true
    }

    /// What people see of a task now.
    pub(crate) fn task(&self, id: &str) -> tasks::TaskView {
        let tasks = self.fleet.tasks();
        tasks.view(self.now, &tasks::Policy::default(), &id.into()).expect("the task is known")
    }
}

fn is_plain(reply: &Reply) -> bool {
    matches!(
        reply,
        Reply::Done
            | Reply::Assigned(Assigned::Begun)
            | Reply::Updated(Updated::Noted | Updated::Ended)
            | Reply::Explained(tasks::Explained::For(_))
            | Reply::Sent(Receipt { taken: Taken::Sent, reply: None })
            | Reply::Acknowledged(messages::Acknowledgement::Over { .. })
    )
}

fn given(agent: &str, words: &Words<'_>) -> TaskWord {
    let start = if words.has("anew") {
        Start::Anew
    } else if words.has("again") {
        Start::Again
    } else {
        Start::Same
    };
    TaskWord::Given {
        agent: (!words.has("nobody")).then(|| agent.into()),
        description: None,
        due_in: words.value("due").map(span),
        ago: Span::ZERO,
        start,
    }
}

fn update(words: &Words<'_>) -> TaskWord {
    let percent = words.0.iter().find_map(|word| word.strip_suffix('%')?.parse().ok());
    let status = words.0.iter().find_map(|word| match *word {
        "assigned" => Some(TaskStatus::Assigned),
        "begun" => Some(TaskStatus::InProgress),
        "done" => Some(TaskStatus::Done),
        "failed" => Some(TaskStatus::Failed),
        "cancelled" => Some(TaskStatus::Cancelled),
        _ => None,
    });
    TaskWord::Update { percent, status, ago: Span::ZERO }
}

fn priority(words: &Words<'_>) -> Priority {
    let named = words.0.iter().find_map(|word| match *word {
        "low" => Some(Priority::Low),
        "high" => Some(Priority::High),
        "urgent" => Some(Priority::Urgent),
        _ => None,
    });
    named.unwrap_or(Priority::Normal)
}

pub(super) fn task(decided: &tasks::Decided) -> String {
    use tasks::Decision;
    let what = match &decided.decision {
        Decision::Stalled => format!("stalled: {}", decided.evidence),
        Decision::Unstalled { lasted } => format!("stalled no longer, after {lasted}"),
        Decision::Inquire { again, joined } => {
            format!("its agent is asked{}{}", said(*again, " again"), said(*joined, " (joined)"))
        }
        Decision::Escalate { why } => format!("people are told: {why:?}"),
        Decision::EscalationOver { lasted } => format!("that is over after {lasted}"),
        Decision::DeclareFailed { why } => format!("failed: {why}"),
        Decision::FailureOver { lasted } => format!("failed no longer, after {lasted}"),
        Decision::Superseded { from } => format!("taken from {from}"),
        Decision::WentBack { from, to } => format!("went back from {from} % to {to} %"),
        Decision::Ended { status } => format!("{status}"),
        Decision::Abandoned => "abandoned".to_owned(),
        Decision::Forgotten { status } => format!("forgotten, it was {status}"),
    };
    format!("task {}: {what}", decided.task)
}

pub(super) fn word(word: &TaskWord) -> String {
    match word {
        TaskWord::Given { agent: Some(agent), .. } => format!("it is {agent}'s"),
        TaskWord::Given { agent: None, .. } => "it is to be done".to_owned(),
        TaskWord::Update { percent, status, .. } => match (percent, status) {
            (_, Some(status)) => format!("{status}"),
            (percent, None) => format!("{} %", percent.unwrap_or_default()),
        },
        TaskWord::Due { within } => format!("due in {within}"),
        TaskWord::Explained { .. } => "it takes long".to_owned(),
        TaskWord::CannotGoOn => "it cannot go on".to_owned(),
    }
}

pub(super) fn message(decided: &messages::Decided) -> String {
    use messages::Decision;
    let what = match decided.decision {
        Decision::Deliver { attempt: 1 } => "is delivered".to_owned(),
        Decision::Deliver { .. } => "is delivered again".to_owned(),
        Decision::Remind { joined } => format!("{} is reminded{}", decided.to, said(joined, " (joined)")),
        Decision::Inquire { joined } => {
            format!("{} is asked how it is{}", decided.to, said(joined, " (joined)"))
        }
        Decision::Escalate { joined } => {
            format!("people are told{}: {}", said(joined, " (joined)"), decided.evidence)
        }
        Decision::EscalationOver { lasted } => format!("that is over after {lasted}"),
        Decision::Log => "logged as unacknowledged".to_owned(),
        Decision::TellSender(why) => format!("not delivered: {}", why.code()),
        Decision::TellSenderDelivered { after } => format!("delivered after all, after {after}"),
        Decision::Acknowledged { after, late } => {
            format!("acknowledged after {after}{}", said(late, ", late"))
        }
        Decision::Dropped => "given up to make room".to_owned(),
        Decision::Expired => "given up".to_owned(),
    };
    format!("message {}: {what}", decided.message)
}

fn said(holds: bool, words: &str) -> &str {
    if holds { words } else { "" }
}
