//! The state of one probe: counters with a threshold for each direction (004 §5.2).
//!
//! ```text
//! Unknown ──pass──► Healthy ◄──enough passes── Degraded ◄──a pass── Unhealthy
//!    │                 │                          │ ▲                  ▲
//!    │                 └──────── a failure ───────┼─┘                  │
//!    └──────────────── a failure ─────────────────┘                    │
//! any state ───────────────── enough failures ─────────────────────────┘
//! ```

use std::fmt;

use super::ProbeSpec;

/// How a probe, or an agent by its probes, is doing. From best to worst; Unknown is neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not checked yet.
    #[default]
    Unknown,
    /// All is well.
    Healthy,
    /// Some checks fail; it may still be of use.
    Degraded,
    /// Most or all checks fail.
    Unhealthy,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "Unknown",
            Self::Healthy => "Healthy",
            Self::Degraded => "Degraded",
            Self::Unhealthy => "Unhealthy",
        })
    }
}

/// What one probe has found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Its state.
    pub state: State,
    /// Failures in a row.
    pub failures: u32,
    /// Passes in a row.
    pub passes: u32,
}

impl Track {
    pub(super) fn on_pass(&mut self, spec: &ProbeSpec) {
        self.failures = 0;
        self.passes = self.passes.saturating_add(1);
        let stable = self.passes >= u32::from(spec.success_threshold);
        self.state = match self.state {
            State::Unknown | State::Healthy => State::Healthy,
            State::Degraded | State::Unhealthy if stable => State::Healthy,
            State::Degraded | State::Unhealthy => State::Degraded,
        };
    }

    pub(super) fn on_failure(&mut self, spec: &ProbeSpec) {
        self.passes = 0;
        self.failures = self.failures.saturating_add(1);
        let lasting = self.failures >= u32::from(spec.failure_threshold);
        self.state = match self.state {
            State::Unknown | State::Healthy | State::Degraded if lasting => State::Unhealthy,
            State::Unknown | State::Healthy | State::Degraded => State::Degraded,
            State::Unhealthy => State::Unhealthy,
        };
    }
}
