//! A world as its driver sees it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use verger_core::command::Command;
use verger_core::effect::{Action, Effect, Outcome};
use verger_core::id::{AgentId, HostId, Incarnation};
use verger_core::signal::{Body, Channel, Content, Signal, Spawn, Status, Trust};
use verger_core::time::WallTime;

use super::condition::Condition;
use super::connection::Connection;
use super::time::{MINUTE, SECOND, SimTime, millis};
use super::truth::{AgentFacts, Truth};
use crate::rng::Rng;

/// What decides a world.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// How many agents there are.
    pub agents: u32,
    /// For how many days agents work and faults begin.
    pub days: f64,
    /// `false` for a fleet in which nothing goes wrong.
    pub faults: bool,
}

/// What reaches the monitor.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// Something about an agent.
    Signal(Signal),
    /// An order of a person or of the orchestrator.
    Command(Command),
}

/// A fleet and everything around it.
pub struct World {
    truth: Truth,
    rng: Rng,
    end: SimTime,
    queue: BinaryHeap<Reverse<(SimTime, u64, u32)>>,
    later: Vec<Option<Signal>>,
    seq: u64,
}

impl World {
    /// The world that these options decide.
    pub fn new(options: &WorldOptions) -> Self {
        let mut world = Self {
            truth: Truth::default(),
            rng: Rng::stream(options.seed, 0),
            end: SimTime(millis(options.days * 86_400.0)),
            queue: BinaryHeap::new(),
            later: Vec::new(),
            seq: 0,
        };
        for number in 0..options.agents {
            world.truth.enrol(AgentFacts {
                id: AgentId::from(format!("agent-{number:04}")),
                role: None,
                connection: Connection::Wrapped,
                pinged: true,
                host: HostId::from("host-0"),
                provider: "provider-0".into(),
            });
            let at = SimTime(world.rng.range(0, MINUTE));
            world.truth.become_at(number, at, Condition::Working);
            world.truth.begin_life(number, at, Incarnation::FIRST);
            world.send(number, at, Body::Spawn(Spawn::default()));
            world.send(number, at + 1, Body::Channel(Channel::Opened));
            world.send(number, at + SECOND, Body::Activity);
        }
        world
    }

    /// True time of the next thing that happens in the world, if anything does.
    pub fn next(&self) -> Option<SimTime> {
        self.queue.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Lets everything up to and including `now` happen; what reaches the monitor is pushed in order of arrival.
    pub fn advance(&mut self, now: SimTime, out: &mut Vec<Delivery>) {
        while self.next().is_some_and(|at| at <= now) {
            let Some(Reverse((at, _, slot))) = self.queue.pop() else { return };
            let Some(signal) = self.later[slot as usize].take() else { continue };
            if signal.content.body == Body::Activity && at < self.end {
                let place = self.truth.place(&signal.agent).expect("only enrolled agents send");
                let wait = millis(self.rng.log_normal(20.0, 1.0));
                self.send(place, at + wait, Body::Activity);
            }
            out.push(Delivery::Signal(signal));
        }
    }

    /// The monitor carries an effect out now. What comes of it arrives later.
    pub fn carry_out(&mut self, now: SimTime, effect: &Effect) {
        let Some(place) = self.truth.place(&effect.key.agent) else { return };
        let outcome =
            if matches!(effect.action, Action::Stop { .. }) { Outcome::Failed } else { Outcome::Delivered };
        self.send(place, now + 1, Body::Outcome { key: effect.key.clone(), outcome });
        if effect.action == Action::Ping {
            let pong = Body::Pong { seq: effect.key.seq, status: Some(Status::Busy) };
            self.send(place, now + 5, pong);
        }
    }

    /// No new faults; everything broken is mended from now on, and the transport is reliable.
    pub fn heal(&mut self, now: SimTime) {
        self.end = self.end.max(now);
    }

    /// The monitor went down or came up.
    pub fn monitor_up(&mut self, now: SimTime, up: bool) {
        if up {
            self.end = self.end.max(now.min(self.end));
        }
    }

    /// What was really the case.
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    fn send(&mut self, place: u32, at: SimTime, body: Body) {
        let agent = self.truth.agents()[place as usize].id.clone();
        let content = Content {
            incarnation: None,
            sent_at: Some(at.agent(0)),
            received_at: WallTime(0),
            trust: Trust::Verified,
            body,
        };
        self.later.push(Some(Signal { agent, content }));
        self.queue.push(Reverse((at, self.seq, self.later.len() as u32 - 1)));
        self.seq += 1;
    }
}
