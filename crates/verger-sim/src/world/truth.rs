//! What was really the case, for every agent at every time: the measure of every verdict.
//!
//! It is written by the world alone, as points of change per agent, and asked by binary search: a week of
//! one agent is a few thousand points of 16 bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use verger_core::id::{AgentId, HostId, Incarnation, RoleName, TaskId};

use super::condition::Condition;
use super::connection::Connection;
use super::fault::FaultKind;
use super::post::Letter;
use super::service::{Ask, AskId, ServiceFacts};
use super::starter::Saved;
use super::time::SimTime;

/// What does not change about an agent.
#[derive(Clone, Debug)]
pub struct AgentFacts {
    /// Its name.
    pub id: AgentId,
    /// The role it is watched under, if it has one.
    pub role: Option<RoleName>,
    /// How the monitor hears of it.
    pub connection: Connection,
    /// Whether it answers pings.
    pub pinged: bool,
    /// Milliseconds between two of its heartbeats, if it beats.
    pub beat_ms: Option<u64>,
    /// Whether it proves who it is. What is seen of it otherwise must never end it.
    pub verified: bool,
    /// Whether its tool calls are seen.
    pub reports_tools: bool,
    /// The machine it runs on.
    pub host: HostId,
    /// Whose language model it uses.
    pub provider: Arc<str>,
}

/// What put an end to a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndedBy {
    /// Nobody: it passed, or the agent gave up after hours.
    Itself,
    /// A reminder made the agent change its course.
    Nudge,
    /// A refused call made the agent change its course.
    Interrupt,
    /// A person who was asked dealt with the agent directly.
    Decision,
    /// The agent saved its work and left, as asked.
    Handoff,
    /// The process was ended.
    Stop,
    /// A new process took the place of a dead one.
    Respawn,
    /// The host went down with it.
    HostLoss,
    /// The world was healed.
    Heal,
}

/// One thing that went wrong with one agent.
#[derive(Clone, Debug)]
pub struct Injection {
    /// Its number; also its place in [`Truth::injected`].
    pub id: u32,
    /// What went wrong.
    pub kind: FaultKind,
    /// With whom.
    pub agent: AgentId,
    /// What it shares with the others that one cause hit.
    pub group: Option<u32>,
    /// The life that was hit.
    pub incarnation: Incarnation,
    /// Since when.
    pub began: SimTime,
    /// Until when, if it is over.
    pub ended: Option<SimTime>,
    /// What put an end to it, if it is over.
    pub ended_by: Option<EndedBy>,
}

impl Injection {
    /// Whether it is under way at this moment.
    pub fn is_active_at(&self, at: SimTime) -> bool {
        self.began <= at && self.ended.is_none_or(|ended| at < ended)
    }
}

/// What was really the case.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    agents: Vec<AgentFacts>,
    places: BTreeMap<AgentId, u32>,
    histories: Vec<History>,
    injected: Vec<Injection>,
    saved: BTreeMap<TaskId, Vec<Saved>>,
    finished: BTreeMap<TaskId, SimTime>,
    services: Vec<ServiceFacts>,
    letters: Vec<Letter>,
}

/// One agent's points of change, in order of time.
#[derive(Clone, Debug, Default)]
struct History {
    conditions: Vec<(SimTime, Condition)>,
    lives: Vec<(SimTime, Incarnation)>,
}

impl Truth {
    /// Every agent of the world.
    pub fn agents(&self) -> &[AgentFacts] {
        &self.agents
    }

    /// What does not change about this agent.
    pub fn agent(&self, agent: &AgentId) -> Option<&AgentFacts> {
        self.place(agent).map(|place| &self.agents[place as usize])
    }

    /// Everything that went wrong so far, in order of its beginning.
    pub fn injected(&self) -> &[Injection] {
        &self.injected
    }

    /// What was the case with this agent. [`Condition::Gone`] before its first life and for strangers.
    pub fn condition_at(&self, agent: &AgentId, at: SimTime) -> Condition {
        self.place(agent)
            .and_then(|place| latest(&self.histories[place as usize].conditions, at))
            .unwrap_or(Condition::Gone)
    }

    /// What an agent was like at any time from then until then.
    pub fn conditions_between(
        &self,
        agent: &AgentId,
        from: SimTime,
        until: SimTime,
    ) -> impl Iterator<Item = Condition> + '_ {
        let history = self.place(agent).map_or(&[][..], |place| &self.histories[place as usize].conditions);
        let later = history.iter().filter(move |(at, _)| from < *at && *at <= until);
        latest(history, from).into_iter().chain(later.map(|(_, condition)| *condition))
    }

    /// The checkpoints of a task, in the order in which they were made.
    pub fn checkpoints(&self, task: &TaskId) -> &[Saved] {
        self.saved.get(task).map_or(&[], |saved| saved)
    }

    /// When a task was finished, if it was.
    pub fn finished_at(&self, task: &TaskId) -> Option<SimTime> {
        self.finished.get(task).copied()
    }

    /// What agents depend on, and everything that was asked about it.
    pub fn services(&self) -> &[ServiceFacts] {
        &self.services
    }

    pub(crate) fn services_mut(&mut self) -> &mut Vec<ServiceFacts> {
        &mut self.services
    }

    pub(crate) fn ask_mut(&mut self, ask: AskId) -> &mut Ask {
        &mut self.services[ask.service as usize].asks[ask.nth as usize]
    }

    /// Every message between agents, in the order in which they were written.
    pub fn letters(&self) -> &[Letter] {
        &self.letters
    }

    pub(crate) fn letters_mut(&mut self) -> &mut Vec<Letter> {
        &mut self.letters
    }

    pub(crate) fn saved(&mut self, saved: &Saved) {
        self.saved.entry(saved.checkpoint.task.clone()).or_default().push(saved.clone());
    }

    pub(crate) fn finish(&mut self, task: TaskId, at: SimTime) {
        self.finished.insert(task, at);
    }

    /// The life that began last, though it may be over.
    pub fn present_incarnation(&self, agent: &AgentId, at: SimTime) -> Option<Incarnation> {
        self.place(agent).and_then(|place| latest(&self.histories[place as usize].lives, at))
    }

    /// The moments at which this agent's condition changed, and to what.
    pub fn changes(&self, agent: &AgentId) -> &[(SimTime, Condition)] {
        self.place(agent).map_or(&[], |place| &self.histories[place as usize].conditions)
    }

    /// The faults of this agent under way at this moment, those of the world around it included.
    pub fn active_at<'a>(&'a self, agent: &'a AgentId, at: SimTime) -> impl Iterator<Item = &'a Injection> {
        self.injected.iter().filter(move |injection| injection.agent == *agent && injection.is_active_at(at))
    }

    /// Milliseconds, summed over all agents, in which a process was there and nothing was wrong with it.
    ///
    /// A partition, an outage of the provider and a wrong clock are not the agent's fault: time spent under
    /// them counts as healthy. Time between two lives counts as neither.
    pub fn healthy_time(&self, until: SimTime) -> u64 {
        self.histories.iter().map(|history| history.healthy_time(until)).sum()
    }

    pub(crate) fn place(&self, agent: &AgentId) -> Option<u32> {
        self.places.get(agent).copied()
    }

    pub(crate) fn enrol(&mut self, facts: AgentFacts) {
        self.places.insert(facts.id.clone(), self.agents.len() as u32);
        self.agents.push(facts);
        self.histories.push(History::default());
    }

    pub(crate) fn become_at(&mut self, place: u32, at: SimTime, condition: Condition) {
        let points = &mut self.histories[place as usize].conditions;
        if points.last().is_some_and(|(last, _)| *last == at) {
            points.pop();
        }
        if points.last().is_none_or(|(_, last)| *last != condition) {
            points.push((at, condition));
        }
    }

    pub(crate) fn begin_life(&mut self, place: u32, at: SimTime, incarnation: Incarnation) {
        self.histories[place as usize].lives.push((at, incarnation));
    }

    pub(crate) fn inject(
        &mut self,
        place: u32,
        kind: FaultKind,
        incarnation: Incarnation,
        group: Option<u32>,
        at: SimTime,
    ) -> u32 {
        let id = self.injected.len() as u32;
        let agent = self.agents[place as usize].id.clone();
        self.injected.push(Injection {
            id,
            kind,
            agent,
            group,
            incarnation,
            began: at,
            ended: None,
            ended_by: None,
        });
        id
    }

    pub(crate) fn end(&mut self, injection: u32, at: SimTime, by: EndedBy) {
        let injection = &mut self.injected[injection as usize];
        if injection.ended.is_none() {
            injection.ended = Some(at);
            injection.ended_by = Some(by);
        }
    }

    /// Ends what was to last as long as the world does: wrong clocks and a bad transport.
    pub(crate) fn end_lasting(&mut self, at: SimTime) {
        let lasting = |injection: &&mut Injection| {
            matches!(injection.kind, FaultKind::ClockSkew | FaultKind::Transport) && injection.ended.is_none()
        };
        for injection in self.injected.iter_mut().filter(lasting) {
            injection.ended = Some(at);
            injection.ended_by = Some(EndedBy::Heal);
        }
    }
}

impl History {
    fn healthy_time(&self, until: SimTime) -> u64 {
        let ends = self.conditions.iter().skip(1).map(|(at, _)| *at).chain([until]);
        let stretches = self.conditions.iter().zip(ends);
        stretches
            .filter(|((_, condition), _)| condition.is_healthy())
            .map(|((began, _), ended)| ended.min(until).since(*began))
            .sum()
    }
}

/// What the last point at or before `at` says.
fn latest<T: Copy>(points: &[(SimTime, T)], at: SimTime) -> Option<T> {
    let after = points.partition_point(|(point, _)| *point <= at);
    after.checked_sub(1).map(|place| points[place].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth() -> (Truth, AgentId) {
        let id = AgentId::from("a");
        let mut truth = Truth::default();
        truth.enrol(AgentFacts {
            id: id.clone(),
            role: None,
            connection: Connection::Wrapped,
            pinged: true,
            beat_ms: None,
            verified: true,
            reports_tools: true,
            host: HostId::from("h"),
            provider: "p".into(),
        });
        (truth, id)
    }

    #[test]
    fn a_condition_holds_until_the_next() {
        let (mut truth, id) = truth();
        truth.become_at(0, SimTime(10), Condition::Starting);
        truth.become_at(0, SimTime(20), Condition::Working);
        truth.become_at(0, SimTime(30), Condition::Working);
        assert_eq!(truth.condition_at(&id, SimTime(9)), Condition::Gone);
        assert_eq!(truth.condition_at(&id, SimTime(10)), Condition::Starting);
        assert_eq!(truth.condition_at(&id, SimTime(99)), Condition::Working);
        assert_eq!(truth.changes(&id).len(), 2);
    }

    #[test]
    fn healthy_time_leaves_out_faults_and_the_time_between_lives() {
        let (mut truth, _) = truth();
        truth.become_at(0, SimTime(10), Condition::Working);
        truth.become_at(0, SimTime(30), Condition::Faulty(FaultKind::Freeze));
        truth.become_at(0, SimTime(50), Condition::Gone);
        truth.become_at(0, SimTime(60), Condition::Idle);
        assert_eq!(truth.healthy_time(SimTime(25)), 15);
        assert_eq!(truth.healthy_time(SimTime(100)), 20 + 40);
    }
}
