//! A hundred agents behind one dependency that fails.

use crate::breaker::{BreakerName, Breakers, CallResult, Policies, State};
use crate::time::{Span, Timestamp};

use super::at;

/// What a small world of agents and their dependency did.
struct World {
    breakers: Breakers,
    name: BreakerName,
    /// When each agent calls next.
    next: Vec<Timestamp>,
    /// Calls that got through, by minute.
    passed: Vec<u32>,
    refused: u32,
}

impl World {
    fn new(agents: u64) -> Self {
        Self {
            breakers: Breakers::new(Policies::default(), 7),
            name: BreakerName::shared("api.example.org").expect("a name"),
            next: (0..agents).map(|n| at(0) + Span::millis(n * 37)).collect(),
            passed: vec![0; 60],
            refused: 0,
        }
    }

    /// Every agent calls each second, waits as long as it is told, and meets a dependency that fails between two
    /// moments. A call that `hangs` is never reported back.
    fn run(&mut self, minutes: u64, fails: std::ops::Range<Timestamp>, hangs: bool) {
        let mut out = Vec::new();
        for millis in (0..minutes * 60_000).step_by(50) {
            let now = Timestamp::from_millis(millis);
            if self.breakers.deadline(now - Span::millis(1)).is_some_and(|due| due <= now) {
                self.breakers.wake(now, &mut out);
            }
            for agent in 0..self.next.len() {
                if self.next[agent] <= now {
                    self.next[agent] = now + self.call(now, fails.contains(&now), hangs);
                }
            }
        }
    }

    fn call(&mut self, now: Timestamp, fails: bool, hangs: bool) -> Span {
        let mut out = Vec::new();
        match self.breakers.acquire(now, &self.name, &mut out) {
            Ok(permit) => {
                self.passed[(now.as_millis() / 60_000) as usize] += 1;
                let result = if fails { CallResult::Outage } else { CallResult::Ok };
                let open =
                    self.breakers.view(now, &self.name).expect("it was asked").state == State::HalfOpen;
                if !(fails && hangs && open) {
                    self.breakers.report(now, &self.name, permit, result.into(), &mut out);
                }
                Span::secs(1)
            }
            Err(denied) => {
                self.refused += 1;
                denied.refusal.retry_after
            }
        }
    }
}

#[test]
fn l24_a_failing_dependency_behind_100_agents_gets_the_half_open_quota_and_all_recover() {
    let mut world = World::new(100);
    world.run(20, at(120)..at(600), false);
    assert!(world.passed[..2].iter().all(|calls| 5_000 < *calls), "all pass: {:?}", &world.passed[..2]);
    assert_eq!(world.passed[2], 3, "the threshold");
    for minute in 3..10 {
        assert_eq!(world.passed[minute], 1, "minute {minute}: the half-open quota, and no more");
    }
    assert!(5_000 < world.passed[11], "everybody calls again: {}", world.passed[11]);
    assert_eq!(world.breakers.view(at(1_200), &world.name).expect("it is there").state, State::Closed);
}

#[test]
fn x11_even_if_the_calls_that_try_hang_the_quota_holds_and_all_recover() {
    let mut world = World::new(100);
    world.run(30, at(120)..at(900), true);
    let while_failing: u32 = world.passed[3..15].iter().sum();
    assert!((1..=4).contains(&while_failing), "one in each permit timeout and open time: {while_failing}");
    assert!(5_000 < world.passed[25], "everybody calls again: {}", world.passed[25]);
}
