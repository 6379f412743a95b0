//! What an agent uses, and what follows when that is more than it may (L12).
//!
//! The fleet counts ([`resources`](crate::resources)); here it is acted on. An agent may be healthy and use too much:
//! its state says nothing of limits. Beyond one, people are asked, and where the mode allows it the agent is ended.
//! Budgets, freezes and the look around hold for that as for every other end. Only what proven senders said was
//! counted, and time by the monitor's own clock.

use super::{Agent, Step};
use crate::event::Incident;
use crate::evidence::{Evidence, Severity, Sign};
use crate::health::HealthState;
use crate::intervention::Ladder;
use crate::policy::Mode;
use crate::resources::{Account, Breach};
use crate::signal::Trust;
use crate::time::{Span, Timestamp};
use crate::waste::Waste;

/// What an agent uses. Most have none: nothing is limited by default, and nothing is wrong with most.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Usage {
    pub(crate) account: Account,
    /// The limit that it exceeds, as of the last look.
    pub(crate) breach: Option<Breach>,
    /// When to look again though nothing comes in.
    pub(crate) due: Option<Timestamp>,
    /// Whether the fleet counts it among the living.
    pub(crate) living: bool,
    /// What it used in vain, once something was wrong with it.
    pub(crate) waste: Option<Box<Waste>>,
    /// Whether it is being ended on purpose.
    pub(crate) stopping: bool,
}

impl Usage {
    pub(crate) fn new(born_at: Timestamp) -> Self {
        Self {
            account: Account::new(born_at),
            breach: None,
            due: None,
            living: false,
            waste: None,
            stopping: false,
        }
    }

    /// What the life before exceeded is not held against the next one.
    pub(crate) fn in_new_life(mut self: Box<Self>) -> Box<Self> {
        self.breach = None;
        self.stopping = false;
        self
    }
}

impl Agent {
    /// The limit that it exceeds.
    pub(crate) fn breach(&self) -> Option<Breach> {
        self.usage.as_ref()?.breach.filter(|_| self.state != HealthState::Terminated)
    }

    pub(super) fn breach_evidence(&self) -> Option<Evidence> {
        let Breach { level, resource, value, limit } = self.breach()?;
        let (sign, trust) = (Sign::Limit { level, resource }, Trust::Verified);
        Some(Evidence { sign, value, threshold: limit, severity: Severity::Note, trust, stretch: None })
    }

    pub(super) fn usage_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        // What came due in this very moment is not forgotten.
        self.usage.as_ref()?.due.map(|due| due.max(now + Span::millis(1)))
    }

    /// Does what follows from a limit that is exceeded; tells whether one is, and nothing else is to be done.
    pub(super) fn enforce_limit(&mut self, step: &mut Step<'_>) -> bool {
        let mode = self.mode(step.role);
        let Some(breach) = self.breach().filter(|_| Mode::Escalate <= mode) else { return false };
        let case = self.case.get_or_insert_default();
        case.well_since = None;
        match &case.ladder {
            Ladder::HandingOff { .. } | Ladder::Stopping(_) => {}
            // People know, and let it.
            Ladder::Granted(granted) if step.now < granted.until => {}
            _ if mode == Mode::Full => self.end_beyond_limit(step, breach),
            Ladder::Escalated { .. } => {}
            Ladder::Rest | Ladder::Nudging(_) | Ladder::Granted(_) => {
                self.escalate(step, breach.to_string().into(), None);
            }
        }
        true
    }

    /// Its work is not taken up by a successor: that would use as much again.
    fn end_beyond_limit(&mut self, step: &mut Step<'_>, breach: Breach) {
        let told = self.open_incidents().iter().find(|(incident, _)| *incident == Incident::OverLimit);
        let since = told.map_or(step.now, |(_, since)| *since);
        let looked = since + step.bounds.look_around;
        if step.now < looked {
            return self.hold(looked);
        }
        self.stop(step, breach.to_string().into(), false, None);
    }
}
