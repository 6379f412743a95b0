//! Roles: those of 001 by name, and users' own.

use verger_core::policy::Mode;
use verger_core::time::Span;

use crate::{right, role, wrong};

#[test]
fn r02_roles_of_001_are_changed_by_name_and_others_stay() {
    let configuration = right("roles: {critical: {progress: {stuck_after: 20m}, mode: full}}");
    let changed = role(&configuration, "critical");
    assert_eq!((changed.mode, changed.progress.stuck_after), (Mode::Full, Span::minutes(20)));
    assert_eq!(changed.liveness, role(&right(""), "critical").liveness, "it keeps its own timing");
    assert_eq!(role(&configuration, "active"), role(&right(""), "active"));
}

#[test]
fn r02_an_own_role_begins_with_what_it_extends() {
    let text = "roles:
  nightly: {extends: careful, mode: observe}
  careful: {extends: standby, intervention: {nudges_max: 1}}
  plain: {}
  default: {startup_grace: 1m}
";
    let configuration = right(text);
    let nightly = role(&configuration, "nightly");
    assert_eq!((nightly.mode, nightly.intervention.nudges_max), (Mode::Observe, 1));
    assert_eq!(nightly.liveness, role(&configuration, "standby").liveness);
    assert_eq!(
        role(&configuration, "plain").startup_grace,
        Span::minutes(1),
        "others begin with the default role"
    );
    assert_eq!(role(&configuration, "standby").startup_grace, Span::minutes(5));
}

#[test]
fn x12_a_role_says_its_mode_before_the_general_one_does() {
    let configuration = right(
        "mode: nudge\nroles: {critical: {mode: full}}\nhealth_monitoring: {intervention: {termination: {}}}",
    );
    assert_eq!(
        (role(&configuration, "critical").mode, role(&configuration, "active").mode),
        (Mode::Full, Mode::Nudge)
    );
}

#[test]
fn h07_pings_have_presets_and_can_be_switched_off() {
    let pings = |text: &str| {
        role(&right(&format!("roles: {{a: {{liveness: {{pings: {text}}}}}}}")), "a").liveness.pings.clone()
    };
    let tolerant = pings("{preset: high-tolerance, misses_max: 9}").unwrap();
    assert_eq!((tolerant.activity_timeout, tolerant.misses_max), (Span::secs(10), 9));
    assert_eq!(pings("{enabled: false}"), None);
    assert_eq!(pings("{enabled: false, interval: 9}"), None, "whatever else is said");
}

#[test]
fn l12_limits_of_a_role_are_those_of_everybody_where_it_does_not_say() {
    let text = "limits: {agent: {tokens: 5000, cost_usd: 2.5}}\nroles: {a: {limits: {tokens: 100}}, b: {limits: {cost_usd: none}}}";
    let configuration = right(text);
    let limits = |name| role(&configuration, name).limits.clone().unwrap();
    assert_eq!((limits("a").tokens, limits("a").cost_micros), (Some(100), Some(2_500_000)));
    assert_eq!((limits("b").tokens, limits("b").cost_micros), (Some(5000), None));
    assert_eq!(role(&configuration, "default").limits, None);
}

#[test]
fn roles_that_extend_nobody_or_each_other_are_refused() {
    assert_eq!(
        wrong("roles: {a: {extends: critcal}}"),
        "1:22 there is no role `critcal` (did you mean `critical`?)"
    );
    insta::assert_snapshot!(wrong("roles:\n  a: {extends: b}\n  b: {extends: c}\n  c: {extends: b}\n"), @r"
    2:16 `a` extends itself, by way of the roles that it extends
    3:16 `b` extends itself, by way of the roles that it extends
    4:16 `c` extends itself, by way of the roles that it extends
    ");
}
