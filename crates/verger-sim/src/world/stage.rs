//! What all agents of a world share: time to come, the truth, the way to the monitor, and the faults around.

use verger_core::signal::Signal;

use super::moment::{Moment, Queue};
use super::post::Post;
use super::run::Delivery;
use super::service::Services;
use super::time::SimTime;
use super::transport::Transport;
use super::truth::Truth;
use crate::rng::Rng;

/// What all agents of a world share.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) queue: Queue,
    pub(crate) truth: Truth,
    pub(crate) transport: Transport,
    /// What has reached the monitor and was not yet handed over.
    pub(crate) out: Vec<Delivery>,
    /// Whether the monitor is there.
    pub(crate) up: bool,
    /// Whether nothing goes wrong any more, or ever.
    pub(crate) calm: bool,
    /// Whether the world was mended, and even the network never fails.
    pub(crate) healed: bool,
    /// When the last fault may begin.
    pub(crate) end: SimTime,
    /// Which hosts are down.
    pub(crate) down: Vec<bool>,
    /// The world's faults under way, by group.
    pub(crate) groups: Vec<Group>,
    /// What agents depend on.
    pub(crate) services: Services,
    /// The messages between them.
    pub(crate) post: Post,
    /// Chance in faults.
    pub(crate) fate: Rng,
    /// Chance in the carrying out of effects.
    pub(crate) luck: Rng,
    /// Chance in what people do.
    pub(crate) whim: Rng,
}

/// One fault of the world and whom it hit.
#[derive(Debug)]
pub(crate) struct Group {
    /// Agent and injection.
    pub(crate) hit: Vec<(u32, u32)>,
    /// The host it is about, if it is about one.
    pub(crate) host: Option<u32>,
    pub(crate) over: bool,
}

impl Stage {
    /// It reaches the monitor now.
    pub(crate) fn deliver(&mut self, signal: Signal) {
        self.out.push(Delivery::Signal(signal));
    }

    /// It reaches the monitor then.
    pub(crate) fn deliver_at(&mut self, at: SimTime, delivery: Delivery) {
        self.queue.set(at, Moment::Arrive(Box::new(delivery)));
    }
}
