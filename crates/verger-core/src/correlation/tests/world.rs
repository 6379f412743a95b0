//! A small fleet around the machine, with a readable log.

use super::super::{Change, Correlation, Ending, Kind, Membership, Policy, Scope, Step, Thaw};
use crate::id::{HostId, ProviderId};
use crate::record::{from_row, to_row};
use crate::time::{Span, Timestamp};

pub(super) struct World {
    pub(super) policy: Policy,
    pub(super) machine: Correlation,
    pub(super) agents: Vec<Membership>,
    pub(super) now: Timestamp,
    pub(super) changes: Vec<Change>,
    log: Vec<String>,
}

pub(super) fn host(name: usize) -> HostId {
    format!("h{name}").into()
}

pub(super) fn provider(name: usize) -> ProviderId {
    format!("p{name}").into()
}

impl World {
    pub(super) fn empty() -> Self {
        Self {
            policy: Policy::default(),
            machine: Correlation::default(),
            agents: Vec::new(),
            now: Timestamp::ZERO + Span::hours(1),
            changes: Vec::new(),
            log: Vec::new(),
        }
    }

    /// So many agents, spread evenly over hosts and providers.
    pub(super) fn of(agents: usize, hosts: usize, providers: usize) -> Self {
        let mut world = Self::empty();
        world.agents = vec![Membership::default(); agents];
        for agent in 0..agents {
            world.join(agent, Some(agent * hosts / agents), Some(agent % providers));
        }
        world
    }

    pub(super) fn join(&mut self, agent: usize, on: Option<usize>, with: Option<usize>) {
        let (on, with) = (on.map(host), with.map(provider));
        self.on(agent, |machine, step, membership| {
            machine.on_member(step, membership, on.as_ref(), with.as_ref());
        });
    }

    pub(super) fn bad(&mut self, agents: impl IntoIterator<Item = usize>, kind: Kind) {
        for agent in agents {
            self.on(agent, |machine, step, membership| machine.on_bad(step, membership, kind));
        }
    }

    pub(super) fn good(&mut self, agents: impl IntoIterator<Item = usize>) {
        for agent in agents {
            self.on(agent, Correlation::on_good);
        }
    }

    pub(super) fn trouble(&mut self, agents: impl IntoIterator<Item = usize>, retry_after: Option<Span>) {
        for agent in agents {
            self.on(agent, |machine, step, membership| {
                machine.on_provider_trouble(step, membership, retry_after);
            });
        }
    }

    pub(super) fn served(&mut self, agents: impl IntoIterator<Item = usize>) {
        for agent in agents {
            self.on(agent, Correlation::on_provider_success);
        }
    }

    /// Lets time pass, waking the machine whenever it asks for it.
    pub(super) fn pass(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(due) = self.machine.deadline(self.now).filter(|due| *due <= end) {
            assert!(self.now < due, "a deadline lies ahead");
            self.now = due;
            self.wake();
        }
        self.now = end;
        self.wake();
    }

    pub(super) fn wake(&mut self) {
        self.step(Correlation::wake);
    }

    /// What a person ordered; tells whether it was possible.
    pub(super) fn order(&mut self, order: impl FnOnce(&mut Correlation, &mut Step<'_>) -> bool) -> bool {
        let mut done = false;
        self.step(|machine, step| done = order(machine, step));
        done
    }

    /// The monitor stops, and reads its rows again.
    pub(super) fn restart(&mut self) {
        self.machine = from_row(&to_row(&self.machine)).expect("a row that was just written");
        for membership in &mut self.agents {
            *membership = from_row(&to_row(membership)).expect("a row that was just written");
            self.machine.recall(self.now, membership, &self.policy);
        }
    }

    pub(super) fn frozen(&self, agent: usize) -> bool {
        self.machine.is_frozen(self.now, &self.agents[agent]).is_some()
    }

    pub(super) fn open(&self) -> Vec<Scope> {
        self.machine.incidents().map(|incident| incident.scope).collect()
    }

    /// What happened since this was last asked.
    pub(super) fn log(&mut self) -> String {
        std::mem::take(&mut self.log).join("\n")
    }

    pub(super) fn on(
        &mut self,
        agent: usize,
        call: impl FnOnce(&mut Correlation, &mut Step<'_>, &mut Membership),
    ) {
        let mut membership = std::mem::take(&mut self.agents[agent]);
        self.step(|machine, step| call(machine, step, &mut membership));
        self.agents[agent] = membership;
    }

    fn step(&mut self, call: impl FnOnce(&mut Correlation, &mut Step<'_>)) {
        let mut out = Vec::new();
        call(&mut self.machine, &mut Step { now: self.now, policy: &self.policy, out: &mut out });
        self.log.extend(out.iter().map(|change| format!("{} {}", self.now, told(change))));
        self.changes.extend(out);
    }
}

fn told(change: &Change) -> String {
    match change {
        Change::Opened { scope, affected, of, kind, since } => {
            format!("open {scope}: {affected} of {of} {kind} since {since}")
        }
        Change::Widened { scope, affected, of, kind } => format!("wider {scope}: {affected} of {of} {kind}"),
        Change::StillFrozen { scope, affected, of, until } => {
            format!("ask again {scope}: {affected} of {of}, frozen until {until}")
        }
        Change::Frozen { scope, until } => format!("frozen {scope} until {until}"),
        Change::Thawed { scope, by: Thaw::Time } => format!("thawed {scope} by time"),
        Change::Thawed { scope, by: Thaw::Person } => format!("thawed {scope} by a person"),
        Change::Resolved { scope, lasted, by } => {
            let by = match by {
                Ending::Recovered => "recovered",
                Ending::Served => "served again",
                Ending::Quiet => "quiet",
                Ending::Merged => "merged into the fleet's",
                Ending::Time => "time",
                Ending::Person => "a person",
            };
            format!("resolved {scope} after {lasted}: {by}")
        }
    }
}
