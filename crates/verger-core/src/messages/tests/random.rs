//! Whatever happens, in whatever order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::*;
use super::desk::Desk;
use crate::id::{AgentId, MessageId};
use crate::liveness::LivenessStatus;
use crate::signal::Awaited;
use crate::standing::Standing;
use crate::time::{Span, Timestamp};
use crate::waiting::Wait;

const AGENTS: [&str; 4] = ["a", "b", "c", "d"];

/// One thing that happens.
#[derive(Clone, Debug)]
enum Happening {
    Sent { id: u8, from: u8, to: u8, priority: Priority, reply_to: Option<u8> },
    Acknowledged { id: u8, by: Option<u8> },
    Delivered(u8),
    Undelivered(u8, Undelivered),
    Answered(u8),
    Stands { agent: u8, standing: Option<(Option<LivenessStatus>, Option<u64>)>, told: bool },
    Passes(u64),
}

fn priority() -> impl Strategy<Value = Priority> {
    prop_oneof![Just(Priority::Low), Just(Priority::Normal), Just(Priority::High), Just(Priority::Urgent)]
}

fn standing() -> impl Strategy<Value = Option<(Option<LivenessStatus>, Option<u64>)>> {
    use LivenessStatus::{Busy, Idle, Offline, Online, Unresponsive};
    let status = prop::sample::select(vec![
        None,
        Some(Online),
        Some(Idle),
        Some(Busy),
        Some(Unresponsive),
        Some(Offline),
    ]);
    prop::option::weighted(0.95, (status, prop::option::of(0_u64..40)))
}

fn happening() -> impl Strategy<Value = Happening> {
    let undelivered =
        prop::sample::select(vec![Undelivered::NotFound, Undelivered::Offline, Undelivered::Timeout]);
    prop_oneof![
        4 => (0_u8..12, 0_u8..4, 0_u8..4, priority(), prop::option::of(0_u8..12)).prop_map(
            |(id, from, to, priority, reply_to)| Happening::Sent { id, from, to, priority, reply_to }
        ),
        1 => (0_u8..12, prop::option::of(0_u8..4)).prop_map(|(id, by)| Happening::Acknowledged { id, by }),
        1 => (0_u8..12).prop_map(Happening::Delivered),
        1 => (0_u8..12, undelivered).prop_map(|(id, why)| Happening::Undelivered(id, why)),
        1 => (0_u8..4).prop_map(Happening::Answered),
        2 => (0_u8..4, standing(), any::<bool>())
            .prop_map(|(agent, standing, told)| Happening::Stands { agent, standing, told }),
        4 => prop_oneof![0_u64..2_000, 0_u64..400_000, 0_u64..90_000_000].prop_map(Happening::Passes),
    ]
}

fn agent(number: u8) -> AgentId {
    AGENTS[usize::from(number) % AGENTS.len()].into()
}

fn name(number: u8) -> MessageId {
    format!("m{number}").into()
}

fn happen(desk: &mut Desk, happening: &Happening) {
    match happening.clone() {
        Happening::Sent { id, from, to, priority, reply_to } => {
            let reply_to = reply_to.map(name);
            let new =
                NewMessage { id: name(id), from: agent(from), to: agent(to), priority, reply_to, task: None };
            let _ = desk.with(|messages, step| messages.on_sent(step, new));
        }
        Happening::Acknowledged { id, by } => {
            let by = by.map(agent);
            desk.with(|messages, step| messages.on_acknowledged(step, &name(id), by.as_ref()));
        }
        Happening::Delivered(id) => desk.with(|messages, step| messages.on_delivered(step, &name(id))),
        Happening::Undelivered(id, why) => {
            desk.with(|messages, step| messages.on_undelivered(step, &name(id), why));
        }
        Happening::Answered(by) => desk.with(|messages, step| messages.on_answered(step, &agent(by))),
        Happening::Stands { agent: who, standing, told } => {
            let wait = |minutes| Wait {
                awaited: Awaited::Tool,
                since: desk.now,
                until: desk.now + Span::minutes(minutes),
            };
            match standing {
                Some((status, minutes)) => {
                    let standing = Standing { status, wait: minutes.map(wait) };
                    desk.standings.insert(agent(who), standing);
                }
                None => drop(desk.standings.remove(&agent(who))),
            }
            if told {
                desk.with(|messages, step| messages.on_receiver_changed(step, &agent(who)));
            }
        }
        Happening::Passes(millis) => {
            let then = desk.now.since(Timestamp::ZERO) + Span::millis(millis);
            desk.until(then);
        }
    }
}

fn small() -> Desk {
    let policy = Policy { per_receiver_max: 3, total_max: 7, ..Policy::default() };
    Desk { policy, ..Desk::default() }
}

fn limits_hold(desk: &Desk) {
    assert!(desk.messages.slots.len() <= 7);
    for agent in AGENTS {
        assert!(desk.messages.index.count_of(&agent.into()) <= 3);
    }
    assert!(desk.messages.index.inboxes.len() <= 7);
    assert!(desk.messages.deadline(desk.now).is_none_or(|due| desk.now < due));
}

/// The end of a message: the name may come again.
const OVER: u8 = 5;

/// No message causes two escalations, reminders, questions or lines in the log in one life of its name, nor is it
/// reminded after people were told.
fn each_happens_once(decided: &[(Timestamp, Decided)]) {
    let mut done: BTreeMap<&MessageId, BTreeSet<u8>> = BTreeMap::new();
    for (_, it) in decided {
        let kind = match it.decision {
            Decision::Remind { .. } => 1,
            Decision::Inquire { .. } => 2,
            Decision::Escalate { .. } => 3,
            Decision::Log => 4,
            Decision::Acknowledged { .. }
            | Decision::Expired
            | Decision::Dropped
            | Decision::TellSender(Undelivered::NotFound) => OVER,
            Decision::Deliver { .. }
            | Decision::TellSender(Undelivered::Offline | Undelivered::Timeout)
            | Decision::TellSenderDelivered { .. }
            | Decision::EscalationOver { .. } => continue,
        };
        let done = done.entry(&it.message).or_default();
        if done.contains(&OVER) {
            done.clear();
        }
        assert!(kind != 1 || !done.contains(&3), "{}: reminded after people were told", it.message);
        assert!(done.insert(kind), "{}: {:?} twice", it.message, it.decision);
    }
}

/// People are told once that a receiver leaves messages unacknowledged, and once that it is over.
fn conditions_open_and_close(decided: &[(Timestamp, Decided)]) {
    let mut open: BTreeSet<&AgentId> = BTreeSet::new();
    for (_, it) in decided {
        match it.decision {
            Decision::Escalate { joined: false } => assert!(open.insert(&it.to), "told twice of {}", it.to),
            Decision::Escalate { joined: true } => assert!(open.contains(&it.to), "joined to nothing"),
            Decision::EscalationOver { .. } => assert!(open.remove(&it.to), "over, but not open"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "never over: {open:?}");
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn r05_no_message_causes_two_escalations_and_nothing_latches(
        happenings in prop::collection::vec(happening(), 1..60)
    ) {
        let mut desk = small();
        for happening in &happenings {
            happen(&mut desk, happening);
            limits_hold(&desk);
        }
        let end = desk.now.since(Timestamp::ZERO) + desk.policy.keep + Span::hours(2);
        desk.until(end);
        prop_assert!(desk.messages.slots.is_empty(), "{:?}", desk.messages.slots);
        prop_assert!(desk.messages.index.inboxes.is_empty());
        prop_assert_eq!(desk.messages.deadline(desk.now), None);
        prop_assert!(desk.rows.keys().all(|key| *key == RowKey::Books), "rows are deleted with what they hold");
        each_happens_once(&desk.decided);
        conditions_open_and_close(&desk.decided);
    }

    /// The desk restarts after every step; one that never does decides the same.
    #[test]
    fn r05_a_restart_at_any_point_changes_nothing(happenings in prop::collection::vec(happening(), 1..60)) {
        let (mut restarted, mut steady) = (small(), small());
        steady.restarts = false;
        for happening in &happenings {
            happen(&mut restarted, happening);
            happen(&mut steady, happening);
        }
        prop_assert_eq!(restarted.decided, steady.decided);
        prop_assert_eq!(restarted.rows, steady.rows);
        prop_assert_eq!(restarted.messages.index, steady.messages.index);
    }

    #[test]
    fn r05_waking_early_changes_nothing(happenings in prop::collection::vec(happening(), 1..60)) {
        let mut desk = small();
        for happening in &happenings {
            happen(&mut desk, happening);
            let before = (desk.rows.clone(), desk.decided.len());
            if desk.messages.index.next_due().is_none_or(|due| desk.now < due) {
                desk.with(Messages::wake);
            }
            prop_assert_eq!(before, (desk.rows.clone(), desk.decided.len()));
        }
    }
}
