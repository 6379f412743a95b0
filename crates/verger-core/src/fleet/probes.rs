//! Probes (P04): which an agent is to have, and what their runs found. The rest is the agent's own affair.

use super::{Collector, Fleet};
use crate::id::AgentId;
use crate::notice::{NoticeError, Reply};
use crate::probe::{ProbeResult, ProbeSpec};
use crate::time::Timestamp;

impl Fleet {
    /// Gives an agent these probes and no others.
    pub(super) fn set_probes(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        specs: &[ProbeSpec],
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let slot = self.registered(id)?;
        self.step(now, None, slot, out, |agent, step| agent.set_probes(step, specs))?;
        Ok(Reply::Done)
    }

    /// A run of a probe found this.
    pub(super) fn on_probed(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        result: &ProbeResult,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let slot = self.registered(id)?;
        self.step(now, None, slot, out, |agent, step| agent.on_probe_result(step, result))?;
        Ok(Reply::Done)
    }
}
