//! Whoever keeps checkpoints and starts agents: the hands that recovery has.
//!
//! Of a hundred checkpoints two are damaged on disk, one is lost, and two are intact and poisoned: a life that goes
//! on from one dies within minutes. A wrapper starts its agent again when told to; of the others, half have a command
//! for it. Some agents are started by an orchestrator of their own at the same time, and then two are one too many.

use verger_core::effect::{EffectKey, Outcome};
use verger_core::id::{CheckpointId, TaskId};
use verger_core::recovery::{Checkpoint, Content, ContentHash, Spawn};
use verger_core::signal::{Body, Signal};
use verger_core::time::Timestamp;

use super::agent::{Agent, End};
use super::connection::Connection;
use super::effects::{own, tell};
use super::moment::{Errand, ErrandStage, Moment};
use super::run::Delivery;
use super::stage::Stage;
use super::time::{MINUTE, SECOND, SimTime, millis};

/// Checkpoints that are kept of one agent.
const KEPT: usize = 64;

/// One checkpoint, as it really is.
#[derive(Clone, Debug)]
pub struct Saved {
    /// As the store has it.
    pub checkpoint: Checkpoint,
    /// Whether a life that goes on from it dies.
    pub poisoned: bool,
    /// When it was made.
    pub at: SimTime,
}

/// A start that is not done yet, or was the last.
#[derive(Clone, Debug)]
pub(crate) struct Starting {
    start: u64,
    from: Option<CheckpointId>,
    /// The life that it began.
    life: Option<u32>,
}

impl Agent {
    /// The store takes a checkpoint.
    pub(crate) fn store(&mut self, stage: &mut Stage, now: SimTime, id: &CheckpointId) {
        let Some(task) = self.task.clone() else { return };
        let content = match stage.luck.weighted(&[97, 2, 1]) {
            1 if !stage.calm => Content::Damaged,
            2 if !stage.calm => Content::Missing,
            _ => Content::Intact,
        };
        let poisoned = !stage.calm && stage.luck.chance(0.02);
        let parent = self.saved.iter().rev().find(|saved| saved.checkpoint.task == task);
        let parent = parent.map(|saved| saved.checkpoint.id.clone());
        let mut hash = ContentHash::default();
        hash.0[..8].copy_from_slice(&stage.luck.bits().to_le_bytes());
        let (order, made_at) = (self.calls, Timestamp::from_millis(now.0));
        let checkpoint = Checkpoint { id: id.clone(), task, parent, hash, content, order, made_at };
        if self.saved.len() == KEPT {
            self.saved.remove(0);
        }
        let saved = Saved { checkpoint, poisoned, at: now };
        stage.truth.saved(&saved);
        self.saved.push(saved);
    }
}

/// The store looks through a task's checkpoints.
pub(crate) fn survey(agent: &Agent, stage: &mut Stage, now: SimTime, key: &EffectKey, task: &TaskId) {
    let own_task = agent.saved.iter().filter(|saved| saved.checkpoint.task == *task);
    let checkpoints = own_task.map(|saved| saved.checkpoint.clone()).collect();
    let body = Body::Surveyed { key: key.clone(), checkpoints };
    let signal = Signal { agent: key.agent.clone(), content: own(key.incarnation, body) };
    let wait = millis(stage.luck.log_between(0.05, 5.0));
    stage.deliver_at(now + wait, Delivery::Signal(signal));
}

/// Somebody is told to start the agent again.
pub(crate) fn start(agent: &mut Agent, stage: &mut Stage, now: SimTime, key: &EffectKey, spawn: &Spawn) {
    if !agent.startable {
        return tell(stage, now + SECOND, key, Outcome::Refused);
    }
    agent.starting = Some(Starting { start: spawn.start, from: spawn.from.clone(), life: None });
    let wait = millis(stage.luck.log_between(0.5, 20.0));
    let errand = Errand { key: key.clone(), agent: agent.place, stage: ErrandStage::StartDone };
    stage.queue.set(now + wait, Moment::Errand(Box::new(errand)));
}

/// The start is done, or cannot be.
pub(crate) fn start_done(agent: &mut Agent, stage: &mut Stage, now: SimTime, key: &EffectKey) {
    let Some(starting) = agent.starting.clone() else { return };
    let saved = agent.saved.iter().find(|saved| Some(&saved.checkpoint.id) == starting.from.as_ref());
    let (content, poisoned) =
        saved.map_or((Content::Intact, false), |saved| (saved.checkpoint.content, saved.poisoned));
    let outcome = if stage.down[agent.host as usize] {
        Outcome::Unreachable
    } else if agent.alive {
        // It runs already: an orchestrator of its own was faster.
        Outcome::Failed
    } else if content != Content::Intact {
        Outcome::Unreadable
    } else {
        agent.spawn(stage, now);
        Outcome::Delivered
    };
    if outcome == Outcome::Delivered {
        agent.starting = Some(Starting { life: Some(agent.life), ..starting });
        if poisoned || agent.cursed > 0 {
            agent.cursed = agent.cursed.saturating_sub(u8::from(!poisoned));
            let wait = stage.luck.range(MINUTE, 10 * MINUTE);
            stage.queue.set(now + wait, Moment::Dies { agent: agent.place, life: agent.life });
        }
    }
    tell(stage, now + 20, key, outcome);
}

/// A start is taken back: what it began is ended.
pub(crate) fn withdraw(agent: &mut Agent, stage: &mut Stage, now: SimTime, key: &EffectKey, start: u64) {
    let began = agent.starting.take_if(|starting| starting.start == start).and_then(|starting| starting.life);
    if agent.alive && began == Some(agent.life) {
        agent.end_process(stage, now, End::Stopped);
    }
    tell(stage, now + SECOND, key, Outcome::Stopped);
}

/// Whether somebody can start an agent of this connection when told to.
pub(crate) fn is_startable(connection: Connection, chance: bool) -> bool {
    match connection {
        Connection::Wrapped => true,
        Connection::Sdk | Connection::Remote => chance,
        Connection::Hook => false,
    }
}
