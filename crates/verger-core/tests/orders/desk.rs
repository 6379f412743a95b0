//! What is told of tasks and messages, in any order, by whomever.

use proptest::prelude::*;
use verger_core::AgentId;
use verger_core::id::{MessageId, TaskId};
use verger_core::messages::{NewMessage, Priority};
use verger_core::notice::{Notice, Speaker, TaskWord};
use verger_core::signal::Trust;
use verger_core::tasks::{Start, TaskStatus};

use crate::world::{agent, span};

fn task() -> impl Strategy<Value = TaskId> {
    prop_oneof![Just("t"), Just("u"), Just("v")].prop_map(TaskId::from)
}

fn message() -> impl Strategy<Value = MessageId> {
    prop_oneof![Just("m"), Just("n"), Just("o"), Just("p")].prop_map(MessageId::from)
}

fn receiver() -> impl Strategy<Value = AgentId> {
    prop_oneof![6 => agent(), 1 => Just(AgentId::from("nobody"))]
}

fn speaker() -> impl Strategy<Value = Speaker> {
    prop_oneof![
        3 => agent().prop_map(|id| Speaker::Agent { id, trust: Trust::Verified }),
        1 => agent().prop_map(|id| Speaker::Agent { id, trust: Trust::Unverified }),
        3 => Just(Speaker::Person("ada".into())),
    ]
}

fn status() -> impl Strategy<Value = TaskStatus> {
    prop_oneof![
        4 => Just(TaskStatus::InProgress),
        1 => Just(TaskStatus::Assigned),
        1 => Just(TaskStatus::Done),
        1 => Just(TaskStatus::Failed),
        1 => Just(TaskStatus::Cancelled),
    ]
}

fn word() -> impl Strategy<Value = TaskWord> {
    let start = prop_oneof![4 => Just(Start::Same), 1 => Just(Start::Anew), 1 => Just(Start::Again)];
    prop_oneof![
        6 => (prop::option::of(receiver()), prop::option::of(span()), start).prop_map(|(agent, due_in, start)| {
            TaskWord::Given { agent, description: None, due_in, ago: verger_core::Span::ZERO, start }
        }),
        2 => (prop::option::of(any::<u8>()), prop::option::of(status()), span())
            .prop_map(|(percent, status, ago)| TaskWord::Update { percent, status, ago }),
        1 => span().prop_map(|within| TaskWord::Due { within }),
        1 => prop::option::of(span()).prop_map(|lasting| TaskWord::Explained { text: None, lasting }),
        1 => Just(TaskWord::CannotGoOn),
    ]
}

fn sent() -> impl Strategy<Value = Notice> {
    let priority = prop_oneof![
        Just(Priority::Low),
        Just(Priority::Normal),
        Just(Priority::High),
        Just(Priority::Urgent)
    ];
    (message(), receiver(), receiver(), priority, prop::option::of(message())).prop_map(
        |(id, from, to, priority, reply_to)| {
            Notice::Send(Box::new(NewMessage { id, from, to, priority, reply_to, task: None }))
        },
    )
}

pub(crate) fn notice() -> impl Strategy<Value = Notice> {
    prop_oneof![
        4 => (task(), speaker(), word())
            .prop_map(|(task, by, word)| Notice::Task { task, by, word: Box::new(word) }),
        3 => sent(),
        1 => (message(), speaker()).prop_map(|(message, by)| Notice::Acknowledge { message, by }),
    ]
}
