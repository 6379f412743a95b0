//! Programs that run under a wrapper on this machine (`verger run`): found by their records, ended, measured, and looked
//! after when their wrapper was killed.
//!
//! ```text
//! data/run/*.json ──► watch: one task for each ──► the wrapper's pidfd ──► finish its job, tell the end
//!                                           └────► memory and processor, every few seconds
//! Stop ──► archive the final state ──► TERM, KILL ──► Stopped
//! ```

mod roles;
mod start;
mod stop;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use verger_act::RunRecord;
use verger_core::effect::EffectKey;
use verger_core::id::AgentId;

pub(crate) use roles::add_twins;
pub(crate) use watch::watch;

/// What runs under wrappers of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    data_dir: Arc<Path>,
}

impl Runs {
    pub(crate) fn in_data(data_dir: PathBuf) -> Self {
        Self { data_dir: data_dir.into() }
    }

    /// The run that an effect is meant for: of this agent, and of no other life of it.
    pub(crate) fn meant_by(&self, key: &EffectKey) -> Option<RunRecord> {
        let record = RunRecord::of(&self.data_dir, key.agent.as_str())?;
        let is_meant = record.incarnation.is_none_or(|life| life == key.incarnation.0);
        Some(record).filter(|record| is_meant && record.tree.is_some())
    }

    /// The wrapper of this agent that waits to bring its program back, if there is one.
    pub(crate) fn waiting(&self, agent: &AgentId) -> Option<RunRecord> {
        let record = RunRecord::of(&self.data_dir, agent.as_str())?;
        Some(record).filter(|record| record.tree.is_none() && record.wrapper.is_alive())
    }
}
