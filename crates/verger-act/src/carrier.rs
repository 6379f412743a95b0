//! Takes jobs and says what became of them: the one way from a decision to the world.

use std::fmt;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::bounded::{Bounded, NotTaken};
use crate::program::{Program, RunReport};
use crate::webhook::{ClientError, Post, Webhooks};
use crate::webhook_reply::{Delivery, Reply};

/// The bounds of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Jobs under way at once. Programs are the costly ones: each is a process or more.
    pub at_once: usize,
    /// Jobs accepted and not done.
    pub in_hand: usize,
    /// The time between asking a late program to end and killing it.
    pub grace: Duration,
    /// The time a connection may take to be made, within the time of its job.
    pub connect_within: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            at_once: 16,
            in_hand: 1024,
            grace: Duration::from_secs(5),
            connect_within: Duration::from_secs(5),
        }
    }
}

/// Something to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// Names the effect for ever; a receiver tells repeats by it.
    pub key: String,
    /// Jobs of one lane keep their order and never overlap. Usually the agent's id.
    pub lane: String,
    /// What to do.
    pub work: Work,
    /// The time it has, from when it begins; it does not run out while the job waits for others.
    pub limit: Duration,
}

/// What to do.
#[derive(Clone, Debug)]
pub enum Work {
    /// Run a program.
    Run(Program),
    /// Call a webhook.
    Post(Post),
}

/// What became of a job. Shows itself as a sentence.
#[derive(Debug)]
pub enum Done {
    /// A program ran, or could not.
    Ran(RunReport),
    /// A webhook was called, or could not be.
    Posted(Delivery),
}

/// Carries jobs out.
///
/// Dropping it ends whatever is under way, programs with all of their process groups; [`end`](Self::end) waits until
/// they have.
#[derive(Debug)]
pub struct Carrier {
    bounded: Bounded,
    webhooks: Webhooks,
    grace: Duration,
}

impl Carrier {
    /// A carrier that works on the present runtime. Jobs may be handed to it from any thread.
    pub fn new(options: Options) -> Result<Self, ClientError> {
        Ok(Self {
            bounded: Bounded::new(options.at_once, options.in_hand),
            webhooks: Webhooks::new(options.connect_within)?,
            grace: options.grace,
        })
    }

    /// Takes a job; never waits. What became of it is received; an error means that the carrier was dropped before.
    pub fn carry(&self, job: Job) -> Result<oneshot::Receiver<Done>, NotTaken> {
        let Job { key, lane, work, limit } = job;
        let (webhooks, grace) = (self.webhooks.clone(), self.grace);
        self.bounded.submit(&lane, async move {
            match work {
                Work::Run(program) => Done::Ran(program.run(limit, grace).await),
                Work::Post(post) => Done::Posted(webhooks.post(&key, &post, limit).await),
            }
        })
    }

    /// Takes nothing more, ends what is under way, and waits until it has ended.
    pub async fn end(&self) {
        self.bounded.end().await;
    }
}

impl Done {
    /// Whether it was done, as far as the program's code or the receiver's status can say so.
    pub fn succeeded(&self) -> bool {
        match self {
            Self::Ran(report) => report.succeeded(),
            Self::Posted(delivery) => matches!(delivery.reply, Reply::Accepted(_)),
        }
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran(report) => report.fmt(f),
            Self::Posted(delivery) => delivery.fmt(f),
        }
    }
}
