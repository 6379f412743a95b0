//! What reaches the monitor: the same from the same seed, counted as the monitor counts, and never a streak
//! in a healthy fleet that recorded agents would not have left by themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use verger_core::fingerprint::{CallClass, CallPrint};
use verger_core::id::{AgentId, TaskId};
use verger_core::signal::{Body, TaskChange};

use super::{kind_of, run, world};
use crate::world::time::{DAY, HOUR, MINUTE};
use crate::world::transport::is_retried_for_ever;
use crate::world::{Connection, SimTime};

#[test]
fn one_seed_gives_identical_deliveries() {
    let log = |seed| {
        let mut world = world(seed, 20, 0.5, true);
        let mut log = String::new();
        run(&mut world, SimTime(12 * HOUR), |now, signal| writeln!(log, "{now:?} {signal:?}").unwrap());
        log
    };
    assert_eq!(log(5), log(5));
    assert_ne!(log(5), log(6));
}

#[test]
fn every_kind_of_signal_that_needs_no_asking_is_sent() {
    let mut world = world(3, 60, 3.0, true);
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    run(&mut world, SimTime(3 * DAY), |_, signal| {
        *seen.entry(kind_of(&signal.content.body)).or_default() += 1;
    });
    // Pongs and outcomes are answers; blockers are not reported by the agents of this world.
    assert_eq!(seen.len(), 23 - 3, "{seen:?}");
}

#[test]
fn lives_are_counted_by_their_spawns() {
    let mut world = world(4, 40, 3.0, true);
    let mut spawns: BTreeMap<AgentId, u32> = BTreeMap::new();
    let (mut present, mut stale) = (0_u32, 0_u32);
    run(&mut world, SimTime(3 * DAY), |_, signal| {
        let count = spawns.entry(signal.agent.clone()).or_default();
        if matches!(signal.content.body, Body::Spawn(_)) {
            assert_eq!(signal.content.incarnation, None);
            *count += 1;
        } else if let Some(incarnation) = signal.content.incarnation {
            assert!(incarnation.0 <= *count, "{signal:?} comes before its life began");
            *(if incarnation.0 == *count { &mut present } else { &mut stale }) += 1;
        }
    });
    assert!(present > 50_000 && (1..1_000).contains(&stale), "{present} present, {stale} stale");
}

#[test]
fn a_healthy_agent_leaves_every_streak_after_four_identical_calls() {
    let mut world = world(8, 40, 3.0, false);
    let mut streaks: BTreeMap<AgentId, (Option<(CallPrint, u64)>, u32)> = BTreeMap::new();
    let mut longest = [0_u32; 64];
    run(&mut world, SimTime(3 * DAY), |_, signal| {
        let Body::ToolFinished { print, result, .. } = signal.content.body else { return };
        let (last, count) = streaks.entry(signal.agent.clone()).or_default();
        let this = Some((print, result.digest));
        *count = if *last == this { *count + 1 } else { 1 };
        *last = this;
        if print.class == CallClass::Plain {
            longest[(*count).min(63) as usize] += 1;
        }
    });
    // Of streaks of a call that reach two, some 35 % reach three, and more than half of those show another page each
    // time. Nearly none reach four.
    assert!(longest[2] > 100, "{longest:?}");
    let share = f64::from(longest[3]) / f64::from(longest[2]);
    assert!((0.1..0.25).contains(&share), "{share}");
    assert!(longest[4] > 0 && longest[5..].iter().all(|count| *count == 0), "{longest:?}");
}

#[test]
fn sdk_clients_resend_in_order_what_they_could_not_send() {
    let mut world = world(2, 20, 1.0, false);
    run(&mut world, SimTime(2 * HOUR), |_, _| {});
    world.monitor_up(SimTime(2 * HOUR), false);
    let mut lost = 0;
    run(&mut world, SimTime(3 * HOUR), |_, _| lost += 1);
    world.monitor_up(SimTime(3 * HOUR), true);
    let truth = world.truth().clone();
    let mut late: BTreeMap<AgentId, Vec<i64>> = BTreeMap::new();
    run(&mut world, SimTime(3 * HOUR + MINUTE), |now, signal| {
        // Whoever begins or ends, or is done with a task, says so until it is heard.
        let insists = is_retried_for_ever(&signal.content.body);
        if let Some(sent) = signal.content.sent_at
            && !insists
            && sent.0 + 10_000 < now.wall().0
        {
            late.entry(signal.agent.clone()).or_default().push(sent.0);
        }
    });
    assert_eq!(lost, 0, "nothing is sent to a monitor that is not there");
    assert!(!late.is_empty());
    for (agent, sent) in late {
        assert_eq!(truth.agent(&agent).unwrap().connection, Connection::Sdk);
        assert!(sent.is_sorted(), "{agent}");
    }
}

#[test]
fn the_word_that_a_task_is_done_outlasts_an_absence_of_the_monitor() {
    let mut world = world(11, 60, 1.0, true);
    let (mut begun, mut done, mut gone) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (from, until, up) in [(0, HOUR, true), (HOUR, 4 * HOUR, false), (4 * HOUR, 6 * HOUR, true)] {
        world.monitor_up(SimTime(from), up);
        run(&mut world, SimTime(until), |_, signal| match &signal.content.body {
            Body::Task(TaskChange::Assigned(task)) => begun.push((signal.agent.clone(), task.clone())),
            // What it had not sent is lost with the process.
            Body::Exit(_) => drop(gone.insert(signal.agent.clone())),
            Body::Task(TaskChange::Ended(task)) => drop(done.insert(task.clone())),
            _ => {}
        });
    }
    begun.retain(|(agent, _)| !gone.contains(agent));
    let is_over = |task: &&TaskId| world.truth().finished_at(task).is_some_and(|at| at < SimTime(5 * HOUR));
    let over: Vec<_> = begun.iter().map(|(_, task)| task).filter(is_over).collect();
    let unheard: Vec<_> = over.iter().filter(|task| !done.contains(**task)).collect();
    assert!(
        over.len() > 50 && unheard.is_empty(),
        "{} are over, of which nobody heard {unheard:?}",
        over.len()
    );
}
