//! Heartbeats by timer, and the status an agent gives of itself.

use verger_core::signal::{Body, Context, Heartbeat, Status};
use verger_core::time::Span;

use super::state::Agent;
use crate::world::condition::Condition;
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{MINUTE, SimTime};

impl Agent {
    /// The timer is up: the agent beats unless it is frozen, and sets the timer again.
    pub(crate) fn beat(&mut self, stage: &mut Stage, now: SimTime) {
        let Some(interval) = self.link.beat else { return };
        if !self.frozen {
            let heartbeat = self.heartbeat();
            self.emit(stage, now, Body::Heartbeat(heartbeat));
            if stage.up && self.cut == 0 {
                self.take_nudges(stage, now);
                self.take_mail(stage, now);
            }
        }
        // Timers drift by a percent or two.
        let next = interval + self.wire.range(0, interval / 64 + 1);
        stage.queue.set(now + next, Moment::Beat { agent: self.place, life: self.life });
    }

    /// What the agent says of itself when asked.
    pub(crate) fn status(&self) -> Status {
        match self.condition {
            Condition::Idle | Condition::Gone => Status::Idle,
            Condition::WaitingPerson => Status::Waiting,
            Condition::WaitingProvider => Status::Degraded,
            Condition::LongTool | Condition::Thinking | Condition::Subagent | Condition::Starting => {
                Status::Busy
            }
            Condition::Working
            | Condition::Polling
            | Condition::Paging
            | Condition::Testing
            | Condition::Faulty(_) => {
                if self.life.is_multiple_of(2) {
                    Status::Busy
                } else {
                    Status::Healthy
                }
            }
        }
    }

    fn heartbeat(&self) -> Heartbeat {
        let busy =
            self.manner.announces && matches!(self.condition, Condition::LongTool | Condition::Subagent);
        Heartbeat {
            task: self.task.clone(),
            role: self.link.role.clone(),
            tokens: Some(self.tally.tokens),
            errors: Some(self.tally.errors),
            progress: Some(self.tally.progress.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            status: Some(self.status()),
            busy_for: busy.then(|| Span::millis(20 * MINUTE)),
            context: Some(Context { used: self.tally.context, limit: self.manner.window }),
            cost_micros: Some(self.tally.cost_micros),
        }
    }
}
