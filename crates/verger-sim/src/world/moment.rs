//! The moments at which something happens, the next one first.
//!
//! A moment that no longer applies is left where it is and ignored when it comes: each names the life or
//! the epoch it was meant for.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use verger_core::effect::{EffectKey, Outcome};
use verger_core::time::Span;

use super::fault::FaultKind;
use super::post::{Mail, PostMoment};
use super::run::Delivery;
use super::time::SimTime;

/// Something that is to happen.
#[derive(Debug)]
pub(crate) enum Moment {
    /// The agent's plan goes on.
    Step { agent: u32, epoch: u32 },
    /// The agent's heartbeat is due.
    Beat { agent: u32, life: u32 },
    /// The agent's network fails for some seconds, or is back.
    Blip { agent: u32, over: bool },
    /// A ping left, or could not.
    Pinged { agent: u32, life: u32, seq: u32, outcome: Outcome },
    /// A ping is answered.
    Pong { agent: u32, life: u32, seq: u32 },
    /// What an agent kept is sent.
    Flush { agent: u32 },
    /// The orchestrator starts the agent's next life after this one.
    Respawn { agent: u32, life: u32 },
    /// This life dies of what it began with.
    Dies { agent: u32, life: u32 },
    /// A fault of this kind strikes somewhere.
    Strike(FaultKind),
    /// A fault of one agent passes by itself.
    Pass { agent: u32, injection: u32 },
    /// A fault of the world passes.
    PassGroup(u32),
    /// The agent's client goes on.
    Client { agent: u32, turn: u32 },
    /// A service gets into trouble.
    TroubleBegins { service: u32 },
    /// A flapping service fails, or works for a moment.
    Flap { service: u32, number: u32 },
    /// A service is well again.
    TroubleEnds { service: u32, number: u32 },
    /// Something happens to a message.
    Post(PostMoment),
    /// Something that the monitor has for an agent is there.
    Mail(Box<Mail>),
    /// Something arrives at the monitor.
    Arrive(Box<Delivery>),
    /// An effect gets somewhere.
    Errand(Box<Errand>),
}

/// An effect on its way.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) key: EffectKey,
    pub(crate) agent: u32,
    pub(crate) stage: ErrandStage,
}

/// How far an effect has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrandStage {
    /// The reminder is in front of the agent.
    NudgeArrives,
    /// The agent is asked how it is.
    InquiryArrives,
    /// The agent says how it is.
    InquiryAnswered,
    /// The agent says something to the reminder.
    NudgeAnswered,
    /// The repeated call is refused.
    InterruptArrives,
    /// The agent is asked to save its work and leave.
    HandoffArrives { within: Span },
    /// The agent has saved its work and leaves.
    HandoffDone,
    /// The process tree has been ended.
    StopDone,
    /// A person or the orchestrator makes up their mind.
    Decide,
    /// The agent was started again, or could not be.
    StartDone,
}

/// All moments to come.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Entry>,
    count: u64,
}

#[derive(Debug)]
struct Entry {
    at: SimTime,
    count: u64,
    moment: Moment,
}

impl Queue {
    /// This happens then; moments of equal time happen in the order in which they were set.
    pub(crate) fn set(&mut self, at: SimTime, moment: Moment) {
        self.count += 1;
        self.heap.push(Entry { at, count: self.count, moment });
    }

    /// When the next thing happens.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Takes the next thing if it is due by `now`.
    pub(crate) fn take(&mut self, now: SimTime) -> Option<(SimTime, Moment)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.moment))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest, as the heap wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.count).cmp(&(self.at, self.count))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
    }
}

impl Eq for Entry {}
