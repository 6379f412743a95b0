use super::*;
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
    let again = Steps::recall(rows);
    assert_eq!((again.judgement, again.next, again.last), (steps.judgement, steps.next, steps.last));
    assert_eq!((&again.detector, &again.stretch), (&steps.detector, &steps.stretch));
}

#[test]
fn x20_rows_that_cannot_be_written_do_not_pile_up() {
    let steps = after(500);
    assert_eq!(steps.unsaved.len(), KEPT as usize);
    assert_eq!(steps.rows(), KEPT);
}

#[test]
fn x20_one_agent_takes_16_kilobytes() {
    let named = NAMED * size_of::<Label>() + crate::stuck::STEPS_MAX * size_of::<NamedStep>();
    let bytes = size_of::<Steps>() + size_of::<Detector>() + named;
    assert!(bytes <= 16 * 1024, "{bytes} bytes");
}
