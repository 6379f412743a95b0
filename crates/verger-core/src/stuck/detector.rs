//! The judgement over a stream of fingerprints.

use super::gain::{Gain, Kin, Loss, Novelty, Reason, gain};
use super::history::{History, Past};
use super::judgement::{Evidence, Judgement, Level};
use super::memory::Memory;
use super::print::{Marks, Role, StepKind, StepPrint};
use super::recurrence::Recurrence;
use super::standstill::Standstill;
use super::weights::Weights;

/// Points worth a reminder: the fourth identical call, or the fourth step in a row that comes to nothing.
pub const NUDGE: u32 = 60;
/// Points that are a verdict: the fifth identical call, or the seventh step in a row that comes to nothing.
pub const STUCK: u32 = 100;
/// Points from which on a call may be refused: the tenth identical call.
pub const REFUSE: u32 = 250;

/// A call that begins less than this after the last one ended was issued with it: no model answers faster.
const BATCH_GAP_MS: i64 = 1_000;
/// A look at something that works by itself, this long after the last one, is patience.
const PATIENT_MS: i64 = 5_000;
/// Who lets this long pass before a call waits for something, whatever is called: no model thinks as long.
const PAUSE_MS: i64 = 600_000;
/// Calls before which nothing is said.
const CALLS_MIN: u32 = 3;

/// Whether a call waits for something.
#[derive(Clone, Copy, PartialEq)]
enum Wait {
    None,
    /// At once, or nobody knows after how long.
    Hasty,
    /// After a while.
    Patient,
}

/// Judges whether an agent gets on. Of fixed size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detector {
    pub(super) weights: &'static Weights,
    pub(super) history: History,
    pub(super) memory: Memory,
    pub(super) standstill: Standstill,
    pub(super) recurrence: Recurrence,
    /// Steps so far that count, and calls among them.
    pub(super) place: u32,
    pub(super) calls: u32,
    /// Places of the last step that brought something new, and of the last change of subject.
    pub(super) news_at: u32,
    pub(super) turn_at: u32,
    /// Places at which the agent was last told something by a person that it was not told before, and at which it
    /// last did anything that came to something.
    pub(super) heard_at: u32,
    pub(super) did_at: u32,
    pub(super) last_ended_ms: Option<i64>,
    pub(super) last_output: [u32; 3],
}

impl Detector {
    /// One that judges by other numbers: to measure how much they matter.
    pub fn with_weights(weights: &'static Weights) -> Self {
        Self { weights, ..Self::default() }
    }

    /// Takes in the next step; `step` is its number, as the caller counts.
    pub fn observe(&mut self, step: u32, print: &StepPrint) -> Judgement {
        match print.kind {
            StepKind::Call => self.on_call(step, print),
            StepKind::Said(role) => self.on_said(step, print, role),
            StepKind::Output => self.on_output(print),
        }
        self.judgement()
    }

    fn on_call(&mut self, step: u32, print: &StepPrint) {
        if print.marks.has(Marks::NO_STEP) {
            return;
        }
        self.place += 1;
        self.calls += 1;
        let (batched, wait) = (self.is_batched(print), self.wait(print));
        let words = print.words.narrow();
        let kin = Kin::of(print, &words, &self.history, self.news_at, self.turn_at);
        let novelty = Novelty::of(print, &self.memory, kin);
        let gain = gain(print, &novelty, kin, &self.memory, self.weights);
        let mut past = Past::of(step, self.place, print);
        past.batched = batched;
        if !print.marks.has(Marks::FAILED) {
            self.recurrence.on_success(print.call);
            self.history.overcome(print.call);
        }
        match gain {
            Gain::Learned | Gain::Changed => {
                (past.news, past.changed) = (true, gain == Gain::Changed);
                self.did_at = self.place;
                self.on_news();
            }
            Gain::Little => self.did_at = self.place,
            Gain::Nothing(loss) => {
                let at = (step, self.place);
                past.redone = loss.reason == Reason::Redone && print.marks.has(Marks::EDITS);
                if past.redone {
                    self.recurrence.on_redone(at, print, &self.history, self.weights);
                }
                let failed = print.marks.has(Marks::FAILED) && novelty.words == 0.0;
                if failed && !batched && wait == Wait::None {
                    self.recurrence.on_failure(at, print, &words, &self.history, self.weights);
                }
                self.on_nothing(step, print, loss, (batched, wait));
            }
        }
        self.last_ended_ms = print.marks.has(Marks::TIMED).then_some(print.ended_ms());
        self.memory.learn(print);
        self.history.push(past);
    }

    /// Waiting is hardly a loss as long as time passes and what is waited for has not failed; nor is a look that was
    /// issued with another call. Where times are unknown or short, it counts a fifth.
    fn on_nothing(&mut self, step: u32, print: &StepPrint, loss: Loss, (batched, wait): (bool, Wait)) {
        let failed = print.marks.has(Marks::FAILED);
        match wait {
            Wait::None if batched => {}
            Wait::None => self.standstill.add(step, print.call, loss),
            Wait::Hasty if batched => self.standstill.add_look(step, print.call, loss),
            Wait::Patient if !failed => self.standstill.add_look(step, print.call, loss),
            Wait::Hasty | Wait::Patient => {
                self.standstill.add(step, print.call, Loss { points: loss.points / 5, ..loss });
            }
        }
    }

    /// Whether the call waits for something: by what it does, by the pause before it, or because somebody else holds
    /// what it needs and time passes.
    fn wait(&self, print: &StepPrint) -> Wait {
        let marks = print.marks;
        let timed = marks.has(Marks::TIMED);
        let since = self.last_ended_ms.unwrap_or(print.started_ms).min(print.started_ms);
        let paused = timed && print.started_ms.saturating_sub(since) >= PAUSE_MS;
        let patient = timed && print.ended_ms().saturating_sub(since) >= PATIENT_MS;
        match (marks.has(Marks::WAITS) || paused || (patient && marks.has(Marks::HELD)), patient) {
            (false, _) => Wait::None,
            (true, false) => Wait::Hasty,
            (true, true) => Wait::Patient,
        }
    }

    fn on_news(&mut self) {
        self.news_at = self.place;
        self.standstill = Standstill::default();
    }

    /// Something was said. A person's word changes the subject, unless it was said before.
    fn on_said(&mut self, step: u32, print: &StepPrint, role: Role) {
        self.place += 1;
        match role {
            Role::Agent => {
                let since = (self.did_at, self.heard_at);
                self.recurrence.on_said((step, self.place), print, &self.history, since, self.weights);
            }
            Role::User if self.history.iter().any(|past| past.says_the_same(print)) => {}
            Role::User => {
                if !self.history.iter().any(|past| past.says_it_again(print)) {
                    self.heard_at = self.place;
                }
                self.turn_at = self.place;
                self.standstill = Standstill::default();
            }
            Role::Other => return,
        }
        self.history.push(Past::of(step, self.place, print));
    }

    fn on_output(&mut self, print: &StepPrint) {
        let output = [print.told, print.gist, print.target];
        if output != self.last_output {
            self.on_news();
        }
        self.last_output = output;
    }

    /// Whether the call was issued before a model could have read the last answer: one decision, not two.
    fn is_batched(&self, print: &StepPrint) -> bool {
        let timed = print.marks.has(Marks::TIMED);
        self.last_ended_ms.is_some_and(|ended| timed && print.started_ms.saturating_sub(ended) < BATCH_GAP_MS)
    }

    /// The judgement after the last step.
    pub fn judgement(&self) -> Judgement {
        let standing = self.standstill.evidence.points;
        let recurring = self.recurrence.points(self.place);
        let points = standing.max(recurring);
        let level = match points {
            REFUSE.. => Level::Refuse,
            STUCK.. => Level::Stuck,
            NUDGE.. => Level::Nudge,
            _ if self.calls < CALLS_MIN => Level::Undecided,
            _ => Level::Normal,
        };
        if level < Level::Nudge {
            return Judgement { level, evidence: Evidence::points(points), ..Judgement::default() };
        }
        let (kind, since, evidence) = if standing >= recurring {
            (self.standstill.kind(), self.standstill.since, self.standstill.evidence)
        } else {
            (self.recurrence.kind(), self.recurrence.since, self.recurrence.evidence)
        };
        Judgement { level, kind: Some(kind), since_step: Some(since), evidence }
    }
}

#[cfg(test)]
impl Detector {
    /// Points of the standstill alone.
    pub(super) fn standing(&self) -> u32 {
        self.standstill.evidence.points
    }
}
