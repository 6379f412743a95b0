//! The course of a fault of one agent: it befalls the agent, and something puts an end to it.
//!
//! Left alone, a fault lasts 6 h and more. A third of looping agents changes its course when reminded (14
//! of 57 recorded ones did so even without), a third answers and goes on, a third says nothing.

use super::FaultKind;
use crate::world::agent::{Active, Agent, Episode, Temper};
use crate::world::condition::Condition;
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{HOUR, SECOND, SimTime, millis};
use crate::world::truth::EndedBy;
use verger_core::id::Incarnation;
use verger_core::signal::Body;

impl Agent {
    /// A fault of its own befalls the agent: at once if it needs no doing, else with its next round.
    pub(crate) fn befall(&mut self, stage: &mut Stage, now: SimTime, kind: FaultKind) {
        match kind {
            FaultKind::Freeze => self.freeze(stage, now),
            FaultKind::Crash => self.crash(stage, now),
            _ => self.doomed = Some(kind),
        }
    }

    /// The fault begins now.
    pub(crate) fn go_wrong(&mut self, stage: &mut Stage, now: SimTime, kind: FaultKind) {
        let injection = self.inject(stage, now, kind, None);
        let temper = match stage.fate.weighted(&[1, 1, 1]) {
            0 if kind != FaultKind::Freeze => Temper::Listens,
            1 if kind != FaultKind::Freeze => Temper::Answers,
            _ => Temper::Deaf,
        };
        self.fault = Some(Active { injection, kind, temper });
        self.turn(stage, now, Condition::Faulty(kind));
        if let Some(episode) = Episode::faulty(kind, &mut self.rng) {
            self.episode = Some(episode);
        }
        if kind == FaultKind::ContextExhaustion {
            self.tally.context = self.manner.window;
        }
        let passes = now + 6 * HOUR + millis(stage.fate.exponential(4.0 * 3_600.0));
        stage.queue.set(passes, Moment::Pass { agent: self.place, injection });
    }

    /// Something puts an end to the agent's fault, and it works again.
    pub(crate) fn recover(&mut self, stage: &mut Stage, now: SimTime, by: EndedBy) {
        let Some(fault) = self.fault.take() else { return };
        stage.truth.end(fault.injection, now, by);
        let thawed = std::mem::replace(&mut self.frozen, false);
        if thawed {
            self.reconnect(stage, now);
        }
        self.drop_plan(stage, now);
        if fault.kind == FaultKind::ContextExhaustion {
            self.tally.context = self.manner.window / 8;
            self.emit(stage, now, Body::Compaction);
        }
        if by == EndedBy::Itself && fault.kind.is_loop() {
            self.end_task(stage, now);
        } else if self.working {
            self.turn(stage, now, Condition::Working);
            self.plan.wait(SECOND);
        } else {
            self.rest(stage, now);
        }
        self.step(stage, now);
    }

    /// Writes the fault down.
    pub(crate) fn inject(&self, stage: &mut Stage, now: SimTime, kind: FaultKind, group: Option<u32>) -> u32 {
        stage.truth.inject(self.place, kind, Incarnation(self.life.max(1)), group, now)
    }
}
