//! L42, X01: a monitor that is paused, restarted or given another time blames nobody for it.
//!
//! Nothing is wrong with these worlds, and everything with their monitor.

use verger_sim::harness::{CrashPoint, Finished, MonitorFault, MonitorFaults, Options, run_with};
use verger_sim::world::SimTime;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

fn run(script: Vec<(SimTime, MonitorFault)>) -> Finished {
    let options = Options { seed: 11, days: 0.5, agents: 40, faults: false, ..Options::default() };
    run_with(&options, MonitorFaults::scripted(script), &mut (), &mut ())
}

/// Alarms for silence about agents of whom nothing was ever wrong.
fn blamed(finished: &Finished) -> Vec<String> {
    let silent = finished.judgement.false_alarms().filter(|alarm| alarm.silence.is_some());
    silent.map(|alarm| format!("{} {}: {}", alarm.began, alarm.agent, alarm.reason)).collect()
}

fn every_two_hours(fault: &MonitorFault) -> Vec<(SimTime, MonitorFault)> {
    (1..6).map(|nth| (SimTime(nth * 2 * HOUR), fault.clone())).collect()
}

#[test]
fn a_monitor_paused_for_an_hour_blames_nobody() {
    let finished = run(every_two_hours(&MonitorFault::Pause(HOUR)));
    assert_eq!(finished.report.monitor.pauses, 5);
    assert!(finished.report.monitor.blind_seconds >= 5.0 * 3_600.0);
    assert_eq!(blamed(&finished), Vec::<String>::new());
}

#[test]
fn a_monitor_that_was_down_for_an_hour_blames_nobody() {
    let crash = MonitorFault::Crash { point: CrashPoint::Idle, down: HOUR, reboot: true };
    let finished = run(every_two_hours(&crash));
    assert_eq!(finished.report.monitor.restarts, 5);
    assert_eq!(blamed(&finished), Vec::<String>::new());
}

#[test]
fn a_monitor_whose_disk_blocks_or_fails_blames_nobody() {
    let mut script = every_two_hours(&MonitorFault::SlowDisk(vec![30_000; 20]));
    script.extend((1..6).map(|nth| {
        (SimTime(nth * 2 * HOUR + HOUR), MonitorFault::FailingDisk { times: 500, written: true })
    }));
    script.sort_by_key(|(at, _)| *at);
    assert_eq!(blamed(&run(script)), Vec::<String>::new());
}

#[test]
fn a_wall_clock_that_jumps_changes_no_decision_at_all() {
    let steps = [6 * HOUR.cast_signed(), -12 * HOUR.cast_signed(), 90 * MINUTE.cast_signed()];
    let script = steps
        .into_iter()
        .enumerate()
        .map(|(nth, step)| (SimTime((nth as u64 + 1) * 2 * HOUR), MonitorFault::StepWall(step)));
    assert_eq!(run(script.collect()).digest, run(vec![]).digest);
}
