//! When a task counts as stalled, and how many are kept.

use crate::time::Span;

/// When a task counts as stalled, and how many are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Longer without an update than this is the first part of a stall. Default 30 min (001 §1.5.2).
    pub quiet: Span,
    /// Time to answer a status inquiry; half of it later it is asked once more. Default 5 min (001 §1.5.3).
    pub inquiry_timeout: Span,
    /// Factor by which a busy worker stretches that time. Default 3, as for heartbeats.
    pub busy_factor: u8,
    /// How long an explanation holds that does not say for how long. Default 30 min: it is worth an update.
    pub explained_for: Span,
    /// The longest that one explanation holds. Default 4 h, as for any wait that is announced.
    pub explained_max: Span,
    /// Explanations without any progress between them that are believed. Default 8, as for answers about silence.
    pub explanations_max: u8,
    /// How long the end of a task is remembered. Default 30 days, as long as history is kept. Less than the time in
    /// which recovery may still start (7 days are always safe) allows a finished task to be done again.
    pub remember_ended: Span,
    /// An open task of which nothing was heard for this long is forgotten. Default 30 days.
    pub abandoned_after: Span,
    /// Open tasks of one agent. Default 500. More are refused.
    pub per_agent_max: u32,
    /// Open tasks in all. Default 10,000, some 5 MB. More are refused.
    pub open_max: u32,
    /// Ended tasks that are remembered. Default 100,000, some 20 MB. Beyond it the oldest failed ones go first.
    pub ended_max: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            quiet: Span::minutes(30),
            inquiry_timeout: Span::minutes(5),
            busy_factor: 3,
            explained_for: Span::minutes(30),
            explained_max: Span::hours(4),
            explanations_max: 8,
            remember_ended: Span::hours(30 * 24),
            abandoned_after: Span::hours(30 * 24),
            per_agent_max: 500,
            open_max: 10_000,
            ended_max: 100_000,
        }
    }
}
