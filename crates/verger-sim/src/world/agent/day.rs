//! An agent's day: tasks come, are worked on and end; between them it rests.
//!
//! A task takes 40 min in the median and up to 6 h. By day the next one comes after some 20 min; agents
//! that work round the clock get it within minutes. "Idle ≠ hung" is the oldest complaint of all.

use verger_core::id::TaskId;
use verger_core::signal::{Author, Body, Status, TaskChange};

use super::manner::Hours;
use super::state::Agent;
use crate::world::condition::Condition;
use crate::world::stage::Stage;
use crate::world::text;
use crate::world::time::{HOUR, MINUTE, SECOND, SimTime, millis};

/// Hours of a day in which agents of the day are given work.
const DAY_HOURS: u64 = 11;

impl Agent {
    /// Work comes.
    pub(crate) fn begin_task(&mut self, stage: &mut Stage, now: SimTime) {
        self.working = true;
        self.work_until = now + millis(self.rng.log_normal(40.0 * 60.0, 0.9).clamp(120.0, 6.0 * 3_600.0));
        self.turn(stage, now, Condition::Working);
        if self.link.reports.tasks {
            self.tasks += 1;
            let task = TaskId::from(format!("{}/task-{}", self.id, self.tasks));
            self.task = Some(task.clone());
            self.emit(stage, now, Body::Task(TaskChange::Assigned(task)));
        }
        let told = !self.link.reports.tasks || self.rng.chance(0.3);
        let mut kit = self.kit(now, Condition::Working);
        if told {
            let request = text::request(kit.voice);
            kit.say(Author::Person, request);
        }
        kit.wait(SECOND);
    }

    /// Work is done, and the agent rests until there is more.
    pub(crate) fn end_task(&mut self, stage: &mut Stage, now: SimTime) {
        if let Some(task) = self.task.take() {
            stage.truth.finish(task.clone(), now);
            self.emit(stage, now, Body::Task(TaskChange::Ended(task)));
        }
        self.rest(stage, now);
    }

    /// The agent rests until there is work.
    pub(crate) fn rest(&mut self, stage: &mut Stage, now: SimTime) {
        self.working = false;
        self.turn(stage, now, Condition::Idle);
        let next = self.next_task(now);
        let mut kit = self.kit(now, Condition::Idle);
        kit.status(Status::Idle, None);
        kit.wait(next.since(now).max(SECOND));
    }

    fn next_task(&mut self, now: SimTime) -> SimTime {
        match self.manner.hours {
            Hours::Always => now + millis(self.rng.exponential(300.0)) + 5 * SECOND,
            Hours::Day(from) => {
                let next = now + millis(self.rng.exponential(25.0 * 60.0)) + 20 * SECOND;
                let into_day = (next.hour() + 24 - from) % 24;
                if into_day < DAY_HOURS {
                    next
                } else {
                    next.next_hour(from) + self.rng.range(0, HOUR) + MINUTE
                }
            }
        }
    }
}
