//! The monitor's own judge writes a ticket: its words for what it found.

use super::ticket::{EVIDENCE_MAX, ID_MAX};
use super::{Assessment, Draft, Severity, Stalling, Verdict};
use crate::id::AgentId;
use crate::text;

/// Where a worker is, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The graph it runs, or what comes nearest: a task, a role.
    pub graph: &'a str,
    /// The step of the graph that is under way: the call that hangs, the node.
    pub node: Option<&'a str>,
}

/// The ticket about what was found, if one is due. `output` is what the worker said last; its end is quoted.
pub fn draft(worker: &AgentId, place: Place<'_>, found: &Assessment, output: &str) -> Option<Draft> {
    let severity = found.ticket?;
    let name = |name: &str| Some(text::first(name, ID_MAX).to_owned());
    let graph = if place.graph.trim().is_empty() { worker.as_str() } else { place.graph };
    let node = place.node.filter(|node| !node.trim().is_empty());
    Some(Draft {
        ticket_id: None,
        worker_agent_id: name(worker.as_str()),
        worker_session_id: name(found.session.as_str()),
        // 003 takes the graph for the node where the node is not known.
        worker_node_id: name(node.unwrap_or(graph)),
        worker_graph_id: name(graph),
        severity: Some(severity.word().to_owned()),
        cause: Some(cause(found)),
        judge_reasoning: Some(found.to_string()),
        suggested_action: Some(suggestion(found, severity).to_owned()),
        recent_verdicts: Some(found.recent_verdicts.iter().map(|said| said.word().to_owned()).collect()),
        total_steps_checked: Some(i64::try_from(found.total_steps).unwrap_or(i64::MAX)),
        steps_since_last_accept: Some(i64::try_from(found.steps_since_last_accept).unwrap_or(i64::MAX)),
        stall_minutes: found
            .stall
            .map_or(Stalling::Moving, |stall| Stalling::Minutes(stall.as_millis() as f64 / 60_000.0)),
        evidence_snippet: Some(text::last(output, EVIDENCE_MAX).to_owned()),
    })
}

fn cause(found: &Assessment) -> String {
    let steps = found.steps_since_last_accept;
    match found.stall {
        Some(stall) => format!("no new step for {stall}, {steps} steps since the last ACCEPT"),
        None if found.looping => format!("{steps} steps since the last ACCEPT, in a loop"),
        None => format!("{steps} steps since the last ACCEPT"),
    }
}

fn suggestion(found: &Assessment, severity: Severity) -> &'static str {
    let escalated = found.recent_verdicts.last() == Some(&Verdict::Escalate);
    match severity {
        _ if found.stall.is_some() => "See what it waits for; restart it if that does not come.",
        _ if escalated => "A person should look at it: its own judge asked for help.",
        Severity::Low | Severity::Medium => "Remind it, or give it more time.",
        Severity::High => "A person should look at it, and may give it another direction.",
        Severity::Critical => "Have it hand over, or end the session and start from the last checkpoint.",
    }
}
