//! The thresholds by which agents are judged, by role.
//!
//! Every group of thresholds lives beside the machine that reads it; a role is one of each, with a name. The
//! first role is the one for agents that claim none (000's timing, and 002's production preset where a ping
//! channel exists); `critical`, `active`, `background` and `standby` are 001's.

use crate::id::RoleName;
use crate::intervention::{self, FleetLimits};
use crate::resources::{self, Limits};
use crate::signs::{context, errors, output, repetition, tokens};
use crate::time::Span;
use crate::{
    breaker, cardinality, correlation, flapping, liveness, messages, progress, recovery, tasks, verdicts,
    waiting, waste,
};

/// What may be done to an agent without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing: only look.
    Observe,
    /// Remind it.
    Nudge,
    /// Remind it, then ask people; they decide about stopping.
    Escalate,
    /// All of that, and stop it when nobody answers.
    Full,
}

/// What follows when an agent fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartPolicy {
    /// Nothing beyond the record.
    None,
    /// People decide.
    Escalate,
    /// It is ended and its work recovered, where the mode and the evidence allow.
    Recover,
}

/// All thresholds for agents of one role.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// What agents call it.
    pub name: RoleName,
    /// What may be done without a person. Default `escalate`: people decide about stopping.
    pub mode: Mode,
    /// What follows when an agent of this role fails. Default `escalate`.
    pub restart: RestartPolicy,
    /// Heartbeats are required: their absence counts even if none was ever sent. Default false.
    pub requires_heartbeats: bool,
    /// A new life is not blamed for silence this long, and its first success ends the grace. Default 5 min.
    pub startup_grace: Span,
    /// Whether anybody is there.
    pub liveness: liveness::Policy,
    /// What it waits on.
    pub patience: waiting::Policy,
    /// Whether it gets on.
    pub progress: progress::Policy,
    /// Whether it repeats itself.
    pub repetition: repetition::Policy,
    /// Whether what it does fails.
    pub errors: errors::Policy,
    /// Whether it uses what it usually uses.
    pub tokens: tokens::Policy,
    /// Whether its context window is full.
    pub context: context::Policy,
    /// Whether its work becomes visible.
    pub output: output::Policy,
    /// Whether its state keeps changing.
    pub flapping: flapping::Policy,
    /// What is done about it.
    pub intervention: intervention::Policy,
    /// What one life may use, where that differs from what holds for all. Default none.
    pub limits: Option<Limits>,
}

impl Role {
    /// The thresholds for agents that claim no role, under this name.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            mode: Mode::Escalate,
            restart: RestartPolicy::Escalate,
            requires_heartbeats: false,
            startup_grace: Span::minutes(5),
            liveness: liveness::Policy::default(),
            patience: waiting::Policy::default(),
            progress: progress::Policy::default(),
            repetition: repetition::Policy::default(),
            errors: errors::Policy::default(),
            tokens: tokens::Policy::default(),
            context: context::Policy::default(),
            output: output::Policy::default(),
            flapping: flapping::Policy::default(),
            intervention: intervention::Policy::default(),
            limits: None,
        }
    }

    fn polled(name: &str, interval: Span, misses_max: u8) -> Self {
        Self { liveness: liveness::Policy::polled(interval, misses_max), ..Self::named(name) }
    }
}

/// A role's place among the policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoleIndex(pub(crate) u8);

/// The policies of a whole fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Policies {
    /// The roles; the first is for agents that claim none of the others. Never empty, at most 256.
    roles: Vec<Role>,
    /// Limits on interventions in the whole fleet.
    pub limits: FleetLimits,
    /// When the failures of many agents are one.
    pub correlation: correlation::Policy,
    /// How work goes on whose agent ended.
    pub recovery: recovery::Policy,
    /// How long and how many agents are remembered.
    pub cardinality: cardinality::Policy,
    /// When a task counts as stalled.
    pub tasks: tasks::Policy,
    /// How long messages may stay unacknowledged.
    pub messages: messages::Policy,
    /// When circuit breakers open and close.
    pub breakers: breaker::Policies,
    /// How checkpoints wait that cannot be written.
    pub writes: breaker::WritesPolicy,
    /// How much agents may use.
    pub resources: resources::Policy,
    /// How savings are estimated.
    pub waste: waste::Policy,
    /// When a worker's verdicts matter, and to whom.
    pub verdicts: verdicts::Policy,
}

impl Default for Policies {
    fn default() -> Self {
        let roles = vec![
            Role::named("default"),
            Role::polled("critical", Span::secs(30), 2),
            Role::polled("active", Span::secs(60), 3),
            Role::polled("background", Span::minutes(5), 3),
            Role::polled("standby", Span::minutes(15), 5),
        ];
        Self {
            roles,
            limits: FleetLimits::default(),
            correlation: correlation::Policy::default(),
            recovery: recovery::Policy::default(),
            cardinality: cardinality::Policy::default(),
            tasks: tasks::Policy::default(),
            messages: messages::Policy::default(),
            breakers: breaker::Policies::default(),
            writes: breaker::WritesPolicy::default(),
            resources: resources::Policy::default(),
            waste: waste::Policy::default(),
            verdicts: verdicts::Policy::default(),
        }
    }
}

impl Policies {
    /// Adds a role, or replaces the one of the same name. At most 256; tells whether there was room.
    pub fn set(&mut self, role: Role) -> bool {
        let has_room = u8::try_from(self.roles.len()).is_ok();
        match self.index_of(&role.name) {
            Some(RoleIndex(at)) => self.roles[usize::from(at)] = role,
            None if has_room => self.roles.push(role),
            None => return false,
        }
        true
    }

    /// Changes every role alike.
    pub fn each(&mut self, change: impl FnMut(&mut Role)) {
        self.roles.iter_mut().for_each(change);
    }

    /// The role of that name; the first for agents that claim none or an unknown one.
    pub fn role(&self, name: Option<&RoleName>) -> &Role {
        self.at(name.and_then(|name| self.index_of(name)).unwrap_or_default())
    }

    pub(crate) fn index_of(&self, name: &RoleName) -> Option<RoleIndex> {
        self.roles.iter().position(|role| role.name == *name).map(|at| RoleIndex(at as u8))
    }

    /// How much agents of this role may use.
    pub(crate) fn resources_of(&self, index: RoleIndex) -> resources::Policy {
        let mut policy = self.resources.clone();
        if let Some(limits) = &self.at(index).limits {
            policy.agent = limits.clone();
        }
        policy
    }

    /// Whether anything that anybody uses is limited.
    pub(crate) fn limit_anything(&self) -> bool {
        let by_role = |role: &Role| role.limits.as_ref().is_some_and(Limits::any);
        self.resources.any() || self.roles.iter().any(by_role)
    }

    pub(crate) fn at(&self, index: RoleIndex) -> &Role {
        self.roles.get(usize::from(index.0)).unwrap_or(&self.roles[0])
    }
}
