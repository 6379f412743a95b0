//! What an agent did or had happen to it concerns the machines beside it.

use super::{Collector, Fleet};
use crate::event::Fact;
use crate::health::HealthState;
use crate::signal::{Author, Body, Heartbeat};
use crate::time::Timestamp;

impl Fleet {
    /// Hands on what a step of this agent recorded, from this event on. What the machines record in turn is not
    /// followed: they concern nobody but people.
    pub(super) fn follow_facts(&mut self, now: Timestamp, slot: u32, from: usize, out: &mut Collector) {
        for at in from..out.events.len() {
            let fact = out.events[at].fact.clone();
            self.follow_fact(now, slot, &fact, out);
        }
    }

    fn follow_fact(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        self.correlate(now, slot, fact, out);
        self.follow_presence(now, slot, fact);
        self.follow_recovery(now, slot, fact, out);
        self.follow_standing(now, slot, fact, out);
        self.follow_use_of_life(now, slot, fact, out);
        self.follow_waste(now, slot, fact, out);
        if matches!(fact, Fact::Unregistered { .. }) {
            self.on_agent_left(now, slot, out);
        }
        self.follow_worker(now, slot, fact, out);
    }

    /// Hands on a signal that this agent's step took in. Most concern nobody else, and must cost nothing.
    pub(super) fn follow_signal(&mut self, now: Timestamp, slot: u32, body: &Body, out: &mut Collector) {
        match body {
            // A copy of its announcement may come when its life is over: then it belongs nowhere.
            Body::Spawn(_) if self.table.agent_mut(slot).state != HealthState::Terminated => {
                self.place_agent(now, slot, out);
            }
            Body::Task(_) | Body::Checkpoint { .. } | Body::Output(_) => {
                self.follow_work(now, slot, body, out);
                self.on_worker_progress(now, slot);
            }
            Body::Error(failure) if failure.provider => {
                self.on_provider_trouble(now, slot, failure.retry_after, out);
            }
            // That a request ended says nothing: it may have been refused; nor does what a person says.
            Body::Tokens { output: 1.., .. }
            | Body::ToolFinished { .. }
            | Body::Message { author: Author::Agent, .. } => {
                self.on_provider_success(now, slot, out);
            }
            Body::Heartbeat(Heartbeat { progress: Some(_), .. }) => self.on_worker_progress(now, slot),
            _ => {}
        }
        self.follow_word(now, slot, body, out);
    }
}
