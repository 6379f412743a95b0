//! What one agent uses, in this life and for its task.

use super::counter::{Counter, Used};
use super::meter::{Breach, Level, Meter, Step};
use super::{Limits, Policy};
use crate::id::TaskId;
use crate::time::{Span, Timestamp};

/// More than any machine has: what is reported beyond is cut, so that sums over a million agents stay exact.
const LOAD_MAX: Load = Load { memory_bytes: 1 << 43, cpu_millis: 1 << 30 };

/// Tasks that are remembered after an agent left them: heartbeats come late and name the task before, and a limit that
/// begins anew with each change of task limits nothing.
const EARLIER_MAX: usize = 3;

/// What an agent holds at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Memory of its process tree in bytes.
    pub memory_bytes: u64,
    /// Processor time in thousandths of a core.
    pub cpu_millis: u64,
}

/// What one agent uses. Agents without limits and numbers need none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// When this life began.
    pub(crate) born_at: Timestamp,
    pub(crate) tokens: Counter,
    pub(crate) cost: Counter,
    pub(crate) life: Meter,
    pub(crate) task: Option<Box<TaskMeter>>,
    /// Tasks that it left, the latest first.
    pub(crate) earlier: Vec<TaskMeter>,
}

/// What was used for one task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskMeter {
    pub(crate) id: TaskId,
    /// When it was given, and later by the time that its agent spent on others.
    pub(crate) given_at: Timestamp,
    pub(crate) left_at: Option<Timestamp>,
    pub(crate) meter: Meter,
}

impl Account {
    /// Of a life that began then.
    pub fn new(born_at: Timestamp) -> Self {
        Self { born_at, tokens: Counter::new(born_at), cost: Counter::new(born_at), ..Self::default() }
    }

    /// A new life begins. Its task, if it is the same, goes on with what was used for it.
    pub fn on_new_life(&mut self, step: &mut Step<'_>) {
        self.life.reset(step, Level::Agent);
        self.born_at = step.now;
        self.tokens = Counter::new(step.now);
        self.cost = Counter::new(step.now);
        self.on_load(step, Load::default());
    }

    /// It works on this, or on nothing. Told again it changes nothing; a task that it left goes on where it was.
    pub fn on_task(&mut self, step: &mut Step<'_>, task: Option<&TaskId>) {
        if self.task.as_ref().map(|task| &task.id) == task {
            return;
        }
        if let Some(mut old) = self.task.take() {
            old.meter.rest(step, Level::Task);
            old.left_at = Some(step.now);
            self.earlier.insert(0, *old);
        }
        self.task = task.map(|id| Box::new(self.take_up(step.now, id)));
        self.earlier.truncate(EARLIER_MAX);
        self.judge(step);
    }

    fn take_up(&mut self, now: Timestamp, id: &TaskId) -> TaskMeter {
        let Some(place) = self.earlier.iter().position(|task| task.id == *id) else {
            return TaskMeter { id: id.clone(), given_at: now, left_at: None, meter: Meter::default() };
        };
        let mut task = self.earlier.remove(place);
        task.given_at += task.left_at.take().map_or(Span::ZERO, |left_at| now.since(left_at));
        task
    }

    /// What it used so far in this life, as far as it says so. Tells how much that is more than before.
    pub fn on_totals(&mut self, step: &mut Step<'_>, tokens: Option<u64>, cost_micros: Option<u64>) -> Used {
        let growth = Used {
            tokens: tokens.map_or(0, |total| self.tokens.on_tokens(step.now, total)),
            cost_micros: cost_micros.map_or(0, |total| self.cost.on_cost(step.now, total)),
        };
        for meter in self.meters() {
            meter.on_growth(growth);
        }
        self.judge(step);
        growth
    }

    /// So much was used before anybody counted: that is not news.
    pub(crate) fn adopt(&mut self, now: Timestamp, used: Used) {
        let known = |total: u64| Counter { high: (0 < total).then_some(total), ..Counter::new(now) };
        (self.tokens, self.cost) = (known(used.tokens), known(used.cost_micros));
    }

    /// What it used since it last said so. Tells how much of that is believed.
    pub fn on_used(&mut self, step: &mut Step<'_>, used: Used) -> Used {
        let total = |known: Option<u64>, used: u64| known.unwrap_or(0).saturating_add(used);
        let tokens = total(self.tokens.high, used.tokens);
        let cost = total(self.cost.high, used.cost_micros);
        self.on_totals(step, Some(tokens), Some(cost))
    }

    /// A sample of what it holds.
    pub fn on_sample(&mut self, step: &mut Step<'_>, load: Load) {
        self.on_load(step, load);
        self.judge(step);
    }

    /// What it works on, as far as it was said.
    pub(crate) fn task(&self) -> Option<&TaskId> {
        self.task.as_ref().map(|task| &task.id)
    }

    /// What it held at the last sample. The difference to the one before is the fleet's.
    pub fn load(&self) -> Load {
        Load { memory_bytes: self.life.memory.value, cpu_millis: self.life.cpu.value }
    }

    /// What may still be used in this life and for this task, where that is limited.
    pub fn left(&self, policy: &Policy) -> Used {
        let of = |limits: &Limits, meter: &Meter| {
            let left =
                |limit: Option<u64>, used: u64| limit.map_or(u64::MAX, |limit| limit.saturating_sub(used));
            Used {
                tokens: left(limits.tokens, meter.tokens),
                cost_micros: left(limits.cost_micros, meter.cost_micros),
            }
        };
        let life = of(&policy.agent, &self.life);
        self.task.as_ref().map_or(life, |task| life.at_most(of(&policy.task, &task.meter)))
    }

    /// The limit that it exceeds now, if any: its end is wanted.
    pub fn breach(&self, now: Timestamp, policy: &Policy) -> Option<Breach> {
        let life = self.life.breach(Level::Agent, &policy.agent, now.since(self.born_at));
        life.or_else(|| {
            let task = self.task.as_ref()?;
            task.meter.breach(Level::Task, &policy.task, now.since(task.given_at))
        })
    }

    /// When its time is near or over its limit.
    pub fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let life = self.life.time_left(now.since(self.born_at), &policy.agent, policy);
        let task = self
            .task
            .as_ref()
            .and_then(|task| task.meter.time_left(now.since(task.given_at), &policy.task, policy));
        [life, task].into_iter().flatten().min().map(|left| now + left.max(Span::millis(1)))
    }

    /// Judges what time alone has changed. Calling early is harmless.
    pub fn wake(&mut self, step: &mut Step<'_>) {
        self.judge(step);
    }

    fn judge(&mut self, step: &mut Step<'_>) {
        let policy = step.policy;
        let wall = step.now.since(self.born_at);
        self.life.judge(step, Level::Agent, &policy.agent, wall);
        if let Some(task) = &mut self.task {
            let wall = step.now.since(task.given_at);
            task.meter.judge(step, Level::Task, &policy.task, wall);
        }
    }

    fn on_load(&mut self, step: &Step<'_>, load: Load) {
        let policy = step.policy;
        let load = Load {
            memory_bytes: load.memory_bytes.min(LOAD_MAX.memory_bytes),
            cpu_millis: load.cpu_millis.min(LOAD_MAX.cpu_millis),
        };
        let sample = |meter: &mut Meter, memory: Option<u64>, cpu: Option<u64>| {
            meter.memory.on_sample(step.now, load.memory_bytes, memory, policy);
            meter.cpu.on_sample(step.now, load.cpu_millis, cpu, policy);
        };
        sample(&mut self.life, policy.agent.memory_bytes, policy.agent.cpu_millis);
        if let Some(task) = &mut self.task {
            sample(&mut task.meter, policy.task.memory_bytes, policy.task.cpu_millis);
        }
    }

    fn meters(&mut self) -> impl Iterator<Item = &mut Meter> {
        [Some(&mut self.life), self.task.as_mut().map(|task| &mut task.meter)].into_iter().flatten()
    }
}
