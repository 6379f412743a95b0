//! How long silence lasts before it means something: presets of 002 and roles of 001.

use crate::time::Span;

/// When silence counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Heartbeats that the agent pushes.
    pub beats: Beats,
    /// Pings, for agents with a channel that answers them. `None` switches them off.
    pub pings: Option<Pings>,
    /// Whether activity other than heartbeats and pongs counts as life. Default true.
    pub activity_counts: bool,
    /// How long a status inquiry may stay unanswered. Default 5 min (001 §1.5.3).
    pub inquiry_timeout: Span,
    /// How long a broken way is tried again before the agent counts as cut off. Default 60 s: networks hiccup.
    pub route_patience: Span,
    /// How long a refused connection is retried before the process counts as gone. Default 30 s: a restart.
    pub gone_after: Span,
    /// How long an unreachable agent counts as cut off rather than lost. Default 30 min.
    pub partition_patience: Span,
    /// Factor by which an announced `busy` stretches every limit here. Default 3.
    pub busy_factor: u8,
}

/// Heartbeats that the agent pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beats {
    /// How often they are expected. Default 5 min (000 §7).
    pub interval: Span,
    /// Silence after which they are missing. Default 10 min (000 §7).
    pub timeout: Span,
}

/// Pings and how their answers are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pings {
    /// Activity this recent shows the agent as online rather than idle.
    pub activity_timeout: Span,
    /// Silence after which a ping is sent.
    pub interval: Span,
    /// How long an answer may take. A miss is pinged again at once.
    pub timeout: Span,
    /// Consecutive misses that mean silence.
    pub misses_max: u8,
}

impl Pings {
    /// 002's low-latency preset: a freeze is found within 4 s.
    pub const DEVELOPMENT: Self = Self::preset(3, 1, 2);
    /// 002's balanced preset, used wherever a ping channel exists and no role says otherwise.
    pub const PRODUCTION: Self = Self::preset(5, 2, 2);
    /// 002's preset for bad networks.
    pub const HIGH_TOLERANCE: Self = Self::preset(10, 3, 3);

    const fn preset(activity_secs: u64, interval_secs: u64, misses_max: u8) -> Self {
        Self {
            activity_timeout: Span::secs(activity_secs),
            interval: Span::secs(interval_secs),
            timeout: Span::secs(1),
            misses_max,
        }
    }

    /// Polling as 001 describes it: one ping an interval, an answer may take as long.
    const fn polling(interval: Span, misses_max: u8) -> Self {
        Self { activity_timeout: interval, interval, timeout: interval, misses_max }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            beats: Beats { interval: Span::minutes(5), timeout: Span::minutes(10) },
            pings: Some(Pings::PRODUCTION),
            activity_counts: true,
            inquiry_timeout: Span::minutes(5),
            route_patience: Span::secs(60),
            gone_after: Span::secs(30),
            partition_patience: Span::minutes(30),
            busy_factor: 3,
        }
    }
}

impl Policy {
    /// A role of 001 §1.3.2: this interval, this many consecutive misses.
    pub fn polled(interval: Span, misses_max: u8) -> Self {
        Self {
            // So many are missing for certain only when the next one is due, and that one may be a little late.
            beats: Beats {
                interval,
                timeout: interval.times(u64::from(misses_max) + 1) + interval.half().half(),
            },
            pings: Some(Pings::polling(interval, misses_max)),
            ..Self::default()
        }
    }
}
