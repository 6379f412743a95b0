//! The machines beside the agents: what concerns several of them, or something that is none.
//!
//! Each has a file here that says what it is told ([`follow`](super::follow)), when it is woken, and what its rows
//! are. None of them changes an agent; what they decide goes out as facts and effects, and what they hold back an
//! agent asks for (`Step`).

use super::errands::Errands;
use super::gates::Gates;
use super::steps::Followed;
use super::tickets::TicketBook;
use super::{Collector, Fleet};
use crate::cardinality::{Gone, Strangers};
use crate::correlation::Correlation;
use crate::messages::Messages;
use crate::policy::Policies;
use crate::recovery::Recoveries;
use crate::tasks::Tasks;
use crate::time::Timestamp;
use crate::verdicts::Workers;

/// The machines beside the agents.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    pub(crate) correlation: Correlation,
    /// Its row is to be written.
    pub(crate) correlation_changed: bool,
    pub(crate) recoveries: Recoveries,
    pub(crate) errands: Errands,
    pub(crate) gone: Gone,
    pub(crate) strangers: Strangers,
    pub(crate) tasks: Tasks,
    pub(crate) messages: Messages,
    pub(crate) gates: Gates,
    /// Whose logs are read.
    pub(crate) workers: Workers,
    pub(crate) tickets: TicketBook,
    /// Whose steps are followed.
    pub(crate) followed: Followed,
}

impl Machines {
    /// When [`wake_machines`](Fleet::wake_machines) has something to do.
    pub(super) fn deadline(&self, policies: &Policies) -> Option<Timestamp> {
        let since_ever = Timestamp::ZERO;
        let correlation = self.correlation.deadline(since_ever);
        let recovery = self.recoveries.deadline(since_ever, &policies.recovery);
        let desk = [self.tasks.deadline(since_ever), self.messages.deadline(since_ever)];
        let verdicts = [self.workers.deadline(), self.tickets.deadline()];
        let others = desk.into_iter().chain(verdicts);
        [correlation, recovery, self.gates.deadline()].into_iter().chain(others).flatten().min()
    }

    /// Whether a row is to be written.
    pub(super) fn has_changes(&self) -> bool {
        self.correlation_changed
            || self.recoveries.has_changes()
            || self.errands.changed
            || self.tasks.has_changes()
            || self.messages.has_changes()
            || self.gates.has_changes()
            || self.workers.has_changes()
            || self.tickets.has_changes()
            || self.followed.has_changes()
    }
}

impl Fleet {
    /// Does what is due beside the agents.
    pub(super) fn wake_machines(&mut self, now: Timestamp, out: &mut Collector) {
        self.wake_correlation(now, out);
        self.wake_recovery(now, out);
        self.wake_tasks(now, out);
        self.wake_messages(now, out);
        self.wake_gates(now, out);
        self.wake_fleet_use(now, out);
        self.wake_workers(now, out);
        self.wake_tickets(now, out);
    }
}
