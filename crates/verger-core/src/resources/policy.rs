//! How much may be used.

use crate::time::Span;

/// Limits of one agent's life, one task or the fleet. Each may be missing; all are by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens read and written. Default none.
    pub tokens: Option<u64>,
    /// Money, in millionths of a US dollar. Default none.
    pub cost_micros: Option<u64>,
    /// Time: of the life, since the task was given, or of all agents together. Default none.
    pub wall: Option<Span>,
    /// Memory of the process tree in bytes. Default none.
    pub memory_bytes: Option<u64>,
    /// Processor time in thousandths of a core. Default none.
    pub cpu_millis: Option<u64>,
}

/// Limits on what agents use, and how they are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// For one life of an agent. Default none.
    pub agent: Limits,
    /// For one task, over all lives of its agent. Default none.
    pub task: Limits,
    /// For the fleet within `fleet_window`. Default none.
    pub fleet: Limits,
    /// From this share of a limit on people are warned, once. Thousandths; default 800.
    pub near: u16,
    /// Memory and processor must be over their limit for so long. Default 5 min: builds and tests take a minute or
    /// two of everything there is.
    pub sustained: Span,
    /// Samples further apart than this say nothing about the time between them. Default 2 min: eight samples in a
    /// row missing at one in 15 s.
    pub sample_gap_max: Span,
    /// What the fleet used is counted anew after this. Default 24 h: a day; at least a minute.
    pub fleet_window: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            agent: Limits::default(),
            task: Limits::default(),
            fleet: Limits::default(),
            near: 800,
            sustained: Span::minutes(5),
            sample_gap_max: Span::minutes(2),
            fleet_window: Span::hours(24),
        }
    }
}

impl Limits {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

impl Policy {
    /// Whether there is any limit.
    pub fn any(&self) -> bool {
        self.agent.any() || self.task.any() || self.fleet.any()
    }

    /// The value from which on a limit is near; nothing used is near to nothing.
    pub(super) fn near_of(&self, limit: u64) -> u64 {
        let near = u128::from(limit) * u128::from(self.near) / 1_000;
        u64::try_from(near).unwrap_or(u64::MAX).clamp(1, limit.max(1))
    }
}
