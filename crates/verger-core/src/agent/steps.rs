//! What an agent's steps come to: equal ones and similar ones are one question, and have one answer.
//!
//! What excuses repeating excuses this as well: calls that wait, an outage, a person who steps in, a rest, the end of
//! the work, a new life.

use std::sync::Arc;

use super::{Agent, Signs, Step};
use crate::evidence::Sign;
use crate::fingerprint::{CallClass, CallPrint, ResultPrint};
use crate::id::ToolName;
use crate::intervention::{Delivery, Ladder};
use crate::signal::{Author, Output};
use crate::signs::steps::Moment;
use crate::signs::{Finding, Novelty, Steps, repetition};
use crate::stretch::Stretch;
use crate::stuck::StepPrint;
use crate::time::Timestamp;

/// A call that ended, as it was heard of.
#[derive(Clone, Copy)]
pub(super) struct Taken<'a> {
    pub(super) print: CallPrint,
    pub(super) result: ResultPrint,
    pub(super) tool: Option<&'a ToolName>,
    pub(super) step: Option<&'a StepPrint>,
}

impl Agent {
    /// Has a call judged; tells whether it came to nothing, as others before it.
    pub(super) fn follow_call(&mut self, step: &Step<'_>, taken: Taken<'_>, novelty: Novelty) -> bool {
        let (at, known) = (moment(step), novelty == Novelty::Known);
        // For how long calls may wait and poll is a question of time, which is asked elsewhere.
        if taken.print.class == CallClass::Waiting && known {
            return false;
        }
        match (taken.step, self.signs().steps.as_mut()) {
            (Some(print), _) => self.signs().steps.get_or_insert_default().observe(at, taken.tool, print),
            (None, Some(steps)) if !known && !taken.result.failed => {
                steps.on_unseen(at);
                false
            }
            (None, _) => false,
        }
    }

    /// Has words judged. What it answers to a question of the monitor is not what it says by itself.
    pub(super) fn follow_words(&mut self, step: &Step<'_>, author: Author, said: Option<&StepPrint>) {
        let at = moment(step);
        match (author, said) {
            (Author::Agent, Some(print)) if !self.owes_an_answer(step) => {
                self.signs().steps.get_or_insert_default().observe(at, None, print);
            }
            (Author::Person, Some(print)) => {
                if let Some(steps) = self.steps_mut() {
                    steps.observe(at, None, print);
                }
            }
            (Author::Person, None) => self.begin_steps_anew(step),
            (Author::Agent | Author::System, _) => {}
        }
    }

    pub(super) fn follow_output(&mut self, step: &Step<'_>, output: &Output) {
        if let Some(steps) = self.steps_mut() {
            let files = output.files_changed.unwrap_or(0);
            steps.on_output(moment(step), files, output.tests_passed, output.tests_failed);
        }
    }

    /// What it did before is no evidence about what it does next.
    pub(super) fn begin_steps_anew(&mut self, step: &Step<'_>) {
        if let Some(steps) = self.steps_mut() {
            steps.begin_anew(moment(step));
        }
    }

    /// The steps that come to nothing, while they do.
    pub(super) fn stretch(&self) -> Option<Arc<Stretch>> {
        self.signs.as_ref()?.steps.as_ref()?.stretch().cloned()
    }

    /// Whether it repeats itself now, and how often it has.
    pub(crate) fn repeats(&self, step: &Step<'_>) -> u32 {
        let repeats = |sign| matches!(sign, Sign::Repeats | Sign::Cycle | Sign::Loop(_));
        if !step.findings.iter().any(|found| repeats(found.sign)) {
            return 0;
        }
        let Some(signs) = &self.signs else { return 0 };
        let equal = signs.repetition.as_ref().map_or(0, |repetition| repetition.repeats());
        equal.max(signs.steps.as_ref().map_or(0, |steps| steps.repeats()))
    }

    fn owes_an_answer(&self, step: &Step<'_>) -> bool {
        let asked = self.past.as_ref().and_then(|past| past.asked);
        let asked = asked.is_some_and(|asked| asked.stands(step.now, step.role));
        let reminded = self.case.as_ref().is_some_and(|case| {
            matches!(&case.ladder, Ladder::Nudging(nudging) if nudging.delivery == Delivery::Delivered)
        });
        asked || reminded
    }

    fn steps_mut(&mut self) -> Option<&mut Steps> {
        self.signs.as_mut()?.steps.as_deref_mut()
    }
}

impl Signs {
    /// Whether it does the same over and over. Both detectors see a plain loop: then the one that can show it speaks,
    /// unless the other finds it worse.
    pub(super) fn again_and_again(&self, now: Timestamp, policy: &repetition::Policy) -> Option<Finding> {
        let equal = self.repetition.as_ref().and_then(|sign| sign.finding(now, policy));
        let alike = self.steps.as_ref().and_then(|steps| steps.finding(now, policy));
        match (equal, alike) {
            (Some(equal), Some(alike)) if alike.severity < equal.severity => Some(equal),
            (equal, alike) => alike.or(equal),
        }
    }
}

fn moment(step: &Step<'_>) -> Moment {
    Moment { now: step.now, wall: step.wall.unwrap_or_default() }
}
