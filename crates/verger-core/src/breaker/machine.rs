//! One circuit breaker.
//!
//! ```text
//! CLOSED    --failures in a row, or a rate-->        OPEN
//! OPEN      --time-->                                HALF_OPEN
//! HALF_OPEN --the calls that tried it succeeded-->   CLOSED
//! HALF_OPEN --one failed, or never came back-->      OPEN
//! any       --a person resets it-->                  CLOSED
//! ```
//!
//! Who asks before a call gets a numbered permit and reports back with it. Numbers never repeat, and a state takes
//! only reports of permits that it gave itself: what comes back late says something about the past. Of the last 128
//! permits it is known exactly which are outstanding; of older ones only how many, so whatever is reported, and how
//! often, no more calls are counted than there were.
//!
//! Hooks ask and never report: their calls are seen to end. What is seen therefore answers for the latest permit that
//! is outstanding, and a report of that one is a repeat. It may be taken for another's: then one report is not counted
//! where one more was seen. A call that is reported first and seen after counts twice: nothing tells it from another.
//!
//! In mode forced-open nothing passes; in disabled and metrics-only everything does, and the second still counts.

use std::num::NonZeroU64;

use super::call::{CallResult, FailureKind, Mode, Outcome, PermitNumber, Refusal, Refused, Reported, State};
use super::change::{Reason, Transition};
use super::policy::Policy;
use super::window::Window;
use crate::time::{Span, Timestamp};

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Phase {
    Closed {
        since: Timestamp,
    },
    Open {
        since: Timestamp,
        until: Timestamp,
    },
    HalfOpen {
        opened_at: Timestamp,
        since: Timestamp,
        /// Until when permits that are out are waited for.
        probe_until: Option<Timestamp>,
        good: u8,
    },
}

/// A breaker. It owns nothing outside itself: there may be hundreds of thousands.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    pub(crate) phase: Phase,
    pub(crate) mode: Mode,
    /// How often it opened without a stable time between.
    pub(crate) openings: u8,
    /// Failures in a row.
    pub(crate) streak: u16,
    pub(crate) window: Window,
    pub(crate) last_failure: Option<Timestamp>,
    pub(crate) last_failure_kind: FailureKind,
    /// When a call last passed or ended.
    pub(crate) used: Timestamp,
    /// The number of the next permit.
    pub(crate) next: u64,
    /// How many permits this state has given.
    pub(crate) given: u32,
    /// Which of its last 128 permits are outstanding, the latest in the lowest bit.
    pub(crate) pending: u128,
    /// How many older ones are.
    pub(crate) older: u32,
}

/// More permits than a breaker gives between two commits.
const UNRECORDED_PERMITS: u32 = 4_096;

impl Breaker {
    /// A closed breaker.
    pub fn new(now: Timestamp) -> Self {
        Self {
            phase: Phase::Closed { since: now },
            mode: Mode::Normal,
            openings: 0,
            streak: 0,
            window: Window::default(),
            last_failure: None,
            last_failure_kind: FailureKind::Failed,
            used: now,
            // One that is forgotten and made again repeats no number, unless it gave 65 permits each millisecond.
            next: now.as_millis().saturating_mul(1 << 16),
            given: 0,
            pending: 0,
            older: 0,
        }
    }

    /// Whether calls pass, as people see it.
    pub fn state(&self) -> State {
        match (self.mode, self.phase) {
            (Mode::ForcedOpen, _) | (_, Phase::Open { .. }) => State::Open,
            (_, Phase::Closed { .. }) => State::Closed,
            (_, Phase::HalfOpen { .. }) => State::HalfOpen,
        }
    }

    /// How it is told to work.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Asks whether a call may be made.
    pub fn acquire(
        &mut self,
        now: Timestamp,
        policy: &Policy,
        out: &mut Vec<Transition>,
    ) -> Result<PermitNumber, Refusal> {
        if self.mode == Mode::ForcedOpen {
            return Err(Refusal { retry_after: policy.open_span(0), because: Refused::Forced });
        }
        self.wake(now, policy, out);
        let trying = u32::from(self.good()).saturating_add(self.outstanding());
        match &mut self.phase {
            Phase::Closed { .. } => {}
            Phase::Open { until, .. } => {
                return Err(Refusal { retry_after: until.since(now), because: Refused::Open });
            }
            Phase::HalfOpen { probe_until, .. } if trying < policy.quota() => {
                probe_until.get_or_insert(now + policy.permit_span());
            }
            Phase::HalfOpen { probe_until, .. } => {
                let expires = probe_until.map_or(Span::ZERO, |until| until.since(now));
                let retry_after = expires.min(policy.open_span(0)).max(Span::millis(1));
                return Err(Refusal { retry_after, because: Refused::Trying });
            }
        }
        self.used = now;
        Ok(self.issue())
    }

    /// Takes in how a call ended that had a permit.
    pub fn report(
        &mut self,
        now: Timestamp,
        permit: PermitNumber,
        outcome: Outcome,
        policy: &Policy,
        out: &mut Vec<Transition>,
    ) -> Reported {
        self.wake(now, policy, out);
        let reported = self.settle(permit);
        if reported == Reported::Counted {
            self.used = now;
            self.count(now, outcome, policy, out);
        }
        reported
    }

    /// Takes in how a call ended that was seen, whether it asked or not. It counts like any other; while the breaker
    /// is half open it is as good as a call that tried it, unless it is known to have begun before the breaker opened.
    pub fn observe(&mut self, now: Timestamp, outcome: Outcome, policy: &Policy, out: &mut Vec<Transition>) {
        self.used = now;
        self.wake(now, policy, out);
        if self.is_past(now, outcome) {
            return;
        }
        if policy.learns_from(outcome.result) {
            self.answer_latest();
        }
        self.count(now, outcome, policy, out);
    }

    /// A person says that all is well: it is as new. A mode that was set is over too.
    pub fn reset(&mut self, now: Timestamp, out: &mut Vec<Transition>) {
        let from = self.state();
        self.mode = Mode::Normal;
        self.begin_closed(now);
        self.openings = 0;
        out.push(Transition { from, to: State::Closed, reason: Reason::Reset });
    }

    /// A person has it work another way. Whatever it counted before is over.
    pub fn set_mode(&mut self, now: Timestamp, mode: Mode, out: &mut Vec<Transition>) {
        if mode == self.mode {
            return;
        }
        let from = self.state();
        let reason = Reason::ModeSet { from: self.mode, to: mode };
        self.mode = mode;
        self.begin_closed(now);
        self.openings = 0;
        out.push(Transition { from, to: self.state(), reason });
    }

    /// When time alone changes it.
    pub fn deadline(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Closed { .. } => None,
            Phase::Open { until, .. } => Some(until),
            Phase::HalfOpen { probe_until, .. } => probe_until,
        }
    }

    /// Does what is due. Calling early is harmless.
    pub fn wake(&mut self, now: Timestamp, policy: &Policy, out: &mut Vec<Transition>) {
        match self.phase {
            Phase::Open { since, until } if until <= now => {
                self.enter(Phase::HalfOpen { opened_at: since, since: now, probe_until: None, good: 0 });
                let reason = Reason::Waited { open_for: now.since(since) };
                out.push(Transition { from: State::Open, to: State::HalfOpen, reason });
            }
            Phase::HalfOpen { probe_until: Some(until), .. } if until <= now => {
                self.on_failure(now, FailureKind::Expired);
                self.open(now, Reason::ProbeExpired, policy, out);
            }
            // The policy may ask for fewer successes than it did when they were counted.
            Phase::HalfOpen { good, .. } if policy.quota() <= u32::from(good) => self.close(now, out),
            Phase::Closed { .. } | Phase::Open { .. } | Phase::HalfOpen { .. } => {}
        }
    }

    /// The monitor was away: permits may have been given that were never written down. Later ones are numbered far
    /// beyond those, and those that are known stay good.
    pub(crate) fn on_monitor_back(&mut self) {
        self.older = self.outstanding();
        self.pending = 0;
        self.next = self.next.saturating_add(u64::from(UNRECORDED_PERMITS));
        self.given = self.given.saturating_add(UNRECORDED_PERMITS);
    }

    /// Makes sure that a row which was damaged, or written under another policy, holds nothing open for ever.
    pub(crate) fn fit(&mut self, now: Timestamp, policy: &Policy) {
        let waiting = 0 < self.outstanding();
        match &mut self.phase {
            Phase::Closed { since } => *since = (*since).min(now),
            // Whatever a person decides begins with a closed one.
            phase if self.mode != Mode::Normal => *phase = Phase::Closed { since: now },
            Phase::Open { since, until } => {
                *since = (*since).min(now);
                *until = (*until).min(now + policy.open_span(u8::MAX));
            }
            Phase::HalfOpen { opened_at, since, probe_until, .. } => {
                *since = (*since).min(now);
                *opened_at = (*opened_at).min(now);
                let latest = now + policy.permit_span();
                *probe_until = waiting.then(|| probe_until.map_or(latest, |until| until.min(latest)));
            }
        }
        self.used = self.used.min(now);
        self.last_failure = self.last_failure.map(|at| at.min(now));
    }

    /// Permits of this state that were not reported back.
    pub(crate) fn outstanding(&self) -> u32 {
        self.older.saturating_add(self.pending.count_ones())
    }

    /// Whether it knows nothing that a new one would not know. Permits that are out do not count: hooks that ask are
    /// answered by what is seen of the call, and never report back.
    pub(crate) fn is_quiet(&self, now: Timestamp, policy: &Policy) -> bool {
        let Phase::Closed { since } = self.phase else { return false };
        self.mode == Mode::Normal
            && self.streak == 0
            && self.window.failed | self.window.slow == 0
            && (self.openings == 0 || policy.stable_after <= now.since(since))
    }

    fn good(&self) -> u8 {
        match self.phase {
            Phase::HalfOpen { good, .. } => good,
            Phase::Closed { .. } | Phase::Open { .. } => 0,
        }
    }

    /// Whether a call that ends while the breaker is half open began before it opened.
    fn is_past(&self, now: Timestamp, outcome: Outcome) -> bool {
        let Phase::HalfOpen { opened_at, .. } = self.phase else { return false };
        outcome.took.is_some_and(|took| now.since(opened_at) < took)
    }

    fn issue(&mut self) -> PermitNumber {
        self.older = self.older.saturating_add((self.pending >> 127) as u32);
        self.pending = self.pending << 1 | 1;
        self.given = self.given.saturating_add(1);
        self.next = self.next.saturating_add(1);
        PermitNumber(NonZeroU64::new(self.next).unwrap_or(NonZeroU64::MIN))
    }

    /// Strikes a permit off those that are outstanding.
    fn settle(&mut self, permit: PermitNumber) -> Reported {
        let Some(age) = self.next.checked_sub(permit.0.get()) else { return Reported::Unknown };
        if u64::from(self.given) <= age {
            return Reported::Late;
        }
        if let Some(bit) = u32::try_from(age).ok().and_then(|age| 1_u128.checked_shl(age)) {
            if self.pending & bit == 0 {
                return Reported::Repeated;
            }
            self.pending &= !bit;
        } else {
            if self.older == 0 {
                return Reported::Repeated;
            }
            self.older -= 1;
        }
        Reported::Counted
    }

    /// Strikes off the latest permit that is outstanding, if one is.
    fn answer_latest(&mut self) {
        if self.pending == 0 {
            self.older = self.older.saturating_sub(1);
        }
        self.pending &= self.pending.wrapping_sub(1);
    }

    fn count(&mut self, now: Timestamp, outcome: Outcome, policy: &Policy, out: &mut Vec<Transition>) {
        let slow = policy.is_slow(outcome.took);
        if !policy.learns_from(outcome.result) {
            return self.on_nothing_learnt();
        }
        let failure = match outcome.result {
            CallResult::Failed => Some(FailureKind::Failed),
            CallResult::Outage => Some(FailureKind::Outage),
            CallResult::Ok | CallResult::NotMade => None,
        };
        match (self.mode, self.phase) {
            (Mode::Disabled, _) => {}
            (Mode::ForcedOpen, _) | (_, Phase::Open { .. }) => {
                // It says nothing new, and must not prolong the time: who never asks could hold it open for ever.
                if let Some(kind) = failure {
                    self.on_failure(now, kind);
                }
            }
            (Mode::MetricsOnly, _) | (Mode::Normal, Phase::Closed { .. }) => {
                self.on_call(now, failure, slow, policy, out);
            }
            (Mode::Normal, Phase::HalfOpen { .. }) => {
                self.on_probe(now, failure.or(slow.then_some(FailureKind::Slow)), policy, out);
            }
        }
    }

    /// A permit came back without news: another call may try.
    fn on_nothing_learnt(&mut self) {
        let waiting = 0 < self.outstanding();
        if let Phase::HalfOpen { probe_until, .. } = &mut self.phase {
            *probe_until = probe_until.filter(|_| waiting);
        }
    }

    fn on_failure(&mut self, now: Timestamp, kind: FailureKind) {
        self.streak = self.streak.saturating_add(1);
        self.last_failure = Some(now);
        self.last_failure_kind = kind;
    }

    /// A call ended while calls pass freely. Only one that failed or was slow can open.
    fn on_call(
        &mut self,
        now: Timestamp,
        failure: Option<FailureKind>,
        slow: bool,
        policy: &Policy,
        out: &mut Vec<Transition>,
    ) {
        self.window.push(failure.is_some(), slow, policy.window);
        match failure {
            Some(kind) => self.on_failure(now, kind),
            None => self.streak = 0,
        }
        if self.mode == Mode::MetricsOnly || (failure.is_none() && !slow) {
            return;
        }
        if let Some(reason) = self.tripped(failure.is_some(), slow, policy) {
            self.open(now, reason, policy, out);
        }
    }

    /// Which rule has it open, if any.
    fn tripped(&self, failed: bool, slow: bool, policy: &Policy) -> Option<Reason> {
        if failed && policy.failure_threshold.max(1) <= self.streak {
            return Some(Reason::Streak { failures: self.streak });
        }
        let calls = self.window.calls;
        if calls < policy.minimum_calls.min(policy.window).clamp(1, super::window::CALLS_MAX) {
            return None;
        }
        let reaches = |some: u8, rate: u16| u32::from(rate) * u32::from(calls) <= u32::from(some) * 1_000;
        let failures = self.window.failures();
        if failed && policy.failure_rate.is_some_and(|rate| reaches(failures, rate)) {
            return Some(Reason::FailureRate { failures, calls });
        }
        let slow_calls = self.window.slow_calls();
        (slow && reaches(slow_calls, policy.slow_rate))
            .then_some(Reason::SlowRate { slow: slow_calls, calls })
    }

    /// A call that tried it ended.
    fn on_probe(
        &mut self,
        now: Timestamp,
        failure: Option<FailureKind>,
        policy: &Policy,
        out: &mut Vec<Transition>,
    ) {
        if let Some(kind) = failure {
            self.on_failure(now, kind);
            return self.open(now, Reason::ProbeFailed, policy, out);
        }
        let waiting = 0 < self.outstanding();
        if let Phase::HalfOpen { good, probe_until, .. } = &mut self.phase {
            *good = good.saturating_add(1);
            // Those that are still out get their time anew; there are only so many of them.
            *probe_until = waiting.then(|| now + policy.permit_span());
        }
        if policy.quota() <= u32::from(self.good()) {
            self.close(now, out);
        }
    }

    fn open(&mut self, now: Timestamp, reason: Reason, policy: &Policy, out: &mut Vec<Transition>) {
        let from = self.state();
        if matches!(self.phase, Phase::Closed { since } if policy.stable_after <= now.since(since)) {
            self.openings = 0;
        }
        self.enter(Phase::Open { since: now, until: now + policy.open_span(self.openings) });
        self.openings = self.openings.saturating_add(1);
        out.push(Transition { from, to: State::Open, reason });
    }

    fn close(&mut self, now: Timestamp, out: &mut Vec<Transition>) {
        let from = self.state();
        self.begin_closed(now);
        out.push(Transition { from, to: State::Closed, reason: Reason::ProbesSucceeded });
    }

    fn begin_closed(&mut self, now: Timestamp) {
        self.streak = 0;
        self.window = Window::default();
        self.enter(Phase::Closed { since: now });
    }

    /// A new state knows nothing of the permits of the one before.
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.given = 0;
        self.pending = 0;
        self.older = 0;
    }
}
