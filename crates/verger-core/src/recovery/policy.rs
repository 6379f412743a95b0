//! How often, how fast and from where to recover.

use crate::intervention::Limit;
use crate::time::Span;

/// Thresholds of recovery, for the whole fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Attempts for one task before people must look at it. Default 3 (000 §7, `max_attempts_per_task`).
    pub attempts_max: u8,
    /// Starts of one agent, whoever did them; beyond it people must look. Default 5 an hour (000 §7,
    /// `max_attempts_per_hour`).
    pub agent_limit: Limit,
    /// Starts in the whole fleet, whoever did them; beyond it recoveries wait. Default 5 an hour (000 §7): it
    /// does not say whose hour it is, so it is everybody's until the operator of a larger fleet says
    /// otherwise.
    pub fleet_limit: Limit,
    /// Starts in quick succession: a hundred agents that died together do not come back together. Default 2 a
    /// minute (X14).
    pub burst_limit: Limit,
    /// The wait before each attempt; the last one holds for all further. Default 60, 120, 240 s (000 §7). The
    /// first attempt waits too: a late word that the task was done, or that many agents failed together,
    /// still counts.
    pub backoff: Vec<Span>,
    /// By how much of itself a wait is prolonged at most, at random. Never shortened. Default 25 %.
    pub jitter_percent: u8,
    /// Time for a started life to show itself. Default 10 min: who only beats every 5 min is heard within it
    /// (000 §7).
    pub come_up: Span,
    /// How long a new life is watched closely. Default 15 min (000 §2.5).
    pub watch: Span,
    /// A life that made progress and lasted this long after its watch resets the counters. Default 1 h: with
    /// less, a task that fails every twenty minutes would be restarted for ever.
    pub stable_after: Span,
    /// How long the end of a life may stay unconfirmed before people are told. Default 15 min (000 §7, the
    /// time given to people's decisions).
    pub doubt_patience: Span,
    /// So many attempts from one checkpoint that fail within the watch make it poisoned. Default 2: once may
    /// be chance.
    pub poisoned_after: u8,
    /// Checkpoints of one task that are looked at, newest first. Default 10,000.
    pub chain_max: usize,
    /// Recoveries that are kept at once. Default 1,024.
    pub tasks_max: usize,
    /// Tasks without recovery of which something is remembered: that they are over, or who has them. Default
    /// 4,096.
    pub notes_max: usize,
    /// How long a recovery that a person called off is shown. Default 24 h.
    pub forget_after: Span,
}

impl Default for Policy {
    fn default() -> Self {
        let an_hour = |count| Limit { count, window: Span::hours(1) };
        Self {
            attempts_max: 3,
            agent_limit: an_hour(5),
            fleet_limit: an_hour(5),
            burst_limit: Limit { count: 2, window: Span::minutes(1) },
            backoff: vec![Span::secs(60), Span::secs(120), Span::secs(240)],
            jitter_percent: 25,
            come_up: Span::minutes(10),
            watch: Span::minutes(15),
            stable_after: Span::hours(1),
            doubt_patience: Span::minutes(15),
            poisoned_after: 2,
            chain_max: 10_000,
            tasks_max: 1_024,
            notes_max: 4_096,
            forget_after: Span::hours(24),
        }
    }
}
