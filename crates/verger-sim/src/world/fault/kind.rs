//! What can go wrong, by name.

use std::fmt;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// The process is alive and answers nothing.
    Freeze,
    /// The process ended by itself, and not because its work was done.
    Crash,
    /// The same call with the same result, over and over.
    ExactLoop,
    /// Two calls in turn, over and over.
    Alternation,
    /// The same attempt in ever different words.
    NearLoop,
    /// Every call fails in the same way.
    ErrorLoop,
    /// Tokens are used at ten times the usual rate or more, and nothing comes of it.
    TokenRunaway,
    /// The context window is full, and the agent neither compacts it nor hands over.
    ContextExhaustion,
    /// A host went down with every agent on it.
    HostLoss,
    /// A host is cut off from the monitor; its agents work on.
    Partition,
    /// The model's provider refuses part of the fleet; its agents wait for it.
    ProviderOutage,
    /// The agent's clock is wrong, or jumped.
    ClockSkew,
    /// The agent's signals are lost, doubled, late or out of order.
    Transport,
    /// An effect could not be carried out, or its outcome was lost or came twice.
    EffectFailure,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::Freeze,
        Self::Crash,
        Self::ExactLoop,
        Self::Alternation,
        Self::NearLoop,
        Self::ErrorLoop,
        Self::TokenRunaway,
        Self::ContextExhaustion,
        Self::HostLoss,
        Self::Partition,
        Self::ProviderOutage,
        Self::ClockSkew,
        Self::Transport,
        Self::EffectFailure,
    ];

    /// The kinds for which an agent itself is to be helped.
    pub const OF_AGENTS: [Self; 8] = [
        Self::Freeze,
        Self::Crash,
        Self::ExactLoop,
        Self::Alternation,
        Self::NearLoop,
        Self::ErrorLoop,
        Self::TokenRunaway,
        Self::ContextExhaustion,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Freeze => "freeze",
            Self::Crash => "crash",
            Self::ExactLoop => "exact-loop",
            Self::Alternation => "alternation",
            Self::NearLoop => "near-loop",
            Self::ErrorLoop => "error-loop",
            Self::TokenRunaway => "token-runaway",
            Self::ContextExhaustion => "context-exhaustion",
            Self::HostLoss => "host-loss",
            Self::Partition => "partition",
            Self::ProviderOutage => "provider-outage",
            Self::ClockSkew => "clock-skew",
            Self::Transport => "transport",
            Self::EffectFailure => "effect-failure",
        }
    }

    /// Whether the agent itself is at fault; otherwise it is a condition of the world around it.
    pub const fn is_agent_fault(self) -> bool {
        match self {
            Self::Freeze
            | Self::Crash
            | Self::ExactLoop
            | Self::Alternation
            | Self::NearLoop
            | Self::ErrorLoop
            | Self::TokenRunaway
            | Self::ContextExhaustion => true,
            Self::HostLoss
            | Self::Partition
            | Self::ProviderOutage
            | Self::ClockSkew
            | Self::Transport
            | Self::EffectFailure => false,
        }
    }

    /// Whether there is nothing to find: a monitor has to live with it, and to hold it against nobody.
    pub const fn is_endured(self) -> bool {
        matches!(self, Self::Transport | Self::EffectFailure)
    }

    /// Whether the agent goes round in circles, so that a word may bring it out of them.
    pub const fn is_loop(self) -> bool {
        matches!(self, Self::ExactLoop | Self::Alternation | Self::NearLoop | Self::ErrorLoop)
    }

    /// Whether the agent is not fit to work while it lasts: every fault of an agent, and the loss of its host.
    pub const fn disables(self) -> bool {
        self.is_agent_fault() || matches!(self, Self::HostLoss)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
