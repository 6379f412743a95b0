//! Everything about one agent that changes.

use std::collections::VecDeque;

use verger_core::effect::EffectKey;
use verger_core::fingerprint::CallPrint;
use verger_core::id::{AgentId, HostId, TaskId};
use verger_core::signal::Signal;

use super::episode::Episode;
use super::manner::Manner;
use super::plan::Plan;
use crate::rng::Rng;
use crate::world::condition::Condition;
use crate::world::connection::Link;
use crate::world::fault::FaultKind;
use crate::world::post::Mail;
use crate::world::service::Client;
use crate::world::stage::Stage;
use crate::world::starter::{Saved, Starting};
use crate::world::text::Voice;
use crate::world::time::SimTime;

/// One agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) place: u32,
    pub(crate) id: AgentId,
    pub(crate) host: u32,
    pub(crate) host_id: HostId,
    pub(crate) provider: u32,
    pub(crate) link: Link,
    pub(crate) manner: Manner,
    /// Chance in what it does.
    pub(crate) rng: Rng,
    /// How it speaks, and chance in its words.
    pub(crate) voice: Voice,
    /// Chance in what happens to its signals.
    pub(crate) wire: Rng,

    /// How many lives it has had, the present one included.
    pub(crate) life: u32,
    pub(crate) alive: bool,
    pub(crate) condition: Condition,
    /// Changes when the plan is given up: steps of an earlier epoch are void.
    pub(crate) epoch: u32,
    pub(crate) plan: Plan,
    pub(crate) episode: Option<Episode>,

    pub(crate) task: Option<TaskId>,
    pub(crate) working: bool,
    pub(crate) work_until: SimTime,
    pub(crate) tasks: u32,
    pub(crate) calls: u64,
    /// What began and has not ended.
    pub(crate) open: Vec<Open>,
    pub(crate) tally: Tally,

    /// The fault of its own under way.
    pub(crate) fault: Option<Active>,
    /// The fault that begins with its next round.
    pub(crate) doomed: Option<FaultKind>,
    pub(crate) frozen: bool,
    /// Its provider refuses it.
    pub(crate) refused: bool,
    /// For how many reasons it cannot reach the monitor.
    pub(crate) cut: u8,
    pub(crate) skew_ms: i64,
    pub(crate) kept: VecDeque<Signal>,
    pub(crate) flushing: bool,
    /// What it saved.
    pub(crate) saved: Vec<Saved>,
    /// Whether somebody starts it again when told to.
    pub(crate) startable: bool,
    /// The last start that was asked for.
    pub(crate) starting: Option<Starting>,
    /// How many of its next lives die of what killed this one.
    pub(crate) cursed: u8,
    /// It left its work to a successor, as it was asked to.
    pub(crate) handed_over: bool,
    /// Reminders that wait for its next call or heartbeat.
    pub(crate) nudges: Vec<EffectKey>,
    /// Messages and reminders of them that wait for its next call or heartbeat.
    pub(crate) mail: Vec<Mail>,
    /// Chance in what it writes to others.
    pub(crate) pen: Rng,
    /// Through which it calls what it depends on.
    pub(crate) client: Client,
}

/// Something that began and has not ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Open {
    Tool(u64, CallPrint),
    Model,
    Subagent(u64),
}

/// What a life has used and done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
    pub(crate) errors: u64,
    pub(crate) progress: u64,
    pub(crate) context: u64,
    /// When work was last saved.
    pub(crate) saved: SimTime,
}

/// A fault under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) injection: u32,
    pub(crate) kind: FaultKind,
    pub(crate) temper: Temper,
}

/// What a word does to an agent that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Temper {
    /// It changes its course.
    Listens,
    /// It answers and goes on as before.
    Answers,
    /// It goes on as before.
    Deaf,
}

impl Agent {
    /// Says what is really the case from now on.
    pub(crate) fn turn(&mut self, stage: &mut Stage, now: SimTime, condition: Condition) {
        if self.condition != condition {
            self.condition = condition;
            stage.truth.become_at(self.place, now, condition);
        }
    }

    /// Whether what it does can be seen to go wrong in this way.
    pub(crate) fn could_show(&self, kind: FaultKind) -> bool {
        let reports = &self.link.reports;
        let beats = self.link.beat.is_some();
        let busy = matches!(
            self.condition,
            Condition::Working
                | Condition::Testing
                | Condition::Paging
                | Condition::Thinking
                | Condition::Polling
        );
        match kind {
            FaultKind::Freeze | FaultKind::Crash => beats || self.link.channel || busy,
            FaultKind::ExactLoop | FaultKind::Alternation | FaultKind::NearLoop => reports.tools && busy,
            FaultKind::ErrorLoop => (reports.tools || beats) && busy,
            FaultKind::TokenRunaway => (reports.tokens || beats) && busy,
            FaultKind::ContextExhaustion => beats && busy,
            FaultKind::HostLoss
            | FaultKind::Partition
            | FaultKind::ProviderOutage
            | FaultKind::ClockSkew
            | FaultKind::Transport
            | FaultKind::EffectFailure => true,
        }
    }
}
