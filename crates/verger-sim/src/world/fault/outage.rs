//! A provider refuses part of the fleet: its agents try again and again, and are not stuck.
//!
//! Rate limits and outages taken for crashes are the tenth of ten complaints about monitors; what people
//! want is a state of its own with the provider's reset time.

use super::FaultKind;
use super::group::open_group;
use crate::world::agent::Agent;
use crate::world::stage::Stage;
use crate::world::time::SimTime;

/// One provider refuses two thirds of its agents for ten minutes to three hours.
pub(crate) fn refuse(agents: &mut [Agent], stage: &mut Stage, now: SimTime) -> bool {
    let provider = agents[stage.fate.range(0, agents.len() as u64) as usize].provider;
    let group = open_group(stage, None, now, (600.0, 10_800.0));
    for agent in agents.iter_mut().filter(|agent| agent.provider == provider && !agent.refused) {
        if agent.fault.is_none() && agent.doomed.is_none() && stage.fate.chance(0.65) {
            agent.refused = true;
            let injection = agent.inject(stage, now, FaultKind::ProviderOutage, Some(group));
            stage.groups[group as usize].hit.push((agent.place, injection));
        }
    }
    true
}
