use proptest::prelude::*;

use super::*;

/// One word per step, a minute apart: `a=1` is call `a` with result 1, `a` alone has result 0. A call in
/// capitals waits. `!` after a step is a failure, `a~` an outage, `person` a message.
fn run(script: &str) -> Repetition {
    let mut agent = Repetition::default();
    play(&mut agent, script);
    agent
}

fn play(agent: &mut Repetition, script: &str) {
    for word in script.split_whitespace() {
        if word == "person" {
            agent.reset();
            continue;
        }
        let now = agent.recent.iter().map(|step| step.at).max().unwrap_or_default() + Span::minutes(1);
        let (call, result) = step(word);
        agent.observe(now, call, result);
    }
}

fn step(word: &str) -> (CallPrint, ResultPrint) {
    let name = word.trim_end_matches(['!', '~']);
    let (call, result) = name.split_once('=').unwrap_or((name, "0"));
    let class = if call.chars().all(char::is_uppercase) { CallClass::Waiting } else { CallClass::Plain };
    let digest = call.bytes().fold(1, |digest, byte| digest * 256 + u64::from(byte));
    let result = ResultPrint {
        digest: result.parse().unwrap(),
        failed: word.ends_with(['!', '~']),
        outage: word.ends_with('~'),
        took: None,
    };
    (CallPrint { digest, class }, result)
}

fn found(agent: &Repetition) -> Option<(Sign, u32)> {
    let finding = agent.finding(Timestamp::ZERO, &Policy::default())?;
    let early = finding.sign == Sign::Repeats && finding.value == Measure::Count(4);
    assert_eq!(finding.severity, if early { Severity::Degraded } else { Severity::Stuck });
    assert!(agent.since().is_some());
    let Measure::Count(count) = finding.value else { panic!("repeats are counted") };
    Some((finding.sign, count as u32))
}

fn verdict(script: &str) -> Option<(Sign, u32)> {
    found(&run(script))
}

#[test]
fn l06_the_same_call_with_the_same_result_is_worth_a_word_at_four_and_a_loop_at_five() {
    assert_eq!(verdict("x y a a a"), None);
    assert_eq!(verdict("x y a a a a"), Some((Sign::Repeats, 4)));
    assert_eq!(verdict("x y a! a! a! a! a!"), Some((Sign::Repeats, 5)));
    assert_eq!(run("x y a a a a").since(), Some(Timestamp::ZERO + Span::minutes(3)));
}

#[test]
fn l06_alternation_and_cycles_up_to_six_calls_are_loops() {
    assert_eq!(verdict("a b a b a"), None);
    assert_eq!(verdict("a b a b a b"), Some((Sign::Cycle, 3)));
    assert_eq!(verdict("x a b c a b c a b c"), Some((Sign::Cycle, 3)));
    assert_eq!(verdict("a b c d e f a b c d e f a b c d e"), None);
    assert_eq!(verdict("a b c d e f a b c d e f a b c d e f"), Some((Sign::Cycle, 3)));
    assert_eq!(verdict("a a b a a b a a b"), Some((Sign::Cycle, 3)), "a lap may hold a call twice");
    assert_eq!(run("x a b a b a b").since(), Some(Timestamp::ZERO + Span::minutes(2)));
}

#[test]
fn l06_a_call_whose_result_changes_is_progress() {
    assert_eq!(verdict("a=1 a=2 a=3 a=4 a=5 a=6 a=7"), None, "paging");
    assert_eq!(verdict("A=1 A=1 A=1 A=2 A=2 A=2 A=3 A=3"), None, "polling");
    assert_eq!(verdict("a=1 b a=2 b a=3 b a=4 b"), None, "a cycle with one changing result");
    assert_eq!(verdict("a=1 a=2 a=1 a=2 a=1 a=2 a=1 a=2"), None, "one call is no cycle");
}

#[test]
fn l06_a_test_run_again_after_edits_is_no_repeat() {
    assert_eq!(verdict("ea t! eb t! ec t! ed t! ee t! ef t!"), None);
}

#[test]
fn l06_waiting_is_a_loop_only_after_its_patience() {
    assert_eq!(verdict(&"A ".repeat(241)), None);
    assert_eq!(verdict(&"A ".repeat(242)), Some((Sign::Repeats, 242)));
    assert_eq!(verdict(&"A b ".repeat(120)), None, "a lap with a wait in it is polling too");
    assert_eq!(verdict(&"A b ".repeat(121)), Some((Sign::Cycle, 121)));
    assert_eq!(
        verdict(&("A ".repeat(150) + "A=1 " + &"A ".repeat(150))),
        None,
        "any change begins a new wait"
    );
    assert_eq!(
        verdict(&("a ".repeat(90) + &"A ".repeat(9))),
        None,
        "a wait after a loop has its own patience"
    );
    assert_eq!(run(&"A ".repeat(90)).repeats(), 0, "the ladder does not count polls");
}

#[test]
fn l06_an_outage_is_not_a_loop() {
    assert_eq!(verdict("a~ a~ a~ a~ a~ a~ a~"), None);
    assert_eq!(verdict("a! a~ a! a~ a! a~ a!"), Some((Sign::Repeats, 4)), "nor does it break one");
}

#[test]
fn l06_a_loop_outlives_a_single_other_call() {
    assert_eq!(verdict("a a a a b"), Some((Sign::Repeats, 4)));
    assert_eq!(verdict("a a a a b a a"), Some((Sign::Repeats, 6)));
    assert_eq!(verdict("a a a a b c"), None, "two new calls are a change of course");
    assert_eq!(verdict("a a a b a"), None, "repeats that were never a loop are forgotten");
}

#[test]
fn l06_edits_between_runs_of_the_looping_test_end_the_loop() {
    assert_eq!(verdict("t! t! t! t! ea t! eb t! ec t!"), Some((Sign::Repeats, 7)));
    assert_eq!(verdict("t! t! t! t! ea t! eb t! ec t! ed"), None);
    assert!(verdict("t! t! t! t! ea t! t! t! t! eb t! t! t! t! ec t! t! t! t! ed").is_some());
}

#[test]
fn l06_a_person_s_message_ends_a_loop() {
    assert_eq!(verdict("a a a a person"), None);
    assert_eq!(verdict("a a a person a"), None);
    assert_eq!(verdict("a person a a a a"), Some((Sign::Repeats, 4)));
}

#[test]
fn a_loop_that_changes_its_lap_is_one_loop() {
    let agent = run("a a a a a a b a b a b");
    assert_eq!(found(&agent).map(|(sign, _)| sign), Some(Sign::Cycle));
    assert!(agent.repeats() >= 6, "the ladder does not begin anew");
    assert_eq!(agent.since(), Some(Timestamp::ZERO + Span::minutes(1)));
}

#[test]
fn l21_the_ladder_counts_laps() {
    assert_eq!(run("a b c").repeats(), 0);
    assert_eq!(run("a a a a a").repeats(), 5);
    assert_eq!(run(&"a b ".repeat(10)).repeats(), 10);
    assert_eq!(run(&"a ".repeat(500)).repeats(), 500);
}

#[test]
fn one_of_the_last_64_steps_is_known_and_an_older_one_fresh() {
    let mut agent = Repetition::default();
    let mut observe = |digest| {
        let call = CallPrint { digest, class: CallClass::Plain };
        agent.observe(
            Timestamp::ZERO,
            call,
            ResultPrint { digest: 0, failed: false, outage: false, took: None },
        )
    };
    assert!((0..64).all(|digest| observe(digest) == Novelty::Fresh));
    assert_eq!(observe(0), Novelty::Known);
    assert_eq!(observe(1), Novelty::Known);
    assert_eq!(observe(99), Novelty::Fresh);
    assert!((200..261).all(|digest| observe(digest) == Novelty::Fresh));
    assert_eq!(observe(2), Novelty::Fresh);
}

/// The rule itself, by rescanning: does the history end in enough equal laps?
fn ends_in_a_loop(steps: &[(u64, u64)]) -> bool {
    (1..=LAP_MAX).any(|period| {
        let laps = if period == 1 { 4 } else { 3 };
        let Some(start) = steps.len().checked_sub(laps * period) else { return false };
        let tail = &steps[start..];
        let equal = tail.iter().zip(&tail[period..]).all(|(step, next)| step == next);
        let calls_differ = tail[..period].iter().any(|step| step.0 != tail[0].0);
        equal && (period == 1 || calls_differ)
    })
}

proptest! {
    #[test]
    fn counting_step_by_step_finds_what_rescanning_finds(
        steps in prop::collection::vec((0..3u64, 0..2u64), 0..60)
    ) {
        let mut agent = Repetition::default();
        for length in 1..=steps.len() {
            let (call, result) = steps[length - 1];
            let call = CallPrint { digest: call, class: CallClass::Plain };
            agent.observe(Timestamp::ZERO, call, ResultPrint { digest: result, failed: false, outage: false, took: None });
            prop_assert_eq!(agent.firm().is_some(), ends_in_a_loop(&steps[..length]));
            if agent.firm().is_some() {
                prop_assert!(found(&agent).is_some());
            }
        }
    }

    #[test]
    fn a_new_result_is_always_fresh_and_diverse_work_never_a_loop(calls in prop::collection::vec(0..4u64, 1..200)) {
        let mut agent = Repetition::default();
        for (result, call) in (0..).zip(calls) {
            let call = CallPrint { digest: call, class: CallClass::Plain };
            let result = ResultPrint { digest: result, failed: result % 3 == 0, outage: false, took: None };
            prop_assert_eq!(agent.observe(Timestamp::ZERO, call, result), Novelty::Fresh);
            prop_assert_eq!(found(&agent), None);
        }
    }
}
