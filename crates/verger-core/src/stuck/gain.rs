//! What a step brought: something new, a little, or nothing, and how much that weighs.

use super::history::{History, Past, Rewriting, same_failure, similar_calls};
use super::memory::Memory;
use super::outcome::TOLD;
use super::print::{Marks, StepKind, StepPrint};
use super::sketch::Narrow;
use super::weights::Weights;

/// Unseen words from which on a failure tells a lot.
const WORDS_MANY: f32 = 6.0;
/// New lines that are news however many known ones surround them.
const LINES_NEW: f32 = 3.0;

/// What a step brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gain {
    /// Something was learned.
    Learned,
    /// Something was changed in a way it was not before.
    Changed,
    /// Neither this nor that.
    Little,
    /// Nothing.
    Nothing(Loss),
}

/// A step that brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) points: u32,
    pub(super) reason: Reason,
    /// Steps before it that it resembles.
    pub(super) alike: u32,
}

/// Why a step brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// This call had this outcome before.
    Repeated,
    /// This change was made before.
    Redone,
    /// These few words were written before.
    Rewritten,
    /// It failed.
    Failed,
    /// It found nothing, or what was known.
    FoundNothing,
    /// It was no command.
    Prose,
}

impl Reason {
    pub(super) const COUNT: usize = 6;
}

/// What is new in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Novelty {
    /// New lines, about.
    lines: f32,
    /// Share of the lines that is new: half of them or more, or any.
    half: bool,
    any: bool,
    /// Unseen words, about.
    pub(super) words: f32,
    /// The very same was answered before, to whatever call.
    told_before: bool,
}

impl Novelty {
    pub(super) fn of(print: &StepPrint, memory: &Memory, kin: Kin) -> Self {
        let lines = print.lines.digests();
        let new = lines.iter().filter(|line| !memory.knows_line(**line)).count();
        let unseen = print.words.digests().iter().filter(|word| !memory.knows_word(**word)).count();
        // Of a long failure only some words are kept; if it is the same as one before, none of them is new.
        let known = kin.same_text && print.words.scale() > 1.0;
        // A message without an unseen word repeats an old one about something else.
        let message = !print.marks.has(Marks::PAGE) && !print.words.is_empty();
        let new = if message && unseen == 0 { 0 } else { new };
        Self {
            lines: new as f32 * print.lines.scale(),
            half: new > 0 && new * 2 >= lines.len(),
            any: new > 0,
            words: if known { 0.0 } else { unseen as f32 * print.words.scale() },
            told_before: memory.knows_answer(print),
        }
    }

    fn is_news(&self) -> bool {
        self.lines >= LINES_NEW || self.half
    }
}

/// Earlier steps that the present one resembles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kin {
    /// The same call was made before, since the subject last changed.
    same_call: bool,
    /// It had the same outcome then.
    same_outcome: bool,
    /// Some step before was told the same.
    same_text: bool,
    /// Steps that asked much the same and had the same outcome; since something new was last learned, unless they
    /// asked the very same.
    alike: u32,
    /// The same was written into the same place before, or what was replaced is put back; or it was written
    /// elsewhere and something failed since, else it is work done in many places.
    redone: bool,
    /// The same few words were written there before.
    rewritten: bool,
    /// The least that was counted when the same call failed in the same words, and whether anything else was done
    /// since.
    least: Option<u32>,
    tried: bool,
}

impl Kin {
    /// `news_at` and `turn_at` are the places of the last news and of the last change of subject.
    pub(super) fn of(
        print: &StepPrint,
        words: &Narrow<TOLD>,
        history: &History,
        news_at: u32,
        turn_at: u32,
    ) -> Self {
        let (mut kin, mut failed, mut elsewhere) = (Self::default(), false, false);
        for past in history.iter().filter(|past| past.kind == StepKind::Call) {
            kin.same_text |= past.told == print.told || past.gist == print.gist;
            match past.rewriting(print) {
                Rewriting::Same => kin.redone = true,
                Rewriting::SameInFewWords | Rewriting::Elsewhere if failed && !elsewhere => kin.redone = true,
                Rewriting::SameInFewWords => kin.rewritten = true,
                Rewriting::Elsewhere => elsewhere = true,
                Rewriting::Other => {}
            }
            failed |= past.failed();
            if past.place <= turn_at {
                continue;
            }
            let same_call = past.call == print.call;
            let same_outcome = same_outcome(past, print);
            kin.same_call |= same_call;
            kin.same_outcome |= same_call && same_outcome;
            if same_call && same_outcome && past.failed() {
                kin.least = Some(kin.least.map_or(past.count, |least| least.min(past.count)));
            }
            kin.tried |= kin.least.is_none() && !same_call && !past.failed();
            let counts = !past.batched && (same_call || past.place >= news_at);
            if counts && (same_outcome || same_failures(past, print, words)) && similar_calls(past, print) {
                kin.alike += 1;
            }
        }
        kin
    }
}

impl Kin {
    /// Whether fewer are counted than ever before, after something was tried: nine failing tests where there were
    /// twelve are progress, though they are told in the same words.
    fn falls(&self, count: u32) -> bool {
        self.tried && self.least.is_some_and(|least| count < least && least != u32::MAX)
    }
}

/// What the step brought.
pub(super) fn gain(
    print: &StepPrint,
    novelty: &Novelty,
    kin: Kin,
    memory: &Memory,
    weights: &Weights,
) -> Gain {
    let marks = print.marks;
    if marks.has(Marks::FAILED) {
        return if kin.falls(print.count) {
            Gain::Learned
        } else {
            Gain::Nothing(failure(marks, novelty, kin, weights))
        };
    }
    if marks.has(Marks::CHANGES) {
        return change(print, novelty, kin, memory, weights);
    }
    if marks.has(Marks::NOTHING) {
        return Gain::Nothing(failure(marks, novelty, kin, weights));
    }
    if marks.has(Marks::EMPTY) {
        return silence(marks, kin, weights);
    }
    if marks.has(Marks::IDLES) && !novelty.any {
        return barren(Reason::FoundNothing, kin, weights);
    }
    answer(marks, novelty, kin, weights)
}

/// A failure. If it tells of things not heard of before, that is something.
fn failure(marks: Marks, novelty: &Novelty, kin: Kin, weights: &Weights) -> Loss {
    let points = if novelty.words >= WORDS_MANY {
        weights.barren_with_news
    } else if novelty.words > 0.0 {
        weights.barren_with_a_hint
    } else if kin.alike >= 2 {
        weights.alike
    } else if marks.has(Marks::PROSE) {
        weights.prose
    } else {
        weights.barren
    };
    let reason = match (marks.has(Marks::PROSE), marks.has(Marks::FAILED)) {
        (true, _) => Reason::Prose,
        (false, true) => Reason::Failed,
        (false, false) => Reason::FoundNothing,
    };
    Loss { points, reason, alike: kin.alike }
}

/// An accepted change. What comes back from an edit shows what was written, so only that tells whether it is new;
/// a command that writes may also run something, and what it tells counts.
fn change(print: &StepPrint, novelty: &Novelty, kin: Kin, memory: &Memory, weights: &Weights) -> Gain {
    let marks = print.marks;
    let learned = novelty.is_news() && !marks.has(Marks::EDITS);
    let again = memory.knows_change(print) && marks.has(Marks::SOLID);
    if (again || kin.redone) && !learned {
        return Gain::Nothing(Loss { points: weights.redone, reason: Reason::Redone, alike: kin.alike });
    }
    if kin.same_call && kin.same_outcome {
        return barren(Reason::Repeated, kin, weights);
    }
    if kin.rewritten && !learned {
        return Gain::Nothing(Loss { points: weights.barren, reason: Reason::Rewritten, alike: kin.alike });
    }
    Gain::Changed
}

/// Not a word came back: a question was answered with nothing, or something was done in silence.
fn silence(marks: Marks, kin: Kin, weights: &Weights) -> Gain {
    if marks.has(Marks::ASKS) {
        return barren(if kin.same_call { Reason::Repeated } else { Reason::FoundNothing }, kin, weights);
    }
    if marks.has(Marks::IDLES) {
        return barren(Reason::FoundNothing, kin, weights);
    }
    if kin.same_call {
        return Gain::Nothing(Loss { points: weights.barren, reason: Reason::Repeated, alike: kin.alike });
    }
    Gain::Little
}

fn answer(marks: Marks, novelty: &Novelty, kin: Kin, weights: &Weights) -> Gain {
    if novelty.is_news() {
        return Gain::Learned;
    }
    // The same call with another outcome: something moves, as when a build is watched.
    if novelty.any || (kin.same_call && !kin.same_outcome) {
        return Gain::Little;
    }
    if kin.same_call {
        return barren(Reason::Repeated, kin, weights);
    }
    if novelty.told_before && (marks.has(Marks::ASKS) || marks.has(Marks::PAGE)) {
        return barren(Reason::FoundNothing, kin, weights);
    }
    Gain::Little
}

fn barren(reason: Reason, kin: Kin, weights: &Weights) -> Gain {
    let points = if kin.alike >= 2 { weights.alike } else { weights.barren };
    Gain::Nothing(Loss { points, reason, alike: kin.alike })
}

/// Whether the outcome is the same to the last word; of failures, numbers and what the call said do not count.
fn same_outcome(past: &Past, print: &StepPrint) -> bool {
    match (past.failed(), print.marks.has(Marks::FAILED)) {
        (true, true) => past.gist == print.gist,
        (false, false) => past.told == print.told,
        _ => false,
    }
}

fn same_failures(past: &Past, print: &StepPrint, words: &Narrow<TOLD>) -> bool {
    past.failed() && print.marks.has(Marks::FAILED) && same_failure(past, print, words)
}
