//! Random schedules of work, pauses, crashes and failing commits: nothing is done before it is on disk,
//! nothing more than twice, and time in which the monitor was blind does not pass.

use crate::bench::{Bench, Op};
use proptest::prelude::*;
use verger_core::breaker::{BreakerName, CallResult};
use verger_core::notice::{BreakerNotice, Notice};

fn op() -> impl Strategy<Value = Op> {
    let agent = 0..6_u8;
    prop_oneof![
        6 => (1..3_000_u64).prop_map(Op::Work),
        4 => agent.clone().prop_map(Op::Heartbeat),
        3 => agent.clone().prop_map(Op::Nudge),
        2 => agent.clone().prop_map(Op::Escalate),
        1 => agent.clone().prop_map(Op::Respawn),
        2 => agent.prop_map(Op::Send),
        3 => Just(Op::Outcomes),
        1 => (12_000..7_200_000_u64).prop_map(Op::Pause),
        1 => (1..4_u8, any::<bool>()).prop_map(|(times, written)| Op::FailCommits { times, written }),
        1 => (1..90_000_u64).prop_map(Op::SlowCommit),
        1 => (-7_200_000..7_200_000_i64).prop_map(Op::StepWall),
        1 => (0..600_000_u64, 0..4_u8).prop_map(|(down, releases)| Op::Crash { down, releases }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_effect_leaves_before_its_commit_nor_more_than_twice(ops in prop::collection::vec(op(), 1..120)) {
        let mut bench = Bench::new();
        for op in &ops {
            bench.run(op);
        }
        let world = bench.world();
        prop_assert_eq!(&world.released_unwritten, &Vec::<String>::new());
        for (key, times) in &world.released {
            prop_assert!(*times <= 2, "{key} was released {times} times");
        }
    }

    #[test]
    fn x09_what_waits_to_be_fetched_is_handed_over_at_most_twice(
        ops in prop::collection::vec(prop_oneof![5 => op(), 1 => Just(Op::Fetch)], 1..120)
    ) {
        let mut bench = Bench::new();
        bench.run(&Op::Hold);
        for op in &ops {
            bench.run(op);
        }
        for (key, times) in &bench.world().handed {
            prop_assert!(*times <= 2, "{key} was handed over {times} times");
        }
    }

    #[test]
    fn observed_time_never_runs_backwards_and_never_counts_blindness(ops in prop::collection::vec(op(), 1..120)) {
        let mut bench = Bench::new();
        let mut blind = 0;
        for op in &ops {
            let (before, durable) = (bench.observed(), bench.durable());
            bench.run(op);
            match op {
                Op::Crash { down, .. } => {
                    prop_assert!(bench.observed() >= durable, "what is on disk was seen");
                    blind += down;
                }
                Op::Pause(paused) => blind += paused,
                _ => prop_assert!(bench.observed() >= before),
            }
            prop_assert!(bench.observed() + blind <= bench.boot(), "blind time was counted");
        }
    }

    #[test]
    fn every_order_is_answered_after_its_commit_and_none_is_lost(ops in prop::collection::vec(op(), 1..120)) {
        let mut bench = Bench::new();
        for op in ops.iter().filter(|op| !matches!(op, Op::Crash { .. })) {
            bench.run(op);
        }
        bench.heal();
        let world = bench.world();
        prop_assert_eq!(&world.answered_unwritten, &Vec::<u64>::new());
        prop_assert_eq!(world.answered, world.asked);
        for key in bench.unfinished() {
            prop_assert!(world.released.contains_key(&key), "{key} is to be done, and never left");
        }
    }
}

#[test]
fn r05_a_message_whose_delivery_an_earlier_life_of_the_monitor_did_not_hear_of_is_delivered_again() {
    let mut bench = Bench::new();
    bench.run(&Op::Send(0));
    bench.run(&Op::Work(1_000));
    assert_eq!(bench.world().released.len(), 1, "{:?}", bench.world().released);
    // So long after, nothing is released again that was meant for that moment; the message is sent anew.
    bench.run(&Op::Crash { down: 7_200_000, releases: 0 });
    bench.run(&Op::Work(60_000));
    let deliveries = bench.world().released.keys().filter(|key| key.starts_with("a1#")).count();
    assert_eq!(deliveries, 2, "{:?}", bench.world().released);
}

/// Asks the breaker of an agent, and reports that the call failed.
fn fail_a_call(bench: &mut Bench) {
    let name: BreakerName = "a0/api/search".parse().expect("a name");
    bench.notice(Notice::Breaker { name: name.clone(), what: BreakerNotice::Acquire });
    let permit = bench.world().permit.expect("it is given");
    let what = BreakerNotice::Report { permit, outcome: CallResult::Failed.into() };
    bench.notice(Notice::Breaker { name, what });
}

#[test]
fn l24_a_report_that_trips_a_breaker_is_answered_when_that_is_on_disk_and_others_at_once() {
    let mut bench = Bench::new();
    for _ in 0..2 {
        fail_a_call(&mut bench);
    }
    assert_eq!((bench.world().asked, bench.world().answered), (4, 4), "they wait for nothing");
    bench.run(&Op::FailCommits { times: 1, written: false });
    fail_a_call(&mut bench);
    assert_eq!(
        (bench.world().asked, bench.world().answered),
        (6, 5),
        "the third opens it, and is not written"
    );
    bench.heal();
    assert_eq!(bench.world().answered, 6);
}
