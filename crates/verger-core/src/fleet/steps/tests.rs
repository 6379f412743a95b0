use super::*;
use crate::Collector;
use crate::fingerprint::{CallPrint, ResultPrint};
use crate::policy::Policies;
use crate::signal::{Content, Signal, Trust};
use crate::stuck::{StepPrint, ToolStep};
use crate::time::{Span, WallTime};

/// This agent calls a tool, and its text is heard.
fn call(fleet: &mut Fleet, at: u64, agent: &str) {
    let args = format!("look {at}");
    let step = ToolStep { tool: "bash", args: &args, result: "nothing", ..ToolStep::default() };
    let body = Body::ToolFinished {
        call: at,
        print: CallPrint::of("bash", &args),
        result: ResultPrint::of("nothing", false, None),
        tool: Some("bash".into()),
        step: Some(Box::new(StepPrint::of_call(&step))),
    };
    let content =
        Content { incarnation: None, sent_at: None, received_at: WallTime(0), trust: Trust::Verified, body };
    let signal = Signal { agent: agent.into(), content };
    let now = Timestamp::ZERO + Span::secs(at);
    fleet.observe(now, &signal, &mut Collector::default()).expect("it may say so");
}

fn slot(fleet: &Fleet, agent: &str) -> u32 {
    fleet.index.get(&agent.into(), &fleet.table).expect("it is registered")
}

fn is_followed(fleet: &Fleet, agent: &str) -> bool {
    let signs = fleet.table.agent(slot(fleet, agent)).and_then(|agent| agent.signs.as_ref());
    signs.is_some_and(|signs| signs.steps.is_some())
}

#[test]
fn x13_beyond_the_limit_whoever_was_silent_longest_is_followed_no_more() {
    let mut fleet = Fleet::new(Policies::default(), 1);
    for (at, agent) in [(1, "a"), (2, "b"), (3, "a"), (4, "c")] {
        call(&mut fleet, at, agent);
    }
    fleet.take_all_rows(&mut |_| ());
    let newest = slot(&fleet, "c");
    fleet.keep_followed(newest, 2);
    assert_eq!(["a", "b", "c"].map(|agent| is_followed(&fleet, agent)), [true, false, true]);
    assert_eq!(fleet.followed(), FollowedCounts { followed: 2, displaced: 1 });
    let mut gone = Vec::new();
    fleet.take_changed_rows(&mut |row| gone.extend(row.bytes.is_none().then_some(row.key)));
    assert_eq!(gone, [RowKey::Step("b".into(), 0)]);
    call(&mut fleet, 5, "b");
    assert!(is_followed(&fleet, "b"), "it begins anew");
}

#[test]
fn x13_who_only_beats_is_not_followed() {
    let mut fleet = Fleet::new(Policies::default(), 1);
    call(&mut fleet, 1, "a");
    let content = Content {
        incarnation: None,
        sent_at: None,
        received_at: WallTime(0),
        trust: Trust::Verified,
        body: Body::Activity,
    };
    let beat = Signal { agent: "b".into(), content };
    fleet.observe(Timestamp::ZERO, &beat, &mut Collector::default()).expect("it may say so");
    assert_eq!(fleet.followed(), FollowedCounts { followed: 1, displaced: 0 });
}

#[test]
fn x20_steps_of_nobody_are_dropped_and_harm_nobody() {
    let mut fleet = Fleet::new(Policies::default(), 1);
    call(&mut fleet, 1, "a");
    let mut rows = Vec::new();
    fleet.take_all_rows(&mut |row| rows.extend(row.bytes.map(|bytes| (row.key, bytes))));
    rows.retain(|(key, _)| !matches!(key, RowKey::Agent(_)));
    let mut fleet = Fleet::restore(Policies::default(), 1, rows, Timestamp::ZERO).expect("readable rows");
    let mut dropped = 0;
    fleet.take_changed_rows(&mut |row| dropped += u32::from(row.bytes.is_none()));
    assert_eq!((fleet.len(), dropped), (0, KEPT + 1));
}
