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
            Notice::SessionBegan { worker, session, graph } => {
                self.on_session_began(now, worker, session, graph.as_deref(), out)
            }
            Notice::SessionEnded { worker, session } => self.on_session_ended(now, worker, session, out),
            Notice::Step { worker, session, step } => self.on_step(now, worker, session, step, out),
            Notice::Ticket(draft) => {
                self.raise(now, (**draft).clone(), out).map(Reply::Ticket).map_err(Into::into)
            }
            Notice::Advice { ticket, advice } => self.on_advice(now, ticket, advice, out),
            Notice::Answer { ticket, answer } => self.on_answer(now, ticket, answer, out),
            Notice::Probes { agent, specs } => self.set_probes(now, agent, specs, out),
            Notice::Probed { agent, result } => self.on_probed(now, agent, result, out),
        }
    }
}
