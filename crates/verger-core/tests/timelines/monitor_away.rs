//! The monitor was away: what was found before stands, and nobody is blamed for what was not seen. X01, H02.

use insta::assert_snapshot;
use verger_core::health::HealthState::{Failing, Healthy, Stuck, Terminated};

use crate::timeline::Timeline;

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

/// Says when it calls a tool and when it asks the model: STUCK when it has called none for fifteen minutes.
const AT_WORK: &str =
    "0s beat \n 0s assign t \n 0s beating 5m \n 0s model-starts \n 0s model-ends \n 0s call a \n";

#[test]
fn x01_a_standstill_that_was_found_stands_when_the_monitor_was_away() {
    let found = after(&format!("{AT_WORK} 16m monitor-back 1m \n 50m"));
    assert_eq!(found.view("a").state, Stuck, "{}", found.so_far());
    assert_eq!((found.count("incident Stuck"), found.count("incident Stuck over")), (1, 0));
    assert_eq!(found.play("51m call b").view("a").state, Healthy, "until something else is heard of it");
}

#[test]
fn x01_a_standstill_that_was_not_found_yet_gets_more_time_when_the_monitor_was_away() {
    let unsure = after(&format!("{AT_WORK} 14m monitor-back 1m \n 1h29m"));
    assert_eq!(unsure.count("HEALTHY ->"), 0, "a call may have begun unseen:\n{}", unsure.so_far());
    assert_eq!(unsure.play("1h30m").view("a").state, Stuck, "as much as a call may take");
}

/// It was heard for the last time at 10m, the monitor comes back at 12m, and nobody listens any more.
fn gone(doing: &str) -> Timeline {
    after(&format!(
        "0s beat \n 0s beating 5m \n 0s call a \n 1m {doing} \n 12m still \n 12m monitor-back 1m \n \
         23m1s outcome refused \n 1h"
    ))
}

#[test]
fn h02_x01_an_idle_agent_that_was_gone_when_the_monitor_came_back_ends_without_an_incident() {
    let idle = gone("status idle");
    assert_snapshot!(idle.so_far(), @"
    0s registered
    0s UNKNOWN -> HEALTHY
    23m disconnected: unresponsive
    23m HEALTHY -> DEGRADED: no heartbeat for 13m (limit 10m)
    23m => inquire
    28m DEGRADED -> TERMINATED
    28m ended: it ended while the monitor was away
    ");
    assert_eq!((idle.view("a").state, idle.count("incident")), (Terminated, 0));
}

#[test]
fn h02_x01_an_agent_at_work_that_was_gone_when_the_monitor_came_back_is_missed() {
    let at_work = gone("call b");
    assert_eq!(at_work.view("a").state, Failing, "{}", at_work.so_far());
    assert_eq!((at_work.count("incident Silent"), at_work.count("incident Failing")), (1, 1));
    assert_eq!((at_work.count("=> escalate"), at_work.count("ended")), (1, 0));
}
