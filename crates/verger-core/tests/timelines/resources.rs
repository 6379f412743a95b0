//! Limits on what agents use (L12).

use insta::assert_snapshot;
use verger_core::Span;
use verger_core::event::{Event, Fact};
use verger_core::policy::{Mode, Policies, Role};
use verger_core::resources::Limits;

use crate::timeline::{Timeline, lines};

/// Under these limits for one life, where everything may be done without a person.
fn limited(mode: Mode, agent: Limits) -> Timeline {
    let mut policies = Policies::default();
    policies.resources.agent = agent;
    policies.each(|role| role.mode = mode);
    Timeline::new(policies)
}

fn tokens(limit: u64) -> Limits {
    Limits { tokens: Some(limit), ..Limits::default() }
}

#[test]
fn l12_an_agent_that_uses_more_tokens_than_it_may_is_ended_when_nobody_else_turned_bad() {
    let script = "0s spawn
        1s beat tokens=700
        2s beat tokens=900
        3s beat tokens=1100
        1m beat tokens=1200
        2m outcome stopped";
    assert_snapshot!(limited(Mode::Full, tokens(1_000)).play(script).log(), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    2s near a limit: 900 tokens used by the agent (limit 1000)
    3s over a limit: 1100 tokens used by the agent (limit 1000)
    3s incident OverLimit
    1m3s to be stopped: 1200 tokens used by the agent (limit 1000)
    1m3s => stop within 30s
    1m43s => stop within 30s
    2m incident OverLimit over after 1m57s
    2m HEALTHY -> TERMINATED: 1200 tokens used by the agent (limit 1000)
    2m ended: 1200 tokens used by the agent (limit 1000)
    ");
}

#[test]
fn l12_people_decide_about_it_unless_the_mode_says_otherwise_and_more_time_is_more_time() {
    let script = "0s spawn
        1s beat tokens=1100
        2s beating 1m
        10m order more-time for=1h
        2h";
    assert_snapshot!(limited(Mode::Escalate, tokens(1_000)).play(script).log(), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    1s over a limit: 1100 tokens used by the agent (limit 1000)
    1s incident OverLimit
    1s escalated: 1100 tokens used by the agent (limit 1000)
    1s => escalate
    10m decided: AllowMoreTime(Some(Span(3600000)))
    1h10m escalated: 1100 tokens used by the agent (limit 1000)
    1h10m => escalate
    ");
}

#[test]
fn l12_where_the_monitor_only_looks_it_is_recorded_and_nothing_else() {
    let timeline =
        limited(Mode::Observe, tokens(1_000)).play("0s spawn \n 1s tokens 1100 \n 2s beating 1m \n 1h");
    assert_eq!(timeline.count("over a limit"), 1, "{}", timeline.so_far());
    assert_eq!(timeline.count("=>"), 0, "{}", timeline.so_far());
    assert!(timeline.view("a").over_limit.is_some());
}

#[test]
fn l12_what_nobody_proved_ends_nobody() {
    let script =
        "0s spawn \n 1s beating 1m \n 2s unverified \n 3s beat tokens=99000 \n 4s tokens 99000 \n 1h";
    let timeline = limited(Mode::Full, tokens(1_000)).play(script);
    assert_eq!(timeline.count("over a limit") + timeline.count("=> stop"), 0, "{}", timeline.so_far());
}

#[test]
fn l12_totals_that_go_back_jump_or_come_twice_end_nobody() {
    let script = "0s spawn
        1s beat tokens=500
        2s beat tokens=18446744073709551615
        3s beat tokens=500
        4s beat tokens=100
        5s beat tokens=600
        6s beat tokens=600
        7s tokens 18446744073709551615 cost=18446744073709551615
        8s load memory=18446744073709551615 cpu=18446744073709551615
        1m";
    let timeline = limited(Mode::Full, tokens(1_000)).play(script);
    assert_eq!(timeline.count("over a limit"), 0, "{}", timeline.so_far());
}

#[test]
fn l12_memory_ends_an_agent_only_when_it_is_held_for_long() {
    let limits = Limits { memory_bytes: Some(1_000), ..Limits::default() };
    let spike = "0s spawn \n 1s beating 1m \n 1m load memory=2000 \n 2m load memory=100";
    let timeline = limited(Mode::Full, limits).play(spike);
    assert_eq!(timeline.count("over a limit"), 0, "{}", timeline.so_far());
    let held = timeline.play("3m..20m/1m load memory=2000");
    assert_eq!(held.count("over a limit: 2000 bytes of memory held by the agent (limit 1000)"), 1);
    assert!(held.has("=> stop"), "{}", held.so_far());
}

#[test]
fn l12_time_alone_ends_a_life_and_the_next_one_has_its_own() {
    let limits = Limits { wall: Some(Span::hours(1)), ..Limits::default() };
    let script = "0s spawn
        1s beating 1m
        62m outcome stopped
        62m still
        80m spawn
        81m beating 1m
        2h";
    let timeline = limited(Mode::Full, limits).play(script);
    assert_eq!(timeline.count("to be stopped"), 1, "{}", timeline.so_far());
    assert_snapshot!(timeline.tail("over a limit"), @"
    1h over a limit: the agent took 1h (limit 1h)
    1h incident OverLimit
    1h1m to be stopped: the agent took 1h (limit 1h)
    1h1m => stop within 30s
    1h1m => stop within 30s
    1h2m incident OverLimit over after 2m
    1h2m HEALTHY -> TERMINATED: the agent took 1h (limit 1h)
    1h2m ended: the agent took 1h (limit 1h)
    1h20m #2 registered
    1h20m #2 Agent WallTime within its limit
    1h22m #2 UNKNOWN -> HEALTHY
    ");
}

#[test]
fn l12_a_task_is_limited_over_the_lives_of_its_agent() {
    let mut policies = Policies::default();
    policies.resources.task = tokens(1_000);
    policies.each(|role| role.mode = Mode::Full);
    let script = "0s spawn task=t1
        1s beat tokens=600
        2s exit code=1
        1m spawn
        61s beat tokens=600
        5m
        301s outcome stopped
        6m spawn task=t2
        361s beat tokens=600
        10m";
    let timeline = Timeline::new(policies).play(script);
    let over = "#2 over a limit: 1200 tokens used by the task (limit 1000)";
    assert_eq!(timeline.count(over), 1, "{}", timeline.so_far());
    assert_eq!(timeline.count("#2 to be stopped"), 1, "another task is another task: {}", timeline.so_far());
}

#[test]
fn l12_the_fleet_over_its_limit_is_one_incident_that_ends_with_the_day_and_ends_nobody() {
    let mut policies = Policies::default();
    policies.resources.fleet = Limits { cost_micros: Some(1_000_000), ..Limits::default() };
    policies.each(|role| role.mode = Mode::Full);
    let script = "0s @b spawn \n 0s @c spawn
        1s @b tokens 10 cost=600000
        2s @c tokens 10 cost=600000
        3s restart
        4s @c tokens 10 cost=600000
        25h";
    let timeline = Timeline::new(policies).play(script);
    let of_fleet = |line: &&str| line.contains("fleet");
    let fleet = lines(timeline.so_far().lines().filter(of_fleet), ToOwned::to_owned);
    assert_snapshot!(fleet, @"
    2s fleet over a limit: $1.20 spent by the fleet (limit $1.00)
    2s fleet incident OverLimit
    1d fleet Fleet Cost within its limit
    1d fleet incident OverLimit over after 23h59m
    ");
    assert_eq!(timeline.count("=> stop"), 0, "{}", timeline.so_far());
}

#[test]
fn l12_a_role_has_limits_of_its_own() {
    let mut policies = Policies::default();
    policies.resources.agent = tokens(1_000);
    policies.set(Role { limits: Some(tokens(5_000)), mode: Mode::Full, ..Role::named("builder") });
    let timeline =
        Timeline::new(policies).play("0s spawn role=builder \n 1s tokens 2000 \n 2s @b tokens 2000");
    assert_eq!(timeline.count("over a limit"), 0, "{}", timeline.so_far());
    assert_eq!(timeline.count("b over a limit"), 1, "{}", timeline.so_far());
}

#[test]
fn l12_a_restart_of_the_monitor_counts_nothing_twice_and_forgets_nothing() {
    let script = |middle: &str| {
        format!(
            "0s spawn task=t \n 1s beat tokens=700 \n 2s tokens 100 {middle} \n 5s beat tokens=1100 \n 5m"
        )
    };
    let facts = |timeline: &Timeline| -> Vec<Fact> {
        timeline.events.iter().map(|event| event.fact.clone()).collect()
    };
    let calm = limited(Mode::Full, tokens(1_000)).play(&script(""));
    let restarted = limited(Mode::Full, tokens(1_000)).play(&script("\n 3s restart"));
    assert_eq!(facts(&calm), facts(&restarted), "{}", restarted.so_far());
    assert_eq!(calm.count("to be stopped"), 1, "{}", calm.so_far());
}

#[test]
fn l12_at_most_a_share_of_the_fleet_is_ended_at_once_for_what_it_uses() {
    let all = lines(10..30, |n| format!("0s @a{n} spawn"));
    let use_much = lines(10..30, |n| format!("1s @a{n} tokens 2000"));
    let timeline = limited(Mode::Full, tokens(1_000)).play(&(all + &use_much)).play("100s");
    let ended = |event: &&Event| matches!(event.fact, Fact::TerminationOrdered { .. });
    assert_eq!(timeline.events.iter().filter(ended).count(), 2, "a tenth of twenty: {}", timeline.so_far());
}

#[test]
fn l12_without_limits_nothing_is_counted() {
    let timeline = Timeline::default().play("0s spawn \n 1s tokens 99000000 \n 2s load memory=99 \n 1m");
    assert_eq!(timeline.count("near a limit") + timeline.count("over a limit"), 0);
    assert_eq!(timeline.fleet.fleet_use(), &verger_core::resources::FleetUse::default());
}

/// Under these limits for one task, where everything may be done without a person.
fn limited_task(task: Limits) -> Timeline {
    let mut policies = Policies::default();
    policies.resources.task = task;
    policies.each(|role| role.mode = Mode::Full);
    Timeline::new(policies)
}

#[test]
fn l12_a_task_that_is_taken_up_again_goes_on_with_what_was_used_for_it() {
    let late = "0s spawn task=old
        1s beat task=old
        2s assign t
        3s tokens 900
        4s beat task=old
        5s beat task=t
        6s tokens 900
        5m";
    let timeline = limited_task(tokens(1_000)).play(late);
    assert!(timeline.has("over a limit: 1800 tokens used by the task (limit 1000)"), "{}", timeline.so_far());
    let ended =
        "0s spawn task=t \n 1s tokens 900 \n 2s end-task t \n 3s restart \n 4s assign t \n 5s tokens 900";
    let timeline = limited_task(tokens(1_000)).play(ended);
    assert!(timeline.has("over a limit: 1800 tokens used by the task (limit 1000)"), "{}", timeline.so_far());
}

#[test]
fn l12_who_turns_to_another_task_and_back_is_over_the_limit_as_before() {
    let script = "0s spawn task=t \n 1s tokens 1100 \n 2s assign u \n 3s assign t";
    let timeline = limited_task(tokens(1_000)).play(script);
    let limits = |line: &&str| line.contains("limit");
    assert_snapshot!(lines(timeline.so_far().lines().filter(limits), ToOwned::to_owned), @"
    1s over a limit: 1100 tokens used by the task (limit 1000)
    2s Task Tokens within its limit
    3s over a limit: 1100 tokens used by the task (limit 1000)
    ");
}

#[test]
fn l12_the_time_of_a_task_stands_still_while_its_agent_works_on_another() {
    let limits = Limits { wall: Some(Span::hours(1)), ..Limits::default() };
    let script = "0s spawn task=t \n 0s beating 1m \n 30m assign u \n 50m assign t \n 79m";
    let timeline = limited_task(limits).play(script);
    assert_eq!(timeline.count("over a limit"), 0, "{}", timeline.so_far());
    let timeline = timeline.play("81m");
    assert!(
        timeline.so_far().contains("1h20m over a limit: the task took 1h (limit 1h)"),
        "{}",
        timeline.so_far()
    );
}
