//! The store port: one batch, one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use verger_core::AgentView;
use verger_core::effect::{Effect, EffectKey};
use verger_core::event::{Event, Fact};
use verger_core::fleet::{Fleet, Row, RowKey};
use verger_core::id::AgentId;
use verger_core::time::Timestamp;

use crate::clock::Reading;
use crate::observed::Blind;

/// Keeps what must survive.
pub trait Store {
    /// Puts all of the batch on disk, or none of it.
    ///
    /// After an error the engine tries the very same batch again, because an error does not say that nothing
    /// was written. A store that holds a batch of this [number](Mark::number) already has nothing to do. It must not
    /// block for longer than the loop may stand still: a disk that takes longer is [slow](StoreError::is_slow).
    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError>;

    /// Everything that a restart needs.
    fn load(&mut self) -> Result<Loaded, StoreError>;
}

/// What is committed together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Up to when everything was seen.
    pub mark: Mark,
    /// Facts, in order.
    pub events: Vec<Event>,
    /// Things to do, in order; none of them ephemeral. Each begins with one attempt.
    pub effects: Vec<Effect>,
    /// Unfinished effects of an earlier life of the monitor that are about to have their second attempt.
    pub retried: Vec<EffectKey>,
    /// Effects that need not be done any more: their outcome is known, or the life they were meant for is over.
    pub finished: Vec<EffectKey>,
    /// State rows that replace earlier ones. Shared, so that a store need not copy them to write them elsewhere: after a
    /// restart they are those of the whole fleet.
    pub rows: Arc<Vec<Row>>,
    /// Times in which the monitor could not see.
    pub blind: Vec<Blind>,
    /// How those are whose state changed, of whom something is wrong or about whom people are asked: whoever is told of
    /// it wants to know.
    pub views: BTreeMap<AgentId, AgentView>,
}

impl Batch {
    /// Looks at those of whom people will be told.
    pub(crate) fn look(&mut self, now: Timestamp, fleet: &Fleet) {
        let Self { events, views, .. } = self;
        let told = events.iter().filter(|event| {
            matches!(
                event.fact,
                Fact::StateChanged { .. } | Fact::IncidentOpened { .. } | Fact::EscalationTriggered { .. }
            )
        });
        for (agent, _) in told.filter_map(|event| event.agent.as_ref()) {
            if !views.contains_key(agent)
                && let Some(view) = fleet.view(now, agent)
            {
                views.insert(agent.clone(), view);
            }
        }
    }

    /// Whether there is anything that somebody waits for or that must not be lost.
    pub(crate) fn is_urgent(&self) -> bool {
        !(self.events.is_empty()
            && self.effects.is_empty()
            && self.retried.is_empty()
            && self.blind.is_empty())
    }
}

/// Up to when everything was seen, and on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Counts batches from 1.
    pub number: u64,
    /// In observed time.
    pub observed: Timestamp,
    /// What the clocks showed.
    pub taken: Reading,
}

/// What a restart needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The mark of the last batch, unless there was none.
    pub mark: Option<Mark>,
    /// The latest state rows.
    pub rows: Vec<(RowKey, Vec<u8>)>,
    /// Effects neither finished nor given up, in the order of their keys.
    pub unfinished: Vec<Unfinished>,
}

/// An effect whose outcome was not heard.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// What was to be done.
    pub effect: Effect,
    /// How often it may have been released.
    pub attempts: u8,
    /// When it was decided.
    pub decided: Reading,
}

/// Why a commit or a load failed.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} the store")]
pub struct StoreError {
    /// `write to` or `read from`.
    pub doing: &'static str,
    /// Nothing failed yet: the batch was handed over, and the disk takes long. Trying it again asks how it stands.
    pub is_slow: bool,
    /// What was behind it.
    #[source]
    pub cause: Box<dyn std::error::Error + Send + Sync>,
}
