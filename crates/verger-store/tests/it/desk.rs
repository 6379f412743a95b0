//! A data directory of its own for each test, and the simplest things to put into it.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use verger_core::AgentView;
use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::event::{Event, Fact, Incident};
use verger_core::fleet::{Row, RowKey};
use verger_core::id::Incarnation;
use verger_core::time::{Span, Timestamp, WallTime};
use verger_engine::{Batch, Mark, Reading};
use verger_store::{
    Archive, EncodeEvent, EngineStore, Error, EventText, IncidentChange, Moment, NewCheckpoint, Options,
    Place, Saved, open,
};

/// When the wall clock showed that the monitor began to see.
pub(crate) const WALL: i64 = 1_790_000_000_000;

/// Says as little as can be checked: the number of the event and its kind.
struct Plain;

impl EncodeEvent for Plain {
    fn encode(&self, event: &Event, place: Place, _: Option<&AgentView>) -> EventText {
        let (kind, task) = match &event.fact {
            Fact::Registered { task } => ("REGISTERED", task.clone()),
            Fact::Interrupted { .. } => ("INTERRUPTED", None),
            _ => ("OTHER", None),
        };
        EventText { kind, task, body: format!("{{\"id\":{},\"type\":\"{kind}\"}}", place.id) }
    }

    fn incident(&self, event: &Event, _: Place, _: Option<&AgentView>) -> Option<IncidentChange> {
        let agent = event.agent.as_ref().map(|(agent, _)| agent.clone());
        let key = |incident: &Incident| format!("{incident:?} {agent:?}");
        match &event.fact {
            Fact::IncidentOpened { incident, .. } => {
                let (key, body) = (key(incident), format!("{incident:?}"));
                Some(IncidentChange::Opened { key, agent, body })
            }
            Fact::IncidentResolved { incident, .. } => Some(IncidentChange::Resolved { key: key(incident) }),
            _ => None,
        }
    }
}

/// A data directory that goes with the test.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn open(&self) -> (EngineStore, Archive) {
        self.try_open().expect("the store opens")
    }

    pub(crate) fn try_open(&self) -> Result<(EngineStore, Archive), Error> {
        open(self.options())
    }

    pub(crate) fn options(&self) -> Options {
        options(self.root())
    }
}

pub(crate) fn options(root: PathBuf) -> Options {
    Options::new(root, Arc::new(Plain))
}

/// So many milliseconds after the beginning, on both clocks.
pub(crate) fn at(millis: u64) -> Moment {
    Moment { observed: Timestamp::from_millis(millis), wall: WallTime(WALL + millis.cast_signed()) }
}

pub(crate) fn day(days: u64) -> Timestamp {
    Timestamp::ZERO + Span::hours(24 * days)
}

/// An empty batch of this number, taken at so many milliseconds.
pub(crate) fn batch(number: u64, millis: u64) -> Batch {
    let Moment { observed, wall } = at(millis);
    let mark = Mark { number, observed, taken: Reading { boot: 5_000 + millis, wall } };
    Batch { mark, ..Batch::default() }
}

pub(crate) fn interrupted(agent: &str, millis: u64) -> Event {
    let agent = Some((agent.into(), Incarnation(1)));
    Event { at: Timestamp::from_millis(millis), agent, fact: Fact::Interrupted { repeats: 3 } }
}

pub(crate) fn registered(agent: &str, task: &str, millis: u64) -> Event {
    let agent = Some((agent.into(), Incarnation(1)));
    Event { at: Timestamp::from_millis(millis), agent, fact: Fact::Registered { task: Some(task.into()) } }
}

pub(crate) fn nudge(agent: &str, seq: u32) -> Effect {
    let key = EffectKey { agent: agent.into(), incarnation: Incarnation(1), seq };
    Effect { key, action: Action::Nudge { attempt: 1, text: "go on".into() } }
}

pub(crate) fn row(agent: &str, content: &[u8]) -> Row {
    Row { key: RowKey::Agent(agent.into()), bytes: Some(content.to_vec()) }
}

pub(crate) fn checkpoint(id: &str, task: &str, parent: Option<&str>, body: &[u8]) -> NewCheckpoint {
    NewCheckpoint {
        id: Some(id.into()),
        task: task.into(),
        agent: "a".into(),
        parent: parent.map(Into::into),
        phase: None,
        at: at(1_000),
        body: body.to_vec(),
    }
}

pub(crate) fn save(archive: &Archive, new: NewCheckpoint) -> Result<Saved, Error> {
    archive.save_checkpoint(new)?.wait()
}

/// The whole story of an error, as an operator reads it.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
