//! Whole worlds, driven without a monitor or with a hand that carries single effects out.

mod deliveries;
mod fire;
mod hands;
mod messages;
mod services;
mod truths;

use verger_core::signal::{Body, Signal};

use super::{Delivery, SimTime, World, WorldOptions};

/// The world of this seed.
fn world(seed: u64, agents: u32, days: f64, faults: bool) -> World {
    World::new(&WorldOptions { seed, agents, days, faults })
}

/// Lets a world run, and hands every signal over with its time.
fn run(world: &mut World, until: SimTime, mut see: impl FnMut(SimTime, &Signal)) {
    let mut out = Vec::new();
    while let Some(now) = world.next().filter(|next| *next <= until) {
        world.advance(now, &mut out);
        for delivery in out.drain(..) {
            if let Delivery::Signal(signal) = delivery {
                see(now, &signal);
            }
        }
    }
}

/// The kind of a signal, for counting.
fn kind_of(body: &Body) -> &'static str {
    match body {
        Body::Heartbeat(_) => "heartbeat",
        Body::Activity => "activity",
        Body::ToolStarted { .. } => "tool started",
        Body::ToolFinished { .. } => "tool finished",
        Body::Message { .. } => "message",
        Body::ModelStarted => "model started",
        Body::ModelFinished => "model finished",
        Body::SubagentStarted { .. } => "subagent started",
        Body::SubagentFinished { .. } => "subagent finished",
        Body::Compaction => "compaction",
        Body::Tokens { .. } => "tokens",
        Body::Output(_) => "output",
        Body::Error(_) => "error",
        Body::Status(_) => "status",
        Body::Handoff { .. } => "handoff",
        Body::Blocker { .. } => "blocker",
        Body::Pong { .. } => "pong",
        Body::Spawn(_) => "spawn",
        Body::Exit(_) => "exit",
        Body::Checkpoint { .. } => "checkpoint",
        Body::Task(_) => "task",
        Body::Channel(_) => "channel",
        Body::Outcome { .. } => "outcome",
        Body::Surveyed { .. } => "surveyed",
        Body::Load(_) => "load",
    }
}
