//! All breakers together: groups, bounds, agents that go, deadlines and rows.

use crate::breaker::{
    Bounds, BreakerName, BreakerRow, Breakers, CallResult, Change, Counts, Mode, Permit, Policies, Reason,
    Refused, Reported, State,
};
use crate::id::AgentId;
use crate::time::{Span, Timestamp};

use super::at;

fn name(text: &str) -> BreakerName {
    text.parse().expect(text)
}

fn bounded(per_agent_max: u16, total_max: u32) -> Breakers {
    let bounds = Bounds { per_agent_max, total_max, ..Bounds::default() };
    Breakers::new(Policies { bounds, ..Policies::default() }, 7)
}

fn see(breakers: &mut Breakers, now: Timestamp, text: &str, result: CallResult) -> Vec<Change> {
    let mut out = Vec::new();
    breakers.observe(now, &name(text), result.into(), &mut out);
    out
}

fn trip(breakers: &mut Breakers, now: Timestamp, text: &str) {
    for _ in 0..5 {
        see(breakers, now, text, CallResult::Failed);
    }
    assert_eq!(breakers.view(now, &name(text)).expect("it is there").state, State::Open);
}

fn names(breakers: &Breakers) -> Vec<String> {
    breakers.page(at(0), None, usize::MAX).into_iter().map(|view| view.name.to_string()).collect()
}

#[test]
fn l24_each_agent_has_a_breaker_of_its_own_for_each_tool() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    trip(&mut breakers, at(1), "a/tool/Bash");
    let mut out = Vec::new();
    for other in ["a/tool/Read", "b/tool/Bash", "a/api/Bash"] {
        assert!(breakers.acquire(at(2), &name(other), &mut out).is_ok(), "{other}");
    }
    let denied = breakers.acquire(at(2), &name("a/tool/Bash"), &mut out).expect_err("it is open");
    assert_eq!((denied.by, denied.refusal.because), (name("a/tool/Bash"), Refused::Open));
    assert_eq!(denied.refusal.retry_after, Span::secs(29), "30 s for tools");
    assert_eq!(out, []);
    let mine: Vec<_> = breakers.of_agent(at(2), &"a".into()).into_iter().map(|view| view.name).collect();
    assert_eq!(mine, ["a/api/Bash", "a/tool/Bash", "a/tool/Read"].map(name));
}

#[test]
fn l24_half_open_comes_as_a_change_without_a_call_at_the_deadline_and_not_before() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    trip(&mut breakers, at(3), "b/tool/x");
    trip(&mut breakers, at(3), "a/tool/x");
    trip(&mut breakers, at(1), "c/api/x");
    assert_eq!(breakers.deadline(at(3)), Some(at(33)));
    let mut out = Vec::new();
    breakers.wake(at(33) - Span::millis(1), &mut out);
    assert_eq!(out, []);
    breakers.wake(at(33), &mut out);
    let woken: Vec<_> = out.iter().map(|change| (change.name.as_str(), change.transition.to)).collect();
    assert_eq!(woken, [("a/tool/x", State::HalfOpen), ("b/tool/x", State::HalfOpen)]);
    assert_eq!(breakers.deadline(at(33)), Some(at(61)));
    assert_eq!(breakers.deadline(at(100)), Some(at(100) + Span::millis(1)), "late, it is due at once");
    breakers.wake(at(100), &mut out);
    assert_eq!(breakers.deadline(at(100)), None);
}

#[test]
fn l24_endpoints_of_a_group_stand_or_fall_together() {
    let groups =
        vec![("chat".to_owned(), "provider".to_owned()), ("embed".to_owned(), "provider".to_owned())];
    let mut breakers = Breakers::new(Policies { groups, ..Policies::default() }, 7);
    let mut out = Vec::new();
    for agent in ["a", "b", "c"] {
        let chat = name(&format!("{agent}/api/chat"));
        let permit = breakers.acquire(at(1), &chat, &mut out).expect("all is well");
        breakers.report(at(2), &chat, permit, CallResult::Outage.into(), &mut out);
    }
    assert_eq!(out.len(), 1, "each agent failed once, the provider three times: {out:?}");
    let denied = breakers.acquire(at(3), &name("d/api/embed"), &mut out).expect_err("it shares the provider");
    assert_eq!(denied.by, name("shared/provider"));
    assert!(breakers.acquire(at(3), &name("d/api/other"), &mut out).is_ok());

    // One agent at a time may try, and who does not call after all gives its turn back.
    trip(&mut breakers, at(30), "e/api/chat");
    assert_eq!(
        breakers.acquire(at(62), &name("e/api/chat"), &mut out).expect_err("its own is open").by,
        name("e/api/chat")
    );
    let embed = name("d/api/embed");
    let permit = breakers.acquire(at(62), &embed, &mut out).expect("half open");
    assert_eq!(
        breakers.acquire(at(62), &name("a/api/chat"), &mut out).expect_err("d tries").refusal.because,
        Refused::Trying
    );
    let told: Permit = permit.to_string().parse().expect("a permit survives being told");
    assert_eq!(breakers.report(at(63), &embed, told, CallResult::Ok.into(), &mut out), Reported::Counted);
    assert!(breakers.acquire(at(64), &name("a/api/chat"), &mut out).is_ok());
}

#[test]
fn x11_an_agent_has_only_so_many_and_the_quiet_and_unused_are_forgotten_first() {
    let mut breakers = bounded(3, 1_000);
    see(&mut breakers, at(1), "a/tool/failed", CallResult::Failed);
    see(&mut breakers, at(2), "a/tool/old", CallResult::Ok);
    see(&mut breakers, at(3), "a/tool/new", CallResult::Ok);
    see(&mut breakers, at(4), "b/tool/older", CallResult::Ok);
    assert_eq!(see(&mut breakers, at(5), "a/tool/newest", CallResult::Ok), []);
    assert_eq!(names(&breakers), ["a/tool/failed", "a/tool/new", "a/tool/newest", "b/tool/older"]);
    see(&mut breakers, at(6), "a/tool/x", CallResult::Failed);
    see(&mut breakers, at(7), "a/tool/y", CallResult::Failed);
    see(&mut breakers, at(8), "a/tool/z", CallResult::Ok);
    assert_eq!(names(&breakers), ["a/tool/x", "a/tool/y", "a/tool/z", "b/tool/older"]);
}

#[test]
fn x11_what_is_open_or_set_by_a_person_is_never_forgotten_and_newcomers_pass_unwatched() {
    let mut breakers = bounded(2, 1_000);
    trip(&mut breakers, at(1), "a/tool/open");
    let mut out = Vec::new();
    breakers.set_mode(at(1), &name("a/tool/off"), Mode::Disabled, &mut out).expect("there is room");
    out.clear();
    let permit = breakers.acquire(at(2), &name("a/tool/x"), &mut out).expect("no room must stop nobody");
    assert_eq!(
        breakers.report(at(2), &name("a/tool/x"), permit, CallResult::Ok.into(), &mut out),
        Reported::Unwatched
    );
    breakers.observe(at(3), &name("a/tool/y"), CallResult::Failed.into(), &mut out);
    let told: Vec<_> = out.iter().map(|change| (change.name.as_str(), change.transition.reason)).collect();
    assert_eq!(told, [("a/tool/x", Reason::NoRoom)], "once in a while, not each time");
    assert_eq!(names(&breakers), ["a/tool/off", "a/tool/open"]);

    // Half open and unused it may go, and that is told.
    breakers.wake(at(40), &mut out);
    out.clear();
    breakers.observe(at(90), &name("a/tool/z"), CallResult::Ok.into(), &mut out);
    assert_eq!(names(&breakers), ["a/tool/off", "a/tool/z"]);
    assert_eq!(out.len(), 1);
    assert_eq!((out[0].name.as_str(), out[0].transition.reason), ("a/tool/open", Reason::MadeRoom));
}

#[test]
fn x11_in_all_there_are_only_so_many_whatever_names_come() {
    let mut breakers = bounded(10, 640);
    trip(&mut breakers, at(0), "first/tool/open");
    for n in 0..5_000_u64 {
        let result = if n % 3 == 0 { CallResult::Failed } else { CallResult::Ok };
        see(&mut breakers, at(1) + Span::millis(n), &format!("agent{n}/tool/x"), result);
        see(&mut breakers, at(1) + Span::millis(n), &format!("shared/{n}"), result);
        assert!(breakers.len() <= 640);
    }
    assert!(600 < breakers.len(), "{}", breakers.len());
    assert!(breakers.view(at(9), &name("first/tool/open")).is_some());
    assert!(breakers.view(at(9), &name("agent4998/tool/x")).is_some(), "the last to fail is there");
    let counts = breakers.counts();
    assert_eq!((counts.open, counts.half_open), (1, 0));
    assert_eq!(counts.closed as usize + 1, breakers.len());
}

#[test]
fn x11_shared_breakers_have_a_bound_of_their_own() {
    let bounds = Bounds { shared_max: 2, ..Bounds::default() };
    let mut breakers = Breakers::new(Policies { bounds, ..Policies::default() }, 7);
    for text in ["shared/tool/mine", "shared/a", "shared/b", "shared/c"] {
        see(&mut breakers, at(1), text, CallResult::Ok);
    }
    assert_eq!(names(&breakers), ["shared/b", "shared/c", "shared/tool/mine"]);
}

#[test]
fn l24_breakers_go_with_their_agent_and_what_was_open_is_told() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    trip(&mut breakers, at(1), "a/tool/x");
    see(&mut breakers, at(1), "a/tool/y", CallResult::Ok);
    see(&mut breakers, at(1), "a2/tool/y", CallResult::Ok);
    see(&mut breakers, at(1), "shared/y", CallResult::Ok);
    let mut out = Vec::new();
    breakers.drop_agent(&AgentId::from("a"), &mut out);
    breakers.drop_agent(&AgentId::from("shared"), &mut out);
    assert_eq!(names(&breakers), ["a2/tool/y", "shared/y"]);
    let told: Vec<_> = out.iter().map(|change| (change.name.as_str(), change.transition.from)).collect();
    assert_eq!(told, [("a/tool/x", State::Open)]);
    assert_eq!(breakers.deadline(at(1)), None, "and nobody waits for it");
    assert!(breakers.acquire(at(2), &name("a/tool/x"), &mut out).is_ok(), "who comes back begins anew");
}

#[test]
fn a_permit_of_a_forgotten_breaker_is_not_taken_for_one_of_its_successor() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    let mut out = Vec::new();
    let tool = name("a/tool/x");
    let handle = breakers.handle(at(1), &tool, &mut out).expect("there is room");
    let old = breakers.acquire_at(at(1), handle, &mut out).expect("it is closed");
    breakers.drop_agent(&"a".into(), &mut out);
    assert_eq!(
        breakers.report_at(at(2), handle, old, CallResult::Failed.into(), &mut out),
        Reported::Unwatched
    );
    breakers.acquire(at(2), &tool, &mut out).expect("a new one");
    assert_eq!(breakers.report(at(2), &tool, old, CallResult::Failed.into(), &mut out), Reported::Late);
    assert_eq!(
        breakers.report_at(at(2), handle, old, CallResult::Failed.into(), &mut out),
        Reported::Unwatched
    );
}

#[test]
fn after_an_absence_permits_that_were_not_written_down_are_not_taken_for_others() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    let mut out = Vec::new();
    let tool = name("a/tool/x");
    let known = breakers.acquire(at(1), &tool, &mut out).expect("it is closed");
    let mut rows = Vec::new();
    breakers.take_changed_rows(&mut |row| rows.extend(row.bytes.map(|bytes| (row.name, bytes))));
    let unwritten = breakers.acquire(at(1), &tool, &mut out).expect("it is closed");

    let mut restored = Breakers::restore(Policies::default(), 7, rows, at(1)).expect("our own rows");
    restored.on_monitor_back();
    restored.acquire(at(2), &tool, &mut out).expect("it is closed");
    assert_eq!(restored.report(at(3), &tool, known, CallResult::Ok.into(), &mut out), Reported::Counted);
    assert_eq!(restored.report(at(3), &tool, unwritten, CallResult::Ok.into(), &mut out), Reported::Repeated);
}

#[test]
fn only_what_changed_is_written_and_what_is_gone_is_deleted() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    let take = |breakers: &mut Breakers| {
        let mut rows = Vec::new();
        breakers.take_changed_rows(&mut |row| rows.push((row.name.to_string(), row.bytes.is_some())));
        rows
    };
    trip(&mut breakers, at(1), "a/tool/x");
    see(&mut breakers, at(1), "b/tool/x", CallResult::Ok);
    assert_eq!(take(&mut breakers), [("a/tool/x".to_owned(), true), ("b/tool/x".to_owned(), true)]);
    let refused = breakers.acquire(at(2), &name("a/tool/x"), &mut Vec::new());
    assert!(refused.is_err());
    assert_eq!(take(&mut breakers), [], "a refusal changes nothing");
    breakers.wake(at(31), &mut Vec::new());
    breakers.drop_agent(&"b".into(), &mut Vec::new());
    assert_eq!(take(&mut breakers), [("b/tool/x".to_owned(), false), ("a/tool/x".to_owned(), true)]);
}

#[test]
fn other_policies_hold_at_once_and_hold_nothing_open_for_longer_than_they_say() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    trip(&mut breakers, at(0), "a/api/x");
    let mut policies = Policies::default();
    policies.api.open_for = Span::secs(10);
    breakers.set_policies(at(1), policies);
    assert_eq!(breakers.deadline(at(1)), Some(at(11)));
    breakers.reset(at(2), &name("a/api/x"), &mut Vec::new()).expect("it is there");
    assert!(breakers.reset(at(2), &name("a/api/y"), &mut Vec::new()).is_err());
    assert_eq!(breakers.deadline(at(2)), None);
}

#[test]
fn when_other_policies_ask_for_fewer_tries_than_succeeded_it_closes() {
    let mut policies = Policies::default();
    policies.api.half_open_requests = 3;
    let mut breakers = Breakers::new(policies, 7);
    trip(&mut breakers, at(0), "a/api/x");
    see(&mut breakers, at(60), "a/api/x", CallResult::Ok);
    see(&mut breakers, at(60), "a/api/x", CallResult::Ok);
    assert_eq!(breakers.view(at(60), &name("a/api/x")).expect("it is there").state, State::HalfOpen);
    breakers.set_policies(at(61), Policies::default());
    let mut out = Vec::new();
    assert!(breakers.acquire(at(62), &name("a/api/x"), &mut out).is_ok());
    assert_eq!(out[0].transition.to, State::Closed);
}

#[test]
fn x11_one_agent_without_room_takes_none_from_the_others() {
    let mut breakers = bounded(1, 2);
    trip(&mut breakers, at(0), "a/tool/open");
    see(&mut breakers, at(1), "b/tool/x", CallResult::Ok);
    let told = see(&mut breakers, at(2), "a/tool/y", CallResult::Ok);
    assert_eq!(told[0].transition.reason, Reason::NoRoom);
    see(&mut breakers, at(3), "c/tool/x", CallResult::Ok);
    assert_eq!(names(&breakers), ["a/tool/open", "c/tool/x"]);
}

#[test]
fn x11_asking_without_ever_reporting_makes_no_breaker_worth_keeping() {
    let mut breakers = bounded(2, 1_000);
    let mut out = Vec::new();
    breakers.acquire(at(1), &name("a/tool/asked"), &mut out).expect("it is closed");
    see(&mut breakers, at(1), "a/tool/asked", CallResult::Ok);
    see(&mut breakers, at(1), "a/tool/failed", CallResult::Failed);
    see(&mut breakers, at(2), "a/tool/new", CallResult::Ok);
    assert_eq!(names(&breakers), ["a/tool/failed", "a/tool/new"]);
}

#[test]
fn x13_nothing_is_left_of_breakers_whose_agent_is_gone() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    for life in 0..100 {
        see(&mut breakers, at(life), "ada/tool/bash", CallResult::Failed);
        breakers.drop_agent(&AgentId::from("ada"), &mut Vec::new());
    }
    assert_eq!((breakers.len(), breakers.index.len()), (0, 0));
}

fn rows(breakers: &mut Breakers) -> Vec<BreakerRow> {
    let mut rows = Vec::new();
    breakers.take_changed_rows(&mut |row| rows.push(row));
    rows
}

#[test]
fn l42_rows_are_written_when_something_changed_or_all_are_asked_for() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    assert!(!breakers.has_changes());
    see(&mut breakers, at(0), "a/tool/x", CallResult::Failed);
    assert!(breakers.has_changes());
    assert_eq!(rows(&mut breakers).len(), 1);
    assert!(!breakers.has_changes());
    breakers.mark_all();
    assert_eq!(rows(&mut breakers).len(), 1);
    breakers.drop_agent(&AgentId::from("a"), &mut Vec::new());
    assert!(breakers.has_changes(), "that it is gone is written, too");
    assert_eq!(rows(&mut breakers), [BreakerRow { name: name("a/tool/x"), bytes: None }]);
}

#[test]
fn l24_those_that_are_being_tried_are_counted() {
    let mut breakers = Breakers::new(Policies::default(), 7);
    for text in ["a/tool/x", "b/tool/x"] {
        trip(&mut breakers, at(0), text);
    }
    breakers.wake(at(30), &mut Vec::new());
    see(&mut breakers, at(30), "c/tool/x", CallResult::Failed);
    let Counts { closed, open, half_open } = breakers.counts();
    assert_eq!((closed, open, half_open), (1, 0, 2));
}

#[test]
fn x11_where_nothing_may_be_forgotten_room_is_looked_for_once_in_a_minute() {
    let mut breakers = bounded(128, 2);
    trip(&mut breakers, at(0), "a/tool/x");
    trip(&mut breakers, at(0), "b/tool/x");
    let mut is_taken = |secs| {
        breakers.wake(at(secs), &mut Vec::new());
        see(&mut breakers, at(secs), "c/tool/x", CallResult::Failed);
        breakers.contains(&name("c/tool/x"))
    };
    assert!(!is_taken(1), "both are open");
    assert!(!is_taken(60), "they may be tried since half a minute, which nobody has looked at");
    assert!(is_taken(61));
}

#[test]
fn x11_one_that_is_being_tried_is_not_forgotten_for_another() {
    let mut breakers = bounded(128, 1);
    trip(&mut breakers, at(0), "a/tool/x");
    breakers.wake(at(30), &mut Vec::new());
    breakers.acquire(at(30), &name("a/tool/x"), &mut Vec::new()).expect("it may be tried");
    see(&mut breakers, at(31), "b/tool/x", CallResult::Failed);
    assert!(breakers.contains(&name("a/tool/x")) && !breakers.contains(&name("b/tool/x")));
}

#[test]
fn x11_a_share_of_all_is_forgotten_at_once() {
    let mut breakers = bounded(128, 128);
    for agent in 0..128 {
        see(&mut breakers, at(agent), &format!("a{agent}/tool/x"), CallResult::Ok);
    }
    assert_eq!(breakers.len(), 128);
    see(&mut breakers, at(200), "one/tool/more", CallResult::Ok);
    assert_eq!(breakers.len(), 128 - 2 + 1, "a 64th, the longest unused");
    assert!(!breakers.contains(&name("a0/tool/x")) && breakers.contains(&name("a2/tool/x")));
}

#[test]
fn l24_a_tool_that_is_called_like_an_endpoint_shares_nothing_with_it() {
    let groups = vec![("api.x".to_owned(), "x".to_owned())];
    let mut breakers = Breakers::new(Policies { groups, ..Policies::default() }, 7);
    for (text, shares) in [("a/tool/api.x", false), ("a/api/api.x", true)] {
        breakers.acquire(at(0), &name(text), &mut Vec::new()).expect("nothing failed");
        assert_eq!(breakers.contains(&name("shared/x")), shares, "{text}");
    }
}
