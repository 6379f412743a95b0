//! A host is cut off from the monitor; its agents work on and know nothing of it.
//!
//! Afterwards SDK clients send what they kept, in order; the others' signals of that time are lost.

use verger_core::signal::{Body, Channel};

use super::FaultKind;
use super::group::{choose_host, open_group};
use crate::world::agent::Agent;
use crate::world::connection::Connection;
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{SECOND, SimTime};

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
