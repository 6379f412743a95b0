use std::collections::BTreeMap;

use super::*;
use crate::record::{from_row, to_row};
use crate::stuck::{Role, ToolStep};
use crate::time::Span;

fn at(second: u64) -> Moment {
    Moment { now: Timestamp::ZERO + Span::secs(second), wall: WallTime(second.cast_signed() * 1_000) }
}

fn call(args: &str, result: &str) -> StepPrint {
    StepPrint::of_call(&ToolStep { tool: "bash", args, result, ..ToolStep::default() })
}

fn after(calls: u64) -> Steps {
    let mut steps = Steps::default();
    for second in 0..calls {
        steps.observe(at(second), Some(&"bash".into()), &call("make deploy", "nothing to be done"));
    }
    steps
}

#[test]
fn l21_identical_calls_weigh_what_they_are() {
    let policy = Policy::default();
    let severity = |calls| after(calls).finding(at(20).now, &policy).map(|found| found.severity);
    assert_eq!(severity(3), None);
    assert_eq!(severity(4), Some(Severity::Degraded));
    assert_eq!(severity(5), Some(Severity::Stuck));
    assert_eq!(after(3).repeats(), 0);
    assert_eq!(after(5).repeats(), 5);
    assert!(after(9).repeats() < 10 && 10 <= after(11).repeats(), "{}", after(9).repeats());
}

#[test]
fn l06_a_role_may_be_more_patient() {
    let patient = Policy { repeats: 8, repeats_stuck: 9, ..Policy::default() };
    assert_eq!(after(6).finding(at(20).now, &patient), None);
    assert!(after(12).finding(at(20).now, &patient).is_some());
}

#[test]
fn l06_what_was_long_ago_says_nothing_about_now() {
    let (policy, steps) = (Policy::default(), after(6));
    let stands = steps.deadline(&policy).expect("it stands for a while");
    assert!(steps.finding(stands, &policy).is_some());
    assert!(steps.finding(stands + Span::millis(1), &policy).is_none());
}

#[test]
fn x20_a_fold_of_its_rows_is_the_same() {
    let mut steps = after(6);
    steps.observe(at(7), None, &StepPrint::of_message(Role::User, "please look at something else for once"));
    steps.observe(at(8), Some(&"read".into()), &call("src/other.rs", "fn other has a body of its own"));
    steps.on_output(at(9), 1, Some(4), None);
    let rows: Vec<_> = steps.take_unsaved().collect();
    assert_eq!(rows.len(), 9);
    assert_eq!(Steps::recall(None, rows), steps);
}

/// What is on disk of the steps of one agent.
#[derive(Default)]
struct Disk {
    before: Option<Vec<u8>>,
    ring: BTreeMap<u8, Vec<u8>>,
}

impl Disk {
    fn write(&mut self, steps: &mut Steps) {
        if let Some(before) = steps.take_before() {
            self.before = Some(to_row(&*before));
        }
        self.ring.extend(steps.take_unsaved().map(|kept| (kept.place(), to_row(&kept))));
    }

    fn read(&self) -> Steps {
        let before = self.before.as_ref().map(|bytes| from_row(bytes).expect("what was written"));
        let ring = self.ring.values().map(|bytes| from_row(bytes).expect("what was written")).collect();
        Steps::recall(before, ring)
    }
}

/// What an agent may do, one after the other: work, loops, words, outputs, rest.
fn do_something(steps: &mut Steps, number: u64) {
    let (now, new) = (at(number), format!("part {number} of it"));
    let tool = |name: &str| Some(ToolName::from(name));
    match number % 83 {
        0..=20 => {
            steps.observe(now, tool("read").as_ref(), &call(&new, &format!("word{number} says{number}")));
        }
        21..=70 => {
            steps.observe(now, tool("bash").as_ref(), &call(&format!("find {new}"), "nothing was found"));
        }
        71 => steps.on_output(now, 2, None, None),
        72 => {
            steps.observe(now, None, &StepPrint::of_message(Role::User, &format!("look at {new}")));
        }
        82 if number.is_multiple_of(2) => steps.begin_anew(now),
        _ => {
            steps.observe(now, tool("bash").as_ref(), &call("make", "the same error again and again"));
        }
    }
}

#[test]
fn x20_a_restart_at_any_step_changes_nothing_however_long_it_went_on() {
    for written_every in [1, 7, 63, 64, 65, 200] {
        let (mut steps, mut disk) = (Steps::default(), Disk::default());
        for number in 0..900 {
            do_something(&mut steps, number);
            if number % written_every == 0 {
                disk.write(&mut steps);
                assert_eq!(disk.read(), steps, "step {number}, written every {written_every}");
            }
        }
    }
}

#[test]
fn x20_rows_that_cannot_be_written_do_not_pile_up() {
    for calls in [64, 65, 127, 128, 500] {
        let steps = after(calls);
        assert!(steps.unsaved.len() <= KEPT as usize, "{}", steps.unsaved.len());
        assert!(steps.before.is_none_or(|before| before.before.is_none() && before.unsaved.is_empty()));
        assert_eq!(after(calls).rows(), KEPT);
    }
}

#[test]
fn x20_one_agent_takes_16_kilobytes() {
    let named = NAMED * size_of::<Label>() + crate::stuck::STEPS_MAX * size_of::<NamedStep>();
    let bytes = size_of::<Steps>() + size_of::<Detector>() + named;
    assert!(bytes <= 16 * 1024, "{bytes} bytes");
}
