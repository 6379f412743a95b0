//! Clocks that are wrong: by minutes to days from the start, or after a jump.
//!
//! It is not the agent's fault and must change nothing: its own time decides nothing about its life.

use super::FaultKind;
use super::group::open_group;
use crate::world::agent::Agent;
use crate::world::stage::Stage;
use crate::world::time::{SimTime, millis};

/// How many agents' clocks are wrong from the start.
const WRONG_FROM_THE_START: f64 = 0.06;

/// Sets some agents' clocks wrong for good.
pub(crate) fn set_wrong(agents: &mut [Agent], stage: &mut Stage) {
    for agent in agents {
        if agent.link.dated && stage.fate.chance(WRONG_FROM_THE_START) {
            agent.skew_ms = draw(stage);
            agent.inject(stage, SimTime::ZERO, FaultKind::ClockSkew, None);
        }
    }
}

/// One agent's clock jumps, and is set right hours later.
pub(crate) fn jump(agents: &mut [Agent], stage: &mut Stage, now: SimTime) -> bool {
    let right: Vec<u32> = agents
        .iter()
        .filter(|agent| agent.link.dated && agent.skew_ms == 0)
        .map(|agent| agent.place)
        .collect();
    if right.is_empty() {
        return false;
    }
    let agent = &mut agents[*stage.fate.choice(&right) as usize];
    agent.skew_ms = draw(stage);
    let group = open_group(stage, None, now, (3_600.0, 43_200.0));
    let injection = agent.inject(stage, now, FaultKind::ClockSkew, Some(group));
    stage.groups[group as usize].hit.push((agent.place, injection));
    true
}

/// By how much: a minute to three days, either way.
fn draw(stage: &mut Stage) -> i64 {
    let off = millis(stage.fate.log_between(60.0, 259_200.0)).cast_signed();
    if stage.fate.chance(0.5) { off } else { -off }
}
