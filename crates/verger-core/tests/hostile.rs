//! Rows that are damaged, clocks and counters at their ends, names that nobody would choose.

use std::collections::BTreeMap;

use proptest::prelude::*;
use verger_core::command::{Command, Decision, Order};
use verger_core::effect::{EffectKey, Outcome};
use verger_core::fingerprint::{CallClass, CallPrint, ResultPrint, TextPrint};
use verger_core::messages::{self, NewMessage, Priority};
use verger_core::notice::Notice;
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::resources::Load;
use verger_core::signal::{
    Body, Channel, Content, Context, Exit, Failure, Heartbeat, Output, Signal, Spawn, Status, StatusReport,
    TaskChange, Trust,
};
use verger_core::time::{AgentTime, WallTime};
use verger_core::{AgentId, Collector, Fleet, Incarnation, RestoreError, RowKey, Span, Timestamp};

fn policies() -> Policies {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    // So that what is used is counted, and rows of it are written.
    policies.resources.task.tokens = Some(u64::MAX);
    policies.resources.fleet.memory_bytes = Some(u64::MAX);
    policies
}

fn content(body: Body) -> Content {
    Content { incarnation: None, sent_at: None, received_at: WallTime(0), trust: Trust::Verified, body }
}

fn signal(agent: &AgentId, body: Body) -> Signal {
    Signal { agent: agent.clone(), content: content(body) }
}

fn finished(call: u64, digest: u64, failed: bool) -> Body {
    let print = CallPrint { digest, class: CallClass::Plain };
    let mut result = ResultPrint::of("x", failed, Some(Span::FOREVER));
    result.digest = digest;
    Body::ToolFinished { call, print, result, tool: Some("bash".into()), step: None }
}

/// One body of every kind, each with the largest numbers there are.
fn every_body(key: &EffectKey) -> Vec<Body> {
    let huge = Heartbeat {
        task: Some("t".into()),
        role: Some("no such role".into()),
        tokens: Some(u64::MAX),
        errors: Some(u64::MAX),
        progress: Some(u64::MAX),
        status: Some(Status::Busy),
        busy_for: Some(Span::FOREVER),
        context: Some(Context { used: u64::MAX, limit: 1 }),
        cost_micros: Some(u64::MAX),
    };
    let print = CallPrint { digest: u64::MAX, class: CallClass::Waiting };
    let output =
        Output { files_changed: Some(u32::MAX), tests_passed: Some(u32::MAX), tests_failed: Some(u32::MAX) };
    let failure =
        Failure { text: TextPrint(0), unrecoverable: true, provider: true, retry_after: Some(Span::FOREVER) };
    let waiting = StatusReport { status: Status::Waiting, waiting_on: None, lasting: Some(Span::FOREVER) };
    let mut bodies = vec![
        Body::Spawn(Spawn::default()),
        Body::Channel(Channel::Opened),
        Body::Heartbeat(huge.clone()),
        Body::Heartbeat(Heartbeat { context: Some(Context { used: 0, limit: 0 }), tokens: Some(0), ..huge }),
        Body::Activity,
        Body::ToolStarted { call: u64::MAX, print, limit: Some(Span::FOREVER) },
        finished(u64::MAX, u64::MAX, true),
        Body::ModelStarted,
        Body::ModelFinished,
        Body::SubagentStarted { id: u64::MAX },
        Body::Compaction,
        Body::Tokens { input: u64::MAX, output: u64::MAX, cost_micros: u64::MAX },
        Body::Tokens { input: 0, output: 0, cost_micros: 0 },
        Body::Output(output),
        Body::Error(failure),
        Body::Status(waiting),
        Body::Handoff { reason: "".into() },
        Body::Blocker { reason: "\u{0}\u{1b}[2J".into() },
        Body::Pong { seq: u32::MAX, status: Some(Status::Degraded) },
        Body::Checkpoint { id: "".into() },
        Body::Task(TaskChange::Assigned("".into())),
        Body::Task(TaskChange::Ended("never given".into())),
        Body::Outcome { key: key.clone(), outcome: Outcome::Stopped },
        Body::Outcome { key: EffectKey { seq: u32::MAX, ..key.clone() }, outcome: Outcome::Refused },
        Body::Channel(Channel::Closed),
        Body::Load(Load { memory_bytes: u64::MAX, cpu_millis: u64::MAX }),
    ];
    bodies.extend((0..40).map(|id| Body::SubagentStarted { id }));
    bodies.extend((0..12).map(|call| finished(call, 7, true)));
    bodies.push(Body::Exit(Exit { code: Some(i32::MIN), signal: Some(i32::MIN) }));
    bodies
}

fn key(agent: &AgentId) -> EffectKey {
    EffectKey { agent: agent.clone(), incarnation: Incarnation(1), seq: 1 }
}

/// A fleet in which much has happened, and its rows.
fn eventful() -> (Vec<(RowKey, Vec<u8>)>, Timestamp) {
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    let mut now = Timestamp::ZERO;
    for name in ["busy", "looping", "silent", "done"] {
        let agent = AgentId::from(name);
        for body in [Body::Spawn(Spawn::default()), Body::Channel(Channel::Opened)] {
            let _ = fleet.observe(now, &signal(&agent, body), &mut out);
        }
    }
    for second in 0..4_000_u64 {
        now = Timestamp::from_millis(second * 1_000);
        let tokens = Body::Tokens { input: second, output: 900, cost_micros: 5 };
        let _ = fleet.observe(now, &signal(&"busy".into(), tokens), &mut out);
        let _ = fleet.observe(now, &signal(&"looping".into(), finished(second, second % 2, false)), &mut out);
        fleet.wake(now, &mut out);
    }
    for body in every_body(&key(&"done".into())) {
        let _ = fleet.observe(now, &signal(&"done".into(), body), &mut out);
    }
    let order = Order::Escalate { reason: "look".into() };
    let command = Command { agent: "busy".into(), incarnation: None, by: "ada".into(), order };
    fleet.command(now, &command, &mut out).expect("it lives");
    let message = NewMessage {
        id: "m".into(),
        from: "done".into(),
        to: "busy".into(),
        priority: Priority::Urgent,
        reply_to: None,
        task: Some("t".into()),
    };
    fleet.notice(now, &Notice::Send(Box::new(message)), &mut out).expect("it is taken");
    let mut rows = BTreeMap::new();
    fleet.take_all_rows(&mut |row| {
        if let Some(bytes) = row.bytes {
            rows.insert(row.key, bytes);
        }
    });
    let agents = rows.keys().filter(|key| matches!(key, RowKey::Agent(_))).count();
    assert!(agents == 4 && rows.len() > 6, "four agents, and the books of the fleet and its machines");
    let desk = [RowKey::Task("".into()), RowKey::Message(messages::RowKey::Message("m".into()))];
    assert!(desk.iter().all(|key| rows.contains_key(key)), "a task and a message");
    (rows.into_iter().collect(), now)
}

#[test]
fn l42_a_row_cut_anywhere_is_refused() {
    let (rows, now) = eventful();
    for (key, bytes) in rows {
        for length in 0..bytes.len() {
            let cut = vec![(key.clone(), bytes[..length].to_vec())];
            let error = Fleet::restore(policies(), 3, cut, now).expect_err("a part is no row");
            assert!(matches!(error, RestoreError::Damaged(_)), "{error}");
            assert_eq!(error.code(), "VG0201");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Fleet::restore(policies(), 3, vec![(key, longer)], now).is_err(), "nor is more than a row");
    }
}

#[test]
fn l42_a_row_with_any_byte_changed_is_refused_or_harmless() {
    let (rows, now) = eventful();
    for (key, bytes) in rows {
        for place in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= flip;
                survive(vec![(key.clone(), changed)], now);
            }
        }
    }
}

/// Restores if it can, and lives on with what it got.
fn survive(rows: Vec<(RowKey, Vec<u8>)>, now: Timestamp) {
    let Ok(mut fleet) = Fleet::restore(policies(), 3, rows, now) else { return };
    let mut out = Collector::default();
    for later in [0, 100, 60_000] {
        let now = now + Span::millis(later);
        fleet.wake(now, &mut out);
        for name in ["busy", "looping", "silent", "done"] {
            let _ = fleet.observe(now, &signal(&name.into(), finished(later, 1, false)), &mut out);
            let _ = fleet.view(now, &name.into());
        }
    }
    fleet.take_all_rows(&mut |_| {});
}

#[test]
fn l42_a_row_under_another_name_is_refused() {
    let (rows, now) = eventful();
    let (_, bytes) =
        rows.into_iter().find(|(key, _)| *key == RowKey::Agent("busy".into())).expect("it is there");
    let moved = vec![(RowKey::Agent("looping".into()), bytes.clone())];
    assert!(Fleet::restore(policies(), 3, moved, now).is_err());
    assert!(Fleet::restore(policies(), 3, vec![(RowKey::Fleet, bytes)], now).is_err());
}

#[test]
fn l42_the_same_row_twice_is_one_agent() {
    let (rows, now) = eventful();
    let (key, bytes) = rows[0].clone();
    let twice = vec![(key.clone(), bytes.clone()), (key, bytes)];
    if let Ok(fleet) = Fleet::restore(policies(), 3, twice, now) {
        assert_eq!(fleet.len(), 1);
    }
}

#[test]
fn l53_times_at_their_ends_do_no_harm() {
    for at in [0, 1, 99, 100, u64::MAX / 2, u64::MAX - 100, u64::MAX - 1, u64::MAX] {
        let now = Timestamp::from_millis(at);
        let agent = AgentId::from("a");
        let mut fleet = Fleet::restore(policies(), 3, [], now).expect("nothing is readable");
        let mut out = Collector::default();
        for body in every_body(&key(&agent)) {
            let _ = fleet.observe(now, &signal(&agent, body), &mut out);
            fleet.wake(now, &mut out);
            let next = fleet.next_wake();
            assert!(next.is_none_or(|next| next > now || now == Timestamp::NEVER), "{next:?} at {now:?}");
        }
        for decision in [Decision::AllowMoreTime(Some(Span::FOREVER)), Decision::ForceHandoff] {
            let order = Order::Decide { decision, reason: "".into() };
            let command = Command { agent: agent.clone(), incarnation: None, by: "".into(), order };
            let _ = fleet.command(now, &command, &mut out);
        }
        let _ = fleet.page(now, 0, usize::MAX);
        let _ = fleet.page(now, u32::MAX, 1);
    }
}

#[test]
fn l53_a_wake_after_an_age_is_answered() {
    let agent = AgentId::from("a");
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    for body in [Body::Channel(Channel::Opened), Body::Activity] {
        fleet.observe(Timestamp::ZERO, &signal(&agent, body), &mut out).expect("it is let in");
    }
    let later = Timestamp::ZERO + Span::hours(24 * 365 * 100);
    fleet.wake(later, &mut out);
    fleet.observe(later, &signal(&agent, Body::Activity), &mut out).expect("it is let in");
    fleet.wake(later + Span::hours(24 * 365), &mut out);
    assert!(fleet.view(later, &agent).is_none(), "nobody is remembered for an age");
}

#[test]
fn l53_clocks_at_their_ends_do_no_harm() {
    let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    let agent = AgentId::from("a");
    for sent in ends {
        for received in ends {
            let mut fleet = Fleet::new(policies(), 3);
            let mut out = Collector::default();
            for body in every_body(&key(&agent)) {
                let mut signal = signal(&agent, body);
                signal.content.sent_at = Some(AgentTime(sent));
                signal.content.received_at = WallTime(received);
                let _ = fleet.observe(Timestamp::ZERO, &signal, &mut out);
                signal.content.sent_at = Some(AgentTime(received));
                let _ = fleet.observe(Timestamp::ZERO, &signal, &mut out);
            }
            let _ = fleet.view(Timestamp::ZERO, &agent);
        }
    }
}

#[test]
fn x10_the_last_incarnation_does_no_harm() {
    let agent = AgentId::from("a");
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    for life in [0, 1, u32::MAX, u32::MAX] {
        for body in
            [Body::Activity, Body::Exit(Exit::default()), Body::Spawn(Spawn::default()), Body::Activity]
        {
            let mut signal = signal(&agent, body);
            signal.content.incarnation = Some(Incarnation(life));
            let _ = fleet.observe(Timestamp::ZERO, &signal, &mut out);
            signal.content.incarnation = None;
            let _ = fleet.observe(Timestamp::ZERO, &signal, &mut out);
        }
    }
}

#[test]
fn l01_names_are_only_names() {
    let long = "x".repeat(1 << 20);
    let names = ["", " ", "\u{0}", "a\nb", "🦀", "\u{202e}evil", "é", "e\u{301}", "../..", long.as_str()];
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    for name in names {
        fleet
            .observe(Timestamp::ZERO, &signal(&name.into(), Body::Activity), &mut out)
            .expect("a name is a name");
    }
    assert_eq!(fleet.len(), names.len(), "two spellings are two agents");
    let mut rows = Vec::new();
    fleet.take_all_rows(&mut |row| rows.extend(row.bytes.map(|bytes| (row.key, bytes))));
    let restored = Fleet::restore(policies(), 4, rows, Timestamp::ZERO).expect("its own rows are readable");
    for name in names {
        assert!(restored.view(Timestamp::ZERO, &name.into()).is_some(), "{name:?} is lost");
    }
}

#[test]
fn x10_an_effect_is_named_by_whose_it_is_which_life_it_is_for_and_its_number() {
    let key = EffectKey { agent: "a".into(), incarnation: Incarnation(4), seq: 17 };
    assert_eq!(key.to_string(), "a#4/17");
}

#[test]
fn orders_that_are_refused_say_why_by_code() {
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    let mut order = |fleet: &mut Fleet, incarnation, order| {
        let command = Command { agent: "a".into(), incarnation, by: "ada".into(), order };
        fleet.command(Timestamp::ZERO, &command, &mut out).map_err(|error| error.code())
    };
    assert_eq!(order(&mut fleet, None, Order::Nudge { text: None }), Err("VG0101"));
    fleet
        .observe(Timestamp::ZERO, &signal(&"a".into(), Body::Activity), &mut Collector::default())
        .expect("let in");
    assert_eq!(order(&mut fleet, Some(Incarnation(9)), Order::Nudge { text: None }), Err("VG0102"));
    assert_eq!(order(&mut fleet, None, Order::SetRole("no such".into())), Err("VG0107"));
}

#[test]
fn l01_what_comes_by_handle_is_heard_like_what_comes_by_name() {
    let mut out = Collector::default();
    let [mut by_name, mut by_handle] = [(); 2].map(|()| Fleet::new(policies(), 3));
    assert!(by_name.is_empty());
    let begins = signal(&"a".into(), Body::Activity);
    by_name.observe(Timestamp::ZERO, &begins, &mut out).expect("let in");
    let handle = by_handle.observe(Timestamp::ZERO, &begins, &mut out).expect("let in");
    assert!(!by_name.is_empty());
    let later = Timestamp::from_millis(5_000);
    let beat = Body::Heartbeat(Heartbeat::default());
    by_name.observe(later, &signal(&"a".into(), beat.clone()), &mut out).expect("it is known");
    by_handle.observe_at(later, handle, &content(beat), &mut out).expect("it is known");
    let views = [&by_name, &by_handle].map(|fleet| fleet.view(later, &"a".into()));
    assert_eq!(views[0], views[1]);
    let beats = views[0].as_ref().map(|view| view.metrics.heartbeats);
    assert_eq!(beats, Some(1), "both were heard");
}

#[test]
fn l01_a_handle_of_a_forgotten_agent_finds_nobody() {
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    let handle =
        fleet.observe(Timestamp::ZERO, &signal(&"a".into(), Body::Activity), &mut out).expect("let in");
    let command =
        Command { agent: "a".into(), incarnation: None, by: "ada".into(), order: Order::Unregister };
    fleet.command(Timestamp::ZERO, &command, &mut out).expect("it is there");
    fleet
        .observe(Timestamp::ZERO, &signal(&"b".into(), Body::Activity), &mut out)
        .expect("takes the same place");
    assert!(fleet.observe_at(Timestamp::ZERO, handle, &content(Body::Activity), &mut out).is_err());
}

#[test]
fn l23_what_is_remembered_of_one_agent_is_bounded() {
    let agent = AgentId::from("a");
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    let mut size = 0;
    for n in 0..200_000_u64 {
        let now = Timestamp::from_millis(n * 10);
        let print = CallPrint { digest: n, class: CallClass::Plain };
        for body in [
            Body::ToolStarted { call: n, print, limit: None },
            Body::SubagentStarted { id: n },
            finished(n * 3, n, n % 3 == 0),
        ] {
            let _ = fleet.observe(now, &signal(&agent, body), &mut out);
        }
        out.events.clear();
        out.effects.clear();
        if n == 1_000 {
            size = row_size(&mut fleet);
        }
    }
    let after = row_size(&mut fleet);
    assert!(after < size + 1_000, "the row grew from {size} to {after} bytes");
}

fn row_size(fleet: &mut Fleet) -> usize {
    let mut size = 0;
    fleet.take_all_rows(&mut |row| size += row.bytes.map_or(0, |bytes| bytes.len()));
    size
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l42_noise_is_no_row(bytes in prop::collection::vec(any::<u8>(), 0..400), version in any::<bool>()) {
        let mut bytes = bytes;
        if version && !bytes.is_empty() {
            bytes[0] = 1;
        }
        survive(vec![(RowKey::Agent("busy".into()), bytes.clone())], Timestamp::ZERO);
        survive(vec![(RowKey::Fleet, bytes)], Timestamp::ZERO);
    }
}
