//! L51: every key of 000 §7 changes what the monitor does, seen from outside the core.
//!
//! The same story is played twice in virtual time, under the defaults and with one key set. `classic.rs` says what each
//! key sets; here it is what comes of it. Alerting comes with alerts. How late an evaluation may be
//! (`health_check.interval_seconds`) is the loop's, not the core's, and is shown where the loop is paced (verger-server).

use crate::right;
use crate::timeline::Timeline;

/// It saved something once, and beats on: it gets on with nothing.
const STALE: &str = "0s checkpoint c1 \n 0s beating 5m \n 3h";
/// The same, and all that is sent to it arrives.
const REMINDED: &str = "0s call a \n 0s checkpoint c1 \n 0s beating 5m \n 30m10s outcome delivered \n 40m20s outcome delivered \n
    50m30s outcome delivered \n 60m40s outcome delivered \n 2h";
/// It works on a task, saves it and crashes; so does each life after it.
const CRASHES: &str =
    "0s spawn task=t \n 1s beat \n 10s checkpoint c1 \n 30s exit signal=11 \n 31s surveyed c1 \n
    8m spawn task=t \n 8m beat \n 8m exit signal=11 \n 8m surveyed c1 \n
    16m spawn task=t \n 16m beat \n 16m exit signal=11 \n 16m surveyed c1 \n
    24m spawn task=t \n 24m beat \n 24m exit signal=11 \n 24m surveyed c1 \n 40m";
/// Recovery without a person, and to the second.
const UNATTENDED: &str = "recovery: {jitter_percent: 0}\nroles: {default: {mode: full, restart: recover}}\n";

fn log(configuration: &str, story: &str) -> String {
    Timeline::new(right(configuration).policies).play(story).log()
}

/// Plays a story without and with a key: the one says `before` and not `after`, the other the reverse. Either may be empty.
#[track_caller]
fn differs(base: &str, key: &str, value: &str, story: &str, before: &str, after: &str) {
    let below = key.rsplit('.').fold(value.to_owned(), |below, name| format!("{{{name}: {below}}}"));
    let without = log(base, story);
    let with = log(&format!("{base}health_monitoring: {below}\n"), story);
    let says = |log: &str, line: &str| log.lines().any(|known| known.starts_with(line));
    let told =
        |line: &str, one: &str, other: &str| line.is_empty() || (says(one, line) && !says(other, line));
    let right = told(before, &without, &with) && told(after, &with, &without);
    assert!(right, "{before} => {after}\n\nwithout:\n{without}\nwith:\n{with}");
    assert_ne!((before, after), ("", ""), "nothing would be shown");
}

/// One test for each key: what it stands on, the key, its value, a story, and what is said without and with it.
macro_rules! each_key_acts {
    ($($name:ident: $base:expr, $key:literal = $value:literal, $story:expr, $before:literal => $after:literal;)*) => {$(
        #[test]
        fn $name() {
            differs($base, $key, $value, $story, $before, $after);
        }
    )*};
}

each_key_acts! {
    l51_enabled_acts:
        "", "enabled" = "false", STALE, "30m => nudge 1" => "";
    l51_heartbeat_interval_acts:
        "", "heartbeat.interval_seconds" = "20", "0s checkpoint c1 \n 0s..12m/3m beat \n 13m",
        "10m HEALTHY -> DEGRADED" => "12m HEALTHY -> DEGRADED";
    l51_heartbeat_timeout_acts:
        "", "heartbeat.timeout_seconds" = "301", "0s beat \n 5m beat \n 1h",
        "15m disconnected" => "10m1s disconnected";
    l51_checkpoint_stale_threshold_acts:
        "", "health_check.checkpoint_stale_threshold_seconds" = "1200", STALE,
        "30m DEGRADED -> STUCK" => "20m DEGRADED -> STUCK";
    l51_nudge_enabled_acts:
        "", "intervention.nudge.enabled" = "false", STALE, "30m => nudge 1" => "30m => escalate";
    l51_nudge_max_attempts_acts:
        "", "intervention.nudge.max_attempts" = "1", STALE, "40m => nudge 2" => "40m => escalate";
    l51_nudge_interval_acts:
        "", "intervention.nudge.interval_seconds" = "60", STALE, "40m => nudge 2" => "31m => nudge 2";
    l51_escalation_timeout_acts:
        "mode: full\n", "intervention.escalation.timeout_seconds" = "60", REMINDED,
        "1h15m to be stopped" => "1h1m to be stopped";
    l51_termination_cleanup_timeout_acts:
        "", "intervention.termination.cleanup_timeout_seconds" = "5", "0s beat \n 1s order terminate \n 2s",
        "1s => stop within 30s" => "1s => stop within 5s";
    l51_termination_acts:
        "", "intervention.termination" = "{}", REMINDED, "" => "1h15m to be stopped";
    l51_breaker_failure_threshold_acts:
        "", "circuit_breaker.default.failure_threshold" = "2", &failures(3, ""),
        "3s breaker a/api/x CLOSED -> OPEN" => "2s breaker a/api/x CLOSED -> OPEN";
    l51_breaker_recovery_timeout_acts:
        "", "circuit_breaker.default.recovery_timeout_seconds" = "9", &failures(3, "5m acquire a/api/x"),
        "1m3s breaker a/api/x OPEN -> HALF_OPEN" => "12s breaker a/api/x OPEN -> HALF_OPEN";
    l51_breaker_half_open_requests_acts:
        "", "circuit_breaker.default.half_open_requests" = "2",
        &failures(3, "64s acquire a/api/x \n 65s acquire a/api/x"), "1m5s VG0341" => "1m5s may call";
    l51_tool_execution_failure_threshold_acts:
        "", "circuit_breaker.overrides.tool_execution.failure_threshold" = "2", TOOL_FAILS,
        "5s breaker a/tool/bash CLOSED -> OPEN" => "2s breaker a/tool/bash CLOSED -> OPEN";
    l51_tool_execution_recovery_timeout_acts:
        "", "circuit_breaker.overrides.tool_execution.recovery_timeout_seconds" = "9", TOOL_FAILS,
        "35s breaker a/tool/bash OPEN -> HALF_OPEN" => "14s breaker a/tool/bash OPEN -> HALF_OPEN";
    l51_checkpoint_write_failure_threshold_acts:
        "", "circuit_breaker.overrides.checkpoint_write.failure_threshold" = "1", WRITE_FAILS,
        "2m18s breaker a/checkpoint/store CLOSED -> OPEN" => "1s breaker a/checkpoint/store CLOSED -> OPEN";
    l51_checkpoint_write_recovery_timeout_acts:
        "breakers: {checkpoint: {failure_threshold: 1}}\n",
        "circuit_breaker.overrides.checkpoint_write.recovery_timeout_seconds" = "9", WRITE_FAILS,
        "2m1s breaker a/checkpoint/store OPEN -> HALF_OPEN" => "10s breaker a/checkpoint/store OPEN -> HALF_OPEN";
    l51_recovery_max_attempts_per_task_acts:
        UNATTENDED, "recovery.max_attempts_per_task" = "1", CRASHES,
        "8m #2 attempt 2 to recover t is planned" => "8m fleet people must look at t: all attempts were used up";
    l51_recovery_max_attempts_per_hour_acts:
        UNATTENDED, "recovery.max_attempts_per_hour" = "1", CRASHES,
        "10m #2 attempt 2 to recover t begins" => "10m fleet people must look at t";
    l51_recovery_backoff_acts:
        UNATTENDED, "recovery.backoff_seconds" = "[5]", CRASHES,
        "1m30s attempt 1 to recover t begins" => "35s attempt 1 to recover t begins";
}

/// Calls that fail, one each second.
fn failures(count: usize, then: &str) -> String {
    let calls = (1..=count).map(|at| format!("{at}s acquire a/api/x \n {at}s report a/api/x failed \n"));
    format!("0s spawn \n {} {then}", calls.collect::<String>())
}

const TOOL_FAILS: &str = "0s spawn \n 1s..5s/1s call c$N -> boom failed tool=bash \n 5m acquire a/tool/bash";
const WRITE_FAILS: &str = "0s spawn \n 1s submit a/checkpoint/store c1 \n 1s outcome failed \n 5m";
