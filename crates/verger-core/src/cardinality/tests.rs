//! Who is forgotten, row by row, and what never happens.

use proptest::prelude::*;

use super::{Admission, Facts, Full, Gone, Policy, Reason, Strangers, WhenFull};
use crate::health::HealthState;
use crate::id::AgentId;
use crate::time::{Span, Timestamp};

const STATES: [HealthState; 6] = [
    HealthState::Unknown,
    HealthState::Healthy,
    HealthState::Degraded,
    HealthState::Stuck,
    HealthState::Failing,
    HealthState::Terminated,
];

fn at(hours: u64) -> Timestamp {
    Timestamp::ZERO + Span::hours(hours)
}

fn living() -> Facts {
    Facts {
        state: HealthState::Healthy,
        last_sign: at(100),
        ended_at: None,
        asked: false,
        incident: false,
        recovering: false,
        saving: false,
        excused: false,
    }
}

fn ended() -> Facts {
    Facts { state: HealthState::Terminated, ended_at: Some(at(100)), ..living() }
}

#[test]
fn x13_the_ended_are_forgotten_after_a_day_and_the_silent_after_a_week() {
    let policy = Policy::default();
    let cases = [
        ("ended", ended(), Some(at(124))),
        ("silent", living(), Some(at(100 + 7 * 24))),
        ("stuck and silent", Facts { state: HealthState::Stuck, ..living() }, Some(at(100 + 7 * 24))),
        ("waits as it said", Facts { excused: true, ..living() }, None),
        ("ended, and had waited", Facts { excused: true, ..ended() }, Some(at(124))),
        ("people are asked", Facts { asked: true, ..ended() }, None),
        ("an incident is open", Facts { incident: true, ..living() }, None),
        ("to be recovered", Facts { recovering: true, ..ended() }, None),
        ("its checkpoints wait", Facts { saving: true, ..ended() }, None),
        ("lives again", Facts { state: HealthState::Healthy, ..ended() }, Some(at(100 + 7 * 24))),
    ];
    for (what, facts, expected) in cases {
        assert_eq!(facts.forget_at(&policy), expected, "{what}");
        if let Some(due) = expected {
            assert_eq!(facts.verdict(due - Span::millis(1), &policy), None, "{what}: not before");
            assert!(facts.verdict(due, &policy).is_some(), "{what}");
            assert_eq!(facts.deadline(at(100), &policy), Some(due), "{what}");
        }
    }
    assert_eq!(ended().verdict(at(130), &policy), Some(Reason::Ended(Span::hours(30))));
    assert_eq!(living().verdict(at(300), &policy), Some(Reason::Silent(Span::hours(200))));
}

#[test]
fn x13_a_full_fleet_forgets_who_is_gone_longest() {
    let policy = Policy { agents_max: 3, ..Policy::default() };
    let mut gone = Gone::default();
    assert_eq!(gone.admit(2, &policy), Admission::Room);
    let full = |gone| Admission::Refused(Full { registered: 3, max: 3, gone });
    assert_eq!(gone.admit(3, &policy), full(0), "never a living one");
    gone.on_agent(&"b".into(), Some(at(2)));
    gone.on_agent(&"a".into(), Some(at(5)));
    assert_eq!(gone.admit(3, &policy), Admission::Forget("b".into()));
    gone.on_agent(&"b".into(), Facts { recovering: true, ..ended() }.gone_since());
    assert_eq!(gone.admit(3, &policy), Admission::Forget("a".into()));
    gone.on_agent(&"a".into(), None);
    assert_eq!(gone.admit(3, &policy), full(0));
    assert_eq!(gone, Gone::default());
}

#[test]
fn x13_newcomers_are_turned_away_with_the_reason() {
    let policy = Policy { agents_max: 2, when_full: WhenFull::Refuse, ..Policy::default() };
    let mut gone = Gone::default();
    gone.on_agent(&"a".into(), Some(at(1)));
    let Admission::Refused(full) = gone.admit(2, &policy) else { panic!("it is full") };
    assert_eq!(full.to_string(), "2 agents are registered, and 2 may be; 1 of them are gone");
}

#[test]
fn x13_a_lowered_limit_is_reached_one_by_one() {
    let policy = Policy { agents_max: 2, ..Policy::default() };
    let mut gone = Gone::default();
    for (agent, hour) in [("a", 3), ("b", 1), ("c", 2)] {
        gone.on_agent(&agent.into(), Some(at(hour)));
    }
    let mut registered = 5;
    let mut forgotten = Vec::new();
    while let Some(agent) = gone.excess(registered, &policy).cloned() {
        gone.on_agent(&agent, None);
        forgotten.push(agent.to_string());
        registered -= 1;
    }
    assert_eq!((forgotten.concat().as_str(), registered), ("bca", 2));
}

fn facts() -> impl Strategy<Value = Facts> {
    let sign = 0..10_000_000_000_u64;
    let flags = any::<[bool; 5]>();
    (prop::sample::select(STATES.to_vec()), sign.clone(), prop::option::of(sign), flags).prop_map(
        |(state, last_sign, ended_at, [asked, incident, recovering, saving, excused])| Facts {
            state,
            last_sign: Timestamp::from_millis(last_sign),
            ended_at: ended_at.map(Timestamp::from_millis),
            asked,
            incident,
            recovering,
            saving,
            excused,
        },
    )
}

#[test]
fn x13_a_limit_that_was_lowered_is_reached_by_forgetting_the_gone_and_nobody_comes_in_before() {
    let policy = Policy { agents_max: 3, ..Policy::default() };
    let mut gone = Gone::default();
    gone.on_agent(&"a".into(), Some(at(2)));
    gone.on_agent(&"b".into(), Some(at(1)));
    assert_eq!(gone.admit(4, &policy), Admission::Refused(Full { registered: 4, max: 3, gone: 2 }));
    assert_eq!(gone.excess(4, &policy), Some(&"b".into()));
    assert_eq!(gone.excess(3, &policy), None);
    let refuses = Policy { when_full: WhenFull::Refuse, ..policy };
    assert_eq!(gone.excess(4, &refuses), None);
}

proptest! {
    #[test]
    fn x13_nobody_is_forgotten_while_something_is_open_or_who_was_just_heard(
        facts in facts(), now in 0..20_000_000_000_u64,
    ) {
        let (now, policy) = (Timestamp::from_millis(now), Policy::default());
        if let Some(reason) = facts.verdict(now, &policy) {
            prop_assert!(!facts.asked && !facts.incident && !facts.recovering && !facts.saving);
            match reason {
                Reason::Ended(span) => {
                    prop_assert_eq!(facts.state, HealthState::Terminated);
                    prop_assert!(policy.ended_after <= span);
                }
                Reason::Silent(span) => prop_assert!(policy.silent_after <= span && !facts.excused),
                Reason::Full => prop_assert!(false, "that is for newcomers"),
            }
        }
        // Nothing latches: with nothing open, everybody is forgotten in the end.
        let (asked, incident, recovering, saving, excused) = (false, false, false, false, false);
        let released = Facts { asked, incident, recovering, saving, excused, ..facts };
        prop_assert!(released.verdict(now + policy.silent_after + Span::hours(10_000), &policy).is_some());
        prop_assert!(facts.deadline(now, &policy).is_none_or(|due| now < due));
        prop_assert_eq!(
            facts.deadline(now, &policy).is_some_and(|due| facts.verdict(due, &policy).is_none()), false,
            "at the deadline there is a verdict"
        );
    }

    #[test]
    fn x13_the_limit_holds_and_the_living_stay(
        deeds in prop::collection::vec((0..12_u8, prop::option::of(0..50_u64)), 0..100), max in 0..8_u32,
    ) {
        let policy = Policy { agents_max: max, ..Policy::default() };
        let mut registered = std::collections::BTreeMap::new();
        let mut gone = Gone::default();
        for (name, since) in deeds {
            let agent = AgentId::from(format!("a{name}"));
            let since = since.map(at);
            if !registered.contains_key(&agent) {
                match gone.admit(registered.len() as u32, &policy) {
                    Admission::Room => {}
                    Admission::Forget(other) => {
                        let went: Option<Option<Timestamp>> = registered.remove(&other);
                        let first = registered.values().flatten().min().copied();
                        prop_assert!(went.flatten().is_some_and(|went| first.is_none_or(|first| went <= first)));
                        gone.on_agent(&other, None);
                    }
                    Admission::Refused(_) => {
                        prop_assert!(registered.values().all(Option::is_none), "only living ones are left");
                        continue;
                    }
                }
            }
            registered.insert(agent.clone(), since);
            gone.on_agent(&agent, since);
            prop_assert!(registered.len() as u32 <= max);
            prop_assert_eq!(gone.by_time.len(), gone.since.len());
            prop_assert_eq!(gone.by_time.len(), registered.values().flatten().count());
        }
    }
}

#[test]
fn x13_strangers_are_let_in_at_a_limited_pace_and_are_told_when_to_try_again() {
    let policy = Policy { strangers_max: 2, strangers_within: Span::hours(2), ..Policy::default() };
    let mut strangers = Strangers::default();
    let mut admit = |hours| strangers.admit(at(hours), &policy);
    assert_eq!([admit(5), admit(6), admit(6)], [Ok(()), Ok(()), Err(Span::hours(1))]);
    assert_eq!([admit(7), admit(7), admit(8)], [Ok(()), Ok(()), Err(Span::hours(1))], "counted anew");
}
