//! How the monitor hears of an agent, and what it hears.
//!
//! Of the fleet, 15 % is wrapped, 35 % has hooks alone, 30 % uses the SDK and 20 % is remote. Within each,
//! agents differ in what they report: no detector may count on all kinds of signals.

use verger_core::id::RoleName;
use verger_core::signal::Body;

use super::time::{MINUTE, SECOND};
use crate::rng::Rng;

/// How the monitor hears of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Connection {
    /// Started by the monitor's wrapper: ping channel, hooks, and the end of the process is seen.
    Wrapped,
    /// Hooks alone: tool calls and statuses, no heartbeat, no ping channel.
    Hook,
    /// The SDK in the agent's program: heartbeats by timer, checkpoints, and nothing is lost in an outage.
    Sdk,
    /// A remote agent of a role, which beats on its role's interval.
    Remote,
}

/// Which kinds of signals an agent sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports {
    pub(crate) tools: bool,
    pub(crate) starts: bool,
    pub(crate) models: bool,
    pub(crate) tokens: bool,
    pub(crate) messages: bool,
    pub(crate) statuses: bool,
    pub(crate) subagents: bool,
    pub(crate) tasks: bool,
    pub(crate) outputs: bool,
    pub(crate) errors: bool,
    pub(crate) checkpoints: bool,
}

/// One agent's way to the monitor.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) role: Option<RoleName>,
    /// Milliseconds between two heartbeats, if it beats.
    pub(crate) beat: Option<u64>,
    /// Whether it answers pings.
    pub(crate) channel: bool,
    /// Whether it proves who it is.
    pub(crate) verified: bool,
    /// Whether it says when things happened.
    pub(crate) dated: bool,
    /// Whether it sends without waiting for a receipt.
    pub(crate) datagram: bool,
    pub(crate) reports: Reports,
}

impl Link {
    /// The way of a new agent.
    pub(crate) fn draw(rng: &mut Rng, connection: Connection) -> Self {
        let role = match connection {
            Connection::Wrapped | Connection::Hook => None,
            Connection::Sdk => *rng.choice(&[None, None, Some("active"), Some("background")]),
            Connection::Remote => {
                let roles = ["critical", "active", "background", "standby"];
                Some(roles[rng.weighted(&[20, 40, 25, 15])])
            }
        };
        Self {
            connection,
            role: role.map(RoleName::from),
            beat: match connection {
                Connection::Wrapped | Connection::Hook => None,
                Connection::Sdk | Connection::Remote => Some(interval(role)),
            },
            channel: match connection {
                Connection::Wrapped => true,
                Connection::Hook | Connection::Sdk => false,
                Connection::Remote => rng.chance(0.6),
            },
            verified: match connection {
                Connection::Wrapped | Connection::Sdk => true,
                Connection::Hook => rng.chance(0.8),
                Connection::Remote => rng.chance(0.9),
            },
            dated: rng.chance(0.8),
            datagram: match connection {
                Connection::Wrapped | Connection::Sdk => false,
                Connection::Hook | Connection::Remote => rng.chance(0.4),
            },
            reports: Reports::draw(rng, connection),
        }
    }

    /// Whether the agent's sender counts its lives and says which one it belongs to.
    pub(crate) fn knows_life(&self) -> bool {
        matches!(self.connection, Connection::Wrapped | Connection::Sdk)
    }

    /// Whether what cannot be sent now is kept and sent later.
    pub(crate) fn buffers(&self) -> bool {
        self.connection == Connection::Sdk
    }

    /// Whether a network lies between the agent and the monitor.
    pub(crate) fn networked(&self) -> bool {
        matches!(self.connection, Connection::Sdk | Connection::Remote)
    }

    /// Whether the monitor would hear of this.
    pub(crate) fn reports(&self, body: &Body) -> bool {
        let reports = &self.reports;
        match body {
            Body::ToolStarted { .. } => reports.tools && reports.starts,
            Body::ToolFinished { .. } => reports.tools,
            Body::ModelStarted | Body::ModelFinished => reports.models,
            Body::Tokens { .. } => reports.tokens,
            Body::Message { .. } => reports.messages,
            Body::Status(_) => reports.statuses,
            Body::SubagentStarted { .. } | Body::SubagentFinished { .. } => reports.subagents,
            Body::Task(_) => reports.tasks,
            Body::Output(_) => reports.outputs,
            Body::Error(_) => reports.errors,
            Body::Checkpoint { .. } | Body::Handoff { .. } => reports.checkpoints,
            Body::Activity => matches!(self.connection, Connection::Wrapped | Connection::Hook),
            Body::Heartbeat(_) => self.beat.is_some(),
            Body::Channel(_) | Body::Pong { .. } => self.channel,
            Body::Compaction | Body::Blocker { .. } => !matches!(self.connection, Connection::Remote),
            Body::Spawn(_) | Body::Exit(_) | Body::Outcome { .. } | Body::Surveyed { .. } | Body::Load(_) => {
                true
            }
        }
    }
}

impl Reports {
    fn draw(rng: &mut Rng, connection: Connection) -> Self {
        let wrapped = connection == Connection::Wrapped;
        let mut among = |hook: f64, sdk: f64, remote: f64| match connection {
            Connection::Wrapped => true,
            Connection::Hook => rng.chance(hook),
            Connection::Sdk => rng.chance(sdk),
            Connection::Remote => rng.chance(remote),
        };
        Self {
            tools: among(1.0, 0.7, 0.3),
            starts: among(0.85, 0.9, 0.5),
            models: among(0.0, 0.3, 0.0),
            tokens: among(0.0, 0.3, 0.0),
            messages: among(0.4, 0.5, 0.3),
            statuses: among(1.0, 0.9, 0.8),
            subagents: among(0.8, 0.6, 0.0),
            tasks: among(0.7, 1.0, 0.8),
            outputs: among(0.0, 0.5, 0.1),
            errors: among(0.9, 0.9, 0.5),
            checkpoints: wrapped || among(0.0, 1.0, 0.2),
        }
    }
}

/// Milliseconds between two heartbeats of this role; every five minutes without one.
fn interval(role: Option<&str>) -> u64 {
    match role {
        Some("critical") => 30 * SECOND,
        Some("active") => MINUTE,
        Some("standby") => 15 * MINUTE,
        _ => 5 * MINUTE,
    }
}
