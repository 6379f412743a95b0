//! Checkpoints that cannot be written wait, and none is lost (L26).

use insta::assert_snapshot;
use verger_core::effect::Outcome;
use verger_core::policy::Policies;
use verger_core::signal::Body;

use crate::timeline::{Timeline, lines, run};

fn gates(log: &str) -> String {
    let about = |line: &&str| {
        ["breaker", "VG03", "restarted", "checkpoint", "write", "ended"]
            .iter()
            .any(|word| line.contains(word))
    };
    lines(log.lines().filter(about), ToOwned::to_owned)
}

#[test]
fn l26_checkpoints_are_written_in_order_one_at_a_time() {
    let script = "0s spawn
        1s submit a/checkpoint/s3 c1
        2s submit a/checkpoint/s3 c2
        2s submit a/checkpoint/s3 c2
        3s outcome delivered
        4s outcome delivered";
    assert_snapshot!(gates(&run(script)), @"
    1s => write c1, try 1
    2s checkpoint c2 waits behind 1
    3s checkpoint c1 written
    3s => write c2, try 1
    4s checkpoint c2 written
    ");
}

#[test]
fn l26_a_store_that_fails_is_tried_again_people_are_told_once_and_once_when_it_works() {
    let mut script =
        String::from("0s spawn \n 1s submit a/checkpoint/s3 c1 \n 2s submit a/checkpoint/s3 c2 \n");
    let mut timeline = Timeline::default().play(&script);
    // Whenever a write begins, it fails, until the store works.
    for minute in 1..=20 {
        timeline = timeline.play(&format!("{minute}m"));
        script = if minute < 15 { "outcome failed".into() } else { "outcome delivered".into() };
        timeline = timeline.play(&format!("{minute}m {script}"));
    }
    let log = gates(timeline.so_far());
    assert_snapshot!(log, @"
    1s => write c1, try 1
    2s checkpoint c2 waits behind 1
    1m5s => write c1, try 2
    2m11s => write c1, try 3
    3m breaker a/checkpoint/s3 CLOSED -> OPEN: 3 failures in a row
    5m breaker a/checkpoint/s3 OPEN -> HALF_OPEN: open for 2m, it may be tried again
    5m => write c1, try 4
    5m breaker a/checkpoint/s3 HALF_OPEN -> OPEN: the call that tried it failed
    6m checkpoints cannot be written, 2 wait
    7m breaker a/checkpoint/s3 OPEN -> HALF_OPEN: open for 2m, it may be tried again
    7m => write c1, try 5
    7m breaker a/checkpoint/s3 HALF_OPEN -> OPEN: the call that tried it failed
    9m breaker a/checkpoint/s3 OPEN -> HALF_OPEN: open for 2m, it may be tried again
    9m => write c1, try 6
    9m breaker a/checkpoint/s3 HALF_OPEN -> OPEN: the call that tried it failed
    11m breaker a/checkpoint/s3 OPEN -> HALF_OPEN: open for 2m, it may be tried again
    12m8s => write c1, try 7
    13m breaker a/checkpoint/s3 HALF_OPEN -> OPEN: the call that tried it failed
    15m breaker a/checkpoint/s3 OPEN -> HALF_OPEN: open for 2m, it may be tried again
    15m checkpoint c1 written
    15m checkpoints are written again after 14m
    15m => write c2, try 1
    16m breaker a/checkpoint/s3 HALF_OPEN -> OPEN: the call that tried it was never reported back
    16m checkpoint c2 written
    18m breaker a/checkpoint/s3 OPEN -> HALF_OPEN: open for 2m, it may be tried again
    ");
    assert!(timeline.fleet.writes().breakers().next().is_none(), "nothing waits any more");
}

#[test]
fn l26_nothing_that_waits_is_lost_by_a_restart_and_the_outcome_still_finds_its_checkpoint() {
    let script = "0s spawn
        1s submit a/checkpoint/s3 c1
        2s submit a/checkpoint/s3 c2
        3s restart
        4s monitor-back 10s
        5s outcome delivered
        6s restart
        7s outcome delivered";
    assert_snapshot!(gates(&run(script)), @"
    1s => write c1, try 1
    2s checkpoint c2 waits behind 1
    3s restarted
    5s checkpoint c1 written
    5s => write c2, try 1
    6s restarted
    7s checkpoint c2 written
    ");
}

#[test]
fn l26_what_an_agent_saved_is_written_after_its_end() {
    let script = "0s spawn
        1s submit a/checkpoint/s3 c1
        2s submit a/checkpoint/s3 c2
        3s exit code=1
        4s life 1
        5s outcome delivered
        6s outcome delivered";
    assert_snapshot!(gates(&run(script)), @"
    1s => write c1, try 1
    2s checkpoint c2 waits behind 1
    3s UNKNOWN -> TERMINATED: its process ended (1)
    3s ended: exited with code 1
    5s checkpoint c1 written
    5s => write c2, try 1
    6s checkpoint c2 written
    ");
}

#[test]
fn l26_a_write_whose_outcome_never_comes_is_tried_again() {
    let script = "0s spawn \n 1s submit a/checkpoint/s3 c1 \n 3m";
    assert_snapshot!(gates(&run(script)), @"
    1s => write c1, try 1
    1m6s => write c1, try 2
    2m18s => write c1, try 3
    ");
}

#[test]
fn l26_a_breaker_that_a_person_closes_lets_the_line_go_on_at_once() {
    let script = "0s spawn
        1s breaker a/checkpoint/s3 forced-open
        2s submit a/checkpoint/s3 c1
        3s reset a/checkpoint/s3";
    assert_snapshot!(gates(&run(script)), @"
    1s breaker a/checkpoint/s3: ada ordered SetMode(ForcedOpen)
    1s breaker a/checkpoint/s3 CLOSED -> OPEN: set from normal to forced-open
    2s checkpoint c1 waits behind 0
    3s breaker a/checkpoint/s3: ada ordered Reset
    3s breaker a/checkpoint/s3 OPEN -> CLOSED: reset by a person
    3s => write c1, try 1
    ");
}

#[test]
fn l26_what_a_store_will_never_take_or_a_person_gives_up_holds_nobody_back() {
    let script = "0s spawn
        1s submit a/checkpoint/s3 c1
        1s submit a/checkpoint/s3 c2
        1s submit a/checkpoint/s3 c3
        2s outcome rejected
        3s discard a/checkpoint/s3 c2
        4s outcome delivered
        5s discard a/checkpoint/s3 c2
        6s retry a/checkpoint/s3
        7s submit a/tool/bash c1
        8s submit nobody/checkpoint/s3 c1";
    assert_snapshot!(gates(&run(script)), @r#"
    1s => write c1, try 1
    1s checkpoint c2 waits behind 1
    1s checkpoint c3 waits behind 2
    2s checkpoint c1 given up
    2s => write c2, try 1
    3s breaker a/checkpoint/s3: ada ordered Discard(CheckpointId("c2"))
    3s checkpoint c2 given up
    3s => write c3, try 1
    4s checkpoint c3 written
    5s VG0344 no such checkpoint waits behind `a/checkpoint/s3`
    6s VG0344 no such checkpoint waits behind `a/checkpoint/s3`
    7s VG0342 no breaker is called `a/tool/bash`
    8s VG0342 no breaker is called `nobody/checkpoint/s3`
    "#);
}

#[test]
fn l26_a_full_line_refuses_and_says_so_once() {
    let begin = "0s spawn \n 1s breaker a/checkpoint/s3 forced-open \n".to_owned();
    let script = begin + &lines(0..66, |n| format!("2s submit a/checkpoint/s3 c{n:02}"));
    let timeline = Timeline::default().play(&script);
    assert_eq!(timeline.count("VG0343"), 2, "{}", timeline.so_far());
    assert_eq!(timeline.count("checkpoint c64 refused, 64 wait"), 1, "{}", timeline.so_far());
    let after = timeline.play("3s order unregister");
    assert_eq!(after.count("checkpoint c"), 64 + 1 + 64, "each that waited is told of: {}", after.so_far());
    assert_eq!(after.count("=> write"), 0, "{}", after.so_far());
}

#[test]
fn l26_an_outcome_of_an_earlier_try_says_nothing_about_the_one_under_way() {
    let timeline = Timeline::default().play("0s spawn \n 1s submit a/checkpoint/s3 c1");
    let first = timeline.effects.last().expect("a write").key.clone();
    let timeline = timeline.play("2m");
    assert!(timeline.has("=> write c1, try 2"), "{}", timeline.so_far());
    let mut timeline = timeline;
    timeline.tell_outcome(first, Outcome::Failed);
    let line = timeline.fleet.writes().view(&"a/checkpoint/s3".parse().expect("a name")).expect("it waits");
    assert_eq!(line.next_at, None, "the second try is still under way");
}

#[test]
fn l26_an_agent_that_ended_is_not_forgotten_before_what_it_saved_is_written() {
    let ended = "0s spawn
        1s breaker a/checkpoint/s3 forced-open
        2s submit a/checkpoint/s3 c1
        3s exit code=0
        30h";
    let timeline = Timeline::default().play(ended);
    assert_eq!(timeline.count("given up") + timeline.count("unregistered"), 0, "{}", timeline.so_far());
    let written = timeline.play("30h reset a/checkpoint/s3 \n 30h outcome delivered");
    assert!(written.has("checkpoint c1 written"), "{}", written.so_far());
    let later = written.play("32h");
    assert_eq!(later.count("unregistered"), 1, "{}", later.so_far());
}

#[test]
fn l26_an_agent_whose_checkpoints_wait_makes_no_room_for_others() {
    let mut policies = Policies::default();
    policies.cardinality.agents_max = 2;
    let script = "0s beat
        0s @b beat
        1s submit a/checkpoint/s3 c1
        2s outcome failed
        3s exit code=0
        4s @c beat
        5s retry a/checkpoint/s3
        6s outcome delivered
        7s @c beat";
    let timeline = Timeline::new(policies).play(script);
    let log = gates(timeline.so_far());
    assert!(log.contains("6s checkpoint c1 written") && !log.contains("given up"), "{}", timeline.so_far());
    assert!(timeline.so_far().contains("7s c registered"), "{}", timeline.so_far());
}

#[test]
fn l26_a_person_has_what_waits_written_at_once() {
    let failed = "0s spawn \n 1s submit a/checkpoint/s3 c1 \n 2s outcome failed \n 5s retry a/checkpoint/s3";
    let timeline = Timeline::default().play(failed);
    assert!(timeline.so_far().contains("5s => write c1, try 2"), "{}", timeline.so_far());
    assert!(timeline.so_far().contains("ada ordered Retry"), "{}", timeline.so_far());
}

#[test]
fn l26_that_it_was_written_is_heard_from_nobody_else_and_not_without_proof() {
    let timeline = Timeline::default().play("0s spawn \n 0s @b beat \n 1s submit a/checkpoint/s3 c1");
    let key = timeline.effects.last().expect("a write").key.clone();
    let mut timeline = timeline.play("2s unverified \n 2s outcome delivered \n 3s verified");
    timeline.tell("b", Body::Outcome { key, outcome: Outcome::Delivered });
    assert!(!timeline.has("checkpoint c1 written"), "{}", timeline.so_far());
    assert!(timeline.play("4s outcome delivered").has("checkpoint c1 written"));
}

#[test]
fn l26_that_a_person_discards_one_is_to_be_written_by_itself() {
    let waits = "0s spawn \n 1s submit a/checkpoint/s3 c1 \n 1s submit a/checkpoint/s3 c2";
    let mut timeline = Timeline::default().play(waits);
    timeline.fleet.take_all_rows(&mut |_| ());
    let timeline = timeline.play("1s discard a/checkpoint/s3 c2");
    assert!(timeline.has("checkpoint c2 given up") && timeline.fleet.has_changes());
}
