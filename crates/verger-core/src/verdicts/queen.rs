//! The queen's rule: the second gate before a person is disturbed.
//!
//! 003 lists criteria for dismissing a ticket and for intervening, and a ticket may meet some of both. They are
//! held in one order. What the monitor sees itself comes before what the judge counted: a state that cannot
//! mend itself; then new work, which no count denies; then a loop; then a failure that is over already; then
//! the stall, the severity and the number of steps. A ticket that meets nothing is dismissed, and says so.
//!
//! A language model may be asked. What it says is kept, and tips the scale only where criteria of both sides
//! are met; it never speaks for a side that no criterion is on.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use super::ticket::{REASONING_MAX, Report};
use super::{QueenPolicy, Severity};
use crate::text;
use crate::time::Span;

/// Characters of a model's name.
const MODEL_MAX: usize = 100;

/// What becomes of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Nobody is disturbed.
    Dismiss,
    /// A person is told.
    Intervene,
}

/// What the monitor itself sees of the worker when a ticket comes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// It reported an error that it cannot recover from, or that it cannot go on.
    pub unrecoverable: bool,
    /// Something new was saved, changed or learned during the steps that the ticket complains of.
    pub progress: bool,
    /// The same error, the same tool, no new information.
    pub looping: bool,
    /// One failure, and since then a success: it resolved itself.
    pub transient: bool,
    /// Not yet well, but on the way: an ACCEPT, a new result, an answer since the ticket was written.
    pub recovering: bool,
}

/// A criterion of 003, in the order in which they decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Criterion {
    /// Intervene: a logic bug or a state that cannot be recovered from.
    Unrecoverable,
    /// Dismiss: genuine progress despite bad verdicts.
    Progress,
    /// Intervene: a doom loop.
    DoomLoop,
    /// Dismiss: a transient issue that resolved itself.
    Transient,
    /// Intervene: it has stood still for too long.
    Stalled,
    /// Intervene: high or critical.
    Severe,
    /// Intervene: many steps without ACCEPT and no sign of recovery.
    ManySteps,
    /// Dismiss: of low severity, and few steps.
    Minor,
}

impl Criterion {
    /// What it speaks for.
    pub fn ruling(self) -> Ruling {
        match self {
            Self::Progress | Self::Transient | Self::Minor => Ruling::Dismiss,
            Self::Unrecoverable | Self::DoomLoop | Self::Stalled | Self::Severe | Self::ManySteps => {
                Ruling::Intervene
            }
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unrecoverable => "it cannot recover by itself",
            Self::Progress => "there is genuine progress despite bad verdicts",
            Self::DoomLoop => "it does the same with the same outcome, over and over",
            Self::Transient => "the trouble was passing and has resolved itself",
            Self::Stalled => "it has stood still for too long",
            Self::Severe => "the judge calls it grave",
            Self::ManySteps => "many steps without ACCEPT, and no sign of recovery",
            Self::Minor => "of low severity, after few steps",
        })
    }
}

/// What a language model thinks of a ticket. It is kept, and never decides alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Which model.
    pub by: Arc<str>,
    /// What it would do.
    pub opinion: Opinion,
    /// Why.
    pub reasoning: Arc<str>,
}

/// What a language model would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// Disturb nobody.
    Dismiss,
    /// Tell a person.
    Intervene,
    /// It cannot tell.
    Unsure,
}

impl Advice {
    /// Advice with its texts held to a length: a model may go on for long.
    pub fn new(by: &str, opinion: Opinion, reasoning: &str) -> Self {
        Self {
            by: text::first(by, MODEL_MAX).into(),
            opinion,
            reasoning: text::first(reasoning, REASONING_MAX).into(),
        }
    }
}

/// How a ticket was judged, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triage {
    /// What becomes of it.
    pub ruling: Ruling,
    /// The criterion that decided; none if none was met.
    pub by: Option<Criterion>,
    /// All criteria that were met, in the order in which they decide.
    pub met: Vec<Criterion>,
    /// What a language model said, if it was asked and answered.
    pub advice: Option<Advice>,
}

/// Judges a ticket by the criteria of 003 alone.
pub fn triage(report: &Report, sight: Sight, policy: &QueenPolicy) -> Triage {
    let steps = report.steps_since_last_accept;
    let table = [
        (Criterion::Unrecoverable, sight.unrecoverable),
        (Criterion::Progress, sight.progress),
        (Criterion::DoomLoop, sight.looping),
        (Criterion::Transient, sight.transient),
        (Criterion::Stalled, report.stall.unwrap_or(Span::ZERO) > policy.stall_over),
        (Criterion::Severe, report.severity >= Severity::High),
        (Criterion::ManySteps, steps >= policy.steps_at && !sight.recovering),
        (Criterion::Minor, report.severity == Severity::Low && steps < policy.low_below),
    ];
    let met: Vec<_> = table.into_iter().filter(|(_, met)| *met).map(|(criterion, _)| criterion).collect();
    let by = met.first().copied();
    Triage { ruling: by.map_or(Ruling::Dismiss, Criterion::ruling), by, met, advice: None }
}

impl Triage {
    /// Takes a model's advice. The first is kept; it changes the ruling only where criteria of both sides are
    /// met, and never when the worker cannot recover by itself.
    pub(super) fn advise(&mut self, advice: Advice) {
        if self.advice.is_some() {
            return;
        }
        let wanted = match advice.opinion {
            Opinion::Dismiss => Some(Ruling::Dismiss),
            Opinion::Intervene => Some(Ruling::Intervene),
            Opinion::Unsure => None,
        };
        self.advice = Some(advice);
        let supported = self.met.iter().find(|criterion| Some(criterion.ruling()) == wanted);
        if let (Some(criterion), false) = (supported, self.by == Some(Criterion::Unrecoverable)) {
            (self.by, self.ruling) = (Some(*criterion), criterion.ruling());
        }
    }

    /// Why: the criterion that decided, what else was met, what a model said.
    pub fn analysis(&self) -> String {
        let mut text = match (self.ruling, self.by) {
            (Ruling::Dismiss, None) => "Dismissed: no criterion for intervening is met.".to_owned(),
            (Ruling::Dismiss, Some(by)) => format!("Dismissed: {by}."),
            (Ruling::Intervene, Some(by)) => format!("A person should look: {by}."),
            (Ruling::Intervene, None) => "A person should look.".to_owned(),
        };
        let others = self.met.iter().filter(|criterion| Some(**criterion) != self.by);
        for (n, criterion) in others.enumerate() {
            let _ = write!(text, "{} {criterion}", if n == 0 { " Also:" } else { ";" });
        }
        if self.met.len() > 1 {
            text.push('.');
        }
        if let Some(advice) = &self.advice {
            let _ = write!(text, " {} says: {}", advice.by, advice.reasoning);
        }
        text
    }
}
