//! The same trouble again, whatever was learned and changed in between.
//!
//! An agent may read and edit all day and still run into one wall. So this looks back over the last steps for the
//! same failure, the same change or the same words. The more happened in between, the more the trouble must be
//! the same: if nothing was learned, similar will do; if something was, it must be told in the same words; and
//! once something was changed, the numbers must agree too, for twenty problems and then nineteen is progress.

use super::history::{History, Past, same_failure, similar_calls};
use super::judgement::{Evidence, Kind, STEPS_MAX};
use super::outcome::TOLD;
use super::print::{Marks, StepKind, StepPrint};
use super::sketch::Narrow;
use super::weights::Weights;

/// Steps within which trouble counts as come back.
const WINDOW: u32 = 24;
/// Steps for which it stands if nothing more is heard of it.
const STANDS: u32 = 8;

/// A trouble that came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recurrence {
    pub(super) evidence: Evidence,
    pub(super) since: u32,
    pub(super) kind: Option<Kind>,
    pub(super) place: u32,
    pub(super) call: u64,
}

impl Recurrence {
    /// The points that count at this place.
    pub(super) fn points(&self, place: u32) -> u32 {
        let stands = self.kind.is_some() && place - self.place <= STANDS;
        if stands { self.evidence.points } else { 0 }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Standstill)
    }

    /// The call succeeded: the trouble is over.
    pub(super) fn on_success(&mut self, call: u64) {
        if self.kind == Some(Kind::SameError) && self.call == call {
            *self = Self::default();
        }
    }

    /// A call failed and said nothing new.
    pub(super) fn on_failure(
        &mut self,
        at: (u32, u32),
        print: &StepPrint,
        words: &Narrow<TOLD>,
        history: &History,
        weights: &Weights,
    ) {
        let (mut changed, mut news) = (false, 0);
        let mut found = Found::default();
        for past in recent(history, at.1).filter(|past| past.kind == StepKind::Call) {
            let same_words = past.told == print.told;
            let same = past.failed()
                && !past.batched
                && !past.overcome
                && same_failure(past, print, words)
                && (news == 0 || same_words || (!changed && past.gist == print.gist))
                && similar_calls(past, print);
            if same {
                let unlike = past.call != print.call && !same_words && news > found.length as u32 + 1;
                let tested = changed && print.marks.has(Marks::TESTS);
                found.add(
                    past.step,
                    match (unlike, tested) {
                        (true, _) => weights.recurred / 3,
                        (false, true) => weights.recurred_in_tests,
                        (false, false) => weights.recurred,
                    },
                );
            }
            changed |= past.changed;
            news += u32::from(past.news);
        }
        self.take(Kind::SameError, at, print.call, &found);
    }

    /// A change was made that was made before.
    pub(super) fn on_redone(
        &mut self,
        at: (u32, u32),
        print: &StepPrint,
        history: &History,
        weights: &Weights,
    ) {
        let mut found = Found { points: weights.redone, ..Found::default() };
        for past in recent(history, at.1).filter(|past| past.redone) {
            found.add(past.step, weights.redone);
        }
        self.take(Kind::ReappliedEdit, at, print.call, &found);
    }

    /// The agent said something; `did_at` is where it last did anything that came to something, `heard_at` where it
    /// was last told something new.
    pub(super) fn on_said(
        &mut self,
        at: (u32, u32),
        print: &StepPrint,
        history: &History,
        (did_at, heard_at): (u32, u32),
        weights: &Weights,
    ) {
        let words = print.words.narrow();
        let mut found = Found::default();
        for past in history.iter().take_while(|past| past.place >= did_at) {
            let nothing_heard = past.place > heard_at;
            if past.says_the_same(print) || (nothing_heard && past.paraphrases(&words, print.kind)) {
                found.add(past.step, weights.recurred);
            }
        }
        self.take(Kind::DialogueLoop, at, 0, &found);
    }

    fn take(&mut self, kind: Kind, (step, place): (u32, u32), call: u64, found: &Found) {
        let Some(&first) = found.steps[..found.length].last() else { return };
        let mut evidence = Evidence::default();
        for earlier in found.steps[..found.length].iter().rev() {
            evidence.push(*earlier);
        }
        evidence.push(step);
        evidence.alike = evidence.count;
        evidence.points = found.points;
        *self = Self { evidence, since: first, kind: Some(kind), place, call };
    }
}

/// Steps before `place` that are recent enough, from the latest to the earliest.
fn recent(history: &History, place: u32) -> impl Iterator<Item = &Past> {
    history.iter().take_while(move |past| place - past.place <= WINDOW)
}

/// Earlier times of the same trouble, from the latest to the earliest.
#[derive(Default)]
struct Found {
    steps: [u32; STEPS_MAX],
    length: usize,
    points: u32,
}

impl Found {
    fn add(&mut self, step: u32, points: u32) {
        if self.length < STEPS_MAX {
            self.steps[self.length] = step;
            self.length += 1;
            self.points += points;
        }
    }
}
