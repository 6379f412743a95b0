//! When faults strike, and whom.
//!
//! Real base rates are low: 0.38 % of 67,074 runs of a strong model ended in a loop, 1 % to 20 % of 300 with
//! weaker ones; with ten tasks a day that is one loop in a hundred agent-days at best. Measured so, a week
//! of a hundred agents would hold seven loops: too few to tell detectors apart. Each fault of an agent
//! therefore strikes once in 28 agent-days, so that 100 agents over 7 days see about 25 of each kind, and
//! yet more than nine tenths of the time nothing is wrong. Faults of the world strike 2 to 5 times then.

use super::FaultKind;
use crate::world::agent::Agent;
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{MINUTE, SimTime, millis};

/// The faults that strike by chance, and after how many agent-days each on average.
const AGENT_DAYS: [(FaultKind, f64); 12] = [
    (FaultKind::Freeze, 28.0),
    (FaultKind::Crash, 28.0),
    (FaultKind::ExactLoop, 28.0),
    (FaultKind::Alternation, 28.0),
    (FaultKind::NearLoop, 28.0),
    (FaultKind::ErrorLoop, 28.0),
    (FaultKind::TokenRunaway, 28.0),
    (FaultKind::ContextExhaustion, 28.0),
    (FaultKind::HostLoss, 350.0),
    (FaultKind::Partition, 230.0),
    (FaultKind::ProviderOutage, 230.0),
    (FaultKind::ClockSkew, 140.0),
];

impl Stage {
    /// Draws when each fault first strikes in a fleet of this size.
    pub(crate) fn schedule_faults(&mut self, agents: u32) {
        for (kind, _) in AGENT_DAYS {
            self.schedule_next(kind, agents, SimTime::ZERO);
        }
    }

    fn schedule_next(&mut self, kind: FaultKind, agents: u32, now: SimTime) {
        let Some((_, days)) = AGENT_DAYS.iter().find(|(other, _)| *other == kind) else { return };
        let wait = millis(self.fate.exponential(days * 86_400.0 / f64::from(agents.max(1))));
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
        stage.schedule_next(kind, agents.len() as u32, now);
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
