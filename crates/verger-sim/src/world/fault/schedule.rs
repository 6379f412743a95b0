//! When faults strike, and whom.
//!
//! 0.38 % of 67,074 runs of a strong model ended in a loop; with others it was 3 of 300 and about 60 of 300.
//! Agents here have some seven tasks a day, so a strong model's fleet of a hundred would see 19 loops a
//! week. Each fault of an agent strikes once in 26 agent-days: a week of a hundred agents holds some 25 of
//! each kind, and about 2 % of tasks end in one of the four kinds of loops, between the strong model and
//! the weak one. For nine tenths of the time nothing is wrong even if nobody intervenes. Strikes come more
//! evenly than pure chance would have them, so that every world of that size holds enough of each kind.
//! Faults of the world strike two to five times in that week.

use super::FaultKind;
use crate::world::agent::Agent;
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{MINUTE, SimTime, millis};

/// The faults that strike by chance, and after how many agent-days each on average.
const AGENT_DAYS: [(FaultKind, f64); 12] = [
    (FaultKind::Freeze, 26.0),
    (FaultKind::Crash, 26.0),
    (FaultKind::ExactLoop, 26.0),
    (FaultKind::Alternation, 26.0),
    (FaultKind::NearLoop, 26.0),
    (FaultKind::ErrorLoop, 26.0),
    (FaultKind::TokenRunaway, 26.0),
    (FaultKind::ContextExhaustion, 26.0),
    (FaultKind::HostLoss, 350.0),
    (FaultKind::Partition, 230.0),
    (FaultKind::ProviderOutage, 230.0),
    (FaultKind::ClockSkew, 140.0),
];

impl Stage {
    /// Draws when each fault first strikes in a fleet of this size.
    pub(crate) fn schedule_faults(&mut self, agents: u32) {
        for (kind, _) in AGENT_DAYS {
            let first = self.fate.unit();
            self.schedule_next(kind, agents, SimTime::ZERO, first);
        }
    }

    /// Draws the next strike, after so many times the average wait.
    fn schedule_next(&mut self, kind: FaultKind, agents: u32, now: SimTime, waits: f64) {
        let Some((_, days)) = AGENT_DAYS.iter().find(|(other, _)| *other == kind) else { return };
        let wait = millis(waits * days * 86_400.0 / f64::from(agents.max(1)));
        self.queue.set(now + wait, Moment::Strike(kind));
    }
}

/// A fault of this kind strikes somewhere, if it can; the next one is drawn.
pub(crate) fn strike(agents: &mut [Agent], stage: &mut Stage, now: SimTime, kind: FaultKind) {
    if stage.calm || now >= stage.end {
        return;
    }
    let struck = match kind {
        FaultKind::HostLoss => super::host_loss::lose_host(agents, stage, now),
        FaultKind::Partition => super::partition::part(agents, stage, now),
        FaultKind::ProviderOutage => super::outage::refuse(agents, stage, now),
        FaultKind::ClockSkew => super::skew::jump(agents, stage, now),
        _ => befall_one(agents, stage, now, kind),
    };
    if struck {
        let waits = stage.fate.between(0.4, 1.6);
        stage.schedule_next(kind, agents.len() as u32, now, waits);
    } else {
        stage.queue.set(now + 10 * MINUTE, Moment::Strike(kind));
    }
}

/// Chooses among the agents on which the fault can be seen, and which have no other.
fn befall_one(agents: &mut [Agent], stage: &mut Stage, now: SimTime, kind: FaultKind) -> bool {
    let free = |agent: &Agent| {
        agent.alive
            && agent.fault.is_none()
            && agent.doomed.is_none()
            && agent.cut == 0
            && !agent.refused
            && agent.condition.is_healthy()
    };
    let victims = agents.iter().filter(|agent| free(agent) && agent.could_show(kind));
    let victims: Vec<u32> = victims.map(|agent| agent.place).collect();
    if victims.is_empty() {
        return false;
    }
    let victim = *stage.fate.choice(&victims);
    agents[victim as usize].befall(stage, now, kind);
    true
}
