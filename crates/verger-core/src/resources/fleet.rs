//! What all agents together use, within a window.

use super::Policy;
use super::account::Load;
use super::counter::Used;
use super::meter::{Breach, Level, Meter, Step};
use crate::time::{Span, Timestamp};

/// What the fleet uses. Counters begin anew with each window; what is held is added up over the agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetUse {
    /// When the present window began.
    pub(crate) began_at: Timestamp,
    pub(crate) meter: Meter,
    /// Agents that live, and until when their time is counted.
    pub(crate) living: u32,
    pub(crate) counted_at: Timestamp,
    /// The time of all agents in this window.
    pub(crate) agent_time: Span,
    pub(crate) load: Load,
}

impl FleetUse {
    /// So many agents live from now on.
    pub fn on_living(&mut self, step: &mut Step<'_>, living: u32) {
        self.catch_up(step);
        self.living = living;
        self.judge(step);
    }

    /// An agent used something.
    pub fn on_growth(&mut self, step: &mut Step<'_>, growth: Used) {
        self.catch_up(step);
        self.meter.on_growth(growth);
        self.judge(step);
    }

    /// An agent held something else before; nothing of either, if it came or went.
    pub fn on_load(&mut self, step: &mut Step<'_>, before: Load, after: Load) {
        self.catch_up(step);
        let shift = |sum: u64, before: u64, after: u64| sum.saturating_sub(before).saturating_add(after);
        self.load = Load {
            memory_bytes: shift(self.load.memory_bytes, before.memory_bytes, after.memory_bytes),
            cpu_millis: shift(self.load.cpu_millis, before.cpu_millis, after.cpu_millis),
        };
        let limits = &step.policy.fleet;
        self.meter.memory.on_sample(step.now, self.load.memory_bytes, limits.memory_bytes, step.policy);
        self.meter.cpu.on_sample(step.now, self.load.cpu_millis, limits.cpu_millis, step.policy);
        self.judge(step);
    }

    /// The limit that the fleet exceeds now, if any.
    pub fn breach(&self, policy: &Policy) -> Option<Breach> {
        self.meter.breach(Level::Fleet, &policy.fleet, self.agent_time)
    }

    /// When the window ends, or the agents' time is near or over its limit.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let unused = self.meter.is_unused() && self.living == 0 && self.agent_time == Span::ZERO;
        let window = (!unused).then(|| self.began_at + window(policy));
        let left = self.meter.time_left(self.agent_time, &policy.fleet, policy);
        let agents = left
            .filter(|_| 0 < self.living)
            .map(|left| self.counted_at + Span::millis(left.as_millis().div_ceil(u64::from(self.living))));
        [window, agents].into_iter().flatten().min().map(|due| due.max(now + Span::millis(1)))
    }

    /// Begins a new window if one is due, and judges what time alone has changed. Calling early is harmless.
    pub fn wake(&mut self, step: &mut Step<'_>) {
        self.catch_up(step);
        self.judge(step);
    }

    fn judge(&mut self, step: &mut Step<'_>) {
        let policy = step.policy;
        self.meter.judge(step, Level::Fleet, &policy.fleet, self.agent_time);
    }

    /// Counts the agents' time up to now, in the window that is now.
    fn catch_up(&mut self, step: &mut Step<'_>) {
        let window = window(step.policy);
        let windows = step.now.since(self.began_at).as_millis() / window.as_millis();
        if 0 < windows {
            self.began_at += window.times(windows);
            self.counted_at = self.counted_at.max(self.began_at);
            self.agent_time = Span::ZERO;
            self.meter.reset_counted(step, Level::Fleet);
        }
        let passed = step.now.since(self.counted_at);
        self.agent_time += passed.times(u64::from(self.living));
        self.counted_at = self.counted_at.max(step.now);
    }
}

/// The length of a window; of nothing, or of milliseconds, would only spin.
fn window(policy: &Policy) -> Span {
    policy.fleet_window.max(Span::minutes(1))
}
