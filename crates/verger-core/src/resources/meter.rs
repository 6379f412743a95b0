//! What was used of one set of limits, and what was said of it.

use std::fmt;

use super::counter::Used;
use super::gauge::Gauge;
use super::{Limits, Policy};
use crate::evidence::Measure;
use crate::time::{Span, Timestamp};

/// What one call has to work with.
#[derive(Debug)]
pub struct Step<'a> {
    /// Observed time.
    pub now: Timestamp,
    /// The limits.
    pub policy: &'a Policy,
    /// What happened.
    pub out: &'a mut Vec<Change>,
}

/// What is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Tokens read and written.
    Tokens,
    /// Money, in millionths of a US dollar.
    Cost,
    /// Time.
    WallTime,
    /// Memory in bytes.
    Memory,
    /// Processor time in thousandths of a core.
    Cpu,
}

/// Whose limit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// One life of an agent.
    Agent,
    /// The agent's task, over its lives.
    Task,
    /// All agents together, in a window.
    Fleet,
}

/// What happened to a limit. Each is said once, until it is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Little is left of it.
    Near(Breach),
    /// It is exceeded: the end of the agent is wanted, or of what the fleet does.
    Exceeded(Breach),
    /// It is no longer exceeded.
    Cleared {
        /// Whose limit.
        level: Level,
        /// Of what.
        resource: Resource,
    },
}

/// The evidence: what was used, and how much may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breach {
    /// Whose limit.
    pub level: Level,
    /// Of what.
    pub resource: Resource,
    /// How much was used.
    pub value: Measure,
    /// How much may be.
    pub limit: Measure,
}

/// The sentence a person reads.
impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.level {
            Level::Agent => "the agent",
            Level::Task => "the task",
            Level::Fleet => "the fleet",
        };
        let Self { value, limit, .. } = self;
        match self.resource {
            Resource::Tokens => write!(f, "{value} tokens used by {who} (limit {limit})"),
            Resource::Cost => {
                write!(f, "{} spent by {who} (limit {})", Dollars(*value), Dollars(*limit))
            }
            Resource::WallTime => write!(f, "{who} took {value} (limit {limit})"),
            Resource::Memory => write!(f, "{value} bytes of memory held by {who} (limit {limit})"),
            Resource::Cpu => write!(f, "{value} thousandths of a core used by {who} (limit {limit})"),
        }
    }
}

/// Millionths of a dollar, as people write them.
struct Dollars(Measure);

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Measure::Count(micros) => write!(f, "${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000),
            other => other.fmt(f),
        }
    }
}

impl Resource {
    const ALL: [Self; 5] = [Self::Tokens, Self::Cost, Self::WallTime, Self::Memory, Self::Cpu];
    /// What is used up, as against what is held at a time.
    const COUNTED: u8 = Self::Tokens.bit() | Self::Cost.bit() | Self::WallTime.bit();

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    fn measure(self, value: u64) -> Measure {
        match self {
            Self::WallTime => Measure::Span(Span::millis(value)),
            Self::Tokens | Self::Cost | Self::Memory | Self::Cpu => Measure::Count(value),
        }
    }

    fn limit(self, limits: &Limits) -> Option<u64> {
        match self {
            Self::Tokens => limits.tokens,
            Self::Cost => limits.cost_micros,
            Self::WallTime => limits.wall.map(Span::as_millis),
            Self::Memory => limits.memory_bytes,
            Self::Cpu => limits.cpu_millis,
        }
    }
}

/// What was used of one set of limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Meter {
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
    pub(crate) memory: Gauge,
    pub(crate) cpu: Gauge,
    /// Resources of which people were warned, as bits.
    pub(crate) warned: u8,
    /// Resources that are exceeded, as bits.
    pub(crate) exceeded: u8,
}

impl Meter {
    pub(super) fn on_growth(&mut self, growth: Used) {
        let sum = self.used().plus(growth);
        (self.tokens, self.cost_micros) = (sum.tokens, sum.cost_micros);
    }

    /// Holds everything against its limit; `wall` is the time that counts here.
    pub(super) fn judge(&mut self, step: &mut Step<'_>, level: Level, limits: &Limits, wall: Span) {
        for resource in Resource::ALL {
            let bit = resource.bit();
            let limit = resource.limit(limits);
            let value = self.value(resource, wall);
            let was_over = self.exceeded & bit != 0;
            let over = limit.is_some_and(|limit| self.is_over(resource, value, limit, step.policy));
            let near = limit.is_some_and(|limit| self.is_near(resource, value, limit, step.policy));
            let breach = Breach {
                level,
                resource,
                value: resource.measure(value),
                limit: resource.measure(limit.unwrap_or(0)),
            };
            if over && !was_over {
                // Who is told that it is over needs no warning any more.
                self.warned |= bit;
                self.exceeded |= bit;
                step.out.push(Change::Exceeded(breach));
            } else if was_over && !over {
                self.exceeded &= !bit;
                step.out.push(Change::Cleared { level, resource });
            } else if near && self.warned & bit == 0 {
                self.warned |= bit;
                step.out.push(Change::Near(breach));
            }
        }
    }

    /// What is over its limit now, the first of the list.
    pub(super) fn breach(&self, level: Level, limits: &Limits, wall: Span) -> Option<Breach> {
        let resource = Resource::ALL.into_iter().find(|resource| self.exceeded & resource.bit() != 0)?;
        let limit = resource.limit(limits)?;
        let value = resource.measure(self.value(resource, wall));
        Some(Breach { level, resource, value, limit: resource.measure(limit) })
    }

    /// Everything begins anew.
    pub(super) fn reset(&mut self, step: &mut Step<'_>, level: Level) {
        self.clear(step, level, u8::MAX);
        *self = Self::default();
    }

    /// It is not used for a while: what is used up stays so, and nothing is held.
    pub(super) fn rest(&mut self, step: &mut Step<'_>, level: Level) {
        self.clear(step, level, u8::MAX);
        self.warned &= Resource::COUNTED;
        (self.memory, self.cpu) = (Gauge::default(), Gauge::default());
    }

    /// What is used up begins anew; what is held is held.
    pub(super) fn reset_counted(&mut self, step: &mut Step<'_>, level: Level) {
        self.clear(step, level, Resource::COUNTED);
        (self.tokens, self.cost_micros, self.warned) = (0, 0, 0);
    }

    /// How much time may pass until time itself is near or over its limit, if it is not yet said.
    pub(super) fn time_left(&self, wall: Span, limits: &Limits, policy: &Policy) -> Option<Span> {
        let limit = Resource::WallTime.limit(limits)?;
        let bit = Resource::WallTime.bit();
        let near = (self.warned & bit == 0).then(|| policy.near_of(limit));
        let over = (self.exceeded & bit == 0).then_some(limit);
        let next = [near, over].into_iter().flatten().min()?;
        Some(Span::millis(next).less(wall))
    }

    fn used(&self) -> Used {
        Used { tokens: self.tokens, cost_micros: self.cost_micros }
    }

    pub(super) fn is_unused(&self) -> bool {
        self.tokens == 0 && self.cost_micros == 0 && self.warned == 0 && self.exceeded == 0
    }

    fn clear(&mut self, step: &mut Step<'_>, level: Level, which: u8) {
        for resource in Resource::ALL {
            if self.exceeded & which & resource.bit() != 0 {
                step.out.push(Change::Cleared { level, resource });
            }
        }
        self.exceeded &= !which;
    }

    fn value(&self, resource: Resource, wall: Span) -> u64 {
        match resource {
            Resource::Tokens => self.tokens,
            Resource::Cost => self.cost_micros,
            Resource::WallTime => wall.as_millis(),
            Resource::Memory => self.memory.value,
            Resource::Cpu => self.cpu.value,
        }
    }

    fn is_over(&self, resource: Resource, value: u64, limit: u64, policy: &Policy) -> bool {
        let was_over = self.exceeded & resource.bit() != 0;
        match resource {
            Resource::Tokens | Resource::Cost => limit < value,
            Resource::WallTime => limit <= value,
            Resource::Memory => self.memory.is_over(was_over, policy),
            Resource::Cpu => self.cpu.is_over(was_over, policy),
        }
    }

    fn is_near(&self, resource: Resource, value: u64, limit: u64, policy: &Policy) -> bool {
        match resource {
            Resource::Tokens | Resource::Cost | Resource::WallTime => policy.near_of(limit) <= value,
            Resource::Memory => self.memory.is_near(policy),
            Resource::Cpu => self.cpu.is_near(policy),
        }
    }
}
