//! What the agent's threads and the thread that talks to the monitor share.
//!
//! Every method takes the lock for a few moves in memory. Nothing of the caller's runs under it, and nothing waits under
//! it, so no call takes longer than the others' few moves.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;
use verger_api::signal::{Phase, SignalBody};
use verger_api::{Heartbeat, PendingItem, PendingKind, Signal, Time, Vitals};

use super::AgentOptions;
use super::buffer::{Batch, Buffer};

/// Items that wait for the agent. It may never ask for them; the oldest are forgotten.
const ITEMS_MAX: usize = 100;
/// Items that are remembered: the same one may come by several ways.
const SEEN_MAX: usize = 100;

/// What became of what was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Heartbeats that the monitor took.
    pub beats: u64,
    /// Signals that the monitor took.
    pub sent: u64,
    /// Signals that wait to be sent.
    pub waiting: u64,
    /// Signals that were given up for want of room.
    pub dropped: u64,
    /// Signals that the monitor turned down.
    pub rejected: u64,
    /// Whether the last attempt reached the monitor.
    pub connected: bool,
    /// What went wrong last, in a sentence.
    pub trouble: Option<String>,
}

#[derive(Debug)]
struct State {
    vitals: Vitals<'static>,
    task: Option<String>,
    buffer: Buffer,
    items: VecDeque<PendingItem>,
    seen: VecDeque<String>,
    tally: Tally,
    superseded: bool,
    beat_wanted: bool,
    /// It shall end.
    stopping: bool,
    /// It has ended.
    over: bool,
}

/// What both sides share.
#[derive(Debug)]
pub(super) struct Desk {
    agent_id: String,
    incarnation: Option<u32>,
    state: Mutex<State>,
    /// Something is to be sent.
    pub(super) work: Notify,
    /// Something came, or it is over.
    came: Condvar,
}

impl Desk {
    pub(super) fn new(options: &AgentOptions) -> Self {
        let vitals = Vitals { role: options.role.clone().map(Into::into), ..Vitals::default() };
        let state = State {
            vitals,
            task: None,
            buffer: Buffer::new(options.signals_max, options.bytes_max),
            items: VecDeque::new(),
            seen: VecDeque::new(),
            tally: Tally::default(),
            superseded: false,
            beat_wanted: false,
            stopping: false,
            over: false,
        };
        Self {
            agent_id: options.agent_id.clone(),
            incarnation: options.incarnation,
            state: Mutex::new(state),
            work: Notify::new(),
            came: Condvar::new(),
        }
    }

    /// One whose other side is empty: nothing is kept, nothing is sent.
    pub(super) fn silent(why: String) -> Self {
        let nowhere = crate::Access::new(crate::Address::default(), None);
        let desk = Self::new(&AgentOptions { signals_max: 0, ..AgentOptions::new("", nowhere) });
        desk.on_trouble(why);
        desk.on_end();
        desk
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The agent's side.
impl Desk {
    pub(super) fn set(&self, given: Vitals<'static>) {
        merge(&mut self.lock().vitals, given);
    }

    pub(super) fn works_on(&self, task: Option<String>) {
        self.lock().task = task;
    }

    pub(super) fn used(&self, tokens: u64, cost_usd: f64) {
        let vitals = &mut self.lock().vitals;
        vitals.token_count = Some(vitals.token_count.unwrap_or(0).saturating_add(tokens));
        if cost_usd.is_finite() && cost_usd > 0.0 {
            vitals.cost_usd = Some(vitals.cost_usd.unwrap_or(0.0) + cost_usd);
        }
    }

    pub(super) fn tell(&self, body: SignalBody<'static>) {
        {
            let mut state = self.lock();
            if state.over || state.superseded {
                return;
            }
            collect(&mut state.vitals, &body);
            let task_id = state.task.clone().map(Into::into);
            let agent_id = self.agent_id.clone().into();
            let incarnation = self.incarnation;
            state.buffer.push(Signal { agent_id, task_id, at: Some(now()), incarnation, body });
        }
        self.work.notify_one();
    }

    pub(super) fn beat(&self) {
        self.lock().beat_wanted = true;
        self.work.notify_one();
    }

    pub(super) fn next_item(&self) -> Option<PendingItem> {
        self.lock().items.pop_front()
    }

    pub(super) fn wait_item(&self, within: Duration) -> Option<PendingItem> {
        let until = Instant::now() + within;
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            let left = until.checked_duration_since(Instant::now())?;
            if state.over {
                return None;
            }
            state = self.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.over && state.items.is_empty()
    }

    pub(super) fn is_superseded(&self) -> bool {
        self.lock().superseded
    }

    pub(super) fn tally(&self) -> Tally {
        let state = self.lock();
        let (waiting, dropped) = (state.buffer.len() as u64, state.buffer.dropped());
        Tally { waiting, dropped, ..state.tally.clone() }
    }

    pub(super) fn stop(&self) {
        self.lock().stopping = true;
        self.work.notify_one();
    }

    pub(super) fn finish(&self, within: Duration) -> bool {
        self.stop();
        let until = Instant::now() + within;
        let mut state = self.lock();
        while !state.over {
            let Some(left) = until.checked_duration_since(Instant::now()) else { break };
            state = self.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.over && state.buffer.len() == 0
    }
}

/// The side that talks to the monitor.
impl Desk {
    /// What goes out with the next beat.
    pub(super) fn heartbeat(&self) -> Heartbeat<'static> {
        let mut state = self.lock();
        state.beat_wanted = false;
        Heartbeat {
            agent_id: self.agent_id.clone().into(),
            task_id: state.task.clone().map(Into::into),
            timestamp: Some(now()),
            incarnation: self.incarnation,
            vitals: state.vitals.clone(),
        }
    }

    /// A signal that does not wait behind the others.
    pub(super) fn signal(&self, body: SignalBody<'static>) -> Signal<'static> {
        let agent_id = self.agent_id.clone().into();
        Signal { agent_id, task_id: None, at: Some(now()), incarnation: self.incarnation, body }
    }

    pub(super) fn batch(&self) -> Option<Batch> {
        self.lock().buffer.batch()
    }

    pub(super) fn has_signals(&self) -> bool {
        self.lock().buffer.len() > 0
    }

    pub(super) fn wants_beat(&self) -> bool {
        self.lock().beat_wanted
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    pub(super) fn on_beat(&self) {
        let tally = &mut self.lock().tally;
        tally.beats += 1;
        (tally.connected, tally.trouble) = (true, None);
    }

    /// A batch went out, and so many of it were turned down.
    pub(super) fn on_sent(&self, batch: &Batch, rejected: u64, why: Option<String>) {
        let state = &mut *self.lock();
        state.buffer.settle(batch);
        state.tally.sent += batch.count.saturating_sub(rejected);
        state.tally.rejected += rejected;
        (state.tally.connected, state.tally.trouble) = (true, why);
    }

    pub(super) fn on_trouble(&self, why: String) {
        let tally = &mut self.lock().tally;
        (tally.connected, tally.trouble) = (false, Some(why));
    }

    /// Something came for the agent. Whether it is new.
    pub(super) fn on_item(&self, item: PendingItem) -> bool {
        {
            let mut state = self.lock();
            if state.seen.contains(&item.id) {
                return false;
            }
            state.seen.push_back(item.id.clone());
            if SEEN_MAX < state.seen.len() {
                state.seen.pop_front();
            }
            state.superseded |= item.kind == PendingKind::Superseded;
            state.items.push_back(item);
            if ITEMS_MAX < state.items.len() {
                state.items.pop_front();
            }
        }
        self.came.notify_all();
        true
    }

    pub(super) fn on_end(&self) {
        self.lock().over = true;
        self.came.notify_all();
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// What a beat tells of what happened since the last.
fn collect(vitals: &mut Vitals<'static>, body: &SignalBody<'static>) {
    let failed = match body {
        SignalBody::ToolCall(call) => {
            vitals.last_tool_call = Some(call.tool.clone());
            call.phase == Phase::Finished && call.error.is_some()
        }
        SignalBody::Error(_) => true,
        _ => false,
    };
    if failed {
        vitals.error_count = Some(vitals.error_count.unwrap_or(0).saturating_add(1));
    }
}

fn merge(into: &mut Vitals<'static>, given: Vitals<'static>) {
    fn take<T>(into: &mut Option<T>, given: Option<T>) {
        if given.is_some() {
            *into = given;
        }
    }
    take(&mut into.phase, given.phase);
    take(&mut into.last_tool_call, given.last_tool_call);
    take(&mut into.token_count, given.token_count);
    take(&mut into.error_count, given.error_count);
    take(&mut into.progress_indicator, given.progress_indicator);
    take(&mut into.status, given.status);
    take(&mut into.busy_until, given.busy_until);
    take(&mut into.role, given.role);
    take(&mut into.context_used, given.context_used);
    take(&mut into.context_limit, given.context_limit);
    take(&mut into.cost_usd, given.cost_usd);
}
