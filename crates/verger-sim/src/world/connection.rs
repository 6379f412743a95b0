//! How the monitor hears of an agent.

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
