//! What a live monitor would have made of a run, and when.
//!
//! The judgement is the core's, step by step, so it depends on nothing that came later. A run that was called stuck
//! once stays so in the report, even if it found its way again: a person would have been told.

use std::collections::VecDeque;

use verger_core::stuck::{Detector, Judgement, Kind, Level};

use crate::flaw::Flaw;
use crate::read::Sink;
use crate::run::{Call, Event, Run, Step};
use crate::stretch::{Shown, Stretch};

/// Steps that are kept to show the stretch.
const RECENT_MAX: usize = 96;

/// Failed calls in a row, at its end, with which a run counts as failing. Of 171 recorded runs, five in a row came in
/// five, none of which succeeded.
const FAILURES_MIN: u32 = 5;

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It got on.
    Healthy,
    /// It repeated itself enough to be reminded, and found its way.
    Degraded,
    /// It was stuck.
    Stuck,
    /// It ended on calls that failed one after another.
    Failing,
}

impl State {
    /// As programs and people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "HEALTHY",
            Self::Degraded => "DEGRADED",
            Self::Stuck => "STUCK",
            Self::Failing => "FAILING",
        }
    }
}

/// What is known of a run at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which run.
    pub run_id: String,
    /// What became of it.
    pub state: State,
    /// The step at which it was called stuck.
    pub stuck_at: Option<u32>,
    /// The step at which the stretch began that it was called stuck, or reminded, for.
    pub since: Option<u32>,
    /// The step at which it had found its way again.
    pub recovered_at: Option<u32>,
    /// What kind of repetition it was.
    pub kind: Option<Kind>,
    /// Why, in sentences.
    pub evidence: Vec<Evidence>,
    /// How many steps it had.
    pub steps: u32,
    /// The repeated stretch.
    pub stretch: Option<Stretch>,
    /// The call that was never answered, if there is one: the last.
    pub unanswered: Option<Shown>,
}

/// Something that speaks for a judgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// A sentence.
    pub text: String,
    /// The steps that it is about.
    pub steps: Vec<u32>,
}

/// Watches one run as a live monitor would.
#[derive(Default)]
pub struct Watch {
    detector: Detector,
    recent: VecDeque<Shown>,
    steps: u32,
    failures: u32,
    last_failure: Option<u32>,
    reminded: Option<Verdict>,
    stuck: Option<Verdict>,
    recovered_at: Option<u32>,
    unanswered: Option<Shown>,
}

/// A judgement, with what it was about.
struct Verdict {
    at: u32,
    since: u32,
    kind: Option<Kind>,
    evidence: Evidence,
    stretch: Stretch,
}

impl Watch {
    /// A step was made.
    pub fn observe(&mut self, step: &Step) {
        self.steps = self.steps.saturating_add(1);
        self.recent.push_back(Shown::of(step));
        if RECENT_MAX < self.recent.len() {
            self.recent.pop_front();
        }
        self.count_failures(step);
        let judgement = self.detector.observe(step.i, &step.event.print());
        match judgement.level {
            Level::Stuck | Level::Refuse => {
                if self.stuck.is_none() {
                    self.stuck = Some(self.verdict(step.i, &judgement));
                }
                self.recovered_at = None;
            }
            Level::Nudge => {
                if self.reminded.is_none() {
                    self.reminded = Some(self.verdict(step.i, &judgement));
                }
            }
            Level::Undecided | Level::Normal => {
                if self.stuck.is_some() {
                    self.recovered_at.get_or_insert(step.i);
                }
            }
        }
    }

    /// The step at which it was called stuck, if it was.
    pub fn stuck_at(&self) -> Option<u32> {
        self.stuck.as_ref().map(|verdict| verdict.at)
    }

    /// A call was begun and never answered.
    pub fn on_unanswered(&mut self, call: Call) {
        self.unanswered = Some(Shown::of(&Step { i: self.steps, event: Event::Call(call) }));
    }

    /// What is known at the end.
    pub fn finding(self, run_id: String) -> Finding {
        let is_failing = FAILURES_MIN <= self.failures;
        let (state, verdict) = match (self.stuck, self.reminded) {
            (Some(stuck), _) => (State::Stuck, Some(stuck)),
            (None, reminded) if is_failing => (State::Failing, reminded),
            (None, Some(reminded)) => (State::Degraded, Some(reminded)),
            (None, None) => (State::Healthy, None),
        };
        let mut finding = Finding {
            run_id,
            state,
            stuck_at: None,
            since: None,
            recovered_at: self.recovered_at,
            kind: None,
            evidence: Vec::new(),
            steps: self.steps,
            stretch: None,
            unanswered: self.unanswered,
        };
        if let Some(verdict) = verdict {
            finding.stuck_at = (state == State::Stuck).then_some(verdict.at);
            finding.since = Some(verdict.since);
            finding.kind = verdict.kind;
            finding.evidence.push(verdict.evidence);
            finding.stretch = Some(verdict.stretch);
        }
        if state == State::Failing {
            let text = format!("the last {} calls all failed", self.failures);
            finding.evidence.push(Evidence { text, steps: self.last_failure.into_iter().collect() });
        }
        finding
    }

    fn count_failures(&mut self, step: &Step) {
        if let Event::Call(call) = &step.event {
            let failed = call.error == Some(true) || call.exit_code.is_some_and(|code| code != 0);
            self.failures = if failed { self.failures.saturating_add(1) } else { 0 };
            self.last_failure = Some(step.i);
        }
    }

    fn verdict(&self, at: u32, judgement: &Judgement) -> Verdict {
        let since = judgement.since_step.unwrap_or(at);
        let stretch: Vec<_> = self.recent.iter().filter(|shown| since <= shown.i).cloned().collect();
        let steps = judgement.evidence.steps().to_vec();
        Verdict {
            at,
            since,
            kind: judgement.kind,
            stretch: Stretch::of(&stretch),
            evidence: Evidence { text: judgement.to_string(), steps },
        }
    }
}

/// What became of a whole run.
pub fn inspect(run: &Run) -> Finding {
    let mut watch = Watch::default();
    run.steps.iter().for_each(|step| watch.observe(step));
    watch.finding(run.id.clone())
}

/// Flaws of one recording that are kept; the rest is counted.
const FLAWS_MAX: usize = 20;

/// Watches all runs of a recording.
pub struct Inspector<'a> {
    open: Vec<(String, Watch)>,
    found: &'a mut dyn FnMut(Finding),
    /// The first flaws.
    pub flaws: Vec<Flaw>,
    /// How many there were.
    pub flawed: u64,
}

impl<'a> Inspector<'a> {
    /// Gives what is found of each run to `found`, once the run is over.
    pub fn new(found: &'a mut dyn FnMut(Finding)) -> Self {
        Self { open: Vec::new(), found, flaws: Vec::new(), flawed: 0 }
    }

    fn watch(&mut self, run: &str) -> &mut Watch {
        let at = self.open.iter().position(|(open, _)| open == run).unwrap_or_else(|| {
            self.open.push((run.to_owned(), Watch::default()));
            self.open.len() - 1
        });
        &mut self.open[at].1
    }
}

impl Sink for Inspector<'_> {
    fn step(&mut self, run: &str, step: Step) {
        self.watch(run).observe(&step);
    }

    fn unanswered(&mut self, run: &str, call: Call) {
        self.watch(run).on_unanswered(call);
    }

    fn end(&mut self, run: &str) {
        self.watch(run);
        if let Some(at) = self.open.iter().position(|(open, _)| open == run) {
            let (run, watch) = self.open.remove(at);
            (self.found)(watch.finding(run));
        }
    }

    fn flaw(&mut self, flaw: Flaw) {
        self.flawed += 1;
        if self.flaws.len() < FLAWS_MAX {
            self.flaws.push(flaw);
        }
    }
}
