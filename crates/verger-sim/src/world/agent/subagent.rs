//! A sub-agent works, and its parent says nothing.
//!
//! Where sub-agents count as tools, p99 of a call was 2,068 s and the longest 4,760 s; suppressing alarms
//! "while any tool call is in flight" and raising 5 to 10 minutes were two projects' answers.

use verger_core::signal::{Awaited, Body, Status};

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::{self, Told};
use crate::world::time::millis;

/// One or several sub-agents.
#[derive(Debug)]
pub(crate) struct Subagent {
    count: u64,
    took: u64,
}

impl Subagent {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let took = millis(rng.log_normal(240.0, 1.1).clamp(20.0, 4_760.0));
        Self { count: if rng.chance(0.3) { rng.range(2, 5) } else { 1 }, took }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let told = Told::new("Task", text::brief(kit.voice), text::report(kit.voice));
        let finish = kit.begin(told);
        let ids: [u64; 4] = std::array::from_fn(|_| kit.fresh());
        let ids = &ids[..self.count as usize];
        for id in ids {
            kit.send(Body::SubagentStarted { id: *id });
        }
        if kit.rng.chance(0.3) {
            kit.status(Status::Waiting, Some(Awaited::Subagent));
        }
        for id in ids {
            kit.wait(self.took / self.count);
            kit.send(Body::SubagentFinished { id: *id });
        }
        kit.finish(finish);
        kit.advance(0);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::time::{MINUTE, SECOND};

    #[test]
    fn one_sub_agent_in_a_hundred_works_for_more_than_half_an_hour() {
        let mut rng = Rng::stream(1, 1);
        let mut took: Vec<u64> = (0..10_000).map(|_| Subagent::draw(&mut rng).took).collect();
        took.sort_unstable();
        assert!((25 * MINUTE..70 * MINUTE).contains(&took[9_900]), "{}", took[9_900]);
        assert!(took[9_999] <= 4_760 * SECOND);
    }
}
