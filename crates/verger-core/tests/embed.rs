//! H08: the example that embeds the core runs as part of the tests, so that it cannot rot.

#[path = "../examples/embed.rs"]
mod embed;

#[test]
fn h08_the_core_runs_inside_another_program_without_server_store_or_runtime() {
    insta::assert_snapshot!(embed::story().join("\n"), @"
    0s builder UNKNOWN -> HEALTHY
    0s reviewer UNKNOWN -> HEALTHY
    34s builder is unresponsive, event-loop-freeze
    34s builder HEALTHY -> DEGRADED 2 pings unanswered (limit 2)
    40s builder DEGRADED -> HEALTHY
    10m40s reviewer HEALTHY -> DEGRADED idle for 10m with work assigned (limit 10m)
    10m40s reviewer is told: REMINDER: You have been working for 10 minutes without checkpoint update. Please either:
    - Update your progress
    - Request handoff if stuck
    - Report blockers
    ");
}
