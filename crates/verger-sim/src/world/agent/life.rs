//! How an agent's lives begin and end.
//!
//! A process is ready 8 s after its start in the median, and now and then only after minutes: spawning
//! workers were "nuked" until one project gave them five minutes. A dead agent is started again by its
//! orchestrator within minutes to an hour. In one respawn of twenty, something of the old process is still
//! there and sends a last word.

use verger_core::id::Incarnation;
use verger_core::signal::{Body, Channel, Exit, Spawn, Status};

use super::state::{Agent, Tally};
use crate::world::condition::Condition;
use crate::world::connection::Connection;
use crate::world::fault::FaultKind;
use crate::world::moment::Moment;
use crate::world::run::Delivery;
use crate::world::stage::Stage;
use crate::world::time::{SECOND, SimTime, millis};
use crate::world::truth::EndedBy;

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, its work saved.
    Clean,
    /// By itself, and nobody wanted it to.
    Crash,
    /// It was stopped.
    Stopped,
    /// Its host went down.
    HostLoss,
}

impl Agent {
    /// The next life begins.
    pub(crate) fn spawn(&mut self, stage: &mut Stage, now: SimTime) {
        let last_word = (self.life > 0 && !stage.calm && self.link.knows_life() && self.wire.chance(0.05))
            .then(|| self.signal(now, Body::Activity));
        if let Some(fault) = self.fault.take() {
            stage.truth.end(fault.injection, now, EndedBy::Respawn);
        }
        self.life += 1;
        self.alive = true;
        self.tally = Tally { saved: now, ..Tally::default() };
        stage.truth.begin_life(self.place, now, Incarnation(self.life));
        self.turn(stage, now, Condition::Starting);
        let (host, role, task) = (Some(self.host_id.clone()), self.link.role.clone(), self.task.clone());
        let provider = Some(format!("provider-{}", self.provider).into());
        self.emit(stage, now, Body::Spawn(Spawn { host, provider, role, task }));
        self.emit(stage, now, Body::Channel(Channel::Opened));
        if let Some(signal) = last_word {
            let delay = millis(self.wire.log_between(0.05, 30.0));
            stage.deliver_at(now + delay, Delivery::Signal(signal));
        }
        if let Some(interval) = self.link.beat {
            let first = self.wire.range(0, interval.min(5 * SECOND));
            stage.queue.set(now + first, Moment::Beat { agent: self.place, life: self.life });
        }
        let ready = now + millis(self.rng.log_normal(8.0, 1.2).clamp(1.0, 280.0));
        self.plan.wait(ready.since(now));
        if self.task.is_some() {
            self.working = true;
            self.work_until = self.work_until.max(ready + 600 * SECOND);
        } else if self.rng.chance(0.6) {
            // It comes up with nothing to do and says so.
            self.plan_rest(now);
        }
        self.step(stage, now);
    }

    /// The process ends.
    pub(crate) fn end_process(&mut self, stage: &mut Stage, now: SimTime, end: End) {
        self.alive = false;
        self.frozen = false;
        self.doomed = None;
        self.working = false;
        self.epoch += 1;
        self.plan.clear();
        self.episode = None;
        self.open.clear();
        self.kept.retain(|kept| matches!(kept.content.body, Body::Spawn(_)));
        self.report_end(stage, now, end);
        if let Some(fault) = self.fault.take() {
            stage.truth.end(fault.injection, now, ended_by(end));
        }
        self.turn(
            stage,
            now,
            match end {
                End::Clean | End::Stopped => Condition::Gone,
                End::Crash => Condition::Faulty(FaultKind::Crash),
                End::HostLoss => Condition::Faulty(FaultKind::HostLoss),
            },
        );
        self.refuse_nudges(stage, now);
        self.refuse_mail(stage, now);
        if end != End::HostLoss {
            let leaves_work = end != End::Clean || std::mem::take(&mut self.handed_over);
            // Who is started by the monitor's hands has nobody else, but a person who looks in some hours later.
            let (soonest, latest) = match end {
                _ if leaves_work && self.link.connection == Connection::Wrapped && !stage.calm => {
                    (4.0 * 3_600.0, 10.0 * 3_600.0)
                }
                End::Clean => (20.0, 3_600.0),
                End::Stopped | End::Crash | End::HostLoss => (120.0, 3_600.0),
            };
            let wait = millis(self.rng.log_between(soonest, latest));
            stage.queue.set(now + wait, Moment::Respawn { agent: self.place, life: self.life });
        }
    }

    fn report_end(&mut self, stage: &mut Stage, now: SimTime, end: End) {
        let exit = match end {
            End::HostLoss => return,
            End::Clean => Exit { code: Some(0), signal: None },
            End::Stopped => Exit { code: None, signal: Some(if self.rng.chance(0.7) { 15 } else { 9 }) },
            End::Crash if self.rng.chance(0.5) => Exit { code: Some(1), signal: None },
            End::Crash => Exit { code: None, signal: Some(*self.rng.choice(&[6, 9, 11])) },
        };
        if end == End::Clean || self.link.connection == Connection::Wrapped {
            self.emit(stage, now, Body::Exit(exit));
        }
        self.emit(stage, now, Body::Channel(Channel::Closed));
    }

    fn plan_rest(&mut self, now: SimTime) {
        let mut kit = self.kit(now, Condition::Idle);
        kit.turn(Condition::Idle);
        kit.status(Status::Idle, None);
        let wait = kit.rng.range(5 * SECOND, 1_200 * SECOND);
        kit.wait(wait);
    }
}

/// What the end of a process means for a fault under way in it.
fn ended_by(end: End) -> EndedBy {
    match end {
        End::Clean => EndedBy::Handoff,
        End::Stopped => EndedBy::Stop,
        End::HostLoss => EndedBy::HostLoss,
        End::Crash => EndedBy::Itself,
    }
}
