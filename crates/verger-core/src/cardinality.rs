//! Who is forgotten, and who is let in.
//!
//! Agents come and go by the thousand, and each is remembered. One that ended long ago, or of which nothing was
//! heard for days, is forgotten; it is registered again by its next signal. Nobody is forgotten while people are
//! asked about it, while it is to be recovered, or while an incident of it is open, except that it ended or fell
//! silent: that is what forgetting concludes; nor while a checkpoint of it waits to be written, which would be lost.
//!
//! The number of agents is limited. When it is reached, whoever is gone longest makes room, or newcomers are turned
//! away, as the policy says; the living are never forgotten for it. Names that nobody vouches for are let in at a limited
//! pace: whoever makes them up by the million registers a few. What one agent may hold in
//! memory is limited by its detectors themselves, each of which keeps so much and no more.

use std::collections::{BTreeMap, BTreeSet};

use crate::health::HealthState;
use crate::id::AgentId;
use crate::time::{Span, Timestamp};

/// How long and how many agents are remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// An agent that ended is forgotten after this. Default 24 h: its last day is looked at on the next.
    pub ended_after: Span,
    /// An agent of which nothing was heard for so long is forgotten. Default 7 days: a machine that was off over a
    /// long weekend comes back to a monitor that knows its agents.
    pub silent_after: Span,
    /// At most so many agents are registered. Default 1,000,000.
    pub agents_max: u32,
    /// What happens when they are. Default: whoever is gone longest makes room.
    pub when_full: WhenFull,
    /// At most so many agents are registered by who shows no token, within `strangers_within`. Default 10,000: more
    /// than run on one machine, and a hundredth of what would fill the fleet.
    pub strangers_max: u32,
    /// The time for which those are counted. Default 10 min.
    pub strangers_within: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            ended_after: Span::hours(24),
            silent_after: Span::hours(7 * 24),
            agents_max: 1_000_000,
            when_full: WhenFull::ForgetGone,
            strangers_max: 10_000,
            strangers_within: Span::minutes(10),
        }
    }
}

/// What happens when a newcomer finds the fleet full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The newcomer is turned away.
    Refuse,
    /// Whoever is gone longest is forgotten; if nobody is gone, the newcomer is turned away.
    ForgetGone,
}

/// What the fleet knows about one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How it is doing.
    pub state: HealthState,
    /// When it last showed life.
    pub last_sign: Timestamp,
    /// When its life ended, if it did.
    pub ended_at: Option<Timestamp>,
    /// People are asked about it and have not answered.
    pub asked: bool,
    /// An incident of it is open, other than that it is silent or died.
    pub incident: bool,
    /// Its work is to be recovered, or it is being stopped.
    pub recovering: bool,
    /// A checkpoint of it waits to be written.
    pub saving: bool,
    /// It said that it waits, and may: for a person, until a time.
    pub excused: bool,
}

/// Why an agent is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It ended that long ago.
    Ended(Span),
    /// It was silent for that long.
    Silent(Span),
    /// The fleet was full, and it was gone longest.
    Full,
}

impl Facts {
    /// Since when it is gone: ended, and nothing of it open. The silent are not gone as long as they may come back.
    pub fn gone_since(&self) -> Option<Timestamp> {
        let ended = self.ended_at.filter(|_| self.state == HealthState::Terminated);
        ended.filter(|_| !self.is_held())
    }

    /// When it is forgotten if nothing more happens; never, as long as something about it is open.
    pub fn forget_at(&self, policy: &Policy) -> Option<Timestamp> {
        if self.is_held() {
            return None;
        }
        match self.ended_at.filter(|_| self.state == HealthState::Terminated) {
            Some(ended_at) => Some(ended_at + policy.ended_after),
            None if self.excused => None,
            None => Some(self.last_sign + policy.silent_after),
        }
    }

    /// Whether it is to be forgotten now, and why.
    pub fn verdict(&self, now: Timestamp, policy: &Policy) -> Option<Reason> {
        self.forget_at(policy).filter(|due| *due <= now)?;
        Some(match self.gone_since() {
            Some(ended_at) => Reason::Ended(now.since(ended_at)),
            None => Reason::Silent(now.since(self.last_sign)),
        })
    }

    /// When to ask for the verdict again.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        self.forget_at(policy).map(|due| due.max(now + Span::millis(1)))
    }

    fn is_held(&self) -> bool {
        self.asked || self.incident || self.recovering || self.saving
    }
}

/// The agents that are gone, by when they went: who makes room first is found without a look at the others.
///
/// It is not stored; after a restart it is told again of everybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gone {
    by_time: BTreeSet<(Timestamp, AgentId)>,
    since: BTreeMap<AgentId, Timestamp>,
}

/// What happens to a newcomer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// There is room.
    Room,
    /// There is, when this agent is forgotten first, for [`Reason::Full`].
    Forget(AgentId),
    /// There is none.
    Refused(Full),
}

/// Why a newcomer is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{registered} agents are registered, and {max} may be; {gone} of them are gone")]
pub struct Full {
    /// How many are registered.
    pub registered: u32,
    /// How many may be.
    pub max: u32,
    /// How many of them could be forgotten, if the policy allowed.
    pub gone: u32,
}

impl Gone {
    /// The agent is [gone since](Facts::gone_since) then, or is not. Told again it changes nothing.
    pub fn on_agent(&mut self, agent: &AgentId, gone_since: Option<Timestamp>) {
        let known = match gone_since {
            Some(since) => self.since.insert(agent.clone(), since),
            None => self.since.remove(agent),
        };
        if let Some(known) = known {
            self.by_time.remove(&(known, agent.clone()));
        }
        if let Some(since) = gone_since {
            self.by_time.insert((since, agent.clone()));
        }
    }

    /// Whether one more agent may be registered.
    pub fn admit(&self, registered: u32, policy: &Policy) -> Admission {
        if registered < policy.agents_max {
            return Admission::Room;
        }
        let gone = u32::try_from(self.by_time.len()).unwrap_or(u32::MAX);
        // A limit that was lowered is not reached by forgetting one: then the newcomer waits.
        let enough = registered == policy.agents_max;
        match (policy.when_full, self.by_time.first()) {
            (WhenFull::ForgetGone, Some((_, longest))) if enough => Admission::Forget(longest.clone()),
            (WhenFull::ForgetGone | WhenFull::Refuse, _) => {
                Admission::Refused(Full { registered, max: policy.agents_max, gone })
            }
        }
    }

    /// Whom to forget because a limit was lowered: whoever is gone longest, one at a time.
    pub fn excess(&self, registered: u32, policy: &Policy) -> Option<&AgentId> {
        let over = policy.agents_max < registered && policy.when_full == WhenFull::ForgetGone;
        self.by_time.first().filter(|_| over).map(|(_, agent)| agent)
    }
}

/// Newcomers whom nobody vouches for, counted from the first of them on for a while.
///
/// It is not stored: a monitor that was started again is as patient as at first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strangers {
    since: Timestamp,
    count: u32,
}

impl Strangers {
    /// Lets one more in, or says after how long it is worth trying again.
    pub fn admit(&mut self, now: Timestamp, policy: &Policy) -> Result<(), Span> {
        let ends = self.since + policy.strangers_within;
        if self.count == 0 || ends <= now {
            *self = Self { since: now, count: 0 };
        } else if policy.strangers_max <= self.count {
            return Err(ends.since(now));
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
