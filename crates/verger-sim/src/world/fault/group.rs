//! Faults of the world around agents: they hit many at once and are nobody's own fault.
//!
//! What a supervisor makes of them is where restart storms come from: 50,761 spawns in six days, 3,612
//! failures in a loop of 70 h.

use super::FaultKind;
use crate::world::agent::Agent;
use crate::world::moment::Moment;
use crate::world::stage::{Group, Stage};
use crate::world::time::{MINUTE, SECOND, SimTime, millis};
use crate::world::truth::EndedBy;

/// A fault of the world begins, and lasts for so many seconds.
pub(super) fn open_group(stage: &mut Stage, host: Option<u32>, now: SimTime, lasting: (f64, f64)) -> u32 {
    let group = stage.groups.len() as u32;
    stage.groups.push(Group { hit: Vec::new(), host, over: false });
    let over = now + millis(stage.fate.log_between(lasting.0, lasting.1));
    stage.queue.set(over, Moment::PassGroup(group));
    group
}

/// A host that is up, if there is one besides the last.
pub(super) fn choose_host(stage: &mut Stage) -> Option<u32> {
    let cut: Vec<u32> =
        stage.groups.iter().filter(|group| !group.over).filter_map(|group| group.host).collect();
    let free: Vec<u32> = (0..stage.down.len() as u32).filter(|host| !cut.contains(host)).collect();
    (free.len() > 1).then(|| *stage.fate.choice(&free))
}

/// A fault of the world is over.
pub(crate) fn pass(agents: &mut [Agent], stage: &mut Stage, now: SimTime, group: u32, by: EndedBy) {
    let group = &mut stage.groups[group as usize];
    if std::mem::replace(&mut group.over, true) {
        return;
    }
    let hit = std::mem::take(&mut group.hit);
    let host = group.host;
    for (place, injection) in hit {
        let agent = &mut agents[place as usize];
        match stage.truth.injected()[injection as usize].kind {
            FaultKind::HostLoss => {
                // The host is back; the agent is, when its orchestrator has noticed.
                let wait = stage.fate.range(20 * SECOND, 10 * MINUTE);
                stage.queue.set(now + wait, Moment::Respawn { agent: place, life: agent.life });
                continue;
            }
            FaultKind::Partition => {
                agent.cut = agent.cut.saturating_sub(1);
                agent.reconnect(stage, now);
            }
            FaultKind::ProviderOutage => agent.refused = false,
            FaultKind::ClockSkew => agent.skew_ms = 0,
            _ => {}
        }
        stage.truth.end(injection, now, by);
    }
    if let Some(host) = host {
        stage.down[host as usize] = false;
    }
}
