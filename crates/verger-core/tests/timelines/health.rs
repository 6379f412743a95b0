//! The composite state and what it is made of: 000 §2.1 and §2.2, rows L01–L11.

use insta::assert_snapshot;
use verger_core::Span;
use verger_core::event::Fact;
use verger_core::evidence::Measure;
use verger_core::health::HealthState::{self, Degraded, Failing, Healthy, Stuck, Terminated, Unknown};
use verger_core::id::TaskId;
use verger_core::policy::Policies;

use crate::timeline::{Timeline, lines, run};

fn state(script: &str) -> HealthState {
    after(script).view("a").state
}

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

#[test]
fn l01_an_agent_is_unknown_until_the_first_evidence_and_healthy_with_it() {
    assert_eq!(state("0s spawn"), Unknown);
    assert_eq!(state("0s spawn \n 4m"), Unknown, "a fresh start is no evidence");
    assert_eq!(state("0s spawn \n 1s channel \n 1500ms"), Unknown, "a channel is no sign of life");
    assert_eq!(state("0s spawn \n 1s activity"), Healthy);
    assert_eq!(state("0s beat"), Healthy);
}

#[test]
fn l01_every_state_of_the_document_is_reached_by_its_indicators() {
    assert_snapshot!(run("
        0s    spawn
        1s    checkpoint c1
        1s    beating 5m
        11m   checkpoint c2
        42m   error disk unrecoverable
        43m   exit signal=9
    "), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    10m1s HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    11m DEGRADED -> HEALTHY
    21m HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    41m DEGRADED -> STUCK: nothing saved, changed or learned for 30m of work (limit 30m)
    41m incident Stuck
    41m nudge 1 queued
    41m => nudge 1
    42m STUCK -> FAILING: nothing saved, changed or learned for 31m of work (limit 30m); it reported an error it cannot recover from
    42m incident Stuck over after 59s900ms
    42m incident Failing
    42m escalated: it reported an error it cannot recover from; after 1 nudge
    42m => escalate
    43m incident Failing over after 1m
    43m FAILING -> TERMINATED: its process ended (9)
    43m ended: ended by signal 9
    43m incident Died
    ");
}

#[test]
fn l01_a_call_in_flight_neither_clears_nor_repeats_a_verdict() {
    let timeline = after("0s checkpoint c1 \n 0s beating 5m \n 31m");
    assert_eq!(timeline.view("a").state, Stuck);
    let timeline = timeline.play("32m..38m/1s call look$N -> nothing$N failed");
    assert_eq!(
        timeline.count("incident Stuck"),
        1,
        "one notification for one condition:\n{}",
        timeline.so_far()
    );
    assert_eq!(timeline.count("=> nudge"), 1, "and ten minutes for each reminder");
    assert_eq!(timeline.count("incident Flapping"), 0);
}

#[test]
fn l01_every_change_carries_signal_value_and_threshold() {
    let timeline = after("0s checkpoint c1 \n 0s beating 5m \n 31m");
    let changes: Vec<_> = timeline
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::StateChanged { to, evidence, .. } => Some((*to, evidence.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(changes.len(), 3);
    for (to, evidence) in &changes[1..] {
        assert!(!evidence.is_empty(), "{to} without evidence");
        for found in evidence.iter() {
            let (Measure::Span(value), Measure::Span(threshold)) = (found.value, found.threshold) else {
                panic!("an age is held against an age");
            };
            assert!(threshold <= value, "{found}");
        }
    }
}

#[test]
fn l01_a_kind_of_signal_never_sent_is_no_evidence() {
    assert_eq!(state("0s activity \n 2d"), Healthy, "it never sent a heartbeat, a call or a checkpoint");
    assert_eq!(state("0s beat \n 0s beating 5m \n 2d"), Healthy, "it sends heartbeats and nothing else");
    assert_eq!(
        state("0s beat progress=7 \n 0s beating 5m progress=7 \n 2d"),
        Healthy,
        "an indicator that never moved"
    );
    assert_eq!(state("0s call a"), Healthy);
}

#[test]
fn l01_a_role_may_require_heartbeats_that_were_never_sent() {
    let mut policies = Policies::default();
    policies.each(|role| role.requires_heartbeats = true);
    assert_snapshot!(Timeline::new(policies).play("0s spawn \n 1s activity \n 30m").log(), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    10m1s disconnected: unresponsive
    10m1s HEALTHY -> DEGRADED: no heartbeat for 10m (limit 10m)
    10m1s incident Silent
    10m1s => inquire
    15m1s classified recoverable
    15m1s DEGRADED -> STUCK: no answer to a status inquiry for 5m (limit 5m)
    15m1s incident Stuck
    15m1s escalated: no answer to a status inquiry for 5m (limit 5m)
    15m1s => escalate
    ");
}

#[test]
fn l02_only_valid_transitions_exist_and_terminated_is_final() {
    let all = [Unknown, Healthy, Degraded, Stuck, Failing, Terminated];
    for from in all {
        for to in all {
            let living = [Healthy, Degraded, Stuck, Failing].contains(&from);
            let valid = (from == Unknown && to != Unknown) || (living && to != from && to != Unknown);
            assert_eq!(from.may_become(to), valid, "{from} -> {to}");
        }
    }
    let ended = "0s life 1 \n 0s beat \n 1s exit code=0 \n 2s beat \n 1h call x \n 1h order nudge \n 1h order terminate";
    assert_snapshot!(run(ended), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    1s HEALTHY -> TERMINATED: its process ended (0)
    1s ended: exited with code 0
    2s an earlier life was turned away
    2s refused: that incarnation of this agent is over; the present one is #1
    1h refused: that incarnation of this agent is over; the present one is #1
    1h refused: that incarnation of this agent is over; the present one is #1
    1h refused: this agent has ended
    1h refused: this agent has ended
    ");
    assert_eq!(state(ended), Terminated);
}

#[test]
fn l02_a_change_is_published_within_a_second_of_its_threshold() {
    let timeline = after("0s checkpoint c1 \n 0s beating 5m \n 1h");
    let at = |wanted| {
        let of = |event: &&verger_core::event::Event| matches!(event.fact, Fact::StateChanged { to, .. } if to == wanted);
        timeline.events.iter().find(of).expect("it happened").at.as_millis()
    };
    assert!((600_000..601_000).contains(&at(Degraded)));
    assert!((1_800_000..1_801_000).contains(&at(Stuck)));
}

#[test]
fn l03_a_degraded_agent_is_pinged_twice_as_often() {
    let pings = |script: &str| {
        let timeline = after(script);
        timeline.effects.iter().filter(|effect| effect.action == verger_core::effect::Action::Ping).count()
    };
    let healthy = pings("0s channel \n 0s status healthy \n 1m");
    let degraded = pings("0s channel \n 0s status degraded \n 1m");
    assert!((25..=30).contains(&healthy), "{healthy} pings in a minute, 2 s apart");
    assert!((50..=60).contains(&degraded), "{degraded} pings in a minute, 1 s apart");
    assert_eq!(
        state("0s channel \n 0s status degraded \n 1m \n 1m status healthy"),
        Healthy,
        "and has a way back"
    );
}

#[test]
fn l04_checkpoint_age_degrades_at_ten_minutes_and_is_stuck_beyond_thirty() {
    assert_snapshot!(run("
        0s    checkpoint c1
        0s    beating 5m
        29m59s
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    10m HEALTHY -> DEGRADED: nothing saved, changed or learned for 10m of work (limit 10m)
    ");
    assert_eq!(state("0s checkpoint c1 \n 0s beating 5m \n 9m59s"), Healthy);
    assert_eq!(
        state("0s checkpoint c1 \n 0s beating 5m \n 25m"),
        Degraded,
        "the document's hole between 20 and 30"
    );
    assert_eq!(state("0s checkpoint c1 \n 0s beating 5m \n 30m"), Degraded, "more than 30 minutes, not 30");
    assert_eq!(state("0s checkpoint c1 \n 0s beating 5m \n 30m1s"), Stuck);
    assert_eq!(state("0s checkpoint c1 \n 0s beating 5m \n 40m checkpoint c2"), Healthy);
}

#[test]
fn l04_thresholds_are_per_role() {
    let mut policies = Policies::default();
    let mut slow = verger_core::policy::Role::named("slow");
    slow.progress.degraded_after = Span::hours(1);
    slow.progress.stuck_after = Span::hours(2);
    assert!(policies.set(slow));
    let script = "0s spawn role=slow \n 0s checkpoint c1 \n 0s beating 5m";
    let at =
        |time: &str| Timeline::new(policies.clone()).play(&format!("{script} \n {time}")).view("a").state;
    assert_eq!(at("59m"), Healthy);
    assert_eq!(at("1h1m"), Degraded);
    assert_eq!(at("2h1m"), Stuck);
}

#[test]
fn l05_more_than_a_quarter_failing_is_degraded_and_recovers() {
    assert_snapshot!(run("
        0s..9s/1s    call good$N
        10s          call bad1 -> e1 failed
        11s          call bad2 -> e2 failed
        12s          call good11
        13s          call bad3 -> e3 failed
        14s          call bad4 -> e4 failed
        15s..40s/1s  call better$N
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    14s HEALTHY -> DEGRADED: 26.6 % of recent calls failed (limit 25 %)
    30s DEGRADED -> HEALTHY
    ");
}

#[test]
fn l05_a_few_failures_are_no_rate() {
    assert_eq!(state("0s call a -> e1 failed \n 1s call b -> e2 failed \n 2s call c -> e3 failed"), Healthy);
}

#[test]
fn l05_more_than_three_failures_in_a_row_alike_fail_and_a_success_ends_it() {
    let three = "0s..2s/1s call build$N -> broken failed";
    assert_eq!(state(three), Healthy);
    let four = format!("{three} \n 3s call build$N -> broken failed");
    assert_eq!(state(&four), Failing);
    assert_eq!(state(&format!("{four} \n 4s call build -> fine \n 5s call test -> green")), Healthy);
}

#[test]
fn l05_the_same_call_once_more_is_a_retry_and_reminded_before_it_is_failing() {
    let three = "0s..2s/1s call build -> broken failed";
    assert_eq!(state(three), Healthy);
    let four = after(&format!("{three} \n 3s call build -> broken failed"));
    assert_eq!(four.view("a").state, Degraded);
    assert_eq!((four.count("=> nudge"), four.count("=> escalate")), (1, 0), "{}", four.so_far());
    let five = four.play("4s call build -> broken failed");
    assert_eq!(five.view("a").state, Failing);
    assert_eq!((five.count("=> nudge"), five.count("=> escalate")), (1, 1), "{}", five.so_far());
    assert_eq!(five.play("5s call build -> fine \n 6s call test -> green").view("a").state, Healthy);
}

#[test]
fn l05_an_unrecoverable_error_is_failing_until_something_succeeds() {
    assert_eq!(state("0s beat \n 1s error disk unrecoverable"), Failing);
    assert_eq!(state("0s beat \n 1s error disk unrecoverable \n 2s call df -> fine"), Healthy);
}

#[test]
fn l05_failing_skips_nudges_and_asks_people() {
    let timeline = after("0s..3s/1s call build$N -> broken failed \n 1h");
    assert_eq!(timeline.count("=> nudge"), 0);
    assert_eq!(timeline.count("=> escalate"), 1);
    assert_eq!(timeline.count("=> stop"), 0);
}

#[test]
fn l06_the_same_call_with_the_same_result_is_stuck_and_diverse_calls_are_healthy() {
    assert_eq!(state("0s..20s/10s call ls -> nothing"), Healthy, "three times are impatience");
    assert_eq!(state("0s..30s/10s call ls -> nothing"), Degraded, "four are a warning sign");
    assert_eq!(state("0s..40s/10s call ls -> nothing"), Stuck);
    assert_eq!(state("0s..10m/10s call step$N -> result$N"), Healthy);
}

#[test]
fn l06_alternations_and_cycles_up_to_six_are_loops() {
    for length in 2..=6_u64 {
        let laps = lines(0..length * 4, |n| format!("{n}s call c{} -> r{}\n", n % length, n % length));
        assert_eq!(state(&laps), Stuck, "a cycle of {length}");
    }
}

#[test]
fn l06_polling_paging_and_testing_after_edits_are_progress() {
    assert_eq!(state("0s..10m/10s call status -> step$N"), Healthy, "the same call with changing results");
    assert_eq!(state("0s..10m/10s call page$N -> rows"), Healthy, "the next page with the same result");
    assert_eq!(
        state("0s..30m/10s poll ready -> not-yet failed"),
        Healthy,
        "waiting for a build, for half an hour"
    );
    let edits = lines(0..40, |n| format!("{0}s call edit{n} -> ok\n{0}s call test -> red failed\n", n * 10));
    assert_ne!(state(&edits), Stuck, "the same test after each edit is no loop");
}

#[test]
fn l06_polling_without_any_change_has_its_patience_too() {
    assert_eq!(state("0s..3h/1m poll ready -> not-yet"), Healthy);
    assert_eq!(state("0s..5h/1m poll ready -> not-yet"), Stuck);
}

#[test]
fn l06_copies_of_one_calls_end_are_one_call() {
    assert_eq!(state("0s start ls \n 1s finish ls \n 2s..9s/1s copy ls"), Healthy);
}

#[test]
fn l07_no_tool_call_for_fifteen_minutes_is_stuck() {
    let at_work = "0s assign t \n 0s model-starts \n 0s model-ends \n 0s call a \n 0s beating 5m";
    assert_eq!(state(&format!("{at_work} \n 14m59s")), Healthy);
    assert_eq!(state(&format!("{at_work} \n 15m1s")), Stuck);
    assert_eq!(state(&format!("{at_work} \n 20m call b")), Healthy);
    let thinks_unseen = "0s assign t \n 0s call a \n 0s beating 5m";
    assert_eq!(
        state(&format!("{thinks_unseen} \n 29m59s")),
        Healthy,
        "it may be thinking, and does not say so"
    );
    assert_eq!(state(&format!("{thinks_unseen} \n 30m1s")), Stuck);
}

#[test]
fn l07_busy_in_flight_waiting_for_a_person_and_no_work_are_not_silence() {
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m status busy for=40m \n 30m"),
        Healthy,
        "busy for a time"
    );
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m status busy \n 16m1s"),
        Healthy,
        "busy"
    );
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m start build \n 40m"),
        Healthy,
        "in flight"
    );
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m start build limit=50m \n 50m"),
        Healthy,
        "within its limit"
    );
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m status waiting on=person \n 8h"),
        Healthy,
        "a person"
    );
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m end-task t \n 1m status idle \n 2d"),
        Healthy,
        "idle"
    );
    assert_eq!(
        state("0s assign t \n 0s call a \n 0s beating 5m \n 1m end-task t \n 1h"),
        Healthy,
        "no work any more"
    );
}

#[test]
fn l08_a_spike_degrades_alone_and_calms_down() {
    let usual = "0s..30m/1m tokens 1000 \n ";
    assert_eq!(state(&format!("{usual} 31m..36m/1m tokens 1100")), Healthy, "steady");
    assert_eq!(state(&format!("{usual} 31m tokens 90000 \n 32m tokens 1000")), Healthy, "one large file");
    assert_eq!(state(&format!("{usual} 31m..41m/1m tokens 90000")), Degraded, "a runaway");
    assert_eq!(state(&format!("{usual} 31m..41m/1m tokens 90000 \n 42m..56m/1m tokens 1000")), Healthy);
    assert_eq!(state(&format!("{usual} 31m..41m/1m tokens 90000 \n 60m")), Healthy, "and does not latch");
}

#[test]
fn l08_nothing_is_judged_before_the_warm_up() {
    assert_eq!(state("0s..5m/1m tokens 100 \n 6m..9m/1m tokens 500000"), Healthy);
}

#[test]
fn l08_a_stop_is_only_a_note_until_another_family_agrees() {
    let usual = "0s beat \n 0s..30m/1m tokens 1000 \n 30m beating 5m \n";
    assert_eq!(state(&format!("{usual} 50m")), Healthy, "an anomaly of consumption alone");
    let with_streak = format!("{usual} 46m status degraded \n 50m");
    assert_eq!(state(&with_streak), Degraded);
}

/// The state after a script with a window that is full from the start, where an hour and thirty steps are borne.
fn exhausted(script: &str) -> HealthState {
    let mut policies = Policies::default();
    policies.each(|role| (role.context.standstill, role.context.steps) = (Span::hours(1), 30));
    let full = "0s beat context=97/100 \n 0s beating 5m context=97/100 \n";
    Timeline::new(policies).play(&format!("{full} {script}")).view("a").state
}

#[test]
fn l09_a_full_context_without_a_handoff_is_stuck() {
    assert_eq!(exhausted("10m"), Healthy, "there is time to deal with it");
    assert_eq!(exhausted("11m"), Degraded, "a warning: it may still finish what it is about");
    assert_eq!(exhausted("59m"), Degraded);
    assert_eq!(exhausted("1m call look -> r \n 2h"), Degraded, "it may wait for something");
    assert_eq!(exhausted("1m call look -> r \n 2m..40m/1m says h$N \n 1h"), Stuck, "it goes on in vain");
    assert_eq!(exhausted("3h59m"), Degraded, "where no steps can be seen, it may wait for long");
    assert_eq!(exhausted("4h"), Stuck, "and then time decides");
    for dealt_with in ["handoff", "compaction"] {
        assert_eq!(exhausted(&format!("241m {dealt_with}")), Healthy, "a {dealt_with} clears it");
        let never_came = exhausted(&format!("4h1m {dealt_with} \n 8h2m"));
        assert_eq!(never_came, Stuck, "a {dealt_with} that never comes is no free pass");
    }
    let working = exhausted("1m..2h/1m checkpoint c$N");
    assert_eq!(working, Degraded, "a full window in which work goes on is not exhausted");
}

#[test]
fn l09_exhaustion_is_many_steps_with_a_full_window_and_nothing_lasting() {
    assert_eq!(exhausted("1m..59m/1m call look$N -> r$N"), Degraded, "an hour is given");
    assert_eq!(exhausted("1m..60m/1m call look$N -> r$N"), Stuck);
    assert_eq!(exhausted("3m..87m/3m call look$N -> r$N"), Degraded, "29 steps are few");
    assert_eq!(exhausted("3m..90m/3m call look$N -> r$N"), Stuck, "30 are not");
    let saved = "1m..30m/1m call look$N -> r$N \n 30m checkpoint c1 \n 31m..89m/1m call look$N -> r$N";
    assert_eq!(exhausted(saved), Degraded, "what was saved counts from then on");
}

#[test]
fn l09_an_idle_agent_may_keep_its_full_window() {
    assert_eq!(
        state("0s beat context=97/100 \n 0s beating 5m context=97/100 \n 1s status idle \n 3h"),
        Healthy
    );
}

#[test]
fn l10_changed_files_and_better_tests_are_progress() {
    let stale = "0s checkpoint c1 \n 0s beating 5m \n 9m ";
    assert_eq!(state(&format!("{stale} output files=2 \n 15m")), Healthy);
    assert_eq!(state(&format!("{stale} output passed=10 failed=2 \n 15m")), Healthy);
    assert_eq!(state(&format!("{stale} output files=0 \n 15m")), Degraded, "nothing changed");
}

#[test]
fn l10_the_same_tests_again_are_no_progress() {
    let tests = "0s output passed=10 failed=2 \n 0s beating 5m \n 5m output passed=12 failed=0 \n 10m output passed=10 \
                 failed=2 \n 14m output passed=12 failed=0 \n";
    assert_eq!(state(&format!("{tests} 15m1s")), Degraded, "to and fro between two reports");
}

#[test]
fn l10_falling_tests_and_invisible_work_count_against_it_beside_another_finding() {
    let falling =
        "0s..3s/1s output passed=9 \n 10s output passed=8 \n 20s output passed=7 \n 30s output passed=6 \n";
    assert_eq!(state(falling), Healthy, "alone it is a note");
    let evidence = |script: &str| {
        let view = after(script).view("a");
        view.evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert_snapshot!(evidence(&format!("{falling} 31s status degraded")), @"passing tests fell 3 times in a row (limit 3); it says itself that it is degraded");
    let invisible = "0s output files=1 \n 1s..151s/1s call look$N -> r$N \n 152s status degraded";
    assert_snapshot!(evidence(invisible), @"151 calls without a changed file (limit 150); it says itself that it is degraded");
}

#[test]
fn l11_heartbeats_every_five_minutes_and_missing_ones_degrade_after_ten() {
    assert_snapshot!(run("
        0s    beat task=t1 tokens=10 errors=0 progress=1
        5m    beat task=t1 tokens=20 errors=0 progress=2
        15m1s
        20m   beat task=t1 tokens=30 errors=0 progress=3
    "), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    15m disconnected: unresponsive
    15m HEALTHY -> DEGRADED: no heartbeat for 10m (limit 10m)
    15m incident Silent
    15m => inquire
    20m classified recoverable
    20m DEGRADED -> STUCK: no answer to a status inquiry for 5m (limit 5m)
    20m incident Stuck
    20m escalated: no answer to a status inquiry for 5m (limit 5m)
    20m => escalate
    20m reconnected after 15m
    20m STUCK -> HEALTHY
    20m incident Silent over after 5m
    20m incident Stuck over after 0s
    20m escalation withdrawn
    ");
}

#[test]
fn l11_every_field_of_a_heartbeat_is_kept() {
    let view = after("0s beat task=t1 tokens=1200 errors=3 progress=4 context=10/100 busy for=10m").view("a");
    assert_eq!(view.task.as_ref().map(TaskId::as_str), Some("t1"));
    assert_eq!((view.metrics.tokens, view.metrics.errors, view.metrics.heartbeats), (1200, 3, 1));
    assert!(view.waiting_on.is_some());
}

#[test]
fn l11_errors_that_grow_from_heartbeat_to_heartbeat_degrade() {
    assert_eq!(
        state("0s beat errors=0 \n 5m beat errors=1 \n 10m beat errors=2 \n 15m beat errors=3"),
        Healthy
    );
    let growing =
        "0s beat errors=0 \n 5m beat errors=1 \n 10m beat errors=2 \n 15m beat errors=3 \n 20m beat errors=4";
    assert_eq!(state(growing), Healthy, "alone it is a note");
    let evidence = after(&format!("{growing} \n 20m status degraded")).view("a").evidence;
    assert!(
        evidence.iter().any(|found| found.sign == verger_core::evidence::Sign::ErrorCount),
        "{evidence:?}"
    );
}

#[test]
fn l07_who_shows_no_calls_is_stuck_once_it_uses_no_tokens_either() {
    let with_tokens = "0s beat \n 0s beating 5m \n 1m checkpoint c1 \n 2m..50m/1m tokens 100";
    assert_eq!(state(&format!("{with_tokens} \n 59m59s")), Degraded);
    assert_eq!(state(&format!("{with_tokens} \n 61m")), Stuck, "between two beats, by itself");
}
