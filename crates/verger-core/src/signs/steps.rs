//! Whether what an agent does comes to anything, by the fingerprints of its steps.
//!
//! [`stuck`](crate::stuck) judges; here its judgement is held against a role's limits, excused where repeating is,
//! and made to survive. Each step is a row of its own in a ring of [`KEPT`], written once, and so is a new beginning,
//! after which earlier steps no longer count. Each time the ring goes round, what came of all steps before is written
//! down as well: a restart begins with that and folds the steps that followed again.
//!
//! Of fixed size, and only agents whose text is heard have it: the prints themselves are not held.

use std::sync::Arc;

use super::Finding;
use super::repetition::Policy;
use crate::evidence::{Measure, Severity, Sign};
use crate::id::ToolName;
use crate::stretch::{NamedStep, Stretch};
use crate::stuck::{Detector, Judgement, Level, REFUSE, STUCK, StepPrint};
use crate::time::{Timestamp, WallTime};

/// Steps that a restart folds again, at most. What came of those before is written once in as many, which is as much
/// as the steps themselves.
pub(crate) const KEPT: u32 = 64;
/// Steps that can be named in a stretch: as far as the detector looks back for the same trouble, and some more.
const NAMED: usize = 32;
/// Letters of a tool's name that are kept.
const NAME_MAX: usize = 64;
/// Identical calls that weigh as much as [`STUCK`] points, and as [`REFUSE`].
const STUCK_REPEATS: u32 = 5;
const REFUSE_REPEATS: u32 = 10;

/// When something was heard of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    pub(crate) wall: WallTime,
}

impl Moment {
    /// What the clock on the wall would have shown then, had it been the same clock.
    fn ago(self, then: Timestamp) -> WallTime {
        let ago = i64::try_from(self.now.since(then).as_millis()).unwrap_or(i64::MAX);
        WallTime(self.wall.0.saturating_sub(ago))
    }
}

/// What is kept of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) number: u32,
    pub(crate) at: Moment,
    pub(crate) what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Whatever was done before no longer counts.
    Beginning,
    /// A step was taken.
    Step { tool: Option<ToolName>, print: Box<StepPrint> },
}

/// A step that can be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Label {
    number: u32,
    at: Moment,
    tool: Option<ToolName>,
}

/// The last steps of an agent, and what they came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Nothing before the first step after a beginning.
    detector: Option<Box<Detector>>,
    judgement: Judgement,
    /// A person stepped in, so what was found counts no more; what is found next may.
    excused: bool,
    /// The number of the next row.
    next: u32,
    /// When the last step was taken.
    last: Timestamp,
    /// The last steps by name, that of number `n` at `n % NAMED`.
    labels: Vec<Label>,
    stretch: Option<Arc<Stretch>>,
    /// When it began.
    began: Timestamp,
    /// Files that were reported as changed, and calls of which nothing is known but that they did something.
    changes: u32,
    /// Rows that are not written yet, at most one for each place in the ring.
    unsaved: Vec<Kept>,
    /// How things were when the ring last went round, until that is written.
    before: Option<Box<Steps>>,
}

impl Steps {
    /// A step was taken; tells whether it is one of those that are found to come to nothing.
    pub(crate) fn observe(&mut self, at: Moment, tool: Option<&ToolName>, print: &StepPrint) -> bool {
        self.take_in(Kept { number: self.next, at, what: step(tool, print) })
    }

    /// Work became visible outside the conversation: so many files, tests that pass, tests that fail.
    pub(crate) fn on_output(&mut self, at: Moment, files: u32, passed: Option<u32>, failed: Option<u32>) {
        if self.detector.is_some() {
            self.changes = self.changes.wrapping_add(files);
            self.observe(at, None, &StepPrint::of_output(Some(self.changes), passed, failed));
        }
    }

    /// A call succeeded of which too little is known to judge it. It may have changed anything.
    pub(crate) fn on_unseen(&mut self, at: Moment) {
        self.on_output(at, 1, None, None);
    }

    /// It rested, its work ended or a new life began: whatever comes now is not a continuation.
    pub(crate) fn begin_anew(&mut self, at: Moment) {
        if self.detector.is_some() {
            self.take_in(Kept { number: self.next, at, what: What::Beginning });
        }
    }

    /// Whether it goes round in circles.
    pub fn finding(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        let (kind, repeats) = (self.judgement.kind?, self.repeats());
        if repeats < policy.repeats || now.since(self.last) > policy.stands {
            return None;
        }
        let severity = if repeats < policy.repeats_stuck { Severity::Degraded } else { Severity::Stuck };
        Some(Finding {
            sign: Sign::Loop(kind),
            value: Measure::Count(repeats.into()),
            threshold: Measure::Count(policy.repeats.into()),
            severity,
        })
    }

    /// When it stops to stand, if no step follows.
    pub fn deadline(&self, policy: &Policy) -> Option<Timestamp> {
        self.stretch.as_ref().map(|_| self.last + policy.stands)
    }

    /// How many identical calls would weigh as much, for the ladder; 0 outside a loop.
    pub fn repeats(&self) -> u32 {
        if self.excused {
            return 0;
        }
        match self.judgement.level {
            Level::Undecided | Level::Normal => 0,
            Level::Nudge => STUCK_REPEATS - 1,
            Level::Stuck | Level::Refuse => {
                let beyond = self.judgement.evidence.points.saturating_sub(STUCK);
                let each = (REFUSE - STUCK) / (REFUSE_REPEATS - STUCK_REPEATS);
                STUCK_REPEATS + beyond / each
            }
        }
    }

    /// When it last took a step that came to nothing, if none came to something since.
    pub fn last_step(&self) -> Option<Timestamp> {
        let newest = self.stretch.as_ref()?.steps.last()?.number;
        (newest + 1 == self.next).then_some(self.last)
    }

    /// When the last step was taken.
    pub(crate) fn last(&self) -> Timestamp {
        self.last
    }

    /// The steps that come to nothing, while they do.
    pub fn stretch(&self) -> Option<&Arc<Stretch>> {
        self.stretch.as_ref()
    }

    /// How many rows it may have in the ring.
    pub(crate) fn rows(&self) -> u32 {
        self.next.min(KEPT)
    }

    /// How things were when the ring last went round, if that is not written yet.
    pub(crate) fn take_before(&mut self) -> Option<Box<Self>> {
        self.before.take()
    }

    /// The rows that are not written yet.
    pub(crate) fn take_unsaved(&mut self) -> impl Iterator<Item = Kept> {
        std::mem::take(&mut self.unsaved).into_iter()
    }

    /// The steps of an agent from their rows. What the ring still holds of before it last went round is known already.
    pub(crate) fn recall(before: Option<Self>, mut rows: Vec<Kept>) -> Self {
        let mut steps = before.unwrap_or_default();
        rows.retain(|kept| steps.next <= kept.number);
        rows.sort_unstable_by_key(|kept| kept.number);
        for kept in &rows {
            steps.fold(kept);
        }
        steps
    }

    fn take_in(&mut self, kept: Kept) -> bool {
        // Each place of the ring is about to be used again, one after the other.
        if kept.place() == 0 && kept.number > 0 {
            (self.before, self.unsaved) = (None, Vec::new());
            self.before = Some(Box::new(self.clone()));
        }
        let counts = self.fold(&kept);
        self.unsaved.push(kept);
        counts
    }

    fn fold(&mut self, kept: &Kept) -> bool {
        self.next = kept.number.wrapping_add(1);
        self.last = kept.at.now;
        let What::Step { tool, print } = &kept.what else {
            (self.detector, self.judgement, self.stretch) = (None, Judgement::default(), None);
            (self.excused, self.labels) = (false, Vec::new());
            return false;
        };
        // So that a restart goes on counting where it was.
        self.changes = print.files_changed().unwrap_or(self.changes);
        self.label(Label { number: kept.number, at: kept.at, tool: tool.clone() });
        self.judgement = self.detector.get_or_insert_default().observe(kept.number, print);
        let counts = self.judgement.evidence.steps().last() == Some(&kept.number);
        // A person's word excuses what was done before; the detector knows whether it is a new subject.
        self.excused = print.is_said_by_person() || (self.excused && !counts);
        self.stretch = if self.excused { None } else { self.described(kept.at) };
        counts
    }

    fn label(&mut self, mut label: Label) {
        // Names are shared: an agent has few tools.
        let known = self.labels.iter().find(|known| known.tool == label.tool);
        label.tool = known.map_or(label.tool, |known| known.tool.clone());
        let place = label.number as usize % NAMED;
        if self.labels.len() <= place {
            self.labels.resize(place + 1, Label::default());
        }
        self.labels[place] = label;
    }

    fn labelled(&self, number: u32) -> Option<&Label> {
        self.labels.get(number as usize % NAMED).filter(|label| label.number == number)
    }

    /// The stretch as of now. How long ago its steps were is known by observed time; a wall clock that was set meanwhile
    /// changes when that was, and not how long it lasted.
    fn described(&mut self, now: Moment) -> Option<Arc<Stretch>> {
        let Judgement { kind: Some(kind), since_step: Some(since_step), evidence, .. } = self.judgement
        else {
            return None;
        };
        let steps: Vec<&Label> =
            evidence.steps().iter().filter_map(|number| self.labelled(*number)).collect();
        // A stretch that began long ago keeps its beginning, though that step can be named no more.
        let known = self.stretch.as_ref().filter(|stretch| stretch.since_step == since_step);
        let began = known.map(|_| self.began);
        let began = began.or_else(|| self.labelled(since_step).map(|label| label.at.now));
        let began = began.or_else(|| steps.first().map(|step| step.at.now)).unwrap_or(now.now);
        let named = |label: &&Label| NamedStep {
            number: label.number,
            at: now.ago(label.at.now),
            tool: label.tool.clone(),
        };
        let (count, alike, since) = (evidence.count, evidence.alike, now.ago(began));
        let steps = steps.iter().map(named).collect();
        self.began = began;
        Some(Arc::new(Stretch { kind, since_step, since, count, alike, steps }))
    }
}

impl Kept {
    /// Its place in the ring.
    pub(crate) fn place(&self) -> u8 {
        (self.number % KEPT) as u8
    }
}

fn step(tool: Option<&ToolName>, print: &StepPrint) -> What {
    let short = |tool: &ToolName| {
        let name = tool.as_str();
        let end = name.floor_char_boundary(NAME_MAX);
        if end < name.len() { ToolName::from(&name[..end]) } else { tool.clone() }
    };
    What::Step { tool: tool.map(short), print: Box::new(print.clone()) }
}

mod stored;
#[cfg(test)]
mod tests;
