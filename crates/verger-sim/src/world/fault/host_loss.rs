//! A host goes down with every agent on it, and is back after minutes to hours.
//!
//! Its agents die without a word: no exit is seen, no connection is closed, and pings find no way. Their
//! orchestrator starts them again some minutes after the host is back.

use super::FaultKind;
use super::group::{choose_host, open_group};
use crate::world::agent::{Active, Agent, End, Temper};
use crate::world::stage::Stage;
use crate::world::time::SimTime;

/// Every agent on one host dies without a word.
pub(crate) fn lose_host(agents: &mut [Agent], stage: &mut Stage, now: SimTime) -> bool {
    let Some(host) = choose_host(stage) else { return false };
    stage.down[host as usize] = true;
    let group = open_group(stage, Some(host), now, (300.0, 10_800.0));
    for agent in agents.iter_mut().filter(|agent| agent.host == host && agent.alive) {
        agent.end_process(stage, now, End::HostLoss);
        let injection = agent.inject(stage, now, FaultKind::HostLoss, Some(group));
        agent.fault = Some(Active { injection, kind: FaultKind::HostLoss, temper: Temper::Deaf });
        stage.groups[group as usize].hit.push((agent.place, injection));
    }
    true
}
