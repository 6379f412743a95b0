//! Why: what was measured, against which limit, and what follows from it.
//!
//! Evidence travels with every change of state into the log, the interfaces, alerts and the audit. It is
//! data; the sentence is made from it when someone reads.

use std::fmt;
use std::sync::Arc;

use crate::resources::{Breach, Level, Resource};
use crate::signal::{Awaited, Trust};
use crate::stretch::Stretch;
use crate::stuck::Kind;
use crate::time::{Roughly, Span};

/// One finding about one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What was looked at.
    pub sign: Sign,
    /// What was measured.
    pub value: Measure,
    /// The limit it was held against.
    pub threshold: Measure,
    /// How much it weighs.
    pub severity: Severity,
    /// Whether it rests on signals of proven origin.
    pub trust: Trust,
    /// The steps that it rests on, if it is a [loop](Sign::Loop).
    pub stretch: Option<Arc<Stretch>>,
}

/// How much a finding weighs, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Counts against the agent only together with another finding of a different family.
    Note,
    /// Warning signs.
    Degraded,
    /// No progress.
    Stuck,
    /// In an error loop, or broken.
    Failing,
}

/// What was looked at. Each sign has one file that judges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Expected heartbeats did not come.
    Heartbeat,
    /// Pings were not answered.
    Ping,
    /// A status inquiry was not answered.
    Inquiry,
    /// The connection was refused: the process is gone.
    Connection,
    /// The agent cannot be reached, and neither may its host be.
    Route,
    /// Nothing new was saved, changed or learned.
    Progress,
    /// No tool was called.
    ToolSilence,
    /// A wait lasted longer than its patience.
    Patience(Awaited),
    /// The same call with the same result, again and again.
    Repeats,
    /// The same sequence of calls with the same results, again and again.
    Cycle,
    /// Too large a share of calls failed.
    ErrorRate,
    /// Calls failed one after the other in the same way.
    FailureStreak,
    /// The agent reported an error that it cannot recover from.
    Unrecoverable,
    /// The agent reported that it cannot go on.
    Blocked,
    /// Errors kept accumulating over heartbeats.
    ErrorCount,
    /// Tokens are used far faster than is usual for this agent.
    TokenSpike,
    /// An agent that uses tokens steadily stopped using any.
    TokenStop,
    /// The context window is full and nothing was handed over.
    Context,
    /// Fewer tests pass than before.
    FallingTests,
    /// Many calls, and no file changed.
    NoOutput,
    /// It has work and does nothing.
    IdleWithWork,
    /// It says itself that it is in trouble.
    SelfReport,
    /// Its state keeps changing.
    Flapping,
    /// Its process ended.
    Exit,
    /// More was used than may be.
    Limit {
        /// Whose limit.
        level: Level,
        /// Of what.
        resource: Resource,
    },
    /// Its health checks fail.
    Probes,
    /// What it does comes to nothing, as before: alike without being equal, or whatever was done in between.
    Loop(Kind),
}

/// Signs of one family may have one cause; two families are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Is anybody there?
    Life,
    /// Does it get on?
    Progress,
    /// Does it do the same things over and over?
    Repetition,
    /// Does what it does fail?
    Errors,
    /// Does it use what it usually uses?
    Consumption,
    /// What it says of itself.
    Word,
    /// Its process.
    Process,
}

impl Sign {
    /// The family this sign belongs to. No two signs of one family ever count as two.
    pub fn family(self) -> Family {
        match self {
            Self::Heartbeat
            | Self::Ping
            | Self::Inquiry
            | Self::Connection
            | Self::Route
            | Self::Flapping
            // What a probe finds closed may be closed for the reason that pings are not answered.
            | Self::Probes => Family::Life,
            Self::Progress
            | Self::ToolSilence
            | Self::Patience(_)
            | Self::NoOutput
            | Self::FallingTests
            | Self::IdleWithWork => Family::Progress,
            // The same failure again is no second witness beside a row of failures.
            Self::ErrorRate | Self::FailureStreak | Self::ErrorCount | Self::Loop(Kind::SameError) => {
                Family::Errors
            }
            Self::Repeats | Self::Cycle | Self::Loop(_) => Family::Repetition,
            Self::TokenSpike | Self::TokenStop | Self::Context | Self::Limit { .. } => Family::Consumption,
            Self::Unrecoverable | Self::Blocked | Self::SelfReport => Family::Word,
            Self::Exit => Family::Process,
        }
    }
}

/// A measured value or a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// A length of time.
    Span(Span),
    /// A number of things.
    Count(u64),
    /// A share between 0 and 1, in thousandths.
    PerMille(u16),
    /// A signal or exit code.
    Code(i32),
    /// Nothing was measured; the sign itself is the finding.
    Said,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span(span) => Roughly(*span).fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::PerMille(share) if share % 10 == 0 => write!(f, "{} %", share / 10),
            Self::PerMille(share) => write!(f, "{}.{} %", share / 10, share % 10),
            Self::Code(code) => code.fmt(f),
            Self::Said => f.write_str("reported"),
        }
    }
}

/// The sentence a person reads.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, threshold) = (self.value, self.threshold);
        match self.sign {
            Sign::Heartbeat => write!(f, "no heartbeat for {value} (limit {threshold})"),
            Sign::Ping => write!(f, "{value} pings unanswered (limit {threshold})"),
            Sign::Inquiry => write!(f, "no answer to a status inquiry for {value} (limit {threshold})"),
            Sign::Connection => {
                write!(f, "nobody listens at its connection: refused {value} times (limit {threshold})")
            }
            Sign::Route => write!(f, "unreachable for {value} (limit {threshold})"),
            Sign::Progress => {
                write!(f, "nothing saved, changed or learned for {value} of work (limit {threshold})")
            }
            Sign::ToolSilence => write!(f, "no tool call for {value} (limit {threshold})"),
            Sign::Patience(awaited) => write!(f, "waiting on {awaited} for {value} (patience {threshold})"),
            Sign::Repeats => {
                write!(f, "the same call with the same result {value} times (limit {threshold})")
            }
            Sign::Cycle => {
                write!(f, "the same round of calls with the same results {value} times (limit {threshold})")
            }
            Sign::ErrorRate => write!(f, "{value} of recent calls failed (limit {threshold})"),
            Sign::FailureStreak => write!(f, "{value} failures in a row, all alike (limit {threshold})"),
            Sign::Unrecoverable => f.write_str("it reported an error it cannot recover from"),
            Sign::Blocked => f.write_str("it reported that it cannot go on"),
            Sign::ErrorCount => write!(f, "errors grew over {value} heartbeats in a row (limit {threshold})"),
            Sign::TokenSpike => write!(f, "{value} tokens a minute, far above its usual {threshold}"),
            Sign::TokenStop => write!(f, "no tokens used for {value} (usual within {threshold})"),
            Sign::Context => write!(f, "context {value} full without a handoff (limit {threshold})"),
            Sign::FallingTests => write!(f, "passing tests fell {value} times in a row (limit {threshold})"),
            Sign::NoOutput => write!(f, "{value} calls without a changed file (limit {threshold})"),
            Sign::IdleWithWork => write!(f, "idle for {value} with work assigned (limit {threshold})"),
            Sign::SelfReport => f.write_str("it says itself that it is degraded"),
            Sign::Flapping => {
                write!(f, "its state changed {value} times within the window (limit {threshold})")
            }
            Sign::Exit => write!(f, "its process ended ({value})"),
            Sign::Limit { level, resource } => Breach { level, resource, value, limit: threshold }.fmt(f),
            Sign::Probes => write!(f, "{value} of {threshold} health checks fail"),
            Sign::Loop(kind) => {
                match &self.stretch {
                    Some(stretch) => stretch.fmt(f)?,
                    None => write!(f, "what it does comes to nothing ({})", kind.name())?,
                }
                write!(f, " (as bad as {value} identical calls, limit {threshold})")
            }
        }
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "a tool",
            Self::Model => "the model",
            Self::Subagent => "a sub-agent",
            Self::Person => "a person",
            Self::Provider => "the provider",
            Self::Timer => "a timer",
        })
    }
}
