//! When a breaker opens, for how long, and how it closes again.
//!
//! Out of the box breakers do what 000 says and nothing beyond: a number of failures in a row opens, a fixed time
//! passes, one call tries. Rates over a window, slow calls and a growing time are there for who asks for them.
//! Values that make no sense (nothing allowed, no time, a window wider than the memory) are read as the nearest
//! that do, because a breaker that can never close again is worse than one that is not quite as configured.

use super::call::CallResult;
use super::name::Kind;
use super::window;
use crate::time::Span;

/// The thresholds of one kind of breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// So many failures in a row open it. Default 3; tools 5 (000 §2.4, §7).
    pub failure_threshold: u16,
    /// How long it stays open before it may be tried again. Default 60 s; tools 30 s, checkpoints 120 s
    /// (000 §2.4, §7).
    pub open_for: Span,
    /// How many calls may try it while it is half open; it closes when as many have succeeded. Default 1
    /// (000 §2.4).
    pub half_open_requests: u8,
    /// How long a permit of a trying call is waited for. One that never comes back counts as a call that failed, or
    /// the breaker would be half open for ever. Default 5 min, longer than most answers of models take; tools
    /// 10 min, the longest that coding agents let one run by default; checkpoints 1 min; recovery 30 min, twice
    /// the close watch of 000 §2.5. Observed time: the monitor's own absence expires nothing.
    pub permit_timeout: Span,
    /// Over how many calls the rates are taken, 64 at most. Default 64.
    pub window: u8,
    /// With fewer calls than this in the window no rate opens it. Default 20: below that, one failure more or less
    /// moves the rate by 5 %.
    pub minimum_calls: u8,
    /// Opens when this share of the calls in the window failed, in thousandths. Default none: 000 knows only
    /// failures in a row, and every second call of a healthy agent's shell may fail.
    pub failure_rate: Option<u16>,
    /// Calls that take longer are slow. Default none: models think for minutes, builds take an hour.
    pub slow_after: Option<Span>,
    /// Opens when this share of the calls in the window was slow, in thousandths; needs `slow_after`. Default 1000:
    /// all of them.
    pub slow_rate: u16,
    /// Each time it opens again, it stays open for this share of the time before, in hundredths. Default 100: the
    /// time does not grow, as in 000. 200 doubles it.
    pub growth_percent: u16,
    /// It never stays open for longer than this, however often it opened. Default 10 min.
    pub open_for_max: Span,
    /// After being closed for so long it begins with `open_for` again. Default 10 min.
    pub stable_after: Span,
    /// Whether an outage of the provider is a failure of what this breaker stands before. Default no; yes for
    /// endpoints and shared breakers: a tool is not to blame for the network behind it.
    pub outages_count: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            failure_threshold: 3,
            open_for: Span::secs(60),
            half_open_requests: 1,
            permit_timeout: Span::minutes(5),
            window: window::CALLS_MAX,
            minimum_calls: 20,
            failure_rate: None,
            slow_after: None,
            slow_rate: 1_000,
            growth_percent: 100,
            open_for_max: Span::minutes(10),
            stable_after: Span::minutes(10),
            outages_count: false,
        }
    }
}

impl Policy {
    /// How many successes in a row close it, and how many calls may try.
    pub(crate) fn quota(&self) -> u32 {
        u32::from(self.half_open_requests.max(1))
    }

    /// How long it stays open when it has opened `times` before without a stable time between.
    pub(crate) fn open_span(&self, times: u8) -> Span {
        let base = self.open_for.max(Span::millis(1));
        let most = self.open_for_max.max(base);
        let growth = u64::from(self.growth_percent.max(100));
        let mut span = base;
        for _ in 0..times {
            if growth == 100 || most <= span {
                break;
            }
            let grown = span.as_millis().saturating_mul(growth) / 100;
            span = Span::millis(grown).max(span + Span::millis(1)).min(most);
        }
        span
    }

    /// How long a permit of a trying call is waited for.
    pub(crate) fn permit_span(&self) -> Span {
        self.permit_timeout.max(Span::millis(1))
    }

    /// Whether such an end of a call says something about what it was made to.
    pub(crate) fn learns_from(&self, result: CallResult) -> bool {
        match result {
            CallResult::Ok | CallResult::Failed => true,
            CallResult::Outage => self.outages_count,
            CallResult::NotMade => false,
        }
    }

    /// Whether a call of this length was slow.
    pub(crate) fn is_slow(&self, took: Option<Span>) -> bool {
        matches!((self.slow_after, took), (Some(limit), Some(took)) if limit < took)
    }
}

/// The policies of all breakers, and how many there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// An agent's tools (`tool_execution` in 000 §7).
    pub tool: Policy,
    /// Where checkpoints are written (`checkpoint_write` in 000 §7).
    pub checkpoint: Policy,
    /// Endpoints, for one agent each.
    pub api: Policy,
    /// Attempts to recover an agent.
    pub recovery: Policy,
    /// What many agents depend on.
    pub shared: Policy,
    /// Endpoints that stand or fall together: an agent's call to the first also asks the shared breaker named
    /// second. Default none.
    pub groups: Vec<(String, String)>,
    /// How many breakers there may be.
    pub bounds: Bounds,
}

impl Default for Policies {
    fn default() -> Self {
        let default = Policy::default();
        Self {
            tool: Policy {
                failure_threshold: 5,
                open_for: Span::secs(30),
                permit_timeout: Span::minutes(10),
                ..default.clone()
            },
            checkpoint: Policy {
                open_for: Span::secs(120),
                permit_timeout: Span::minutes(1),
                ..default.clone()
            },
            api: Policy { outages_count: true, ..default.clone() },
            recovery: Policy { permit_timeout: Span::minutes(30), ..default.clone() },
            shared: Policy { outages_count: true, ..default },
            groups: Vec::new(),
            bounds: Bounds::default(),
        }
    }
}

impl Policies {
    /// The policy for a kind; shared breakers have none.
    pub fn of(&self, kind: Option<Kind>) -> &Policy {
        match kind {
            Some(Kind::Tool) => &self.tool,
            Some(Kind::Checkpoint) => &self.checkpoint,
            Some(Kind::Api) => &self.api,
            Some(Kind::Recovery) => &self.recovery,
            None => &self.shared,
        }
    }
}

/// How many breakers are kept. Names come from outside, so without a limit anybody could fill the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Of one agent. Default 128: agents with a hundred tools exist.
    pub per_agent_max: u16,
    /// Of those that are shared. Default 1,024.
    pub shared_max: u16,
    /// In all. Default 131,072, about 30 MB.
    pub total_max: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { per_agent_max: 128, shared_max: 1_024, total_max: 131_072 }
    }
}

/// How checkpoints that could not be written wait (L26).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritesPolicy {
    /// The pause after a first failure, 1 s at least. Default 5 s.
    pub pause: Span,
    /// The longest pause, 1 s at least; each is twice the one before. Default 5 min.
    pub pause_max: Span,
    /// How long a write may take before it counts as failed. Default 1 min, the checkpoint breaker's own patience.
    pub timeout: Span,
    /// Failing for so long is persistent, and people are told. Default 5 min: two closed doors of the checkpoint
    /// breaker.
    pub persistent_after: Span,
    /// How many checkpoints wait behind one breaker. Default 64. What comes on top is refused, not dropped.
    pub queue_max: u16,
    /// How many queues there are. Default 16,384.
    pub queues_max: u32,
}

impl Default for WritesPolicy {
    fn default() -> Self {
        Self {
            pause: Span::secs(5),
            pause_max: Span::minutes(5),
            timeout: Span::minutes(1),
            persistent_after: Span::minutes(5),
            queue_max: 64,
            queues_max: 16_384,
        }
    }
}
