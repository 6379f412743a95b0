//! Recovery goes on from the newest checkpoint that is intact, unless lives that began with it have died.

use std::collections::BTreeMap;

use verger_core::effect::{Action, Effect};
use verger_core::event::Fact;
use verger_core::id::CheckpointId;
use verger_core::recovery::{Change, Content};

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::{SimTime, Truth};

/// What was made so shortly before a start need not be known yet: it is asked for when a life ends, and the first
/// start follows a minute later.
const UNDER_WAY: u64 = 15 * 60_000;

/// Knows which checkpoints were begun from, how often.
#[derive(Debug, Default)]
pub(super) struct NewestCheckpoint {
    tried: BTreeMap<CheckpointId, u32>,
    broken: Broken,
}

impl NewestCheckpoint {
    fn on_start(&mut self, at: SimTime, effect: &Effect, truth: &Truth) {
        let Action::Spawn(spawn) = &effect.action else { return };
        let saved = truth.checkpoints(&spawn.task);
        let made_before = |from: &CheckpointId| saved.iter().find(|saved| saved.checkpoint.id == *from);
        let chosen = spawn.from.as_ref().and_then(made_before).map(|saved| saved.at);
        // What failed once may have failed by chance; what was never tried had no chance to fail.
        let better = saved.iter().rev().find(|saved| {
            saved.checkpoint.content == Content::Intact
                && Some(saved.at) > chosen
                && UNDER_WAY <= at.since(saved.at)
                && !self.tried.contains_key(&saved.checkpoint.id)
        });
        if let Some(better) = better {
            let (task, from) = (&spawn.task, spawn.from.as_ref().map_or("its start", |from| from.as_str()));
            self.broken.note(at, || {
                format!("{task} goes on from {from} though {} is newer and intact", better.checkpoint.id)
            });
        }
    }
}

impl Checker for NewestCheckpoint {
    fn name(&self) -> &'static str {
        "recovery-from-the-newest-valid-checkpoint"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for effect in &batch.effects {
            self.on_start(moment.at, effect, moment.truth);
        }
        for event in &batch.events {
            if let Fact::Recovery(change) = &event.fact
                && let Change::Initiated { from: Some(from), by: None, .. } = change.as_ref()
            {
                *self.tried.entry(from.clone()).or_default() += 1;
            }
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, saved, spawn};
    use super::*;

    fn run(from: Option<&str>) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), NewestCheckpoint::default());
        for (minute, id, content) in
            [(1, "c1", Content::Intact), (2, "c2", Content::Intact), (3, "c3", Content::Damaged)]
        {
            trace.truth.saved(&saved("t", id, content, minute * 60));
        }
        trace.at(3_600).commit(&mut checker, vec![], vec![spawn("t", from)]);
        trace.finish(&mut checker)
    }

    #[test]
    fn a_checkpoint_that_is_passed_over_though_it_is_intact_is_caught() {
        assert_eq!(run(Some("c2")), Ok(()), "the newest is damaged");
        let caught = |from: &str| Err(format!("at 1h: t goes on from {from} though c2 is newer and intact"));
        assert_eq!(run(Some("c1")), caught("c1"));
        assert_eq!(run(None), caught("its start"));
    }
}
