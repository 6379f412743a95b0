//! Whether an agent should be given work now: X16, apart from its health.

use verger_core::health::HealthState::Healthy;

use crate::timeline::Timeline;

fn view(script: &str) -> verger_core::AgentView {
    Timeline::default().play(script).view("a")
}

#[test]
fn x16_a_healthy_idle_agent_is_ready() {
    assert!(view("0s channel \n 0s activity \n 1h").ready);
    assert!(view("0s beat \n 1s status idle").ready);
    assert!(
        view("0s beat \n 0s assign t \n 1s call a \n 2s end-task t \n 3s status idle").ready,
        "done with its work"
    );
}

#[test]
fn x16_a_healthy_agent_at_work_is_not_ready() {
    for word in [
        "status busy",
        "status busy for=10m",
        "start build",
        "model-starts",
        "sub-starts 1",
        "assign t",
        "status waiting on=person",
        "outage for=10m",
    ] {
        let view = view(&format!("0s beat \n 1s {word}"));
        assert_eq!((view.state, view.ready), (Healthy, false), "{word}");
    }
}

#[test]
fn x16_an_agent_in_doubt_gets_no_work() {
    for script in [
        "0s spawn",
        "0s beat \n 1s status degraded",
        "0s beat \n 11m",
        "0s..40s/10s call ls -> nothing",
        "0s beat \n 1s exit code=0",
        "0s beat \n 1s order terminate",
        "0s beat \n 1s order escalate",
    ] {
        assert!(!view(script).ready, "{script}");
    }
}

#[test]
fn x16_an_agent_that_asks_to_hand_over_gets_no_more_work() {
    assert!(!view("0s beat \n 1s handoff").ready);
}

#[test]
fn x16_readiness_comes_back() {
    assert!(view("0s beat \n 1s start build \n 9s finish build").ready);
    assert!(view("0s beat \n 11m beat").ready);
    assert!(view("0s beat \n 1s status degraded \n 2s status healthy").ready);
}
