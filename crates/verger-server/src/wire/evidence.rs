//! Findings, with the sentence that a person reads.

use verger_api as api;
use verger_core::evidence::{Evidence, Severity, Sign};
use verger_core::signal::{Awaited, Trust};
use verger_core::stretch::{NamedStep, Stretch};
use verger_core::time::WallTime;

pub(crate) fn all(evidence: &[Evidence]) -> Vec<api::Evidence> {
    evidence.iter().map(one).collect()
}

/// All of it in one sentence; what is said when there is none is up to who asks.
pub(super) fn sentence(evidence: &[Evidence], without: &str) -> String {
    if evidence.is_empty() {
        return without.to_owned();
    }
    evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn one(found: &Evidence) -> api::Evidence {
    api::Evidence {
        signal: signal(found.sign).to_owned(),
        value: found.value.to_string(),
        threshold: found.threshold.to_string(),
        verdict: verdict(found.severity),
        text: found.to_string(),
        verified: found.trust == Trust::Verified,
        stretch: found.stretch.as_deref().map(stretch),
    }
}

fn stretch(found: &Stretch) -> api::Stretch {
    let time = |at: WallTime| api::Time::from_millis(at.0);
    let step = |step: &NamedStep| api::StretchStep {
        step: step.number,
        at: time(step.at),
        tool: step.tool.as_ref().map(ToString::to_string),
    };
    api::Stretch {
        kind: found.kind.name().to_owned(),
        since_step: found.since_step,
        since: time(found.since),
        count: found.count,
        alike: found.alike,
        steps: found.steps.iter().map(step).collect(),
    }
}

fn verdict(severity: Severity) -> api::Verdict {
    match severity {
        Severity::Note => api::Verdict::Note,
        Severity::Degraded => api::Verdict::Degraded,
        Severity::Stuck => api::Verdict::Stuck,
        Severity::Failing => api::Verdict::Failing,
    }
}

/// What a sign is called on the wire.
fn signal(sign: Sign) -> &'static str {
    match sign {
        Sign::Heartbeat => "heartbeat",
        Sign::Ping => "ping",
        Sign::Inquiry => "inquiry",
        Sign::Connection => "connection",
        Sign::Route => "route",
        Sign::Progress => "progress",
        Sign::ToolSilence => "tool-silence",
        Sign::Patience(Awaited::Tool) => "patience-tool",
        Sign::Patience(Awaited::Model) => "patience-model",
        Sign::Patience(Awaited::Subagent) => "patience-subagent",
        Sign::Patience(Awaited::Person) => "patience-person",
        Sign::Patience(Awaited::Provider) => "patience-provider",
        Sign::Patience(Awaited::Timer) => "patience-timer",
        Sign::Repeats => "repeats",
        Sign::Cycle => "cycle",
        Sign::ErrorRate => "error-rate",
        Sign::FailureStreak => "failure-streak",
        Sign::Unrecoverable => "unrecoverable",
        Sign::Blocked => "blocked",
        Sign::ErrorCount => "error-count",
        Sign::TokenSpike => "token-spike",
        Sign::TokenStop => "token-stop",
        Sign::Context => "context",
        Sign::FallingTests => "falling-tests",
        Sign::NoOutput => "no-output",
        Sign::IdleWithWork => "idle-with-work",
        Sign::SelfReport => "self-report",
        Sign::Flapping => "flapping",
        Sign::Exit => "exit",
        Sign::Limit { .. } => "limit",
        Sign::Probes => "probes",
        Sign::Loop(kind) => kind.name(),
    }
}
