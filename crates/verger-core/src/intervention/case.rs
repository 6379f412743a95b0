//! One agent's trouble, from the first reminder to the last resort.
//!
//! ```text
//! STUCK ──► Nudging 1..3 ──in vain──► Escalated ──more time──► Granted ──over──► looked at again
//! FAILING, unreachable, 5 repeats ──────► │ ├──handoff──► HandingOff ──saved──► ended
//!                                         │ └──────────────────┴──too late─► │
//!                                         └──terminate, or timeout in mode full──► Stopping ──► ended
//! health at any time ──► at rest, reminders stay counted ──stable_after──► case closed
//! ```
//!
//! The case is data: where the ladder stands and what was used of it. What moves it is in
//! `agent::intervene`, which alone may touch budgets and push effects.

use std::sync::Arc;

use super::Budget;
use crate::time::{Span, Timestamp};

/// One agent's trouble.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Case {
    pub(crate) ladder: Ladder,
    /// Reminders used in this case. The reply to a reminder refills nothing; only lasting health does.
    pub(crate) nudges: u8,
    /// Whether a reminder was delivered in this case, had its time, and changed nothing.
    pub(crate) nudged_in_vain: bool,
    /// Whether it answered a reminder in this case.
    pub(crate) answered: bool,
    /// When it was last reminded.
    pub(crate) nudged_at: Option<Timestamp>,
    /// Whether something new happened since the last reminder.
    pub(crate) progressed: bool,
    /// Repeats at which the turn was last interrupted.
    pub(crate) interrupted_at: u32,
    /// When something was last done to change its course.
    pub(crate) touched_at: Option<Timestamp>,
    /// Since when the agent has been well again, while the case waits to be closed.
    pub(crate) well_since: Option<Timestamp>,
    /// When to try again what a limit held back.
    pub(crate) held_until: Option<Timestamp>,
    /// When the next reminder may follow the last one. It holds back nothing but reminders.
    pub(crate) nudge_held_until: Option<Timestamp>,
    pub(crate) nudge_budget: Budget,
    pub(crate) escalation_budget: Budget,
    pub(crate) termination_budget: Budget,
}

/// Where the ladder stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Ladder {
    /// Nothing is under way.
    #[default]
    Rest,
    /// The agent was reminded.
    Nudging(Nudging),
    /// People were asked.
    Escalated {
        since: Timestamp,
        seq: u32,
        /// How often it was tried to reach them.
        attempt: u8,
        /// When it is decided without them; never, unless the mode is full and they were reached.
        deadline: Option<Timestamp>,
        /// When to try again to reach them.
        retry_at: Option<Timestamp>,
        reason: Arc<str>,
        /// A person wanted it: health does not withdraw it.
        by_hand: bool,
    },
    /// People allowed more time.
    Granted(Granted),
    /// The agent was asked to save its work and stop.
    HandingOff { seq: u32, deadline: Timestamp, reason: Arc<str> },
    /// It is being ended.
    Stopping(Stopping),
}

/// The agent was reminded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nudging {
    pub(crate) attempt: u8,
    pub(crate) seq: u32,
    pub(crate) sent_at: Timestamp,
    pub(crate) delivery: Delivery,
    /// When the next step is due.
    pub(crate) deadline: Timestamp,
    /// A person asked for it: what follows is theirs, too.
    pub(crate) by_hand: bool,
}

/// What is known of a reminder's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// On its way.
    Queued,
    /// The channel confirmed it.
    Delivered,
    /// The agent reacted.
    Answered,
    /// It could not be delivered.
    Failed,
}

/// People allowed more time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Granted {
    pub(crate) until: Timestamp,
}

/// The agent is being ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stopping {
    pub(crate) seq: u32,
    pub(crate) attempt: u8,
    /// When to try again; never, once people were told that it does not stop.
    pub(crate) deadline: Option<Timestamp>,
    pub(crate) recover: bool,
    /// When Verger decided on it, for nothing but the agent's trouble: it is not tried again once that is over.
    pub(crate) judged_at: Option<Timestamp>,
    pub(crate) reason: Arc<str>,
}

impl Stopping {
    /// Nothing was sent yet.
    pub(crate) fn new(reason: Arc<str>, recover: bool, judged_at: Option<Timestamp>) -> Self {
        Self { seq: 0, attempt: 1, deadline: None, recover, judged_at, reason }
    }
}

impl Ladder {
    /// The number of the effect that this step waits for.
    pub(crate) fn seq(&self) -> Option<u32> {
        match self {
            Self::Rest | Self::Granted(_) => None,
            Self::Nudging(nudging) => Some(nudging.seq),
            Self::Escalated { seq, .. } | Self::HandingOff { seq, .. } => Some(*seq),
            Self::Stopping(stopping) => Some(stopping.seq),
        }
    }
}

/// Health without progress must last this many times longer before the case is closed.
const UNPROVEN_HEALTH: u64 = 6;

impl Case {
    /// What a limit held back is tried again. A stop that was in vain waits on: no limit holds it.
    pub(crate) fn on_other_limits(&mut self, now: Timestamp) {
        let in_vain = matches!(&self.ladder, Ladder::Stopping(stopping) if stopping.deadline.is_none());
        if !in_vain {
            self.held_until = self.held_until.map(|until| until.min(now));
        }
    }

    /// How long health must last to close the case. The reply to a reminder is not progress: without any, longer.
    pub(crate) fn closes_after(&self, stable_after: Span) -> Span {
        let proven = self.progressed || self.nudges == 0;
        if proven { stable_after } else { stable_after.times(UNPROVEN_HEALTH) }
    }

    /// When the ladder's next step is due, after `now`.
    pub(crate) fn deadline(&self, now: Timestamp, stable_after: Span) -> Option<Timestamp> {
        let step = match &self.ladder {
            Ladder::Rest => None,
            Ladder::Nudging(nudging) => Some(nudging.deadline),
            Ladder::Escalated { deadline, retry_at, .. } => {
                [*deadline, *retry_at].into_iter().flatten().min()
            }
            Ladder::Granted(granted) => Some(granted.until),
            Ladder::HandingOff { deadline, .. } => Some(*deadline),
            Ladder::Stopping(stopping) => stopping.deadline,
        };
        // What a limit held back is due when there is room, not when it was first due.
        let step = match (step, self.held_until) {
            (Some(due), Some(held)) => Some(due.max(held)),
            (due, held) => due.or(held),
        };
        let resting = self.ladder == Ladder::Rest;
        let closing =
            self.well_since.filter(|_| resting).map(|since| since + self.closes_after(stable_after));
        [step, self.nudge_held_until, closing].into_iter().flatten().filter(|due| now < *due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_due_now_does_not_hide_what_is_due_later() {
        let (now, later) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        let ladder = Ladder::Granted(Granted { until: now });
        let case = Case { ladder, nudge_held_until: Some(later), ..Case::default() };
        assert_eq!(case.deadline(now, Span::ZERO), Some(later));
    }
}
