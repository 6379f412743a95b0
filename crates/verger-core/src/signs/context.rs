//! Whether the context window is full and nobody does anything about it.
//!
//! A full window is no trouble by itself: agents compact it, hand over, or finish within it. It is trouble
//! when it stays full: the agent forgets what it is doing, or every request is refused.

use crate::evidence::{Measure, Severity, Sign};
use crate::fingerprint::TextPrint;
use crate::signal::Context;
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// The share of the window, in thousandths, from which on it counts as full.
///
/// Agents that compact by themselves do so between 80 and 95 %; what is still above that was not going to.
const FULL: u16 = 950;

/// A fall by this share of the window, in thousandths, is relief; less is the jitter of counting.
const FALL: u64 = 10;

/// How long a full context is borne.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Steps with a full window that are exhaustion. Sixty: who can make room finishes what it is about first.
    pub steps: u32,
    /// Times it says the same with a full window that are exhaustion, too. Five: it begins the same step again and
    /// again.
    pub same_words: u32,
    /// How long nothing lasting may come of them. Two hours: what it is about may take a while.
    pub standstill: Span,
    /// How long the window may stay full. Ten minutes: a compaction takes one or two, and the end of a task
    /// often comes with the window full.
    pub grace: Span,
    /// How long a compaction or a request to hand over counts as being dealt with. Half an hour: a handoff
    /// waits for a checkpoint and a successor; one that has not come by then will not.
    pub relief: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            steps: 60,
            same_words: 5,
            standstill: Span::hours(2),
            grace: Span::minutes(10),
            relief: Span::minutes(30),
        }
    }
}

/// How full the context window is, and since when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextUse {
    /// The last reported share, in thousandths.
    pub(crate) share: u16,
    /// The last reported number of tokens.
    pub(crate) used: u64,
    /// Since when it is full without having fallen.
    pub(crate) full_since: Option<Timestamp>,
    /// Steps done since.
    pub(crate) steps: u32,
    /// What it last said.
    pub(crate) words: u64,
    /// How often in a row.
    pub(crate) same_words: u32,
    /// When it was last compacted or a handoff was asked for, unless it was seen to fall since.
    pub(crate) relieved_at: Option<Timestamp>,
}

impl ContextUse {
    /// The agent reported how full its window is. A window of no size says nothing.
    pub fn observe(&mut self, now: Timestamp, context: Context) {
        if context.limit == 0 {
            return;
        }
        let fell = context.used.saturating_add(context.limit / 1_000 * FALL) < self.used;
        self.share = per_mille(context);
        self.used = context.used;
        if self.share < FULL {
            self.full_since = None;
            self.relieved_at = None;
        } else if fell || self.full_since.is_none() {
            self.full_since = Some(now);
            (self.steps, self.same_words) = (0, 0);
        }
    }

    /// The agent did another step that was not mere waiting.
    pub fn on_step(&mut self) {
        if self.full_since.is_some() {
            self.steps = self.steps.saturating_add(1);
        }
    }

    /// The agent said something.
    pub fn on_words(&mut self, text: TextPrint) {
        if self.full_since.is_none() {
            return;
        }
        let same = self.same_words > 0 && self.words == text.0;
        self.same_words = if same { self.same_words.saturating_add(1) } else { 1 };
        self.words = text.0;
    }

    /// How often it said the same in a row since the window has been full.
    pub fn same_words(&self) -> u32 {
        self.same_words
    }

    /// A turn ended: what was done in it is no measure of the next.
    pub fn forget_steps(&mut self) {
        (self.steps, self.same_words) = (0, 0);
    }

    /// Steps done since the window has been full.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The window was compacted, or the agent asked to hand over: someone deals with it.
    pub fn on_relief(&mut self, now: Timestamp) {
        self.relieved_at = Some(now);
        (self.steps, self.same_words) = (0, 0);
    }

    /// A new life begins with an empty window.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether the window has been full for too long. Ask only about an agent that is expected to work: one
    /// that is done may keep its full window.
    pub fn finding(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        (self.deadline(policy)? < now).then_some(Finding {
            sign: Sign::Context,
            value: Measure::PerMille(self.share),
            threshold: Measure::PerMille(FULL),
            severity: Severity::Stuck,
        })
    }

    /// The last moment at which a full window is still borne.
    pub fn deadline(&self, policy: &Policy) -> Option<Timestamp> {
        let patience_ends = self.full_since? + policy.grace;
        let relief_ends = self.relieved_at.map_or(Timestamp::ZERO, |at| at + policy.relief);
        Some(patience_ends.max(relief_ends))
    }
}

fn per_mille(context: Context) -> u16 {
    let share = u128::from(context.used) * 1_000 / u128::from(context.limit);
    share.min(1_000) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: u64) -> Timestamp {
        Timestamp::ZERO + Span::minutes(minutes)
    }

    /// Reports of `(minute, percent)`; what is found at minute `now`.
    fn full(agent: &mut ContextUse, reports: &[(u64, u64)], now: u64) -> bool {
        for &(minute, percent) in reports {
            agent.observe(at(minute), Context { used: percent * 2_000, limit: 200_000 });
        }
        agent.finding(at(now), &Policy::default()).is_some()
    }

    #[test]
    fn l09_a_window_that_stays_full_is_stuck() {
        let mut agent = ContextUse::default();
        assert!(!full(&mut agent, &[(0, 60), (5, 96), (10, 97), (15, 97)], 15));
        assert_eq!(agent.deadline(&Policy::default()), Some(at(15)));
        let finding = agent.finding(at(16), &Policy::default()).unwrap();
        assert_eq!((finding.sign, finding.severity), (Sign::Context, Severity::Stuck));
        assert_eq!((finding.value, finding.threshold), (Measure::PerMille(970), Measure::PerMille(950)));
    }

    #[test]
    fn l09_a_window_that_empties_is_not() {
        assert!(!full(&mut ContextUse::default(), &[(0, 96), (9, 40), (12, 96)], 22));
        assert!(
            !full(&mut ContextUse::default(), &[(0, 99), (9, 96)], 19),
            "falling counts, though still full"
        );
        assert!(!full(&mut ContextUse::default(), &[(0, 94)], 600));
    }

    #[test]
    fn l09_a_handoff_or_a_compaction_clears_it_for_a_while() {
        let mut agent = ContextUse::default();
        assert!(full(&mut agent, &[(0, 98)], 11));
        agent.on_relief(at(12));
        assert!(!full(&mut agent, &[(14, 98), (19, 98)], 42));
        assert_eq!(agent.deadline(&Policy::default()), Some(at(42)));
        assert!(full(&mut agent, &[], 43), "a handoff that never comes does not hide it for ever");
    }

    #[test]
    fn a_window_of_no_size_or_beyond_its_size_is_borne() {
        let mut agent = ContextUse::default();
        agent.observe(at(0), Context { used: 5, limit: 0 });
        assert_eq!(agent, ContextUse::default());
        agent.observe(at(0), Context { used: u64::MAX, limit: 1 });
        assert_eq!(agent.share, 1_000);
    }
}
