//! 003, row by row, and what holds whatever happens.

mod book;
mod laws;
mod queen;
mod ticket;
mod trend;

use super::*;
use crate::time::{Span, Timestamp};

fn at(secs: u64) -> Timestamp {
    Timestamp::ZERO + Span::secs(secs)
}

/// A ticket with nothing wrong in it.
fn complete() -> Draft {
    let text = |text: &str| Some(text.to_owned());
    Draft {
        ticket_id: None,
        worker_agent_id: text("worker"),
        worker_session_id: text("session_20260223_143022_abc12345"),
        worker_node_id: text("edit"),
        worker_graph_id: text("coder"),
        severity: text("medium"),
        cause: text("12 steps since the last ACCEPT"),
        judge_reasoning: text("it repeats itself"),
        suggested_action: text("human review"),
        recent_verdicts: Some(vec!["ACCEPT".to_owned(), "RETRY".to_owned()]),
        total_steps_checked: Some(47),
        steps_since_last_accept: Some(9),
        stall_minutes: Stalling::Moving,
        evidence_snippet: text("I will try the same again"),
    }
}

/// What a complete draft says.
fn report(draft: Draft) -> Report {
    draft.check().expect("it is complete").1
}
