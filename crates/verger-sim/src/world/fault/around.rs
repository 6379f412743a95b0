//! Faults of the world around agents: a host goes down or is cut off, a provider refuses part of the fleet.
//!
//! They hit many agents at once and are nobody's own fault. What a supervisor makes of them is where
//! restart storms come from: 50,761 spawns in six days, 3,612 failures in a loop of 70 h.

use super::FaultKind;
use crate::world::agent::{Active, Agent, End, Temper};
use crate::world::connection::Connection;
use crate::world::moment::Moment;
use crate::world::stage::{Group, Stage};
use crate::world::time::{MINUTE, SECOND, SimTime, millis};
use crate::world::truth::EndedBy;
use verger_core::signal::{Body, Channel};

/// Every agent on one host dies without a word; the host is back after minutes to hours.
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

/// One host is cut off from the monitor for minutes to hours; its agents work on.
pub(crate) fn part(agents: &mut [Agent], stage: &mut Stage, now: SimTime) -> bool {
    let Some(host) = choose_host(stage) else { return false };
    let group = open_group(stage, Some(host), now, (120.0, 7_200.0));
    for agent in agents.iter_mut().filter(|agent| agent.host == host) {
        agent.cut += 1;
        let injection = agent.inject(stage, now, FaultKind::Partition, Some(group));
        stage.groups[group as usize].hit.push((agent.place, injection));
    }
    true
}

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

impl Agent {
    /// The agent's client connects anew within seconds, and then sends what it kept.
    ///
    /// A wrapper does so though its agent is frozen; a remote agent would have to do it itself.
    pub(crate) fn reconnect(&mut self, stage: &mut Stage, now: SimTime) {
        let connects = self.link.connection == Connection::Wrapped || !self.frozen;
        if self.cut == 0 && self.alive && self.link.channel && connects {
            self.flushing = true;
            self.emit(stage, now, Body::Channel(Channel::Opened));
        }
        self.resend(stage, now);
    }

    /// What was kept is sent within seconds, if the agent can send again.
    pub(crate) fn resend(&mut self, stage: &mut Stage, now: SimTime) {
        if self.cut == 0 && !self.kept.is_empty() {
            self.flushing = true;
            let wait = self.wire.range(50, 3 * SECOND);
            stage.queue.set(now + wait, Moment::Flush { agent: self.place });
        }
    }
}

/// A host that is up, if there is one besides the last.
fn choose_host(stage: &mut Stage) -> Option<u32> {
    let cut: Vec<u32> =
        stage.groups.iter().filter(|group| !group.over).filter_map(|group| group.host).collect();
    let free: Vec<u32> = (0..stage.down.len() as u32).filter(|host| !cut.contains(host)).collect();
    (free.len() > 1).then(|| *stage.fate.choice(&free))
}

/// A fault of the world begins, and lasts for so many seconds.
pub(super) fn open_group(stage: &mut Stage, host: Option<u32>, now: SimTime, lasting: (f64, f64)) -> u32 {
    let group = stage.groups.len() as u32;
    stage.groups.push(Group { hit: Vec::new(), host, over: false });
    let over = now + millis(stage.fate.log_between(lasting.0, lasting.1));
    stage.queue.set(over, Moment::PassGroup(group));
    group
}
