//! What one run of a probe found.

use std::sync::Arc;

use crate::id::{Incarnation, ProbeName};
use crate::text;
use crate::time::{Span, Timestamp};

/// Characters of a description or of an error, as in 004 §6.1.
pub(super) const TEXT_MAX: usize = 500;
/// Bytes of diagnostic data that are kept. History has the rest.
pub(super) const DATA_MAX: usize = 1_024;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed,
    /// It took longer than it may. That is a failure, and not a lack of knowledge.
    TimedOut,
    /// Through the monitor's own fault nothing can be said: no counter changes.
    Inconclusive,
}

/// What comes back from a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeResult {
    /// Which probe.
    pub probe: ProbeName,
    /// The number that its start had.
    pub run: u64,
    /// The life of the agent that was looked at.
    pub incarnation: Incarnation,
    /// How it ended.
    pub outcome: Outcome,
    /// What was found, for people.
    pub description: Option<Arc<str>>,
    /// What went wrong.
    pub error: Option<Arc<str>>,
    /// How long it took.
    pub duration: Span,
    /// Diagnostic data, as the probe wrote it.
    pub data: Option<Arc<str>>,
}

/// The last result of a probe, as it is kept and shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// How the run ended.
    pub outcome: Outcome,
    /// What was found, at most 500 characters.
    pub description: Option<Arc<str>>,
    /// What went wrong, at most 500 characters.
    pub error: Option<Arc<str>>,
    /// How long it took.
    pub duration: Span,
    /// When the result came.
    pub checked_at: Timestamp,
    /// Diagnostic data; none if there is more of it than is kept, for half of it could not be read.
    pub data: Option<Arc<str>>,
}

impl Reported {
    pub(super) fn new(now: Timestamp, result: &ProbeResult) -> Self {
        let cut = |text: &Option<Arc<str>>| text.as_deref().map(|text| text::first(text, TEXT_MAX).into());
        Self {
            outcome: result.outcome,
            description: cut(&result.description),
            error: cut(&result.error),
            duration: result.duration,
            checked_at: now,
            data: result.data.clone().filter(|data| data.len() <= DATA_MAX),
        }
    }

    /// Whether the check passed.
    pub fn is_healthy(&self) -> bool {
        self.outcome == Outcome::Passed
    }

    /// What people read: the description, else the error, else how it ended.
    pub fn text(&self) -> String {
        let said = self.description.as_deref().or(self.error.as_deref()).filter(|text| !text.is_empty());
        let ended = || match self.outcome {
            Outcome::Passed => "Check passed".to_owned(),
            Outcome::Failed => "Check failed".to_owned(),
            Outcome::TimedOut => {
                format!("Health check timed out after {:.1}s", self.duration.as_millis() as f64 / 1_000.0)
            }
            Outcome::Inconclusive => "Nothing could be found out".to_owned(),
        };
        said.map_or_else(ended, str::to_owned)
    }
}
