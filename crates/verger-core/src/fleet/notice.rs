//! What is told or ordered about something that is no agent goes to its machine.

use super::{Collector, Fleet};
use crate::notice::{Notice, NoticeError, Reply};
use crate::time::Timestamp;

impl Fleet {
    /// Takes in what is told or ordered about something that is no agent.
    pub fn notice(
        &mut self,
        now: Timestamp,
        notice: &Notice,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        match notice {
            Notice::Incident { scope, by, order } => self.order_incident(now, scope, by, *order, out),
            Notice::Recovery { task, by, order } => self.order_recovery(now, task, by, order, out),
            Notice::Task { task, by, word } => self.tell_task(now, task, by, word, out),
            Notice::Send(message) => self.send(now, message, out),
            Notice::Acknowledge { message, by } => self.acknowledge(now, message, by, out),
            Notice::Breaker { name, what } => self.on_breaker_notice(now, name, what, out),
            Notice::Checkpoint { breaker, what } => self.on_checkpoint_notice(now, breaker, what, out),
        }
    }
}
