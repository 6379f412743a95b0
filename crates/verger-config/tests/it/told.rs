//! Everything that is wrong is told at once, where it is, with what was probably meant.

use std::fmt::Write as _;

use crate::{loaded, wrong};

#[test]
fn every_error_is_told_at_once_as_a_person_would_like_it() {
    let text = "\
health_monitoring:
  heartbeat:
    intervall_seconds: 300
    timeout_seconds: ten minutes
  intervention:
    nudge: {max_attempts: 300}
  intervention:
mode: fulll
heartbeat: {}
recovery:
  jitter_percent: 130%
";
    insta::assert_snapshot!(loaded(text).unwrap_err(), @"
    verger.yaml:3:5: unknown key `intervall_seconds`
      |
    3 |     intervall_seconds: 300
      |     ^^^^^^^^^^^^^^^^^
      = did you mean `interval_seconds`?
    verger.yaml:4:22: `timeout_seconds` is wrong: `ten minutes` is no duration; write one such as `90s`, `10m`, `2h` or `1d`
      |
    4 |     timeout_seconds: ten minutes
      |                      ^^^^^^^^^^^
    verger.yaml:6:27: `max_attempts` must be from 0 to 255
      |
    6 |     nudge: {max_attempts: 300}
      |                           ^^^
    verger.yaml:7:3: `intervention` stands twice
      |
    7 |   intervention:
      |   ^^^^^^^^^^^^
      = it is set in line 5 already; keep one of the two
    verger.yaml:8:7: `mode` must be `observe`, `nudge`, `escalate` or `full`, not the text `fulll`; did you mean `full`?
      |
    8 | mode: fulll
      |       ^^^^^
    verger.yaml:9:1: unknown key `heartbeat`
      |
    9 | heartbeat: {}
      | ^^^^^^^^^
      = `heartbeat` belongs under `health_monitoring`
    verger.yaml:11:19: `jitter_percent` must be from 0% to 100%
       |
    11 |   jitter_percent: 130%
       |                   ^^^^
    ");
}

#[test]
fn combinations_that_cannot_be_meant_are_refused() {
    let told = |text: &str| wrong(text);
    let mut all = String::new();
    for text in [
        "roles: {a: {progress: {degraded_after: 40m}}}",
        "roles: {a: {progress: {degraded_after: 9m, stuck_after: 8m}}}",
        "health_monitoring: {heartbeat: {interval_seconds: 900}}",
        "roles: {a: {liveness: {pings: {timeout: 5s}}}}",
        "judge: {high_at: 30}",
        "breakers: {tool: {window: 10}}",
        "breakers: {api: {slow_rate: 50%}}",
        "recovery: {attempts_max: 2}\nhealth_monitoring: {recovery: {max_attempts_per_task: 4}}",
        "breakers: {tool: {failure_threshold: 2}}\nhealth_monitoring: {circuit_breaker: {overrides: {tool_execution: {failure_threshold: 4}}}}",
        "listen: 0.0.0.0:8374",
        "access: {tls: {cert: a.pem}}",
        "notify: {cwd: /tmp}",
        "orchestrator: {webhook: {secret_file: s}}",
        "spawn: {command: [a], webhook: {url: 'http://h'}}",
        "termination: {}",
        "agents: {a1: {role: activ}}",
    ] {
        let _ = writeln!(all, "{}", told(text));
    }
    insta::assert_snapshot!(all, @"
    1:40 `roles.a.progress.degraded_after` (40m) must not be more than `roles.a.progress.stuck_after` (30m by default)
    1:57 `roles.a.progress.degraded_after` (9m) must not be more than `roles.a.progress.stuck_after` (8m)
    1:51 `roles.default.liveness.beats.interval` (15m) must not be more than `roles.default.liveness.beats.timeout` (10m by default)
    1:41 `roles.a.liveness.pings.timeout` (5s) must not be more than `roles.a.liveness.pings.interval` (2s by default)
    1:18 `judge.high_at` (30) must not be more than `judge.critical_at` (20 by default)
    1:27 `breakers.tool.minimum_calls` (20 by default) must not be more than `breakers.tool.window` (10)
    1:29 `breakers.api.slow_rate` means nothing without `slow_after` (set `breakers.api.slow_after`)
    2:55 this sets `recovery.attempts_max` for the second time (it is set in line 1 already; keep one of the two)
    2:87 this sets `breakers.tool.failure_threshold` for the second time (it is set in line 1 already; keep one of the two)
    1:9 listening at 0.0.0.0:8374, beyond this machine, needs `access.tls` (give `access.tls` a `cert` and a `key`, or start it with `--insecure`)
    1:10 `access.tls` needs both `cert` and `key`
    1:1 `notify` needs a `command`
    1:16 `orchestrator.webhook` needs a `url`
    1:1 `spawn` has both a `command` and a `webhook`; keep one
    1:1 `termination` needs a `command` or a `webhook`
    1:21 there is no role `activ` (did you mean `active`?)
    ");
}

#[test]
fn a_value_that_is_wrong_is_not_also_missing() {
    assert_eq!(wrong("notify: {command: rm -rf x}").lines().count(), 1);
    assert_eq!(wrong("access: {tls: {cert: 5, key: k}}").lines().count(), 1);
}

#[test]
fn a_file_of_another_shape_is_refused() {
    assert_eq!(wrong("- a\n- b\n"), "1:1 the file must be a section, not a list");
    assert_eq!(wrong("hello"), "1:1 the file must be a section, not the text `hello`");
    assert!(loaded("# nothing yet\n").is_ok());
    assert!(loaded("health_monitoring:\n  # heartbeat:\n").is_ok(), "a section with nothing in it is empty");
}
