//! What is said about an agent's progress, and why.

use std::fmt;

/// How far it has come, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Too little was seen.
    #[default]
    Undecided,
    /// Something new is learned or changed now and then.
    Normal,
    /// Worth a reminder: three or four repeats. Half of all agents get out of that by themselves.
    Nudge,
    /// Worth a person: about five. Of streaks that long, five in six went on to the end of the run.
    Stuck,
    /// About ten: none got out by itself. The next call of the kind may be refused.
    Refuse,
}

/// What it is that goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The same call with the same outcome.
    IdenticalCall,
    /// A round of several calls with the same outcomes.
    Cycle,
    /// The same change made again, or made, undone and made again.
    ReappliedEdit,
    /// The same failure, whatever was tried against it.
    SameError,
    /// Searches that find nothing, pages already read.
    FruitlessSearch,
    /// Sentences where a command belongs.
    Monologue,
    /// The same thing said again.
    DialogueLoop,
    /// One thing after the other comes to nothing.
    Standstill,
}

impl Kind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::IdenticalCall,
        Self::Cycle,
        Self::ReappliedEdit,
        Self::SameError,
        Self::FruitlessSearch,
        Self::Monologue,
        Self::DialogueLoop,
        Self::Standstill,
    ];

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::IdenticalCall => "identical-call",
            Self::Cycle => "cycle",
            Self::ReappliedEdit => "reapplied-edit",
            Self::SameError => "same-error",
            Self::FruitlessSearch => "fruitless-search",
            Self::Monologue => "monologue",
            Self::DialogueLoop => "dialogue-loop",
            Self::Standstill => "standstill",
        }
    }
}

/// Steps named in evidence, at most.
pub const STEPS_MAX: usize = 16;

/// Which steps, and how many. Prints hold no text: whoever has it shows these steps side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    steps: [u32; STEPS_MAX],
    length: u8,
    /// Steps that count, also those that are no longer named.
    pub count: u32,
    /// The most steps, of these and of those just before, that resemble one of them in what was asked and in what
    /// came of it, itself included.
    pub alike: u32,
    /// Points held against the agent; [`STUCK`](super::STUCK) of them are a verdict.
    pub points: u32,
}

impl Evidence {
    /// The steps that count, by their numbers, in order; the last ones if there are many.
    pub fn steps(&self) -> &[u32] {
        &self.steps[..usize::from(self.length)]
    }

    pub(super) fn points(points: u32) -> Self {
        Self { points, ..Self::default() }
    }

    pub(super) fn push(&mut self, step: u32) {
        if usize::from(self.length) == STEPS_MAX {
            self.steps.copy_within(1.., 0);
            self.length -= 1;
        }
        self.steps[usize::from(self.length)] = step;
        self.length += 1;
        self.count += 1;
    }
}

/// The judgement after a step. It depends on nothing that came later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// How far it has come.
    pub level: Level,
    /// What goes round, from a nudge on.
    pub kind: Option<Kind>,
    /// The first of the steps that count, from a nudge on.
    pub since_step: Option<u32>,
    /// The steps that count; below a nudge none is named.
    pub evidence: Evidence,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(kind), Some(since)) = (self.kind, self.since_step) else {
            return f.write_str(match self.level {
                Level::Undecided => "too few steps to judge",
                _ => "something new is learned or changed",
            });
        };
        let (count, alike) = (self.evidence.count, self.evidence.alike);
        match kind {
            Kind::IdenticalCall => {
                write!(
                    f,
                    "the same call had the same outcome {alike} times, and nothing was learned since step {since}"
                )
            }
            Kind::Cycle => {
                write!(f, "{count} steps since step {since} went over what was done and known before")
            }
            Kind::ReappliedEdit => {
                write!(f, "{count} steps since step {since} made changes that were made before")
            }
            Kind::SameError => {
                write!(
                    f,
                    "the same failure {alike} times, and {count} steps since step {since} came to nothing"
                )
            }
            Kind::FruitlessSearch => {
                write!(f, "{count} steps since step {since} looked for something and found nothing new")
            }
            Kind::Monologue => {
                write!(
                    f,
                    "{count} steps since step {since} came to nothing, with sentences sent where a command belongs"
                )
            }
            Kind::DialogueLoop => write!(f, "the same thing was said {alike} times since step {since}"),
            Kind::Standstill => write!(f, "{count} steps since step {since} came to nothing"),
        }
    }
}
