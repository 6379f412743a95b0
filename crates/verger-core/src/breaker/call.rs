//! What is asked of a breaker, and what it answers.

use std::fmt;
use std::num::NonZeroU64;

use crate::time::Span;

/// Whether calls pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// They do.
    Closed,
    /// They do not.
    Open,
    /// A few do, to try.
    HalfOpen,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "CLOSED",
            Self::Open => "OPEN",
            Self::HalfOpen => "HALF_OPEN",
        })
    }
}

/// How a person has a breaker work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// By its policy.
    #[default]
    Normal,
    /// Open until a person says otherwise.
    ForcedOpen,
    /// Everything passes and nothing is counted.
    Disabled,
    /// Everything passes; failures are counted and shown.
    MetricsOnly,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::ForcedOpen => "forced-open",
            Self::Disabled => "disabled",
            Self::MetricsOnly => "metrics-only",
        })
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResult {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It failed because the provider behind it is down or limits calls.
    Outage,
    /// It was not made after all, or says nothing about what it was made to.
    NotMade,
}

/// What is known of a call that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub result: CallResult,
    /// How long it took, if that was said.
    pub took: Option<Span>,
}

impl From<CallResult> for Outcome {
    fn from(result: CallResult) -> Self {
        Self { result, took: None }
    }
}

/// What the last failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A call failed.
    Failed,
    /// The provider was down.
    Outage,
    /// A call was so slow that it counts as failed.
    Slow,
    /// A call that tried it was never reported back.
    Expired,
}

/// The number of a permit; a breaker never gives one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PermitNumber(pub NonZeroU64);

/// A call that must not be made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{because}; try again in {retry_after}")]
pub struct Refusal {
    /// When asking again makes sense. A person may let calls pass earlier.
    pub retry_after: Span,
    /// Why.
    pub because: Refused,
}

/// Why a call must not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The breaker is open.
    Open,
    /// Others try already whether it works.
    Trying,
    /// A person holds it open.
    Forced,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "it keeps failing",
            Self::Trying => "others try already whether it works again",
            Self::Forced => "a person holds it open",
        })
    }
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// It was taken in.
    Counted,
    /// Its permit expired, or is of an earlier state: it changes nothing any more.
    Late,
    /// Its permit was reported before, or its call was seen to end.
    Repeated,
    /// There is no such permit.
    Unknown,
    /// Nobody keeps count: there was no room for the breaker when the permit was given, or it is gone.
    Unwatched,
}
