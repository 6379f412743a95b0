//! The judge (J02): what it is told of workers, and what it makes of it. Nothing here ends or pauses a worker.

use super::{Collector, Fleet};
use crate::agent::Agent;
use crate::correlation::Kind;
use crate::event::{Event, Fact};
use crate::evidence::Sign;
use crate::health::HealthState;
use crate::id::{AgentId, Incarnation, SessionId};
use crate::notice::{NoticeError, Reply};
use crate::policy::Role;
use crate::time::Timestamp;
use crate::verdicts::{Assessment, Report, Seen, Sight, Step, WORKERS_MAX, Worker};

impl Agent {
    /// Whether its standstill has a good reason: it has nothing to do, or waits.
    fn may_stand_still(&self, now: Timestamp, role: &Role) -> bool {
        self.waiting.idle_since.is_some() || self.waiting.is_excused(now, &role.patience)
    }

    /// Whether its standstill is judged elsewhere: it only begins, or it cannot be heard, which may be the
    /// monitor's own fault.
    fn is_out_of_sight(&self, now: Timestamp) -> bool {
        self.in_grace(now) || self.liveness.lost().is_some() || now < self.liveness.forgiven_until
    }

    /// Whether what is found of it now holds one of these.
    fn shows(&self, now: Timestamp, role: &Role, is_meant: impl Fn(Sign) -> bool) -> bool {
        self.evidence_now(now, role).iter().any(|found| is_meant(found.sign))
    }
}

/// The same again and again.
fn is_loop(sign: Sign) -> bool {
    matches!(sign, Sign::Repeats | Sign::Cycle | Sign::Loop(_) | Sign::FailureStreak)
}

/// What does not mend by itself.
fn is_final(sign: Sign) -> bool {
    matches!(sign, Sign::Unrecoverable | Sign::Blocked)
}

impl Fleet {
    /// How a worker whose log is read stands; nothing if nobody reads it.
    pub fn assessment(&self, now: Timestamp, worker: &AgentId) -> Option<Assessment> {
        let slot = self.index.get(worker, &self.table)?;
        let seen = self.seen(now, slot);
        self.machines.workers.get(worker)?.assess(now, seen, &self.policies.verdicts.judge)
    }

    /// A session of a worker is under way.
    pub(super) fn on_session_began(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        session: &SessionId,
        graph: Option<&str>,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let slot = self.registered(id)?;
        if self.table.agent(slot).is_some_and(|agent| agent.state == HealthState::Terminated) {
            return Err(NoticeError::Ended(id.clone()));
        }
        let workers = &mut self.machines.workers;
        if !workers.has_room_for(id) {
            return Err(NoticeError::TooManyWorkers(WORKERS_MAX));
        }
        let policy = &self.policies.verdicts.judge;
        let before = workers.get(id).and_then(Worker::session).cloned();
        if before.is_none() {
            workers.insert(id.clone(), Worker::default(), policy);
        }
        workers.edit(id, policy, |worker| worker.begin(now, session.as_str(), graph, policy));
        let after = workers.get(id).and_then(Worker::session).cloned();
        if let Some(before) = before.filter(|before| after.as_ref() != Some(before)) {
            self.on_session_over(now, id, &before, out);
        }
        Ok(Reply::Done)
    }

    /// A session of a worker is over.
    pub(super) fn on_session_ended(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        session: &SessionId,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        self.registered(id)?;
        self.must_follow(id, session)?;
        let ended = self.machines.workers.remove(id, &self.policies.verdicts.judge);
        if let Some(session) = ended.as_ref().and_then(Worker::session) {
            self.on_session_over(now, id, session, out);
        }
        Ok(Reply::Done)
    }

    /// A step was read from a worker's log.
    pub(super) fn on_step(
        &mut self,
        now: Timestamp,
        id: &AgentId,
        session: &SessionId,
        step: &Step,
        out: &mut Collector,
    ) -> Result<Reply, NoticeError> {
        let slot = self.registered(id)?;
        self.must_follow(id, session)?;
        let seen = self.seen(now, slot);
        let policy = &self.policies.verdicts.judge;
        let take_in = |worker: &mut Worker| worker.on_step(now, session.as_str(), step, seen, policy);
        let found = self.machines.workers.edit(id, policy, take_in).flatten();
        self.on_found(now, slot, found, out);
        Ok(Reply::Done)
    }

    /// Something came of an agent's work; its judge may want to know.
    pub(super) fn on_worker_progress(&mut self, now: Timestamp, slot: u32) {
        if self.machines.workers.is_empty() {
            return;
        }
        let Some(agent) = self.table.agent(slot).filter(|agent| agent.progress.last_lasting == now) else {
            return;
        };
        let policy = &self.policies.verdicts.judge;
        self.machines.workers.edit(&agent.id, policy, |worker| worker.on_progress(now));
    }

    /// A life began, ended, or is no longer watched: nobody's log is read any more, and nothing is left to decide.
    pub(super) fn follow_worker(&mut self, now: Timestamp, slot: u32, fact: &Fact, out: &mut Collector) {
        let first = match fact {
            Fact::Registered { .. } => Some(Incarnation::FIRST),
            Fact::Terminated { .. } | Fact::Unregistered { .. } => None,
            _ => return,
        };
        let Some(agent) = self.table.agent(slot).filter(|agent| Some(agent.incarnation) != first) else {
            return;
        };
        let id = agent.id.clone();
        self.machines.workers.remove(&id, &self.policies.verdicts.judge);
        self.on_life_over(now, &id, out);
    }

    pub(super) fn wake_workers(&mut self, now: Timestamp, out: &mut Collector) {
        if self.machines.workers.deadline().is_none_or(|due| now < due) {
            return;
        }
        for id in self.machines.workers.due(now) {
            let Some(slot) = self.index.get(&id, &self.table) else {
                self.machines.workers.remove(&id, &self.policies.verdicts.judge);
                continue;
            };
            let seen = self.seen(now, slot);
            let policy = &self.policies.verdicts.judge;
            let look = |worker: &mut Worker| worker.wake(now, seen, policy);
            let found = self.machines.workers.edit(&id, policy, look).flatten();
            self.on_found(now, slot, found, out);
        }
    }

    /// What the monitor sees of a worker that a ticket is about.
    pub(super) fn sight(&self, now: Timestamp, slot: u32, report: &Report) -> Sight {
        let Some(agent) = self.table.agent(slot) else { return Sight::default() };
        let role = self.policies.at(agent.role);
        let mut sight = Sight {
            unrecoverable: agent.shows(now, role, is_final),
            looping: agent.shows(now, role, is_loop),
            ..Sight::default()
        };
        let followed = self.machines.workers.get(&agent.id);
        let Some(worker) = followed.filter(|worker| worker.is_in(report.session.as_str())) else {
            return sight;
        };
        let judge = &self.policies.verdicts.judge;
        // Within the time that a checkpoint may be old.
        sight.progress = worker.has_progressed(now, report, role.progress.degraded_after, judge);
        if let Some(own) = worker.assess(now, Seen::default(), judge) {
            // The log shows an ACCEPT that the writer of the ticket did not know of.
            sight.recovering = own.steps_since_last_accept < report.steps_since_last_accept;
            let accepted = own.steps_since_last_accept == 0;
            sight.transient = sight.recovering && accepted && report.stall.is_none();
        }
        sight
    }

    /// The slot of a registered agent.
    pub(super) fn registered(&self, id: &AgentId) -> Result<u32, NoticeError> {
        self.index.get(id, &self.table).ok_or_else(|| NoticeError::UnknownAgent(id.clone()))
    }

    fn must_follow(&self, id: &AgentId, session: &SessionId) -> Result<(), NoticeError> {
        let followed = self.machines.workers.get(id);
        if followed.is_some_and(|worker| worker.is_in(session.as_str())) {
            return Ok(());
        }
        Err(NoticeError::NoSession { worker: id.clone(), session: session.clone() })
    }

    fn seen(&self, now: Timestamp, slot: u32) -> Seen {
        let Some(agent) = self.table.agent(slot) else { return Seen::default() };
        let role = self.policies.at(agent.role);
        // Where many stand still together, people know of the one cause.
        let together = || self.machines.correlation.covering(&agent.membership(), Kind::Stuck).is_some();
        Seen {
            looping: agent.shows(now, role, is_loop),
            excused: agent.may_stand_still(now, role),
            unseen: agent.is_out_of_sight(now) || together(),
        }
    }

    fn on_found(&mut self, now: Timestamp, slot: u32, found: Option<Assessment>, out: &mut Collector) {
        let (Some(found), Some(agent)) = (found, self.table.agent(slot)) else { return };
        let (id, life) = (agent.id.clone(), agent.incarnation);
        let task = agent.task.as_ref().map(ToString::to_string);
        let graph = task.unwrap_or_else(|| self.policies.at(agent.role).name.to_string());
        let policy = &self.policies.verdicts.judge;
        let judged = |worker: &mut Worker| (worker.is_news(&found), worker.draft(&id, &graph, &found));
        let Some((news, draft)) = self.machines.workers.edit(&id, policy, judged) else { return };
        if news {
            let fact = Fact::Judged(Box::new(found.clone()));
            out.events.push(Event { at: now, agent: Some((id.clone(), life)), fact });
        }
        if found.recovered {
            self.on_recovered(now, &id, &found.session, out);
        }
        if let Some(draft) = draft {
            // A full book holds more than people can decide; the condition is reported again while it lasts.
            let _ = self.raise(now, draft, out);
        }
    }
}
