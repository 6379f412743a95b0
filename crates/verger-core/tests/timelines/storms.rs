//! The limits on interventions, to the moment, and what outlasts a case: L23.

use verger_core::event::{Fact, Incident};
use verger_core::intervention::Limit;
use verger_core::policy::{Mode, Policies, Role};
use verger_core::{Span, Timestamp};

use crate::timeline::{Timeline, lines};

fn with(change: impl Fn(&mut Role)) -> Timeline {
    let mut policies = Policies::default();
    policies.each(|role| change(role));
    Timeline::new(policies)
}

fn many(count: usize, words: &str) -> String {
    (0..count).map(|n| format!("{words} \n").replace('@', &format!("@a{n:03} "))).collect()
}

fn seconds(timeline: &Timeline, is_one: impl Fn(&Fact) -> bool) -> Vec<u64> {
    let found = timeline.events.iter().filter(|event| is_one(&event.fact));
    found.map(|event| event.at.since(Timestamp::ZERO).as_secs()).collect()
}

fn nudges(timeline: &Timeline) -> Vec<u64> {
    seconds(timeline, |fact| matches!(fact, Fact::NudgeSent { .. }))
}

/// Stuck from 30 minutes on: it saved something once and only beats since.
const STALE: &str = "0s checkpoint c1 \n 0s beating 5m \n";

#[test]
fn l23_what_a_limit_held_back_is_done_the_moment_there_is_room_and_told_once() {
    let timeline = with(|role| {
        role.intervention.nudges_max = 200;
        role.intervention.nudge_interval = Span::minutes(2);
        role.intervention.nudge_limit = Limit { count: 2, window: Span::minutes(33) };
    });
    let timeline = timeline.play(&format!("{STALE} 99m"));
    assert_eq!(nudges(&timeline), [1_800, 1_920, 3_780, 3_900, 5_760, 5_880], "{}", timeline.so_far());
    assert_eq!(timeline.count("limit reached: 2 in 33m"), 2, "once each time:\n{}", timeline.so_far());
    assert_eq!(timeline.count("fleet"), 0, "one agent's limit is no storm");
}

#[test]
fn l23_a_storm_is_told_of_once_and_not_of_each_agent() {
    let script = many(35, "0s @activity") + &many(35, "1s @error disk unrecoverable");
    let timeline = Timeline::apart(Policies::default()).play(&script).play("1h");
    let reached: Vec<_> =
        timeline.events.iter().filter(|event| matches!(event.fact, Fact::BudgetExhausted { .. })).collect();
    assert_eq!(reached.len(), 1, "{}", timeline.so_far());
    assert_eq!(reached[0].agent, None, "it is the fleet's limit");
}

#[test]
fn l23_a_storm_is_over_the_moment_after_all_was_done() {
    let script = many(35, "0s @activity") + &many(35, "1s @error disk unrecoverable");
    let timeline = Timeline::apart(Policies::default()).play(&script).play("1h");
    let over = timeline.events.iter().find_map(|event| match event.fact {
        Fact::IncidentResolved { incident: Incident::Storm, lasted } => Some((event.at, lasted)),
        _ => None,
    });
    let moment = Span::minutes(10) + Span::millis(1);
    assert_eq!(over, Some((Timestamp::ZERO + Span::secs(1) + moment, moment)), "{}", timeline.so_far());
}

#[test]
fn l23_a_storm_lasts_while_more_is_held_back() {
    let script = many(65, "0s @activity") + &many(65, "1s @error disk unrecoverable");
    let timeline = Timeline::apart(Policies::default()).play(&script).play("15m");
    assert_eq!(timeline.count("=> escalate"), 60);
    assert_eq!((timeline.count("fleet incident Storm"), timeline.count("fleet incident Storm over")), (1, 0));
    let over = timeline.play("1h");
    assert_eq!((over.count("=> escalate"), over.count("fleet incident Storm over")), (65, 1));
}

#[test]
fn l23_lasting_health_refills_no_limit_on_reminders() {
    let quick = with(|role| {
        role.intervention.stable_after = Span::secs(10);
        role.intervention.nudge_interval = Span::secs(10);
        role.intervention.nudge_limit = Limit { count: 2, window: Span::hours(1) };
    });
    let loops = lines(0..4, |turn| {
        let (from, well) = (60 + turn * 300, 68 + turn * 300);
        let looping = format!("{from}s..{}s/2s call ls{turn} -> same{turn}", from + 6);
        format!("{looping} \n {well}s call b{turn} -> x{turn} \n {well}s call c{turn} -> y{turn}")
    });
    let timeline = quick.play(&format!("0s beat \n 0s beating 5s \n {loops}"));
    assert_eq!(nudges(&timeline), [66, 366], "{}", timeline.so_far());
}

#[test]
fn l23_lasting_health_refills_no_limit_on_questions() {
    let quick = with(|role| {
        role.intervention.stable_after = Span::secs(10);
        role.intervention.escalation_limit = Limit { count: 2, window: Span::hours(1) };
    });
    let troubles = lines(0..4, |turn| {
        let (broken, well) = (60 + turn * 300, 68 + turn * 300);
        format!("{broken}s error disk unrecoverable \n {well}s call a{turn} -> new{turn}")
    });
    let timeline = quick.play(&format!("0s beat \n 0s beating 5s \n {troubles}"));
    assert_eq!(timeline.count("=> escalate"), 2, "{}", timeline.so_far());
}

#[test]
fn l23_a_new_life_refills_no_limit_on_terminations() {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = verger_core::policy::RestartPolicy::Recover;
    });
    let lives = lines(0..5, |life| {
        let at = life * 660;
        let begins = format!("{at}s spawn \n {}s beat \n {}s status degraded", at + 1, at + 2);
        let fails = format!("{}s..{}s/1s call b$N -> boom failed", at + 3, at + 6);
        format!("{begins} \n {fails} \n {}s exit code=1", at + 8)
    });
    let timeline = Timeline::apart(policies).play(&lives);
    let ordered = seconds(&timeline, |fact| matches!(fact, Fact::TerminationOrdered { .. }));
    assert_eq!(ordered, [6, 666, 1_326], "{}", timeline.so_far());
    assert!(timeline.so_far().contains("limit reached: 3 in 1h"), "{}", timeline.so_far());
}

#[test]
fn l23_what_a_person_orders_counts_for_the_agent_and_not_for_the_fleet() {
    let script =
        many(70, "0s @beat") + &many(70, "1s @order nudge") + "2s..32s/10s @z call ls -> nothing \n 1m";
    let timeline = Timeline::default().play(&script);
    assert_eq!(timeline.count("=> nudge z"), 1, "{}", timeline.so_far());
    let one =
        Timeline::default().play("0s beat \n 1s..6s/1s order nudge \n 30m..1810s/10s call ls -> nothing");
    assert_eq!(one.count("=> nudge"), 6, "its own six are used up:\n{}", one.so_far());
}
