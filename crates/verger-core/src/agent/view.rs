//! What people see of an agent.

use std::sync::Arc;

use super::Agent;
use crate::evidence::Evidence;
use crate::health::HealthState;
use crate::id::{AgentId, CheckpointId, HostId, Incarnation, RoleName, TaskId};
use crate::intervention::Ladder;
use crate::liveness::{Cause, FailureClass, LivenessStatus};
use crate::policy::{Mode, Role};
use crate::probe::{ProbeHealth, ProbesView};
use crate::resources::Breach;
use crate::standing::Standing;
use crate::time::Timestamp;
use crate::waiting::Wait;
use crate::waste::Delta;

/// Counters of one life (002's and 000's metrics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Heartbeats received.
    pub heartbeats: u32,
    /// When the last one came.
    pub last_heartbeat: Option<Timestamp>,
    /// When the agent last did anything of its own.
    pub last_activity: Timestamp,
    /// Tool calls that ended.
    pub tool_calls: u32,
    /// Tokens used.
    pub tokens: u64,
    /// Errors met.
    pub errors: u64,
    /// Money spent, in millionths of a US dollar.
    pub cost_micros: u64,
    /// Interventions over all lives.
    pub interventions: u16,
    /// Times it fell silent, over all lives.
    pub disconnections: u16,
}

/// Whether an agent is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivenessView {
    /// Online, idle, busy, unresponsive or offline.
    pub status: LivenessStatus,
    /// What seems to have happened to a silent one.
    pub cause: Option<Cause>,
    /// How grave the silence is, once classified.
    pub class: Option<FailureClass>,
    /// When it last showed life.
    pub last_sign: Timestamp,
    /// Consecutive pings unanswered.
    pub misses: u8,
}

/// Everything people see of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentView {
    /// Its name.
    pub id: AgentId,
    /// Its present life.
    pub incarnation: Incarnation,
    /// When this life began.
    pub born_at: Timestamp,
    /// The profile it is watched under.
    pub role: RoleName,
    /// What may be done to it.
    pub mode: Mode,
    /// How it is doing.
    pub state: HealthState,
    /// Since when.
    pub state_since: Timestamp,
    /// Why.
    pub evidence: Arc<[Evidence]>,
    /// Whether it is there.
    pub liveness: LivenessView,
    /// What it waits on.
    pub waiting_on: Option<Wait>,
    /// Whether it should be given work now.
    pub ready: bool,
    /// What it works on.
    pub task: Option<TaskId>,
    /// Where it runs.
    pub host: Option<HostId>,
    /// Where its work could resume.
    pub checkpoint: Option<CheckpointId>,
    /// What is being done about it.
    pub intervention: Option<Intervention>,
    /// How far its clock is ahead of ours, in milliseconds.
    pub clock_skew_ms: Option<i64>,
    /// Its counters.
    pub metrics: Metrics,
    /// The limit that it exceeds.
    pub over_limit: Option<Breach>,
    /// What it used in vain, and an estimate of what was saved by intervening.
    pub wasted: Delta,
    /// What its probes find, if it has any.
    pub probes: Option<Box<ProbesView>>,
}

/// The step of the ladder that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intervention {
    /// It was reminded.
    Nudging {
        /// Which attempt.
        attempt: u8,
    },
    /// People were asked.
    Escalated {
        /// When it is decided without them, if it is.
        deadline: Option<Timestamp>,
    },
    /// People allowed more time.
    MoreTime {
        /// Until when.
        until: Timestamp,
    },
    /// It was asked to save its work and stop.
    HandingOff,
    /// It is being ended.
    Stopping,
}

impl Agent {
    pub(crate) fn view(&self, now: Timestamp, role: &Role) -> AgentView {
        AgentView {
            id: self.id.clone(),
            incarnation: self.incarnation,
            born_at: self.born_at,
            role: role.name.clone(),
            mode: self.mode(role),
            state: self.state,
            state_since: self.state_since,
            evidence: Arc::clone(&self.evidence),
            liveness: self.liveness_view(now, role),
            waiting_on: self.waiting.current(now, &role.patience),
            ready: self.is_ready(now, role),
            task: self.task.clone(),
            host: self.host().cloned(),
            checkpoint: self.checkpoint.clone(),
            intervention: self.intervention(),
            clock_skew_ms: self.skew.millis(),
            metrics: self.metrics,
            over_limit: self.breach(),
            wasted: self.wasted(now),
            probes: self.probes().and_then(ProbeHealth::view).map(Box::new),
        }
    }

    /// Readiness is not health: a busy agent is healthy and should not be given more, and one in doubt should
    /// stop getting work long before anything is done about it.
    pub(crate) fn is_ready(&self, now: Timestamp, role: &Role) -> bool {
        self.state == HealthState::Healthy
            && !self.is_busy()
            && !self.waiting.is_excused(now, &role.patience)
            && self.progress.assigned_at.is_none()
            && !self.blocked
            && self.handoff_wanted_at(now).is_none()
            && self.intervention().is_none()
    }

    /// How it stands, for whoever expects something of it.
    pub(crate) fn standing(&self, now: Timestamp, role: &Role) -> Standing {
        let known = self.heard || self.state == HealthState::Terminated || self.liveness.lost().is_some();
        Standing {
            status: known.then(|| self.liveness_view(now, role).status),
            wait: self.waiting.current(now, &role.patience),
        }
    }

    fn wasted(&self, now: Timestamp) -> Delta {
        let waste = self.usage.as_ref().and_then(|usage| usage.waste.as_ref());
        waste.map_or_else(Delta::default, |waste| waste.total(now))
    }

    fn liveness_view(&self, now: Timestamp, role: &Role) -> LivenessView {
        let status = self.liveness.lost_status().unwrap_or_else(|| self.living_status(now, role));
        LivenessView {
            status,
            cause: self.liveness.cause(),
            class: self.liveness.lost().and_then(|lost| lost.class),
            last_sign: self.liveness.last_sign,
            misses: self.liveness.misses(),
        }
    }

    fn living_status(&self, now: Timestamp, role: &Role) -> LivenessStatus {
        let window =
            role.liveness.pings.as_ref().map_or(role.liveness.beats.interval, |pings| pings.activity_timeout);
        if self.state == HealthState::Terminated {
            LivenessStatus::Offline
        } else if self.waiting.idle_since.is_some() {
            LivenessStatus::Idle
        } else if self.is_busy() || self.waiting.is_excused(now, &role.patience) {
            LivenessStatus::Busy
        } else if now.since(self.metrics.last_activity.max(self.metrics.last_heartbeat.unwrap_or_default()))
            <= window
        {
            LivenessStatus::Online
        } else {
            LivenessStatus::Idle
        }
    }

    pub(crate) fn intervention(&self) -> Option<Intervention> {
        match &self.case.as_ref()?.ladder {
            Ladder::Rest => None,
            Ladder::Nudging(nudging) => Some(Intervention::Nudging { attempt: nudging.attempt }),
            Ladder::Escalated { deadline, .. } => Some(Intervention::Escalated { deadline: *deadline }),
            Ladder::Granted(granted) => Some(Intervention::MoreTime { until: granted.until }),
            Ladder::HandingOff { .. } => Some(Intervention::HandingOff),
            Ladder::Stopping(_) => Some(Intervention::Stopping),
        }
    }
}
