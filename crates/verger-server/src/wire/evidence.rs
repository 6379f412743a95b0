//! Findings, with the sentence that a person reads.

use verger_api as api;
use verger_core::evidence::{Evidence, Severity, Sign};
use verger_core::signal::{Awaited, Trust};

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
    }
}
