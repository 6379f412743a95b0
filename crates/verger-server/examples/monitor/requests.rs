//! What is asked, as bytes.

use std::fmt::Write;

/// Where heartbeats go.
pub(crate) const BEATS: &str = "/v1/heartbeats";
/// Heartbeats in one body.
pub(crate) const BATCH: usize = 1_000;

/// A request with a body, or without one.
pub(crate) fn request(line: &str, token: &str, body: &str) -> Vec<u8> {
    let bearer = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{bearer}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// What an agent sends from time to time.
pub(crate) fn beat(agent: usize, count: usize) -> Vec<u8> {
    request(&format!("POST {BEATS}"), "", &full(agent, count))
}

/// Batches of the heartbeats of so many agents that say all they can.
pub(crate) fn full_batches(agents: usize) -> Vec<Vec<u8>> {
    batches(agents, |agent| full(agent, agent))
}

/// Batches of the heartbeats of so many agents that say only that they are there.
pub(crate) fn bare_batches(agents: usize) -> Vec<Vec<u8>> {
    batches(agents, |agent| format!(r#"{{"agentId":"{}","status":"busy"}}"#, name(agent)))
}

/// Requests that must live as long as whoever sends them.
pub(crate) fn kept(requests: Vec<Vec<u8>>) -> &'static [Vec<u8>] {
    requests.leak()
}

pub(crate) fn name(agent: usize) -> String {
    format!("agent-{agent:07}")
}

fn batches(agents: usize, one: impl Fn(usize) -> String) -> Vec<Vec<u8>> {
    let batch = |first: usize| {
        let mut body = String::new();
        for agent in first..agents.min(first + BATCH) {
            let _ = writeln!(body, "{}", one(agent));
        }
        request(&format!("POST {BEATS}"), "", &body)
    };
    (0..agents).step_by(BATCH).map(batch).collect()
}

/// A heartbeat with every field of 000, about as long as those that other programs were measured with.
fn full(agent: usize, count: usize) -> String {
    format!(
        r#"{{"agentId":"{}","taskId":"task-{agent:05}","phase":"implementing","tokenCount":{},"errorCount":0,"progressIndicator":"step {count} of 2000","status":"busy"}}"#,
        name(agent),
        count * 731,
    )
}
