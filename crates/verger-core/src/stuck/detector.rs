//! The judgement of progress over a stream of fingerprints.
//!
//! Progress is that something new was learned or changed. Two counters grow while there is none:
//!
//! - *Standstill* grows with every step that brings nothing, the faster the more it resembles steps before it,
//!   and is back at nothing as soon as something new is learned or changed.
//! - *Recurrence* counts how often the very same trouble came back, or the same thing was said, whatever was
//!   learned and changed in between.

use super::history::{History, Past, same_failure, similar_calls};
use super::judgement::{Evidence, Judgement, Kind, Level};
use super::memory::Seen;
use super::outcome::TOLD;
use super::print::{Marks, Role, StepKind, StepPrint};
use super::sketch::{Narrow, Overlap, Sketch};
use super::words::chain;

/// Points worth a reminder: the fourth identical call, or the fifth step in a row that comes to nothing.
pub const NUDGE: u32 = 60;
/// Points that are a verdict: the fifth identical call, or the seventh step in a row that comes to nothing.
pub const STUCK: u32 = 100;
/// Points from which on a call may be refused: the tenth identical call.
pub const REFUSE: u32 = 250;

/// A step that brings nothing.
const BARREN: u32 = 15;
/// One that resembles two or more such steps before it, in what is asked and in what came of it.
const ALIKE: u32 = 30;
/// A failure that names a thing or two not heard of before.
const BARREN_WITH_A_HINT: u32 = 7;
/// A failure that tells a lot not heard of before.
const BARREN_WITH_NEWS: u32 = 4;
/// A sentence where a command belongs: nothing was even tried.
const PROSE: u32 = 20;
/// A change that was made before: it cannot help, and often harms.
const REDONE: u32 = 35;
/// Each earlier time the same trouble came, though something was learned or changed since.
const RECURRED: u32 = 25;

/// Unseen words from which on a failure tells a lot.
const WORDS_MANY: f32 = 6.0;
/// New lines that are news however many known ones surround them.
const LINES_NEW: f32 = 3.0;
/// A call that begins less than this after the last one ended was issued with it: no model answers faster.
const BATCH_GAP_MS: i64 = 1_000;
/// A look at something that works by itself, this long after the last one, is patience.
const PATIENT_MS: i64 = 5_000;
/// Steps within which the same trouble counts as come back.
const RECURRENCE_WINDOW: u32 = 24;
/// Steps for which a recurrence stands if nothing more is heard of it.
const STANDS: u32 = 8;
/// Calls before which nothing is said.
const CALLS_MIN: u32 = 3;

/// Judges whether an agent gets on. Of fixed size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detector {
    history: History,
    /// Lines told, answers given, changes made.
    seen: Seen<128>,
    /// Words told.
    words: Seen<128>,
    /// Steps so far that count.
    place: u32,
    calls: u32,
    last_ended_ms: Option<i64>,
    last_output: [u32; 3],
    standstill: Standstill,
    recurrence: Recurrence,
    /// Place of the last step that brought something new, and of the last change of subject.
    news_at: u32,
    turn_at: u32,
}

/// Steps that brought nothing since something last did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Standstill {
    evidence: Evidence,
    since: u32,
    /// Points by what they are for.
    shares: [u32; Reason::COUNT],
}

/// A trouble that came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Recurrence {
    evidence: Evidence,
    since: u32,
    place: u32,
    call: u64,
    said: bool,
}

/// Why a step brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// This call had this outcome before; how many different ones did is told apart.
    Repeated,
    Redone,
    Failed,
    FailedAlike,
    FoundNothing,
    Prose,
}

impl Reason {
    const COUNT: usize = 6;
}

/// What a step brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gain {
    News { changed: bool },
    Little,
    Nothing { points: u32, reason: Reason, alike: u32 },
}

/// What is new in an answer.
struct Novelty {
    lines: f32,
    all_new: bool,
    any_new: bool,
    words: f32,
    told_before: bool,
}

impl Novelty {
    /// Of a long failure only a part of the words is known; if it is the same as one before, none of them is new.
    fn given(self, print: &StepPrint, kin: &Kin) -> Self {
        let known = kin.same_text && print.words.scale() > 1.0;
        Self { words: if known { 0.0 } else { self.words }, ..self }
    }
}

/// Earlier steps that the present one resembles.
#[derive(Default)]
struct Kin {
    /// The same call was made before, since the subject last changed; and had this outcome.
    same_call: bool,
    same_outcome: bool,
    /// Steps since the last news that asked much the same and had the same outcome.
    alike: u32,
    /// A step before was told the same.
    same_text: bool,
    /// A step before wrote the same into the same place, or this one puts back what one before replaced.
    redone: bool,
}

impl Detector {
    /// Takes in the next step; `step` is its number, as the caller counts.
    pub fn observe(&mut self, step: u32, print: &StepPrint) -> Judgement {
        match print.kind {
            StepKind::Call => self.on_call(step, print),
            StepKind::Said(Role::Agent) => self.on_said(step, print),
            StepKind::Said(Role::User) => self.on_user(step, print),
            StepKind::Said(Role::Other) => {}
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
        let batched = self.batched(print);
        let patient = self.patient(print);
        self.last_ended_ms = print.marks.has(Marks::TIMED).then_some(print.ended_ms);
        let words = print.words.narrow();
        let novelty = self.novelty(print);
        let kin = self.kin(print, &words);
        let novelty = novelty.given(print, &kin);
        let gain = self.gain(print, &novelty, &kin);
        let fails = print.marks.has(Marks::FAILED) && !print.marks.has(Marks::WAITS);
        if fails && !batched && novelty.words == 0.0 {
            self.recur(step, print, &words);
        } else if !print.marks.has(Marks::FAILED) && self.recurrence.call == print.call {
            self.recurrence = Recurrence::default();
        }
        match gain {
            Gain::News { .. } => self.on_news(),
            Gain::Little => {}
            Gain::Nothing { points, reason, alike } if !batched => {
                let points = if !print.marks.has(Marks::WAITS) {
                    points
                } else if patient {
                    0
                } else {
                    points / 5
                };
                self.standstill.add(step, points, reason, alike);
            }
            Gain::Nothing { .. } => {}
        }
        self.learn(print);
        self.history.push(Past {
            step,
            place: self.place,
            call: print.call,
            told: print.told,
            gist: print.gist,
            target: print.target,
            replaced: print.replaced,
            said: print.said,
            words,
            body: print.body,
            kind: print.kind,
            marks: print.marks,
            news: matches!(gain, Gain::News { .. }),
            changed: gain == Gain::News { changed: true },
            batched,
        });
    }

    fn on_news(&mut self) {
        self.news_at = self.place;
        self.standstill = Standstill::default();
    }

    fn batched(&self, print: &StepPrint) -> bool {
        let timed = print.marks.has(Marks::TIMED);
        self.last_ended_ms.is_some_and(|ended| timed && print.started_ms.saturating_sub(ended) < BATCH_GAP_MS)
    }

    fn patient(&self, print: &StepPrint) -> bool {
        let timed = print.marks.has(Marks::TIMED);
        let apart = self.last_ended_ms.is_some_and(|ended| print.ended_ms.saturating_sub(ended) >= PATIENT_MS);
        timed && (apart || print.ended_ms.saturating_sub(print.started_ms) >= PATIENT_MS)
    }

    fn novelty(&self, print: &StepPrint) -> Novelty {
        let message = !print.marks.has(Marks::PAGE) && !print.words.is_empty();
        let known = print.lines.digests().iter().filter(|line| self.seen.has(**line)).count();
        let all = print.lines.digests().len();
        let unseen = print.words.digests().iter().filter(|word| !self.words.has(**word)).count();
        let told = !message || unseen > 0;
        Novelty {
            lines: if told { (all - known) as f32 * print.lines.scale() } else { 0.0 },
            all_new: told && all > 0 && (all - known) * 2 >= all,
            any_new: told && known < all,
            words: unseen as f32 * print.words.scale(),
            told_before: self.seen.has(answer_digest(print)),
        }
    }

    fn kin(&self, print: &StepPrint, words: &Narrow<TOLD>) -> Kin {
        let mut kin = Kin::default();
        let fails = print.marks.has(Marks::FAILED);
        for past in self.history.iter().filter(|past| past.kind == StepKind::Call) {
            if past.place > self.turn_at && past.call == print.call {
                kin.same_call = true;
                kin.same_outcome |= same_outcome(past, print);
            }
            let since = past.place >= self.news_at || past.call == print.call;
            if since
                && past.place > self.turn_at
                && !past.batched
                && same_result(past, print, words, fails)
                && similar_calls(past, print)
            {
                kin.alike += 1;
            }
            kin.same_text |= past.told == print.told || past.gist == print.gist;
            kin.redone |= redoes(past, print);
        }
        kin
    }

    fn gain(&self, print: &StepPrint, novelty: &Novelty, kin: &Kin) -> Gain {
        let marks = print.marks;
        let nothing = |points, reason| {
            let alike = kin.alike;
            let points = if alike >= 2 { ALIKE.max(points) } else { points };
            Gain::Nothing { points, reason, alike }
        };
        if marks.has(Marks::FAILED) {
            return failure(marks, novelty, kin);
        }
        if marks.has(Marks::CHANGES) {
            let again = self.seen.has(change_digest(print)) && (marks.has(Marks::SOLID) || kin.same_outcome);
            if again || kin.redone {
                return Gain::Nothing { points: REDONE, reason: Reason::Redone, alike: kin.alike };
            }
            return Gain::News { changed: true };
        }
        if marks.has(Marks::IDLES) && !novelty.any_new {
            return nothing(BARREN, Reason::FoundNothing);
        }
        if marks.has(Marks::NOTHING) {
            return failure(marks, novelty, kin);
        }
        if marks.has(Marks::EMPTY) {
            return match (marks.has(Marks::ASKS), kin.same_call) {
                (true, false) => nothing(BARREN, Reason::FoundNothing),
                (true, true) => nothing(BARREN, Reason::Repeated),
                (false, true) => Gain::Nothing { points: BARREN, reason: Reason::Repeated, alike: kin.alike },
                (false, false) => Gain::Little,
            };
        }
        if novelty.lines >= LINES_NEW || novelty.all_new {
            return Gain::News { changed: false };
        }
        if novelty.any_new {
            return Gain::Little;
        }
        if kin.same_call {
            return if kin.same_outcome { nothing(BARREN, Reason::Repeated) } else { Gain::Little };
        }
        if novelty.told_before && (marks.has(Marks::ASKS) || marks.has(Marks::PAGE)) {
            return nothing(BARREN, Reason::FoundNothing);
        }
        Gain::Little
    }

    /// A failure: has the same trouble come before, whatever was learned and changed since?
    fn recur(&mut self, step: u32, print: &StepPrint, words: &Narrow<TOLD>) {
        let mut found = Recurrence { call: print.call, place: self.place, ..Recurrence::default() };
        let (mut steps, mut length) = ([0u32; 16], 0);
        let (mut changed, mut news) = (false, 0u32);
        let mut points = 0;
        for past in self.history.iter().filter(|past| past.kind == StepKind::Call) {
            if self.place - past.place > RECURRENCE_WINDOW {
                break;
            }
            let same = past.failed()
                && !past.batched
                && same_failure(past, print, words)
                && similar_calls(past, print)
                && (news == 0 || past.told == print.told || (!changed && past.gist == print.gist));
            if same && length < steps.len() {
                let exact = past.call == print.call;
                points += if exact || news <= length as u32 + 1 { RECURRED } else { RECURRED / 3 };
                steps[length] = past.step;
                length += 1;
            }
            changed |= past.changed;
            news += u32::from(past.news);
        }
        if length == 0 {
            return;
        }
        for step in steps[..length].iter().rev() {
            found.evidence.push(*step);
        }
        found.since = steps[length - 1];
        found.evidence.push(step);
        found.evidence.alike = length as u32 + 1;
        found.evidence.points = points;
        self.recurrence = found;
    }

    /// The agent said something: has it said so before, and was nothing learned since?
    fn on_said(&mut self, step: u32, print: &StepPrint) {
        self.place += 1;
        let mut found = Recurrence { place: self.place, said: true, ..Recurrence::default() };
        let pairs = print.lines;
        if pairs.digests().len() >= 5 {
            let alike = self.history.iter().filter(|past| {
                past.kind == print.kind
                    && past.place >= self.news_at
                    && Overlap::of(past.body.digests(), first(&pairs).digests(), 12).alike(60)
            });
            let (mut steps, mut length) = ([0u32; 16], 0);
            for past in alike.take(16) {
                steps[length] = past.step;
                length += 1;
            }
            if length > 0 {
                for step in steps[..length].iter().rev() {
                    found.evidence.push(*step);
                }
                found.since = steps[length - 1];
                found.evidence.push(step);
                found.evidence.alike = length as u32 + 1;
                found.evidence.points = RECURRED * length as u32;
                self.recurrence = found;
            }
        }
        self.remember_said(step, print);
    }

    fn on_user(&mut self, step: u32, print: &StepPrint) {
        self.place += 1;
        let known = self.history.iter().any(|past| {
            past.kind == print.kind && Overlap::of(past.body.digests(), first(&print.lines).digests(), 12).alike(60)
        });
        if !known {
            self.turn_at = self.place;
            self.standstill = Standstill::default();
        }
        self.remember_said(step, print);
    }

    fn remember_said(&mut self, step: u32, print: &StepPrint) {
        self.history.push(Past {
            step,
            place: self.place,
            call: 0,
            told: 0,
            gist: 0,
            target: 0,
            replaced: 0,
            said: Narrow::default(),
            words: Narrow::default(),
            body: first(&print.lines),
            kind: print.kind,
            marks: print.marks,
            news: false,
            changed: false,
            batched: false,
        });
    }

    fn on_output(&mut self, print: &StepPrint) {
        let output = [print.told, print.gist, print.verb];
        if output != self.last_output {
            self.on_news();
        }
        self.last_output = output;
    }

    fn learn(&mut self, print: &StepPrint) {
        for line in print.lines.digests().iter().chain(print.body.digests()) {
            self.seen.insert(*line);
        }
        for word in print.words.digests() {
            self.words.insert(*word);
        }
        self.seen.insert(answer_digest(print));
        let accepted = !print.marks.has(Marks::FAILED);
        if accepted && print.marks.has(Marks::CHANGES) {
            self.seen.insert(change_digest(print));
        }
    }

    fn judgement(&self) -> Judgement {
        let recurs = self.place - self.recurrence.place <= STANDS;
        let recurring = if recurs { self.recurrence.evidence.points } else { 0 };
        let standing = self.standstill.evidence.points;
        let points = standing.max(recurring);
        let level = match points {
            REFUSE.. => Level::Refuse,
            STUCK.. => Level::Stuck,
            NUDGE.. => Level::Nudge,
            _ if self.calls < CALLS_MIN => Level::Undecided,
            _ => Level::Normal,
        };
        if level < Level::Nudge {
            return Judgement { level, ..Judgement::default() };
        }
        let (kind, since, evidence) = if standing >= recurring {
            (self.standstill.kind(), self.standstill.since, self.standstill.evidence)
        } else if self.recurrence.said {
            (Kind::DialogueLoop, self.recurrence.since, self.recurrence.evidence)
        } else {
            (Kind::SameError, self.recurrence.since, self.recurrence.evidence)
        };
        Judgement { level, kind: Some(kind), since_step: Some(since), evidence }
    }
}

impl Standstill {
    fn add(&mut self, step: u32, points: u32, reason: Reason, alike: u32) {
        if points == 0 {
            return;
        }
        if self.evidence.count == 0 {
            self.since = step;
        }
        self.evidence.push(step);
        self.evidence.alike = alike + 1;
        self.evidence.points = self.evidence.points.saturating_add(points);
        self.shares[reason as usize] += points;
    }

    fn kind(&self) -> Kind {
        let share = |reason: Reason| self.shares[reason as usize];
        let failed = share(Reason::Failed) + share(Reason::FailedAlike);
        let half = self.evidence.points / 2;
        if share(Reason::Redone) * 2 >= half {
            Kind::ReappliedEdit
        } else if share(Reason::Prose) >= half {
            Kind::Monologue
        } else if share(Reason::Repeated) >= half {
            if self.evidence.alike * 2 > self.evidence.count { Kind::IdenticalCall } else { Kind::Cycle }
        } else if failed >= half {
            Kind::SameError
        } else if share(Reason::FoundNothing) + share(Reason::Repeated) >= half {
            Kind::FruitlessSearch
        } else {
            Kind::Standstill
        }
    }
}

fn failure(marks: Marks, novelty: &Novelty, kin: &Kin) -> Gain {
    let points = if novelty.words >= WORDS_MANY {
        BARREN_WITH_NEWS
    } else if novelty.words > 0.0 {
        BARREN_WITH_A_HINT
    } else if kin.alike >= 2 {
        ALIKE
    } else if marks.has(Marks::PROSE) {
        PROSE
    } else {
        BARREN
    };
    let reason = if marks.has(Marks::PROSE) {
        Reason::Prose
    } else if kin.same_outcome {
        Reason::Repeated
    } else if !marks.has(Marks::FAILED) {
        Reason::FoundNothing
    } else if kin.alike > 0 {
        Reason::FailedAlike
    } else {
        Reason::Failed
    };
    Gain::Nothing { points, reason, alike: kin.alike }
}

/// Whether the outcome is the same to the last word; of failures numbers do not count.
fn same_outcome(past: &Past, print: &StepPrint) -> bool {
    if past.failed() != print.marks.has(Marks::FAILED) {
        return false;
    }
    if past.failed() { past.gist == print.gist } else { past.told == print.told }
}

fn same_result(past: &Past, print: &StepPrint, words: &Narrow<TOLD>, fails: bool) -> bool {
    if past.failed() != fails {
        return false;
    }
    if fails { same_failure(past, print, words) || (past.call == print.call && past.gist == print.gist) } else { past.told == print.told }
}

/// Whether the same was written into the same place before, or what was replaced before is put back.
fn redoes(past: &Past, print: &StepPrint) -> bool {
    let changes = print.marks.has(Marks::CHANGES) && past.marks.has(Marks::CHANGES) && !past.failed();
    if !changes || past.target != print.target {
        return false;
    }
    let restores = print.written != 0 && print.written == past.replaced && print.marks.has(Marks::SOLID);
    let body = print.body.digests().len() >= 3
        && Overlap::of(past.body.digests(), print.body.digests(), 12).alike(90);
    restores || body
}

fn answer_digest(print: &StepPrint) -> u32 {
    chain(print.told, 0x616e_7377)
}

fn change_digest(print: &StepPrint) -> u32 {
    chain(chain(print.call as u32 ^ (print.call >> 32) as u32, print.target), 0x6368_616e)
}

/// A message's pairs in the room that a call has for its body.
fn first(pairs: &Sketch<TOLD>) -> Sketch<12> {
    let mut kept = Sketch::default();
    for pair in pairs.digests() {
        kept.insert(*pair);
    }
    kept
}
