//! From when on verdicts matter, and to whom: the tables of 003.

use crate::time::Span;

/// Thresholds of the judge and of the queen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// When a worker is reported.
    pub judge: JudgePolicy,
    /// When a person hears of it.
    pub queen: QueenPolicy,
}

/// When a worker is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgePolicy {
    /// How often a worker is looked at, 1 s at least. Default 2 min (003).
    pub check_interval: Span,
    /// So many steps since the last ACCEPT are a warning, without a ticket. Default 5 (003).
    pub warn_at: u64,
    /// So many are a medium ticket, if the evidence shows a loop. Default 10 (003).
    pub medium_at: u64,
    /// So many are a high ticket. Default 15 (003).
    pub high_at: u64,
    /// So many are a critical ticket. Default 20 (003).
    pub critical_at: u64,
    /// A stall of this length, 1 s at least, is a critical ticket. Default 4 min (003): two checks.
    pub stall_critical: Span,
    /// Whether CONTINUE counts as a step without ACCEPT. Default false: it is what is written while a turn's
    /// calls are under way and nothing was judged, so twenty of them are an ordinary long turn.
    pub continue_counts: bool,
    /// How long after a ticket the same condition is reported again. Default 30 min: a ticket that was
    /// dismissed must not silence what goes on. Whether people hear of it again is the queen's affair.
    pub ticket_again: Span,
}

/// However it is configured, nobody is looked at more often: the monitor would do nothing else.
const SPAN_MIN: Span = Span::secs(1);

impl JudgePolicy {
    /// How often a worker is looked at.
    pub(super) fn check_span(&self) -> Span {
        self.check_interval.max(SPAN_MIN)
    }

    /// How long a stall is critical.
    pub(super) fn stall_span(&self) -> Span {
        self.stall_critical.max(SPAN_MIN)
    }
}

impl Default for JudgePolicy {
    fn default() -> Self {
        Self {
            check_interval: Span::minutes(2),
            warn_at: 5,
            medium_at: 10,
            high_at: 15,
            critical_at: 20,
            stall_critical: Span::minutes(4),
            continue_counts: false,
            ticket_again: Span::minutes(30),
        }
    }
}

/// When a person hears of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueenPolicy {
    /// A ticket of low severity with fewer steps than this since the last ACCEPT is dismissed. Default 8 (003).
    pub low_below: u64,
    /// So many steps since the last ACCEPT without a sign of recovery are a person's affair. Default 10 (003).
    pub steps_at: u64,
    /// So is a stall longer than this. Default 4 min (003).
    pub stall_over: Span,
    /// How long a language model has to say what it thinks of a ticket. Default none: it is not asked.
    pub advice_within: Option<Span>,
    /// How long "more time" is when the person does not say, and how long any other decision has to show before
    /// the condition is news again. Default 15 min, as for escalations (000 §7).
    pub more_time: Span,
    /// How long a ticket stays open that nobody decides and nothing confirms. Default 24 h: a question asked
    /// in the evening is answered the next day.
    pub open_for: Span,
}

impl Default for QueenPolicy {
    fn default() -> Self {
        Self {
            low_below: 8,
            steps_at: 10,
            stall_over: Span::minutes(4),
            advice_within: None,
            more_time: Span::minutes(15),
            open_for: Span::hours(24),
        }
    }
}
