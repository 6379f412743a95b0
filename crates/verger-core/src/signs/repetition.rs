//! Whether an agent does the same things over and over, to the same effect.
//!
//! A step is a call together with its result. The same call with another result is no repeat: the build went
//! on, the page turned, the test says something else. Only laps that follow each other count, so a test run
//! again after an edit is no repeat either.
//!
//! For each lap length from 1 to 6 one counter tells for how many steps each step was equal to the one a lap
//! before it. A run that is long enough is held: it outlives a single other call in between, which is not a
//! change of course, and ends when the agent does new things. Waiting ends with anything else: it is a loop
//! only if nothing at all happens for its whole patience.

use crate::evidence::{Measure, Severity, Sign};
use crate::fingerprint::{CallClass, CallPrint, ResultPrint, mix};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// Steps that are remembered to tell new ones from known ones.
pub(crate) const MEMORY: usize = 64;

/// The longest lap that is recognised. Of the loops read in real runs, hardly any was longer.
pub(crate) const LAP_MAX: usize = 6;

/// Repeats of one call from which on a run is held. Of streaks that reached three, less than half went on by
/// themselves; of those that reached four, three in four.
const FIRM_REPEATS: u32 = 4;

/// Laps of a cycle from which on a run is held. A lap is at least two calls, so three laps are at least six.
const FIRM_LAPS: u32 = 3;

/// New steps in a row that end a held run.
const FRESH_IN_A_ROW: u8 = 2;

/// New steps that end a held run even if known ones lie between, unless it becomes firm again: edits with the
/// same test between them.
const FRESH_IN_ALL: u8 = 4;

/// How much repeating is too much.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Times the same call has the same result that are worth a reminder. Four: the shorter repeats of real
    /// agents are impatience and end by themselves; of those that get here, a quarter still do.
    pub repeats: u32,
    /// Times that are a loop. Five: of streaks that long, 84 % went on to the end of the run.
    pub repeats_stuck: u32,
    /// Laps of a cycle of two to six calls. Three: two are a second attempt.
    pub laps: u32,
    /// How long a loop stands without another call. An hour: what was long ago says nothing about now.
    pub stands: Span,
    /// How long calls that wait or look whether something is done may go on without any change. Four hours,
    /// as for any other announced wait: a slow build or deployment is polled and says the same all the while.
    pub waiting_patience: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            repeats: FIRM_REPEATS,
            repeats_stuck: 5,
            laps: FIRM_LAPS,
            stands: Span::hours(1),
            waiting_patience: Span::hours(4),
        }
    }
}

/// What one finished call brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// This call with this result is not among the last 64.
    Fresh,
    /// It is, or nothing came of the call but an outage.
    Known,
}

/// One of the last steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The call and its result.
    pub(crate) pair: u64,
    /// The call alone.
    pub(crate) call: u64,
    /// The call waits or looks whether something is done.
    pub(crate) waiting: bool,
    /// When it finished.
    pub(crate) at: Timestamp,
}

/// For one lap length: for how long each step has been equal to the one a lap before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Steps equal to the one a lap before.
    pub(crate) equal: u32,
    /// When the first lap began.
    pub(crate) since: Timestamp,
}

/// A run long enough to outlive an interruption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Steps in a lap; 0 if no run is held.
    pub(crate) period: u8,
    /// The steps of a lap, in no particular order.
    pub(crate) lap: [u64; LAP_MAX],
    /// Steps of the lap taken since it began, also after interruptions.
    pub(crate) steps: u32,
    /// One of its calls waits or looks whether something is done.
    pub(crate) waiting: bool,
    /// When it began.
    pub(crate) since: Timestamp,
    /// When one of its steps was last taken.
    pub(crate) last: Timestamp,
    /// New steps since, in a row.
    pub(crate) fresh_in_a_row: u8,
    /// New steps since it was last firm.
    pub(crate) fresh_in_all: u8,
}

/// The last steps of an agent, and how they repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repetition {
    /// The last steps, in a ring of at most [`MEMORY`].
    pub(crate) memory: Vec<u64>,
    /// Where in the ring the next step goes.
    pub(crate) next: u8,
    /// The last steps in full; the one `n` steps ago is at `steps - n`, modulo the length.
    pub(crate) recent: [Step; LAP_MAX],
    /// Steps since the last [`reset`](Self::reset).
    pub(crate) steps: u64,
    /// The run of each lap length, the length less one being the index.
    pub(crate) runs: [Run; LAP_MAX],
    /// The loop the agent is in.
    pub(crate) held: Held,
}

impl Repetition {
    /// A call ended. An outage is not a loop: it is as if the call had not been made.
    pub fn observe(&mut self, now: Timestamp, call: CallPrint, result: ResultPrint) -> Novelty {
        if result.outage {
            return Novelty::Known;
        }
        let step = Step {
            pair: mix(mix(call.digest, result.digest), u64::from(result.failed)),
            call: call.digest,
            waiting: call.class == CallClass::Waiting,
            at: now,
        };
        let novelty = self.remember(step.pair);
        self.extend_runs(step);
        self.hold(step, novelty);
        novelty
    }

    /// A person spoke, or a new life began: whatever comes now is not a continuation.
    pub fn reset(&mut self) {
        self.steps = 0;
        self.runs = [Run::default(); LAP_MAX];
        self.held = Held::default();
    }

    /// Whether the agent is in a loop.
    pub fn finding(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        if now.since(self.held.last) > policy.stands {
            return None;
        }
        let (sign, threshold) = match self.held.period {
            0 => return None,
            1 => (Sign::Repeats, policy.repeats),
            _ => (Sign::Cycle, policy.laps),
        };
        let impatient = !self.held.waiting || self.lasted() > policy.waiting_patience;
        let laps = self.held.laps();
        let early = sign == Sign::Repeats && laps < policy.repeats_stuck;
        (impatient && laps >= threshold).then(|| Finding {
            sign,
            value: Measure::Count(u64::from(laps)),
            threshold: Measure::Count(u64::from(threshold)),
            severity: if early { Severity::Degraded } else { Severity::Stuck },
        })
    }

    /// When a loop stops to stand, if no call follows.
    pub fn deadline(&self, policy: &Policy) -> Option<Timestamp> {
        (self.held.period > 0).then(|| self.held.last + policy.stands)
    }

    /// How many times the present call or lap has been repeated, for the ladder; 0 outside a loop, and 0 while
    /// the agent waits or polls, where only time tells and counting would punish the diligent.
    pub fn repeats(&self) -> u32 {
        if self.held.waiting { 0 } else { self.held.laps() }
    }

    /// When the present loop last went on, if nothing else was done since.
    pub fn last_step(&self) -> Option<Timestamp> {
        (self.held.period > 0 && self.held.fresh_in_a_row == 0).then_some(self.held.last)
    }

    /// When the present loop began.
    pub fn since(&self) -> Option<Timestamp> {
        (self.held.period > 0).then_some(self.held.since)
    }

    fn lasted(&self) -> Span {
        self.held.last.since(self.held.since)
    }

    fn remember(&mut self, pair: u64) -> Novelty {
        let novelty = if self.memory.contains(&pair) { Novelty::Known } else { Novelty::Fresh };
        if self.memory.len() < MEMORY {
            self.memory.push(pair);
        } else {
            self.memory[usize::from(self.next)] = pair;
        }
        self.next = (self.next + 1) % MEMORY as u8;
        novelty
    }

    /// The step taken `ago` steps before the next one.
    fn back(&self, ago: usize) -> Option<&Step> {
        let place = self.steps.checked_sub(ago as u64)?;
        Some(&self.recent[(place % LAP_MAX as u64) as usize])
    }

    fn extend_runs(&mut self, step: Step) {
        for period in 1..=LAP_MAX {
            let before = self.back(period).copied();
            let run = &mut self.runs[period - 1];
            match before {
                Some(before) if before.pair == step.pair => {
                    if run.equal == 0 {
                        run.since = before.at;
                    }
                    run.equal = run.equal.saturating_add(1);
                }
                _ => *run = Run::default(),
            }
        }
        self.recent[(self.steps % LAP_MAX as u64) as usize] = step;
        self.steps += 1;
    }

    /// The length of the shortest lap that has been repeated often enough just now.
    fn firm(&self) -> Option<usize> {
        (1..=LAP_MAX).find(|&period| {
            let laps = self.runs[period - 1].equal / period as u32 + 1;
            let enough = if period == 1 { FIRM_REPEATS } else { FIRM_LAPS };
            laps >= enough && (period == 1 || self.calls_differ(period))
        })
    }

    /// One call that goes round between several results is polling, not a cycle.
    fn calls_differ(&self, period: usize) -> bool {
        let last = self.back(1).map(|step| step.call);
        (2..=period).any(|ago| self.back(ago).map(|step| step.call) != last)
    }

    fn hold(&mut self, step: Step, novelty: Novelty) {
        self.held.on_step(step, novelty);
        let Some(period) = self.firm() else { return };
        if usize::from(self.held.period) != period || !self.held.contains(step.pair) {
            self.held = self.taken_up(period);
        }
        self.held.last = step.at;
        self.held.fresh_in_all = 0;
    }

    /// The present run as one to hold. A loop that merely changes its lap goes on counting; a wait after a
    /// loop has a patience of its own.
    fn taken_up(&self, period: usize) -> Held {
        let (run, length) = (self.runs[period - 1], period as u32);
        let mut taken = Held { period: period as u8, since: run.since, ..Held::default() };
        for ago in 1..=period {
            let step = self.back(ago).copied().unwrap_or_default();
            taken.lap[ago - 1] = step.pair;
            taken.waiting |= step.waiting;
        }
        taken.steps = run.equal.saturating_add(length);
        if self.held.period > 0 && !taken.waiting {
            taken.since = self.held.since;
            taken.steps = taken.steps.max(self.held.laps().saturating_mul(length));
        }
        taken
    }
}

impl Held {
    fn laps(&self) -> u32 {
        self.steps.checked_div(u32::from(self.period)).unwrap_or(0)
    }

    fn contains(&self, pair: u64) -> bool {
        self.lap[..usize::from(self.period)].contains(&pair)
    }

    fn on_step(&mut self, step: Step, novelty: Novelty) {
        if self.period == 0 {
            return;
        }
        if self.contains(step.pair) {
            self.steps = self.steps.saturating_add(1);
            self.last = step.at;
            self.fresh_in_a_row = 0;
        } else if self.waiting {
            *self = Self::default();
        } else if novelty == Novelty::Known {
            self.fresh_in_a_row = 0;
        } else {
            self.fresh_in_a_row += 1;
            self.fresh_in_all += 1;
            if self.fresh_in_a_row >= FRESH_IN_A_ROW || self.fresh_in_all >= FRESH_IN_ALL {
                *self = Self::default();
            }
        }
    }
}

#[cfg(test)]
mod tests;
