//! Tokens and money that went into trouble, and what ending the trouble saved.
//!
//! *Spent while stuck* is measured: what the agent used between when its trouble began and when it ended, whether
//! by itself, by a reminder or by its end. A verdict comes later than the trouble that it is about, so what was used
//! since the last progress is kept until it is known whether it was in vain. What was used while the agent was idle
//! or waited belongs to no trouble.
//!
//! *Saved by intervening* is an **estimate**, and is to be shown as one: that the agent would have gone on as before
//! until a person had looked, which is assumed to take [`absence`](Policy::absence), or until its limits had ended
//! it. It counts only where an intervention ended the trouble, and only for the time in which the trouble stayed
//! away: when the agent is stuck again after ten minutes, ten minutes were saved. No moment counts as both spent and
//! saved, nor twice as either.

use crate::resources::Used;
use crate::time::{Span, Timestamp};

/// How savings are estimated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// After how long a person would have looked at the agent without being called. Default 1 h: the low end, so
    /// that the estimate rather says too little.
    pub absence: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self { absence: Span::hours(1) }
    }
}

/// A rate is measured over this long at least: a burst of seconds says nothing about an hour.
const RATE_OVER_MIN: Span = Span::minutes(1);

/// How a trouble ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The agent got on, and nothing had been done about it.
    ByItself,
    /// The agent got on after something that was done about it and reached it.
    AfterIntervention,
    /// The agent was stopped because of it.
    Stopped,
    /// The agent ended for another reason.
    Died,
}

/// What is added to what was spent and saved: of an agent, and by the fleet to its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Used while stuck.
    pub spent: Used,
    /// An estimate of what was not used because somebody intervened.
    pub saved: Used,
}

impl Delta {
    /// Both together: the fleet's sum, or an agent's.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self { spent: self.spent.plus(more.spent), saved: self.saved.plus(more.saved) }
    }
}

/// What one agent used in vain. Made on the first use that is reported; an agent that only beats has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waste {
    /// When it last got on, or what was used was last decided about.
    pub(crate) marked_at: Timestamp,
    /// Used since then: in vain, if trouble turns out to have begun there.
    pub(crate) unproven: Used,
    /// Whether it is idle or waits.
    pub(crate) resting: bool,
    pub(crate) spell: Option<Spell>,
    pub(crate) claim: Option<Claim>,
    /// Up to when savings were counted: nothing before is counted as spent any more.
    pub(crate) saved_until: Timestamp,
    pub(crate) total: Delta,
}

/// A trouble that lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spell {
    pub(crate) since: Timestamp,
    pub(crate) used: Used,
    /// For how long it worked in vain, up to `counted_at`.
    pub(crate) worked: Span,
    pub(crate) counted_at: Timestamp,
}

/// Savings that are being made, until the trouble is back or a person would have looked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Claim {
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
    /// The rate: so much used in so long.
    pub(crate) worked: Span,
    pub(crate) used: Used,
    /// What its limits would have allowed.
    pub(crate) most: Used,
}

impl Claim {
    fn worth(&self, at: Timestamp) -> Used {
        let lasted = at.min(self.until).since(self.from);
        self.used.scaled(lasted, self.worked).at_most(self.most)
    }
}

impl Waste {
    /// Of an agent that begins to report what it uses.
    pub fn new(now: Timestamp) -> Self {
        Self { marked_at: now, ..Self::default() }
    }

    /// It used something.
    pub fn on_used(&mut self, now: Timestamp, used: Used) -> Delta {
        self.count_time(now);
        if self.resting {
            return Delta::default();
        }
        let Some(spell) = &mut self.spell else {
            self.unproven = self.unproven.plus(used);
            return Delta::default();
        };
        spell.used = spell.used.plus(used);
        self.add(Delta { spent: used, ..Delta::default() })
    }

    /// It got on: what it used up to now was not in vain. A trouble that lasts ends with its own verdict.
    pub fn on_progress(&mut self, now: Timestamp) {
        self.marked_at = now;
        self.unproven = Used::default();
    }

    /// It is idle or waits from now on, or works again.
    pub fn on_rest(&mut self, now: Timestamp, resting: bool) {
        self.count_time(now);
        self.resting = resting;
    }

    /// It is stuck, and has been since then. Told again it changes nothing.
    pub fn on_stuck(&mut self, now: Timestamp, since: Timestamp) -> Delta {
        if self.spell.is_some() {
            return Delta::default();
        }
        let saved = self.cut_claim(now, since.min(now));
        let since = since.min(now).max(self.marked_at.min(now)).max(self.saved_until.min(now));
        // Evenly over the time since the last progress, where the trouble began later than that.
        let before = now.since(self.marked_at);
        let used = if since <= self.marked_at {
            self.unproven
        } else {
            self.unproven.scaled(now.since(since), before)
        };
        let worked = if self.resting { Span::ZERO } else { now.since(since) };
        self.spell = Some(Spell { since, used, worked, counted_at: now });
        self.on_progress(now);
        self.add(Delta { spent: used, saved })
    }

    /// The trouble is over. `left` is what its limits would still have allowed it to use.
    pub fn on_ended(&mut self, now: Timestamp, ending: Ending, left: Used, policy: &Policy) -> Delta {
        self.count_time(now);
        let Some(spell) = self.spell.take() else { return Delta::default() };
        self.on_progress(now);
        match ending {
            Ending::ByItself | Ending::Died => {}
            Ending::AfterIntervention | Ending::Stopped => {
                self.claim = Some(Claim {
                    from: now,
                    until: now + policy.absence,
                    worked: spell.worked.max(RATE_OVER_MIN),
                    used: spell.used,
                    most: left,
                });
            }
        }
        Delta::default()
    }

    /// The agent is forgotten: what was saved up to now is what was saved.
    pub fn on_forgotten(&mut self, now: Timestamp) -> Delta {
        let saved = self.cut_claim(now, now);
        self.add(Delta { saved, ..Delta::default() })
    }

    /// Whether it holds nothing that anybody would want to know.
    pub(crate) fn found_nothing(&self) -> bool {
        self.spell.is_none() && self.claim.is_none() && self.total == Delta::default()
    }

    /// When savings are complete.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.claim.map(|claim| claim.until.max(now + Span::millis(1)))
    }

    /// Counts savings that are complete. Calling early is harmless.
    pub fn wake(&mut self, now: Timestamp) -> Delta {
        if self.claim.is_none_or(|claim| now < claim.until) {
            return Delta::default();
        }
        self.on_forgotten(now)
    }

    /// What was spent so far while stuck, and an estimate of what was saved so far.
    pub fn total(&self, now: Timestamp) -> Delta {
        let saved = self.claim.map_or(Used::default(), |claim| claim.worth(now));
        self.total.plus(Delta { saved, ..Delta::default() })
    }

    /// Ends the savings at that moment, and tells what they were worth.
    fn cut_claim(&mut self, now: Timestamp, at: Timestamp) -> Used {
        let Some(claim) = self.claim.take() else { return Used::default() };
        self.saved_until = at.min(claim.until).max(claim.from).min(now).max(self.saved_until);
        claim.worth(at)
    }

    fn count_time(&mut self, now: Timestamp) {
        if let Some(spell) = &mut self.spell {
            if !self.resting {
                spell.worked += now.since(spell.counted_at);
            }
            spell.counted_at = spell.counted_at.max(now);
        }
    }

    fn add(&mut self, delta: Delta) -> Delta {
        self.total = self.total.plus(delta);
        delta
    }
}

#[cfg(test)]
mod tests;
