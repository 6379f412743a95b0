//! Messages between agents: who writes, who reads at which pace, and what is lost between them.
//!
//! All chance here comes from streams of its own, so that worlds with and without messages are the same.

mod carrier;
mod facts;
mod reader;
mod sender;

use verger_core::effect::EffectKey;

use super::agent::Agent;
use super::stage::Stage;
use super::time::SimTime;
use crate::rng::Rng;

pub(crate) use carrier::{arrive, carry_out, hear_fact};
pub use facts::Letter;
pub(crate) use facts::letter_of;
pub(crate) use reader::hear_acknowledged;
pub(crate) use sender::hear_receipt;

/// The stream of chance that decides what becomes of messages.
const STREAM: u64 = 0x504F_5354_0000_0000;

/// What is on its way to agents.
#[derive(Debug)]
pub(crate) struct Post {
    /// Chance in the carrying of messages and in the reading of them.
    rng: Rng,
}

impl Post {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::stream(seed, STREAM) }
    }
}

/// Something that happens to a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PostMoment {
    /// An agent has something to say to another.
    Compose { agent: u32 },
    /// A message is sent, if it was not taken yet.
    Send { letter: u32, tries: u8 },
    /// Its receiver reads it.
    Read { letter: u32, reminded: bool },
    /// Its receiver acknowledges it.
    Acknowledge { letter: u32, tries: u8 },
}

/// Something that the monitor has for an agent, on its way there.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    key: EffectKey,
    agent: u32,
    what: Content,
}

/// What it is.
#[derive(Clone, Copy, Debug)]
enum Content {
    Letter(u32),
    Reminder(u32),
    News,
}

/// It happens.
pub(crate) fn happen(agents: &mut [Agent], stage: &mut Stage, now: SimTime, moment: PostMoment) {
    let receiver = |stage: &Stage, letter: u32| stage.truth.letters()[letter as usize].to;
    match moment {
        PostMoment::Compose { agent } => sender::compose(agents, agent, stage, now),
        PostMoment::Send { letter, tries } => sender::send(agents, stage, now, letter, tries),
        PostMoment::Read { letter, reminded } => {
            if let Some(to) = receiver(stage, letter) {
                agents[to as usize].read(stage, now, letter, reminded);
            }
        }
        PostMoment::Acknowledge { letter, tries } => {
            if let Some(to) = receiver(stage, letter) {
                agents[to as usize].acknowledge(stage, now, letter, tries);
            }
        }
    }
}
