//! One agent: everything known about it, and the machines that judge it.
//!
//! The parts an agent may never need (detectors of calls and tokens, a case of trouble) are boxed, so that an
//! agent that only beats costs a few hundred bytes. A signal goes through [`observe`](Agent::observe), time
//! through [`wake`](Agent::wake); both end in a judgement, and the judgement in what is done about it.

mod deadline;
mod inquiry;
mod intervene;
mod judge;
mod life;
mod observe;
mod order;
mod outcome;
mod place;
mod probes;
mod reach;
mod spend;
mod step;
mod steps;
mod usage;
mod view;

use std::sync::Arc;

pub(crate) use inquiry::{Asked, Inquiry, Question};
pub use life::Refusal;
pub(crate) use life::{Ending, Spawned, introduces};
pub(crate) use place::Place;
pub(crate) use step::Step;
pub(crate) use usage::Usage;
pub use view::{AgentView, Intervention, LivenessView, Metrics};

use crate::event::Incident;
use crate::evidence::Evidence;
use crate::flapping::Flapping;
use crate::health::HealthState;
use crate::id::{AgentId, CheckpointId, Incarnation, TaskId};
use crate::intervention::Case;
use crate::liveness::Liveness;
use crate::policy::{Mode, RoleIndex};
use crate::probe::ProbeHealth;
use crate::progress::Progress;
use crate::signs::{ContextUse, Errors, Outputs, Repetition, Steps, TokenUse};
use crate::skew::Skew;
use crate::time::{Timestamp, WallTime};
use crate::waiting::Waiting;

/// One agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Agent {
    pub(crate) id: AgentId,
    pub(crate) incarnation: Incarnation,
    pub(crate) role: RoleIndex,
    /// What may be done to it, where that differs from its role.
    pub(crate) mode: Option<Mode>,

    pub(crate) state: HealthState,
    pub(crate) state_since: Timestamp,
    /// The findings behind the present state.
    pub(crate) evidence: Arc<[Evidence]>,

    /// When this life began.
    pub(crate) born_at: Timestamp,
    /// How this life was announced.
    pub(crate) spawned: Spawned,
    /// Until when silence is not held against this life.
    pub(crate) grace_until: Timestamp,
    /// Whether it has been heard in this life, which is evidence.
    pub(crate) heard: bool,
    /// Whether it has sent a heartbeat in this life.
    pub(crate) beats: bool,
    /// Whether some of what is known of this life came from senders that proved nothing.
    pub(crate) unverified: bool,
    /// Whether a signal of an earlier life was turned away and recorded.
    pub(crate) stale_reported: bool,
    /// It said that it cannot go on.
    pub(crate) blocked: bool,

    /// The number of the next effect. It outlives the life, so that no key is ever used twice.
    pub(crate) next_effect: u32,

    pub(crate) task: Option<TaskId>,
    /// Where it belongs; nothing if that is the fleet alone, and it is well.
    pub(crate) place: Option<Box<Place>>,
    pub(crate) checkpoint: Option<CheckpointId>,

    pub(crate) liveness: Liveness,
    pub(crate) waiting: Waiting,
    pub(crate) progress: Progress,
    pub(crate) skew: Skew,
    pub(crate) metrics: Metrics,

    pub(crate) signs: Option<Box<Signs>>,
    pub(crate) past: Option<Box<Past>>,
    pub(crate) case: Option<Box<Case>>,
    /// What it uses, if that is limited or something is wrong with it.
    pub(crate) usage: Option<Box<Usage>>,
}

/// Detectors of what an agent does; each exists once it was fed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Signs {
    /// The last calls that ended: a copy of one is not another call.
    pub(crate) finished: Vec<u64>,
    /// When the last call ended, if it was one that waits or looks whether something is done.
    pub(crate) last_poll: Option<Timestamp>,
    pub(crate) repetition: Option<Box<Repetition>>,
    pub(crate) errors: Option<Box<Errors>>,
    pub(crate) tokens: Option<Box<TokenUse>>,
    pub(crate) context: Option<Box<ContextUse>>,
    pub(crate) output: Option<Box<Outputs>>,
    /// What is found of it from outside. It outlives the life.
    pub(crate) probes: Option<Box<ProbeHealth>>,
    /// What its steps came to. It outlives the life, so that its rows are used again.
    pub(crate) steps: Option<Box<Steps>>,
}

/// What happened to an agent that never happens to most.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Past {
    /// Conditions that people were told of and that are not over.
    pub(crate) incidents: Vec<(Incident, Timestamp)>,
    /// What was asked of it because it was silent.
    pub(crate) inquiry: Option<Inquiry>,
    /// When it asked to hand its work over.
    pub(crate) handoff_at: Option<Timestamp>,
    /// Its recent changes between well and unwell.
    pub(crate) flapping: Flapping,
    /// When its last life ended, on the wall: what was sent before that is late.
    pub(crate) ended_at: Option<WallTime>,
    /// The question that it has not answered, whoever asked.
    pub(crate) asked: Option<Asked>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_only_beats_is_small() {
        // With its place in table, ring and index, and its name, it stays within 512 bytes.
        assert!(size_of::<Agent>() <= 448, "{} bytes", size_of::<Agent>());
    }
}
