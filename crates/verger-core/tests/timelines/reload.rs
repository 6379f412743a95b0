//! Other policies while the fleet is watched (X15): as after a restart, without one.

use insta::assert_snapshot;
use verger_core::intervention::Limit;
use verger_core::policy::{Mode, Policies, Role};
use verger_core::resources::Limits;
use verger_core::{RowKey, Span};

use crate::timeline::{Timeline, lines};

fn policies(change: impl FnOnce(&mut Policies)) -> Policies {
    let mut policies = Policies::default();
    change(&mut policies);
    policies
}

/// The policies that differ in every group, so that nothing can stay as it was by chance.
fn stricter() -> Policies {
    policies(|policies| {
        policies.each(|role| {
            role.mode = Mode::Full;
            role.progress.degraded_after = Span::minutes(2);
            role.progress.stuck_after = Span::minutes(4);
            role.repetition.repeats = 2;
            role.repetition.repeats_stuck = 3;
        });
        policies.resources.agent = Limits { tokens: Some(1_000), ..Limits::default() };
        policies.tasks.quiet = Span::minutes(5);
        policies.messages.high = Span::minutes(1);
        policies.writes.timeout = Span::secs(5);
        policies.limits.nudges.count = 1;
    })
}

/// A day in which everything is under way when the policies change.
const BEFORE: &str = "
    0s    spawn task=t1
    0s    @b spawn role=critical
    0s    @c spawn
    1s    beating 1m
    1s    @b beating 20s
    1s    @c beating 1m
    2s    beat tokens=5000
    3s    checkpoint c1
    10s   give t due=1m
    20s..29s/3s @c call ls -> nothing
    30s   @b call w1 -> boom failed tool=bash
    31s   @b call w2 -> boom failed tool=bash
    32s   @b call w3 -> boom failed tool=bash
    33s   @b call w4 -> boom failed tool=bash
    34s   @b call w5 -> boom failed tool=bash
    40s   @b send m to=a high
    40s   outcome delivered
    3m
";
const AFTER: &str = "
    5m
    6m    @c call ls -> nothing
    7m    acquire b/tool/bash
    12m   @c says hello
    20m   outcome delivered
    40m
    2h
";

/// What comes of other policies is what a restart would have made of them, and not what came of the old ones.
fn mean_what_they_would_after_a_restart(before: &str, other: &Policies, after: &str) {
    let reloaded = Timeline::default().play(before).under(other.clone()).play(after).log();
    let restarted = Timeline::default().play(before).restarted_under(other.clone()).play(after).log();
    let restarted = lines(restarted.lines().filter(|line| !line.ends_with("restarted")), str::to_owned);
    assert_eq!(reloaded, restarted);
    let unchanged = Timeline::default().play(before).play(after).log();
    assert_ne!(reloaded, unchanged, "they matter");
}

#[test]
fn x15_other_policies_mean_what_they_would_mean_after_a_restart() {
    mean_what_they_would_after_a_restart(BEFORE, &stricter(), AFTER);
}

#[test]
fn x15_every_machine_beside_the_agents_hears_of_them() {
    let breaker = policies(|policies| policies.breakers.tool.open_for = Span::secs(3));
    let open = "0s spawn \n 1s..5s/1s call c$N -> boom failed tool=bash";
    mean_what_they_would_after_a_restart(open, &breaker, "9s acquire a/tool/bash");

    let writes = policies(|policies| policies.writes.timeout = Span::secs(3));
    let writing = "0s spawn \n 1s submit a/checkpoint/s3 c1 \n 2s submit a/checkpoint/s3 c2 \n 3s";
    mean_what_they_would_after_a_restart(writing, &writes, "20s");

    let judge = policies(|policies| policies.verdicts.judge.stall_critical = Span::secs(140));
    let followed = "0s beat \n 0s beating 1m \n 0s session s graph=coder \n 2m1s step 1 ACCEPT";
    // After the second look it is known to stand still.
    let stands = format!("{followed} \n 4m10s");
    mean_what_they_would_after_a_restart(&stands, &judge, "5m");

    let queen = policies(|policies| policies.verdicts.queen.open_for = Span::minutes(1));
    let raised = format!("{followed} \n 8m");
    mean_what_they_would_after_a_restart(&raised, &queen, "12m");

    let wall = policies(|policies| {
        policies.resources.agent = Limits { wall: Some(Span::minutes(10)), ..Limits::default() };
    });
    mean_what_they_would_after_a_restart("0s spawn \n 1s beating 30m \n 20m", &wall, "21m");
    mean_what_they_would_after_a_restart("0s spawn \n 1s beating 1m \n 2m", &wall, "3m @z spawn \n 14m");
}

#[test]
fn x15_the_same_policies_again_change_nothing_at_any_point() {
    let script: Vec<_> = BEFORE.lines().chain(AFTER.lines()).filter(|line| !line.trim().is_empty()).collect();
    let without = Timeline::default().play(&script.join("\n")).log();
    for at in 1..script.len() {
        let (before, after) = (script[..at].join("\n"), script[at..].join("\n"));
        let with = Timeline::default().play(&before).under(Policies::default()).play(&after).log();
        assert_eq!(with, without, "the same again before `{}`", script[at].trim());
    }
}

#[test]
fn x15_a_shorter_limit_counts_from_when_the_agent_last_got_on() {
    let timeline = Timeline::default().play("0s spawn task=t1 \n 1s checkpoint c1 \n 1s beating 1m \n 12m");
    let shorter = policies(|policies| {
        policies.each(|role| {
            role.progress.degraded_after = Span::minutes(5);
            role.progress.stuck_after = Span::minutes(10);
        });
    });
    let log = timeline.under(shorter).play("12m1s").tail("12m");
    assert!(log.starts_with("12m DEGRADED -> STUCK"), "{log}");
}

#[test]
fn x15_a_longer_limit_takes_back_what_was_found_under_the_shorter_one() {
    let shorter = policies(|policies| policies.each(|role| role.progress.degraded_after = Span::minutes(5)));
    let timeline = Timeline::new(shorter).play("0s spawn task=t1 \n 1s checkpoint c1 \n 1s beating 1m \n 8m");
    assert!(timeline.has("HEALTHY -> DEGRADED"), "{}", timeline.so_far());
    let timeline = timeline.under(Policies::default()).play("8m30s");
    assert!(timeline.has("DEGRADED -> HEALTHY"), "{}", timeline.so_far());
}

#[test]
fn x15_roles_are_kept_by_name_and_who_lost_one_is_judged_like_those_who_claim_none() {
    let own = |name: &str| policies(|policies| assert!(policies.set(Role::named(name))));
    let timeline = Timeline::new(own("night")).play("0s spawn role=night \n 0s @b spawn role=critical");
    let role = |timeline: &Timeline, agent: &str| {
        timeline.fleet.view(timeline.now, &agent.into()).expect("it is there").role.to_string()
    };
    assert_eq!(role(&timeline, "a"), "night");
    let timeline = timeline.under(own("day"));
    assert_eq!((role(&timeline, "a"), role(&timeline, "b")), ("default".to_owned(), "critical".to_owned()));
    let mut timeline = timeline;
    let mut rows = Vec::new();
    timeline.fleet.take_changed_rows(&mut |row| rows.push(row.key));
    assert!(rows.contains(&RowKey::Agent("a".into())), "the next life of the monitor knows it too");
}

#[test]
fn x15_what_was_spent_stays_spent_under_other_limits() {
    let eager = |count| {
        policies(|policies| {
            policies.each(|role| {
                role.mode = Mode::Nudge;
                role.intervention.nudge_interval = Span::secs(10);
                role.intervention.nudges_max = 200;
                role.intervention.nudge_limit = Limit { count, window: Span::hours(9) };
            });
        })
    };
    let deaf = "0s spawn task=t1 \n 0s checkpoint c1 \n 1s beating 5m";
    let timeline = Timeline::new(eager(3)).play(deaf).play("31m..40m/1m outcome delivered");
    assert_eq!(timeline.count("=> nudge"), 3, "{}", timeline.so_far());
    let timeline = timeline.under(eager(4)).play("41m..60m/1m outcome delivered");
    assert_eq!(timeline.count("=> nudge"), 4, "one more, not four more: {}", timeline.so_far());
}

#[test]
fn x15_more_room_in_the_fleet_lets_out_at_once_what_was_held_back() {
    let few = |count| policies(|policies| policies.limits.nudges = Limit { count, window: Span::hours(9) });
    let stale = "0s checkpoint c1 \n 0s @b checkpoint c1 \n 0s beating 5m \n 0s @b beating 5m";
    let timeline = Timeline::new(few(1)).play(stale).play("31m");
    assert_eq!(timeline.count("=> nudge"), 1, "{}", timeline.so_far());
    let same = timeline.under(few(1)).play("31m30s");
    assert_eq!(same.count("=> nudge"), 1, "{}", same.so_far());
    let more = same.under(few(9)).play("31m31s");
    assert_eq!(more.count("=> nudge"), 2, "{}", more.so_far());
}

#[test]
fn x15_a_stop_that_was_in_vain_is_remembered_as_long_as_before() {
    let stale = "0s checkpoint c1 \n 0s beating 5m \n 31m order terminate \n 50m";
    let vain = Timeline::default().play(stale).play("51m checkpoint c2");
    assert!(vain.has("does not stop after 3 attempts"), "{}", vain.so_far());
    let others = policies(|policies| policies.limits.escalations.count = 7);
    let vain = vain.under(others).play("55m");
    assert!(vain.view("a").intervention.is_some(), "no limit held it: {}", vain.so_far());
}

#[test]
fn x15_to_look_only_holds_back_what_was_about_to_be_done() {
    let full = policies(|policies| policies.each(|role| role.mode = Mode::Full));
    let observe = policies(|policies| policies.each(|role| role.mode = Mode::Observe));
    let script = "0s spawn task=t1 \n 1s checkpoint c1 \n 1s beating 1m \n 31m";
    let asked = Timeline::new(full.clone()).play(script).play("3h");
    assert!(asked.has("=> escalate"), "{}", asked.so_far());
    let looking = Timeline::new(full).play(script).under(observe).play("3h");
    assert!(!looking.has("=> escalate") && !looking.has("=> stop"), "{}", looking.so_far());
}

#[test]
fn x15_limits_on_use_hold_for_what_was_used_before_them() {
    let timeline = Timeline::default().play("0s spawn \n 1s beat tokens=700 \n 2s beat tokens=5000");
    let limited = policies(|policies| {
        policies.resources.agent = Limits { tokens: Some(1_000), ..Limits::default() };
    });
    let log = timeline.under(limited).play("10s beat tokens=6000 \n 1m beat tokens=6100").log();
    assert_snapshot!(log, @"
    0s registered
    1s UNKNOWN -> HEALTHY
    10s over a limit: 6000 tokens used by the agent (limit 1000)
    10s incident OverLimit
    10s escalated: 6000 tokens used by the agent (limit 1000)
    10s => escalate
    ");
}
