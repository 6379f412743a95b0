//! The stretch of steps that came to nothing: what people look at to believe that an agent goes round in circles.
//!
//! Text never gets into the core, so a stretch names what was called and when; what was the same is in its kind.

use std::fmt;

use crate::id::ToolName;
use crate::stuck::Kind;
use crate::time::{Roughly, Span, WallTime};

/// Steps that came to nothing, one after the other.
#[derive(Clone, PartialEq, Eq)]
pub struct Stretch {
    /// What it is that goes round.
    pub kind: Kind,
    /// The first step of it, counted from the first that was heard of this agent.
    pub since_step: u32,
    /// When that was heard of.
    pub since: WallTime,
    /// Steps that came to nothing, also those that are no longer named.
    pub count: u32,
    /// The most of them that are alike.
    pub alike: u32,
    /// The last ones by name, in order.
    pub steps: Vec<NamedStep>,
}

/// One step of a stretch.
#[derive(Clone, PartialEq, Eq)]
pub struct NamedStep {
    /// Its number, counted from the first that was heard of this agent.
    pub number: u32,
    /// When it was heard of.
    pub at: WallTime,
    /// What was called; nothing if something was said.
    pub tool: Option<ToolName>,
}

impl Stretch {
    /// From its first step to its last.
    pub fn lasted(&self) -> Span {
        let last = self.steps.last().map_or(self.since, |step| step.at);
        Span::millis(u64::try_from(last.0.saturating_sub(self.since.0)).unwrap_or(0))
    }

    /// What was called, and how often among the steps that are named; in the order of their first calls.
    fn tools(&self) -> Vec<(&ToolName, u32)> {
        let mut tools: Vec<(&ToolName, u32)> = Vec::new();
        for tool in self.steps.iter().filter_map(|step| step.tool.as_ref()) {
            match tools.iter_mut().find(|(known, _)| *known == tool) {
                Some((_, times)) => *times += 1,
                None => tools.push((tool, 1)),
            }
        }
        tools
    }
}

/// Without the times of the wall clock: they are for people, decide nothing, and change when somebody sets the clock.
impl fmt::Debug for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, since_step, since: _, count, alike, steps } = self;
        f.debug_struct("Stretch")
            .field("kind", kind)
            .field("since_step", since_step)
            .field("lasted", &self.lasted())
            .field("count", count)
            .field("alike", alike)
            .field("steps", steps)
            .finish()
    }
}

impl fmt::Debug for NamedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.as_ref().map_or("said", ToolName::as_str);
        write!(f, "{} {tool}", self.number)
    }
}

/// What went round, as a person would say it.
impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, alike, .. } = self;
        match self.kind {
            Kind::IdenticalCall => write!(f, "the same call had the same outcome {alike} times"),
            Kind::Cycle => write!(f, "{count} steps went over what was done and known before"),
            Kind::ReappliedEdit => write!(f, "{count} steps made changes that had been made before"),
            Kind::SameError => {
                write!(f, "the same failure came back {alike} times, and {count} steps came to nothing")
            }
            Kind::FruitlessSearch => {
                write!(f, "{count} steps looked for something and found nothing new")
            }
            Kind::Monologue => {
                write!(f, "{count} steps came to nothing, with sentences sent where a command belongs")
            }
            Kind::DialogueLoop => write!(f, "the same thing was said {alike} times"),
            Kind::Standstill => write!(f, "{count} steps came to nothing"),
        }?;
        write!(f, " in {}", Roughly(self.lasted()))?;
        for (place, (tool, times)) in self.tools().into_iter().enumerate() {
            f.write_str(if place == 0 { ": " } else { ", " })?;
            if times == 1 { write!(f, "{tool}")? } else { write!(f, "{tool} ×{times}")? }
        }
        Ok(())
    }
}
