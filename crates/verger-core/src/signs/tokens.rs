//! Whether an agent uses the tokens it usually uses.
//!
//! What is usual differs a thousandfold between agents, so each is compared with itself: with the median of its
//! last active minutes and their spread around it, on a logarithmic scale, because use varies by factors. A
//! minute counts as far above only if it is beyond the spread *and* several times the median, and most of the
//! last nine must be: use is so uneven that even a runaway has ordinary minutes, and healthy work has large
//! ones. Minutes without use are no samples: a pause is not slow work.
//!
//! A runaway must not become normal at once, nor stay an alarm for ever: while it lasts, one minute in 48
//! is learnt, so that after half a day's work the new level is the usual one. Learnt any faster, a runaway that
//! lasts a night would hide the next.

use crate::evidence::{Measure, Severity, Sign};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// Active minutes that make up what is usual: more than an hour of work, so that a runaway is found before it is usual.
const MINUTES: usize = 96;

/// Active minutes before anything is judged.
const WARM_UP: usize = 12;

/// How many median deviations above the median a minute must lie: beyond it are about 9 % of ordinary minutes,
/// so that six of nine happen to lie there once in thirty thousand.
const SPREADS: u16 = 2;

/// How many times the median a minute must be: an agent as regular as a clock has hardly any spread.
const FACTOR: u64 = 5;

/// The last active minutes in which those far above are counted.
const RECENT: u32 = 9;

/// As many of them far above the usual make a spike, from which on most minutes are no longer learnt.
const SPIKE: u32 = 6;

/// Fewer than this end it.
const SPIKE_OVER: u32 = 3;

/// A runaway may hide in uneven use: so many of the last [`LATELY`] active minutes beyond one median deviation, and
/// beyond [`HIGH`] times the median, make a spike, too. In ordinary use, where about one in five is, that happens once
/// in a hundred thousand.
const LATELY: u32 = 30;
const SLOW_SPIKE: u32 = 18;
const HIGH: u64 = 4;

/// Fewer than this end it.
const SLOW_SPIKE_OVER: u32 = 14;

/// A heartbeat's average stands for at most so many of them: one heartbeat alone makes no spike.
const BEAT_WEIGHT: u64 = 3;

/// One in so many of them still is.
const LEARNT_OF: u32 = 48;

/// How long a spike stands without any further report: two heartbeats of the usual five minutes.
const SPIKE_STANDS: Span = Span::minutes(10);

/// Minutes without use after which what was before is no longer recent.
const GAP: u64 = 30;

/// Pauses are counted by length, in steps of half a power of two from one minute to two days.
const PAUSES: usize = 23;
const PAUSE_MIN: Span = Span::minutes(1);
const PAUSE_STEP: u16 = 128;

/// A length of pause is usual once it occurred twice: a single outage does not make an agent unwatched.
const PAUSE_USUAL: u8 = 2;

/// How long a report of single uses makes the heartbeats' totals, which count the same tokens, superfluous.
const FINER_FOR: Span = Span::hours(1);

const MINUTE_MS: u64 = 60_000;

/// What is unusual.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Of the last nine active minutes, how many far above the usual make a spike. Six: one large file or a burst of
    /// sub-agents fills a minute or two.
    pub spike_minutes: u32,
    /// The shortest pause that can be a stop. Fifteen minutes, as for tool calls (000 §2.2).
    pub stop_min: Span,
    /// How many times its longest usual pause an agent must pause. Six: well beyond what it ever did.
    pub stop_pauses: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self { spike_minutes: SPIKE, stop_min: Span::minutes(15), stop_pauses: 6 }
    }
}

/// How many tokens an agent uses, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenUse {
    /// Tokens of the last active minutes as [`level`]s, in a ring of at most [`MINUTES`].
    pub(crate) usual: Vec<u16>,
    /// Where in the ring the next one goes.
    pub(crate) next: u8,
    /// The middle of that ring.
    pub(crate) median: u16,
    /// The level beyond which a minute is far above; 0 during the warm-up.
    pub(crate) limit: u16,
    /// The minute that is being counted.
    pub(crate) minute: u64,
    /// Tokens used in it so far.
    pub(crate) in_minute: u64,
    /// The level beyond which a minute is high; 0 during the warm-up.
    pub(crate) high_limit: u16,
    /// Which of the last [`LATELY`] active minutes were high, the latest in the lowest bit.
    pub(crate) lately: u32,
    /// High minutes so far.
    pub(crate) highs: u32,
    /// Which of the last [`RECENT`] active minutes were far above, the latest in the lowest bit.
    pub(crate) recent: u16,
    /// A spike is on.
    pub(crate) raised: bool,
    /// Tokens of the last minute far above.
    pub(crate) high_rate: u64,
    /// When tokens were last used while the agent was at work.
    pub(crate) last_used: Option<Timestamp>,
    /// How often the agent paused, by length. All are halved when one is full, so old habits fade.
    pub(crate) pauses: [u8; PAUSES],
    /// When a single use was last reported.
    pub(crate) finer_at: Option<Timestamp>,
    /// The last total of this life.
    pub(crate) total: Option<u64>,
    /// When it was reported.
    pub(crate) total_at: Timestamp,
}

impl TokenUse {
    /// Tokens were used just now.
    pub fn observe_used(&mut self, now: Timestamp, tokens: u64) {
        if tokens == 0 {
            return;
        }
        self.finer_at = Some(now);
        self.on_use(now);
        self.add(now, tokens);
    }

    /// A heartbeat told how many tokens were used so far in this life. They are spread over the time since the
    /// last one. A total that falls belongs to a new life and is only where counting begins.
    pub fn observe_total(&mut self, now: Timestamp, total: u64) {
        let before = self.total.replace(total);
        let minutes = now.since(self.total_at).as_millis() / MINUTE_MS;
        self.total_at = now;
        let Some(used) = before.and_then(|before| total.checked_sub(before)) else { return };
        if used == 0 {
            return;
        }
        self.on_use(now);
        if self.finer_at.is_some_and(|at| now.since(at) < FINER_FOR) {
            return;
        }
        if minutes < 2 {
            return self.add(now, used);
        }
        self.close();
        self.minute = now.as_millis() / MINUTE_MS;
        self.learn((used / minutes).max(1), minutes.min(BEAT_WEIGHT) as u32);
    }

    /// The agent has nothing to do: the pause that follows is no measure of its work.
    pub fn on_idle(&mut self) {
        self.last_used = None;
    }

    /// A new life: counting begins anew; what is usual for this agent remains.
    pub fn reset(&mut self) {
        self.close();
        self.calm_down();
        self.last_used = None;
        self.total = None;
    }

    /// Whether tokens are used far faster than usual.
    pub fn spike(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        let current = self.last_used.is_some_and(|at| now.since(at) < SPIKE_STANDS);
        (current && self.is_spiking(policy)).then(|| Finding {
            sign: Sign::TokenSpike,
            value: Measure::Count(self.high_rate),
            threshold: Measure::Count(tokens(self.median)),
            severity: Severity::Degraded,
        })
    }

    /// Whether an agent that uses tokens steadily stopped. Ask only while it is expected to work.
    pub fn stop(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        (self.stop_at(policy)? < now).then(|| Finding {
            sign: Sign::TokenStop,
            value: Measure::Span(now.since(self.last_used.unwrap_or(now))),
            threshold: Measure::Span(self.pause_max(policy)),
            severity: Severity::Note,
        })
    }

    /// When tokens were last used.
    pub fn last_used(&self) -> Option<Timestamp> {
        self.last_used
    }

    /// When an answer may next change by itself: a stop becomes due, or a spike is over.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let spike_over =
            self.is_spiking(policy).then(|| self.last_used.map(|at| at + SPIKE_STANDS)).flatten();
        [self.stop_at(policy), spike_over].into_iter().flatten().filter(|due| now <= *due).min()
    }

    fn stop_at(&self, policy: &Policy) -> Option<Timestamp> {
        if self.usual.len() < WARM_UP {
            return None;
        }
        Some(self.last_used? + self.pause_max(policy))
    }

    fn pause_max(&self, policy: &Policy) -> Span {
        policy.stop_min.max(self.usual_pause().times(policy.stop_pauses))
    }

    fn usual_pause(&self) -> Span {
        let longest = self.pauses.iter().rposition(|&count| count >= PAUSE_USUAL);
        longest
            .map_or(PAUSE_MIN, |step| Span::secs(tokens(shortest_pause() + (step as u16 + 1) * PAUSE_STEP)))
    }

    fn on_use(&mut self, now: Timestamp) {
        let pause = self.last_used.replace(now).map_or(Span::ZERO, |at| now.since(at));
        if PAUSE_MIN <= pause {
            let step = (level(pause.as_secs()) - shortest_pause()) / PAUSE_STEP;
            let step = usize::from(step).min(PAUSES - 1);
            if self.pauses[step] == u8::MAX {
                self.pauses.iter_mut().for_each(|count| *count /= 2);
            }
            self.pauses[step] += 1;
        }
    }

    fn add(&mut self, now: Timestamp, tokens: u64) {
        let minute = now.as_millis() / MINUTE_MS;
        if minute != self.minute {
            self.close();
            if minute.saturating_sub(self.minute) > GAP {
                self.calm_down();
            }
            self.minute = minute;
        }
        self.in_minute = self.in_minute.saturating_add(tokens);
    }

    /// The counted minute is over.
    fn close(&mut self) {
        let used = std::mem::take(&mut self.in_minute);
        if used > 0 {
            self.learn(used, 1);
        }
    }

    /// Judges `minutes` minutes of `used` tokens each, and learns what is usual from them.
    fn learn(&mut self, used: u64, minutes: u32) {
        let level = level(used);
        let far = self.limit > 0 && self.limit < level;
        let high = far || (self.high_limit > 0 && self.high_limit < level);
        for _ in 0..minutes {
            self.note(far, high);
            if !high || !self.raised || self.highs.is_multiple_of(LEARNT_OF) {
                self.remember(level);
            }
        }
        if high {
            self.high_rate = used;
        }
        self.update_limit();
    }

    fn note(&mut self, far: bool, high: bool) {
        self.recent = ((self.recent << 1) | u16::from(far)) & ((1 << RECENT) - 1);
        self.lately = ((self.lately << 1) | u32::from(high)) & ((1 << LATELY) - 1);
        self.highs = self.highs.wrapping_add(u32::from(high));
        let (count, slow) = (self.recent.count_ones(), self.lately.count_ones());
        self.raised = if self.raised {
            SPIKE_OVER <= count || SLOW_SPIKE_OVER <= slow
        } else {
            SPIKE <= count || SLOW_SPIKE <= slow
        };
    }

    fn is_spiking(&self, policy: &Policy) -> bool {
        self.raised || self.recent.count_ones() >= policy.spike_minutes.max(1)
    }

    fn calm_down(&mut self) {
        (self.recent, self.lately) = (0, 0);
        self.raised = false;
    }

    fn remember(&mut self, level: u16) {
        if self.usual.len() < MINUTES {
            self.usual.push(level);
        } else {
            self.usual[usize::from(self.next)] = level;
        }
        self.next = (self.next + 1) % MINUTES as u8;
    }

    fn update_limit(&mut self) {
        let mut sorted = [0; MINUTES];
        let sorted = &mut sorted[..self.usual.len()];
        sorted.copy_from_slice(&self.usual);
        self.median = middle(sorted);
        if sorted.len() < WARM_UP {
            return;
        }
        for level in &mut *sorted {
            *level = level.abs_diff(self.median);
        }
        let spread = middle(sorted);
        let above = |spreads: u16, times: u64| {
            let beyond_spread = self.median.saturating_add(spread.saturating_mul(spreads));
            beyond_spread.max(level(tokens(self.median).saturating_mul(times)))
        };
        (self.limit, self.high_limit) = (above(SPREADS, FACTOR), above(1, HIGH));
    }
}

/// The logarithm to base 2 in 256ths, linear between powers of two. Whole numbers, so that every machine
/// reckons the same.
fn level(tokens: u64) -> u16 {
    let tokens = tokens.max(1);
    let zeros = tokens.leading_zeros();
    let fraction = ((tokens << zeros) << 1) >> 56;
    ((63 - zeros) << 8) as u16 | fraction as u16
}

/// The number of tokens at a level.
fn tokens(level: u16) -> u64 {
    let mantissa = 256 + u128::from(level & 0xff);
    u64::try_from((mantissa << (level >> 8)) >> 8).unwrap_or(u64::MAX)
}

fn shortest_pause() -> u16 {
    level(PAUSE_MIN.as_secs())
}

fn middle(levels: &mut [u16]) -> u16 {
    if levels.is_empty() {
        return 0;
    }
    let middle = levels.len() / 2;
    *levels.select_nth_unstable(middle).1
}

#[cfg(test)]
mod tests;
