//! Whether what an agent does fails: too often, again and again in the same way, or for good.
//!
//! Three measures, because failing is part of working. The *rate* sees an agent that fails too often,
//! whatever the failures are. The *streak* sees one that fails in the same way without anything succeeding in
//! between; failures that differ are exploration and count in the rate alone. An error that the agent calls
//! *unrecoverable* stands until something succeeds.
//!
//! Outages count nowhere: they are the provider's. Neither do failures of calls that wait or poll: "not ready
//! yet" is their usual answer, and the patience with them is the repetition's to judge.

use crate::evidence::{Measure, Severity, Sign};
use crate::fingerprint::{CallClass, CallPrint, ResultPrint};
use crate::signal::Failure;
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// Results over which the rate is taken: some minutes of work, so that it tells of now.
const WINDOW: u32 = 20;

/// Results before a rate is judged at all.
const SAMPLES_MIN: u32 = 8;

/// Failures before a rate is judged at all: three wrong guesses at the start of a task are 37 % of eight.
const FAILURES_MIN: u32 = 4;

/// The rate, in thousandths, at which an agent counts as calm again. Well below the limit, so that one
/// hovering there does not flap.
const CALM: u16 = 150;

/// How long a rate stands after the last result. It warns of how the work goes, and after this there is none.
const RATE_STANDS: Span = Span::minutes(30);

/// How much failing is too much.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The share of failed calls, in thousandths, above which an agent is degraded. 25 % (000 §2.1).
    pub rate_max: u16,
    /// Failures in a row, all alike, above which an agent is failing. Three (000 §2.1).
    pub streak_max: u32,
    /// Heartbeats in a row with ever more errors, above which an agent is degraded. Three, as for failures.
    pub growth_max: u32,
    /// How long a streak of errors reported outside calls stands after the last of them. An hour: an agent
    /// that reports no results cannot show a success, and must not count as failing for ever.
    pub reports_stand: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self { rate_max: 250, streak_max: 3, growth_max: 3, reports_stand: Span::hours(1) }
    }
}

/// Failures in a row, each like the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// How many.
    pub(crate) length: u32,
    /// The call that failed last; 0 for errors outside calls.
    pub(crate) call: u64,
    /// What the last one said.
    pub(crate) text: u64,
    /// All of them are the same call with the same words.
    pub(crate) identical: bool,
    /// When it happened.
    pub(crate) at: Timestamp,
}

impl Streak {
    fn on_failure(&mut self, at: Timestamp, call: u64, text: u64, alike: bool) {
        let length = if alike { self.length.saturating_add(1) } else { 1 };
        let same = self.identical && self.call == call && self.text == text;
        *self = Self { length, call, text, identical: !alike || same, at };
    }
}

/// How what an agent does turns out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// The last results, latest in the lowest bit; a set bit is a failure.
    pub(crate) results: u32,
    /// When the last result came.
    pub(crate) last_at: Timestamp,
    /// How many results there were, at most [`WINDOW`].
    pub(crate) samples: u32,
    /// The highest rate, in thousandths, since it was last calm.
    pub(crate) worst: u16,
    /// Failed calls in a row.
    pub(crate) calls: Streak,
    /// Errors outside calls in a row. Apart from the calls, because many agents report a failed call once more
    /// as an error, in other words.
    pub(crate) reports: Streak,
    /// An unrecoverable error was reported and nothing has succeeded since.
    pub(crate) unrecoverable: bool,
    /// The last heartbeat's error count.
    pub(crate) total: Option<u64>,
    /// Heartbeats in a row at which it had grown.
    pub(crate) growth: u32,
}

impl Errors {
    /// A call ended.
    pub fn observe_result(&mut self, now: Timestamp, call: CallPrint, result: ResultPrint) {
        if result.outage || (result.failed && call.class == CallClass::Waiting) {
            return;
        }
        self.last_at = now;
        self.results = (self.results << 1) | u32::from(result.failed);
        self.samples = (self.samples + 1).min(WINDOW);
        self.observe_rate();
        if result.failed {
            let same_text = self.calls.text == result.digest && result.says_something();
            let alike = self.calls.length > 0 && (self.calls.call == call.digest || same_text);
            self.calls.on_failure(now, call.digest, result.digest, alike);
        } else {
            self.calls = Streak::default();
            self.reports = Streak::default();
            self.unrecoverable = false;
        }
    }

    /// Something failed outside a call.
    pub fn observe_failure(&mut self, now: Timestamp, failure: &Failure) {
        if failure.provider {
            return;
        }
        self.unrecoverable |= failure.unrecoverable;
        let alike = self.reports.length > 0 && self.reports.text == failure.text.0;
        self.reports.on_failure(now, 0, failure.text.0, alike);
    }

    /// A heartbeat told how many errors there were in this life. A count that falls belongs to a new one.
    pub fn observe_error_total(&mut self, _now: Timestamp, total: u64) {
        let grew = self.total.is_some_and(|last| last < total);
        self.growth = if grew { self.growth.saturating_add(1) } else { 0 };
        self.total = Some(total);
    }

    /// When something last failed, if nothing has succeeded since.
    pub fn last_failure(&self) -> Option<Timestamp> {
        let streaks = [self.calls, self.reports];
        streaks.into_iter().filter(|streak| streak.length > 0).map(|streak| streak.at).max()
    }

    /// A new life: what failed in the last one is over.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Everything that is wrong, gravest first.
    pub fn findings(&self, now: Timestamp, policy: &Policy) -> impl Iterator<Item = Finding> + use<> {
        [self.streak(now, policy), self.last_word(), self.rate(now, policy), self.growth(policy)]
            .into_iter()
            .flatten()
    }

    /// When what was found stops to stand, if nothing else happens.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let reports =
            (self.reports.length > policy.streak_max).then(|| self.reports.at + policy.reports_stand);
        let results = (self.samples > 0).then(|| self.last_at + policy.reports_stand);
        let rate = (self.worst > policy.rate_max).then(|| self.last_at + RATE_STANDS);
        [reports, results, rate].into_iter().flatten().filter(|last| now <= *last).min()
    }

    fn observe_rate(&mut self) {
        let rate = self.present_rate();
        if rate <= CALM {
            self.worst = 0;
        } else if self.samples >= SAMPLES_MIN && self.failures() >= FAILURES_MIN {
            self.worst = self.worst.max(rate);
        }
    }

    fn failures(&self) -> u32 {
        (self.results & ((1 << WINDOW) - 1)).count_ones()
    }

    fn present_rate(&self) -> u16 {
        (self.failures() * 1_000 / self.samples.max(1)) as u16
    }

    fn streak(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        let reports = if now.since(self.reports.at) < policy.reports_stand { self.reports.length } else { 0 };
        let calls = if self.is_recent(now, policy) { self.calls.length } else { 0 };
        let length = calls.max(reports);
        // The very same call tried once more is a retry, and judged as a repeat first.
        let retried = self.calls.identical && reports <= policy.streak_max;
        let limit = policy.streak_max + u32::from(retried);
        (length > limit).then(|| Finding {
            sign: Sign::FailureStreak,
            value: Measure::Count(u64::from(length)),
            threshold: Measure::Count(u64::from(limit)),
            severity: Severity::Failing,
        })
    }

    fn last_word(&self) -> Option<Finding> {
        self.unrecoverable.then_some(Finding {
            sign: Sign::Unrecoverable,
            value: Measure::Said,
            threshold: Measure::Said,
            severity: Severity::Failing,
        })
    }

    /// Results that came long ago say nothing about now: nothing latches.
    fn is_recent(&self, now: Timestamp, policy: &Policy) -> bool {
        now.since(self.last_at) <= policy.reports_stand
    }

    fn rate(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        let stands = now.since(self.last_at) <= RATE_STANDS;
        (self.worst > policy.rate_max && stands).then(|| Finding {
            sign: Sign::ErrorRate,
            value: Measure::PerMille(self.present_rate()),
            threshold: Measure::PerMille(policy.rate_max),
            severity: Severity::Degraded,
        })
    }

    fn growth(&self, policy: &Policy) -> Option<Finding> {
        (self.growth > policy.growth_max).then(|| Finding {
            sign: Sign::ErrorCount,
            value: Measure::Count(u64::from(self.growth)),
            threshold: Measure::Count(u64::from(policy.growth_max)),
            severity: Severity::Note,
        })
    }
}

#[cfg(test)]
mod tests;
