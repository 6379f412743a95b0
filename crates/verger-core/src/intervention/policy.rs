//! How far, how fast and how often to intervene.

use std::sync::Arc;

use super::Limit;
use crate::time::Span;

/// Interventions against one agent of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether to remind at all. Default true (000 §7).
    pub nudge_enabled: bool,
    /// Reminders before people are asked. Default 3 (000 §7).
    pub nudges_max: u8,
    /// Time given to each reminder. Default 10 min (000 §7).
    pub nudge_interval: Span,
    /// The reminder's text, with `{duration}` in it. Default 000 §2.3.
    pub nudge_template: Option<Arc<str>>,
    /// Time people have to decide. Default 15 min (000 §7).
    pub escalation_timeout: Span,
    /// Time a stopping agent has to clean up. Default 30 s (000 §7).
    pub cleanup_timeout: Span,
    /// Tries to stop an agent before people are told that it does not stop. Default 3.
    pub stops_max: u8,
    /// So many repeats ask people at once. Default 5: of such streaks 84 % go on to the end of the run.
    pub repeats_escalate: u32,
    /// So many repeats interrupt the turn. Default 10: all such streaks on record went on to the end.
    pub repeats_stop: u32,
    /// Health that lasts this long closes the case; only then are reminders counted from one again. Default 10 min.
    pub stable_after: Span,
    /// Reminders to one agent. Default 6 an hour.
    pub nudge_limit: Limit,
    /// Escalations about one agent. Default 4 an hour.
    pub escalation_limit: Limit,
    /// Terminations of one agent's lives. Default 3 an hour.
    pub termination_limit: Limit,
}

impl Default for Policy {
    fn default() -> Self {
        let an_hour = |count| Limit { count, window: Span::hours(1) };
        Self {
            nudge_enabled: true,
            nudges_max: 3,
            nudge_interval: Span::minutes(10),
            nudge_template: None,
            escalation_timeout: Span::minutes(15),
            cleanup_timeout: Span::secs(30),
            stops_max: 3,
            repeats_escalate: 5,
            repeats_stop: 10,
            stable_after: Span::minutes(10),
            nudge_limit: an_hour(6),
            escalation_limit: an_hour(4),
            termination_limit: an_hour(3),
        }
    }
}

/// Interventions in the whole fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetLimits {
    /// Reminders. Default 60 in 10 min.
    pub nudges: Limit,
    /// Escalations. Default 30 in 10 min: more is one incident, not thirty decisions.
    pub escalations: Limit,
    /// Terminations that no person ordered. Default 5 in 10 min.
    pub terminations: Limit,
}

impl Default for FleetLimits {
    fn default() -> Self {
        let in_ten_minutes = |count| Limit { count, window: Span::minutes(10) };
        Self { nudges: in_ten_minutes(60), escalations: in_ten_minutes(30), terminations: in_ten_minutes(5) }
    }
}
