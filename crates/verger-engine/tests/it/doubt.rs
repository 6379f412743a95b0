//! The monitor doubts itself first: timelines of its own failures, and what they do to observed time.

use verger_engine::Settings;

use crate::bench::{Bench, Op};

#[test]
fn a_slow_disk_is_blindness() {
    let mut bench = Bench::new();
    bench.run(&Op::Work(5_000));
    let before = bench.observed();
    bench.run(&Op::SlowCommit(30_000));
    bench.run(&Op::Nudge(0));
    bench.run(&Op::Work(1));
    assert!(bench.observed() - before < 1_100, "30 s of a blocked commit do not count");
}

#[test]
fn a_wall_clock_that_jumps_changes_nothing() {
    let mut bench = Bench::new();
    bench.run(&Op::Work(5_000));
    bench.run(&Op::StepWall(3_600_000));
    bench.run(&Op::Work(5_000));
    bench.run(&Op::StepWall(-7_200_000));
    bench.run(&Op::Work(5_000));
    assert_eq!(bench.observed(), 15_000);
}

#[test]
fn a_decision_that_could_not_be_written_in_time_is_not_carried_out() {
    let mut bench = Bench::new();
    bench.run(&Op::SlowCommit(61_000));
    bench.run(&Op::Nudge(0));
    bench.run(&Op::Work(2_000));
    assert!(bench.world().released.is_empty(), "{:?}", bench.world().released);
    assert!(bench.unfinished().is_empty(), "the core heard that it failed");
}

#[test]
fn people_hear_of_an_escalation_however_late() {
    let mut bench = Bench::new();
    bench.run(&Op::SlowCommit(600_000));
    bench.run(&Op::Escalate(0));
    bench.run(&Op::Work(2_000));
    assert_eq!(bench.world().released.len(), 1);
}

#[test]
fn an_effect_whose_outcome_was_lost_is_released_once_more_and_not_once_for_each_restart() {
    let mut bench = Bench::new();
    bench.run(&Op::Nudge(0));
    for _ in 0..4 {
        bench.run(&Op::Crash { down: 1_000, releases: 3 });
        bench.run(&Op::Work(2_000));
    }
    assert_eq!(bench.world().released.values().copied().collect::<Vec<_>>(), [2]);
}

#[test]
fn a_new_life_that_begins_while_the_monitor_is_down_gets_nothing_meant_for_the_last() {
    let mut bench = Bench::new();
    bench.run(&Op::Work(120_000));
    bench.run(&Op::Nudge(0));
    bench.run(&Op::Crash { down: 1_000, releases: 3 });
    bench.run(&Op::Respawn(0));
    bench.run(&Op::Work(2_000));
    assert_eq!(bench.world().released.values().copied().collect::<Vec<_>>(), [1]);
}

#[test]
fn a_failing_disk_holds_effects_back_and_loses_none() {
    let mut bench = Bench::new();
    bench.run(&Op::FailCommits { times: 3, written: true });
    bench.run(&Op::Nudge(0));
    assert!(bench.world().released.is_empty());
    bench.run(&Op::Work(2_000));
    assert_eq!(bench.world().released.values().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(bench.world().answered, 1);
}

#[test]
fn l41_while_the_disk_fails_time_goes_on_and_agents_are_judged_from_memory() {
    let mut bench = Bench::new();
    bench.run(&Op::Work(5_000));
    let (before, written) = (bench.observed(), bench.commits());
    bench.run(&Op::FailCommits { times: 200, written: false });
    bench.run(&Op::Nudge(0));
    for _ in 0..60 {
        bench.run(&Op::Heartbeat(1));
        bench.run(&Op::Work(1_000));
    }
    assert_eq!(bench.observed() - before, 60_000, "none of it is blindness");
    assert_eq!(bench.commits(), written);
    assert!(bench.world().released.is_empty(), "nothing is done that is not on disk");
    bench.heal();
    assert!(bench.commits() > written + 1, "what was frozen and what came after it");
    assert!(bench.unfinished().is_empty(), "a reminder that is a minute late is not given; the core knows");
    assert_eq!(bench.world().answered, 1);
}

#[test]
fn x10_a_life_that_ends_while_the_disk_fails_leaves_nothing_to_the_next() {
    let mut bench = Bench::new();
    bench.run(&Op::Work(120_000));
    bench.run(&Op::FailCommits { times: 5, written: false });
    bench.run(&Op::Nudge(0));
    bench.run(&Op::Respawn(0));
    bench.heal();
    assert!(bench.world().released.is_empty(), "{:?}", bench.world().released);
    assert!(bench.unfinished().is_empty());
}

#[test]
fn x13_so_much_may_wait_for_a_disk_and_no_more() {
    let mut bench = Bench::with(Settings { unwritten_max: 3, ..Settings::default() });
    bench.run(&Op::Work(5_000));
    bench.run(&Op::FailCommits { times: 100, written: false });
    for agent in 0..6 {
        bench.run(&Op::Escalate(agent));
    }
    let (before, boot) = (bench.observed(), bench.boot());
    bench.run(&Op::Work(20_000));
    assert!(bench.observed() < before + 2_000, "nothing is taken, so nothing is seen");
    bench.heal();
    assert_eq!(
        (bench.world().answered, bench.world().released.len()),
        (6, 6),
        "all of it is done in the end"
    );
    assert!(bench.boot() > boot + 20_000);
}

#[test]
fn x09_what_waits_to_be_fetched_waits_through_any_number_of_restarts() {
    let mut bench = Bench::new();
    bench.run(&Op::Hold);
    bench.run(&Op::Nudge(0));
    for _ in 0..4 {
        bench.run(&Op::Crash { down: 90_000, releases: 9 });
        bench.run(&Op::Work(2_000));
        assert_eq!(bench.world().held.len(), 1, "it still waits");
    }
    bench.run(&Op::Fetch);
    assert_eq!(bench.world().handed.values().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(bench.world().answered, 2, "the order, and that it may be handed over");
}

#[test]
fn x09_what_may_have_been_handed_over_twice_is_known_not_to_be_handed_over_again() {
    let mut bench = Bench::new();
    bench.run(&Op::Hold);
    bench.run(&Op::Nudge(0));
    for _ in 0..4 {
        bench.run(&Op::Fetch);
        bench.run(&Op::Crash { down: 1_000, releases: 9 });
        bench.run(&Op::Work(2_000));
    }
    assert_eq!(bench.world().handed.values().copied().collect::<Vec<_>>(), [2]);
    assert!(bench.unfinished().is_empty(), "the core heard that it failed");
}

#[test]
fn x10_what_waits_for_a_life_that_is_over_waits_no_longer() {
    let mut bench = Bench::new();
    bench.run(&Op::Work(120_000));
    bench.run(&Op::Hold);
    bench.run(&Op::Nudge(0));
    assert_eq!(bench.world().held.len(), 1);
    bench.run(&Op::Respawn(0));
    bench.run(&Op::Work(2_000));
    assert_eq!(bench.world().held.len(), 0);
}
