//! Agents that go on with their work whatever the monitor does, and what a monitor that blames them says.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use verger_client::{Access, Agent, AgentOptions};

use crate::program::{Program, exchange};

/// Settings under which an agent that says nothing for two seconds, or gets on with nothing for four, is noticed.
///
/// Agents of the role `pinged` are known by their answers alone.
pub(crate) const FAST: &str = "
mode: full
termination: {command: ['true']}
correlation: {look_around: 0}
roles:
  default:
    startup_grace: 0
    restart: recover
    liveness: {beats: {interval: 500ms, timeout: 2s}, inquiry_timeout: 1s}
    patience: {usual: 0}
    progress: {degraded_after: 3s, stuck_after: 4s, tool_silence: 4s, idle_with_work: 3s}
    intervention: {nudge_interval: 1s, nudges_max: 1, escalation_timeout: 1s}
  pinged:
    extends: default
    liveness: {beats: {interval: 1h, timeout: 2h}, route_patience: 1s, gone_after: 1s, partition_patience: 5s}
    progress: {degraded_after: 1h, stuck_after: 2h, tool_silence: 2h, idle_with_work: 2h}
";
/// Longer than every limit of these settings, in seconds of observed time.
pub(crate) const LONGER_THAN_ANY_LIMIT: u64 = 5;

/// Who has to beat.
pub(crate) const BEATING: [&str; 4] = ["beats-0", "beats-1", "beats-2", "beats-3"];
/// Who merely answers pings.
const PINGED: [&str; 2] = ["pinged-0", "pinged-1"];
const EVERY: Duration = Duration::from_millis(150);
/// Who beats so often does not wait longer: a connection that found the monitor's queue full is tried again by the kernel
/// after twice the time, each time, and may be late by half a minute when the monitor is long back.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is said of an agent with which something is wrong, or whom something is done to.
const ALARMS: [&str; 11] = [
    "NUDGE_SENT",
    "ESCALATION_TRIGGERED",
    "AGENT_TERMINATED",
    "RECOVERY_INITIATED",
    "RECOVERY_COMPLETED",
    "RECOVERY_FAILED",
    "agent-degraded",
    "agent-disconnected",
    "agent-reconnected",
    "agent-health-critical",
    "INCIDENT_OPENED",
];

/// Agents at work.
pub(crate) struct Herd {
    is_over: Arc<AtomicBool>,
    tried: Arc<AtomicU64>,
    beating: Vec<JoinHandle<()>>,
    pinged: Vec<Agent>,
}

impl Herd {
    /// Some beat and get on with their work; some answer pings, and do nothing else.
    pub(crate) fn start(program: &Program) -> Self {
        let (is_over, tried) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let beating = BEATING.map(|agent| {
            let (address, is_over, tried) = (program.address.clone(), is_over.clone(), tried.clone());
            thread::spawn(move || beat(agent, &address, &is_over, &tried))
        });
        let pinged = PINGED.map(|agent| {
            let token = program.token_of(agent);
            let address = format!("http://{}", program.address).parse().expect("an address");
            let options = AgentOptions::new(agent, Access::new(address, Some(token)));
            let role = Some("pinged".to_owned());
            Agent::start(AgentOptions {
                every: Duration::from_hours(1),
                role,
                answers_pings: true,
                ..options
            })
        });
        Self { is_over, tried, beating: beating.into(), pinged: pinged.into() }
    }

    /// Those who are watched.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        BEATING.into_iter().chain(PINGED)
    }

    /// How often agents have tried to report.
    pub(crate) fn tried(&self) -> u64 {
        self.tried.load(Ordering::Relaxed)
    }

    /// All fall silent.
    pub(crate) fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for beating in self.beating {
            beating.join().expect("it has no reason to panic");
        }
        drop(self.pinged);
    }
}

/// Beats and calls tools, until it is over. Whether anybody listens is not its business.
fn beat(agent: &str, address: &str, is_over: &AtomicBool, tried: &AtomicU64) {
    let (mut number, socket) = (0_u64, address.parse().expect("an address"));
    while !is_over.load(Ordering::Relaxed) {
        number += 1;
        let beat = json!({"agentId": agent, "taskId": "t", "progressIndicator": number.to_string()});
        let call = json!({"kind": "toolCall", "agentId": agent, "callId": number.to_string(), "tool": "edit",
            "phase": "finished", "args": {"line": number}, "result": number});
        for (path, body) in [("/v1/heartbeats", beat), ("/v1/signals", call)] {
            // A monitor that does not answer is none of its business either.
            let _ = TcpStream::connect_timeout(&socket, PATIENCE).and_then(|stream| {
                stream.set_read_timeout(Some(PATIENCE))?;
                exchange(stream, address, &format!("POST {path}"), &[], &body.to_string())
            });
        }
        tried.fetch_add(1, Ordering::Relaxed);
        thread::park_timeout(EVERY);
    }
}

/// Everything that was held against anybody.
pub(crate) fn alarms(program: &Program) -> Vec<String> {
    let of = |agent: &str| {
        let events = program.get(&format!("/v1/agents/{agent}/events?limit=1000"));
        let alarming = |event: &&Value| {
            let kind = event["type"].as_str().unwrap_or_default();
            let is_bad = kind == "HEALTH_STATE_CHANGED" && event["data"]["to"] != "HEALTHY";
            is_bad || ALARMS.contains(&kind)
        };
        let events = events["items"].as_array().cloned().unwrap_or_default();
        events.iter().filter(alarming).map(Value::to_string).collect::<Vec<_>>()
    };
    Herd::names().flat_map(of).collect()
}

/// Whether everybody is known and well, by what is known now.
pub(crate) fn all_are_well(program: &Program) -> bool {
    Herd::names().all(|agent| {
        let health = program.as_admin(&format!("GET /v1/agents/{agent}"), "").body;
        health["state"] == "HEALTHY" && health["liveness"]["status"] != "offline"
    })
}
