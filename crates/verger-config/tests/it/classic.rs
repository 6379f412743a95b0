//! L51: the configuration of 000 §7 loads unchanged, and every key of it changes what it is about.

use verger_config::Configuration;
use verger_core::breaker;
use verger_core::intervention::Limit;
use verger_core::policy::Mode;
use verger_core::time::Span;

use crate::{right, role};

const CLASSIC: &str = include_str!("../fixtures/000-section-7.yaml");

#[test]
fn l51_the_document_of_000_loads_unchanged_and_says_what_the_core_says_by_default() {
    let (mut classic, mut default) = (right(CLASSIC), right(""));
    assert_eq!(role(&classic, "default").mode, Mode::Full, "it names termination");
    classic.policies.each(|role| role.mode = Mode::Escalate);
    assert_eq!(classic.policies, default.policies);
    default.policies.each(|role| assert_eq!(role.mode, Mode::Escalate));
    assert_eq!(classic.storage.evaluate_within, Some(Span::secs(60)));
}

#[test]
fn l51_alerting_is_kept_by_condition() {
    let alerting = right(CLASSIC).alerting;
    let names: Vec<_> = alerting.keys().map(String::as_str).collect();
    assert_eq!(names, ["circuit_breaker_open", "recovery_failed", "stuck_agent"]);
    assert_eq!(alerting["stuck_agent"].channels, ["slack", "pagerduty"]);
    assert_eq!(alerting["recovery_failed"].severity.as_deref(), Some("critical"));
    assert!(right("").alerting.is_empty());
}

/// One test for each key: what it is about is something else before, and as written after.
macro_rules! each_key_changes {
    ($($name:ident: $key:literal, $value:literal, |$it:ident| $what:expr, $is:expr;)*) => {$(
        #[test]
        fn $name() {
            let text = $key.rsplit('.').fold($value.to_owned(), |below, name| format!("{{{name}: {below}}}"));
            let what = |$it: &Configuration| $what.clone();
            let (before, after) = (what(&right("")), what(&right(&format!("health_monitoring: {text}"))));
            assert_ne!(before, $is, "the key would change nothing");
            assert_eq!(after, $is);
        }
    )*};
}

each_key_changes! {
    l51_enabled:
        "enabled", "false", |it| role(it, "critical").mode, Mode::Observe;
    l51_heartbeat_interval_seconds:
        "heartbeat.interval_seconds", "120", |it| role(it, "default").liveness.beats.interval, Span::secs(120);
    l51_heartbeat_timeout_seconds:
        "heartbeat.timeout_seconds", "301", |it| role(it, "default").liveness.beats.timeout, Span::secs(301);
    l51_health_check_interval_seconds:
        "health_check.interval_seconds", "5", |it| it.storage.evaluate_within, Some(Span::secs(5));
    l51_health_check_checkpoint_stale_threshold_seconds:
        "health_check.checkpoint_stale_threshold_seconds", "1200",
        |it| role(it, "active").progress.stuck_after, Span::secs(1200);
    l51_intervention_nudge_enabled:
        "intervention.nudge.enabled", "false", |it| role(it, "standby").intervention.nudge_enabled, false;
    l51_intervention_nudge_max_attempts:
        "intervention.nudge.max_attempts", "2", |it| role(it, "default").intervention.nudges_max, 2;
    l51_intervention_nudge_interval_seconds:
        "intervention.nudge.interval_seconds", "60",
        |it| role(it, "default").intervention.nudge_interval, Span::secs(60);
    l51_intervention_escalation_timeout_seconds:
        "intervention.escalation.timeout_seconds", "60",
        |it| role(it, "background").intervention.escalation_timeout, Span::secs(60);
    l51_intervention_termination_cleanup_timeout_seconds:
        "intervention.termination.cleanup_timeout_seconds", "5",
        |it| role(it, "default").intervention.cleanup_timeout, Span::secs(5);
    l51_intervention_termination_allows_it:
        "intervention.termination", "{}", |it| role(it, "default").mode, Mode::Full;
    l51_circuit_breaker_default_failure_threshold:
        "circuit_breaker.default.failure_threshold", "9",
        |it| all_breakers(it).map(|it| it.failure_threshold), [9; 5];
    l51_circuit_breaker_default_recovery_timeout_seconds:
        "circuit_breaker.default.recovery_timeout_seconds", "9",
        |it| all_breakers(it).map(|it| it.open_for), [Span::secs(9); 5];
    l51_circuit_breaker_default_half_open_requests:
        "circuit_breaker.default.half_open_requests", "2",
        |it| all_breakers(it).map(|it| it.half_open_requests), [2; 5];
    l51_circuit_breaker_overrides_tool_execution_failure_threshold:
        "circuit_breaker.overrides.tool_execution.failure_threshold", "9",
        |it| it.policies.breakers.tool.failure_threshold, 9;
    l51_circuit_breaker_overrides_tool_execution_recovery_timeout_seconds:
        "circuit_breaker.overrides.tool_execution.recovery_timeout_seconds", "9",
        |it| it.policies.breakers.tool.open_for, Span::secs(9);
    l51_circuit_breaker_overrides_checkpoint_write_failure_threshold:
        "circuit_breaker.overrides.checkpoint_write.failure_threshold", "9",
        |it| it.policies.breakers.checkpoint.failure_threshold, 9;
    l51_circuit_breaker_overrides_checkpoint_write_recovery_timeout_seconds:
        "circuit_breaker.overrides.checkpoint_write.recovery_timeout_seconds", "9",
        |it| it.policies.breakers.checkpoint.open_for, Span::secs(9);
    l51_recovery_max_attempts_per_task:
        "recovery.max_attempts_per_task", "1", |it| it.policies.recovery.attempts_max, 1;
    l51_recovery_max_attempts_per_hour:
        "recovery.max_attempts_per_hour", "2",
        |it| [it.policies.recovery.agent_limit, it.policies.recovery.fleet_limit],
        [Limit { count: 2, window: Span::hours(1) }; 2];
    l51_recovery_backoff_seconds:
        "recovery.backoff_seconds", "[1, 2m]",
        |it| it.policies.recovery.backoff, [Span::secs(1), Span::minutes(2)];
}

fn all_breakers(configuration: &Configuration) -> [&breaker::Policy; 5] {
    let breakers = &configuration.policies.breakers;
    [&breakers.tool, &breakers.checkpoint, &breakers.api, &breakers.recovery, &breakers.shared]
}

#[test]
fn l51_an_override_goes_before_the_default_of_breakers() {
    let text = "health_monitoring: {circuit_breaker: {default: {failure_threshold: 9},
                overrides: {external_api: {failure_threshold: 2}}}}";
    assert_eq!(all_breakers(&right(text)).map(|it| it.failure_threshold), [9, 9, 2, 9, 9]);
}

#[test]
fn l15_heartbeats_of_000_are_those_of_agents_without_a_role() {
    let configuration = right("health_monitoring: {heartbeat: {interval_seconds: 120}}");
    assert_eq!(role(&configuration, "critical").liveness, role(&right(""), "critical").liveness);
}

#[test]
fn l04_a_lower_limit_for_stuck_brings_the_warning_before_it_down() {
    let progress = |text: &str| role(&right(text), "default").progress.clone();
    let lower = progress("health_monitoring: {health_check: {checkpoint_stale_threshold_seconds: 90}}");
    assert_eq!((lower.degraded_after, lower.stuck_after), (Span::secs(30), Span::secs(90)));
    let higher = progress("health_monitoring: {health_check: {checkpoint_stale_threshold_seconds: 3600}}");
    assert_eq!(higher.degraded_after, Span::minutes(10), "a higher one does not move it");
}
