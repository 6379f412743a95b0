//! The way from an agent to the monitor, and what happens to signals on it.
//!
//! Rates are drawn per world. Senders that do not wait for a receipt lose up to 1 % and see up to 1 % late
//! by up to half a minute, hence out of order; the others try again, so theirs are late or doubled instead.
//! Births, deaths, tasks and outcomes are retried by whoever reports them until they are acknowledged.

use verger_core::id::Incarnation;
use verger_core::signal::{Body, Content, Signal, Trust};
use verger_core::time::WallTime;

use super::agent::Agent;
use super::run::Delivery;
use super::stage::Stage;
use super::time::{SimTime, millis};
use crate::rng::Rng;

/// Signals an SDK client keeps while it cannot send; then the oldest goes.
const KEPT_MAX: usize = 500;

/// How often things happen to a signal on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transport {
    lost: f64,
    doubled: f64,
    late: f64,
    retried: f64,
}

impl Transport {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self {
            lost: rng.between(0.0, 0.01),
            doubled: rng.between(0.0, 0.005),
            late: rng.between(0.0, 0.01),
            retried: rng.between(0.0, 0.003),
        }
    }
}

impl Agent {
    /// Something happened; the monitor hears of it if this agent's connection reports such things.
    pub(crate) fn emit(&mut self, stage: &mut Stage, now: SimTime, body: Body) {
        if self.link.reports(&body) {
            self.reply(stage, now, body);
        }
    }

    /// Something happened of which the monitor hears in any case.
    pub(crate) fn reply(&mut self, stage: &mut Stage, now: SimTime, body: Body) {
        let signal = self.signal(now, body);
        if !stage.up || self.cut > 0 || self.flushing {
            self.keep(signal);
        } else {
            self.post(stage, now, signal);
        }
    }

    /// Answers a ping over the connection on which it came; what was kept need not have left before.
    pub(crate) fn pong(&mut self, stage: &mut Stage, now: SimTime, seq: u32) {
        if stage.up && self.cut == 0 {
            let signal = self.signal(now, Body::Pong { seq, status: Some(self.status()) });
            self.post(stage, now, signal);
        }
    }

    /// Sends what was kept, in order.
    pub(crate) fn flush(&mut self, stage: &mut Stage) {
        self.flushing = false;
        if !stage.up || self.cut > 0 {
            return;
        }
        stage.out.extend(self.kept.drain(..).map(Delivery::Signal));
    }

    /// This body with everything around it.
    pub(crate) fn signal(&self, now: SimTime, body: Body) -> Signal {
        let birth = matches!(body, Body::Spawn(_));
        let incarnation = (self.link.knows_life() && !birth).then_some(Incarnation(self.life));
        let sent_at = self.link.dated.then(|| now.agent(self.skew_ms));
        let trust = if self.link.verified { Trust::Verified } else { Trust::Unverified };
        let content = Content { incarnation, sent_at, received_at: WallTime(0), trust, body };
        Signal { agent: self.id.clone(), content }
    }

    fn keep(&mut self, signal: Signal) {
        let insists = is_retried_for_ever(&signal.content.body);
        if !insists && !self.link.buffers() && !self.flushing {
            return;
        }
        if self.kept.len() >= KEPT_MAX {
            let oldest = self.kept.iter().position(|kept| !is_retried_for_ever(&kept.content.body));
            oldest.map(|place| self.kept.remove(place));
        }
        self.kept.push_back(signal);
    }

    fn post(&mut self, stage: &mut Stage, now: SimTime, signal: Signal) {
        if stage.calm || is_retried_for_ever(&signal.content.body) {
            stage.deliver(signal);
            return;
        }
        let Transport { lost, doubled, late, retried } = stage.transport;
        let dice = self.wire.unit();
        if self.link.datagram {
            if dice < lost {
                return;
            }
            if dice < lost + late {
                let delay = millis(self.wire.log_between(0.1, 30.0));
                stage.deliver_at(now + delay, Delivery::Signal(signal));
                return;
            }
            if dice < lost + late + doubled {
                stage.deliver(signal.clone());
            }
        } else if dice < retried {
            let delay = millis(self.wire.log_between(0.5, 5.0));
            if self.wire.chance(0.5) {
                stage.deliver(signal.clone());
            }
            stage.deliver_at(now + delay, Delivery::Signal(signal));
            return;
        }
        stage.deliver(signal);
    }
}

/// Whether whoever reports this tries until it is acknowledged.
pub(super) fn is_retried_for_ever(body: &Body) -> bool {
    matches!(
        body,
        Body::Spawn(_)
            | Body::Exit(_)
            | Body::Channel(_)
            | Body::Outcome { .. }
            | Body::Surveyed { .. }
            | Body::Task(_)
            | Body::Checkpoint { .. }
    )
}
