//! What is written together, and what may leave once it is on disk.

use std::collections::BTreeMap;

use verger_core::effect::{Effect, EffectKey};

use crate::clock::Reading;
use crate::durability::keeps;
use crate::inbox::{Answer, Ticket};
use crate::ledger::Ledger;
use crate::outbox::Outbox;
use crate::settings::Settings;
use crate::store::Batch;

/// A batch, with everything that waits for it.
///
/// One of them gathers. A sealed one is on its way to the disk and frozen until it is there, because part of it may be
/// on disk after an error.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    pub(crate) batch: Batch,
    /// A fact came in that somebody wants to rely on.
    pub(crate) fact: bool,
    /// Answers that wait for the commit.
    pub(crate) held: Vec<(Ticket, Answer)>,
    /// Effects of an earlier life that leave once more after the commit that says so.
    pub(crate) again: Vec<Effect>,
    /// Effects that need not be done any more; whoever holds them is told after the commit that says so.
    pub(crate) withdrawn: Vec<EffectKey>,
    /// On the boot clock, when each effect in the batch was decided.
    decided: BTreeMap<EffectKey, u64>,
}

impl Parcel {
    /// Something is to be done, once it is on disk.
    pub(crate) fn decide(&mut self, effect: Effect, boot: u64) {
        self.decided.insert(effect.key.clone(), boot);
        self.batch.effects.push(effect);
    }

    /// These need not be done any more.
    pub(crate) fn withdraw(&mut self, closed: &[EffectKey]) {
        self.withdrawn.extend_from_slice(closed);
        self.batch.effects.retain(|effect| !closed.contains(&effect.key));
        self.again.retain(|effect| !closed.contains(&effect.key));
    }

    /// How much of it grows for as long as nothing can be written. State rows do not: each agent has one.
    pub(crate) fn len(&self) -> usize {
        let Batch { events, effects, retried, finished, blind, .. } = &self.batch;
        let written = events.len() + effects.len() + retried.len() + finished.len() + blind.len();
        written + self.held.len()
    }

    /// It is on disk: lets out what is still to be done. Answers what is not right any more, because the disk took so
    /// long.
    pub(crate) fn release<O: Outbox>(
        self,
        at: Reading,
        settings: &Settings,
        ledger: &Ledger,
        outbox: &mut O,
    ) -> Vec<EffectKey> {
        let Self { batch, again, withdrawn, decided, .. } = self;
        let sealed = batch.mark.taken.boot;
        let is_stale = |since: u64| at.boot.saturating_sub(since) > settings.stale_after.as_millis();
        let mut late = Vec::new();
        for key in withdrawn {
            outbox.withdraw(&key);
        }
        // What was closed since it was sealed must not reach the life that came after.
        for effect in again.into_iter().filter(|effect| ledger.is_out(&effect.key)) {
            if is_stale(sealed) && !keeps(&effect.action) && !outbox.holds(&effect.action) {
                late.push(effect.key);
            } else {
                outbox.release_again(&effect);
            }
        }
        for effect in batch.effects.into_iter().filter(|effect| ledger.is_out(&effect.key)) {
            let since = decided.get(&effect.key).copied().unwrap_or(sealed);
            if is_stale(since) && !keeps(&effect.action) {
                late.push(effect.key);
            } else {
                outbox.release(&effect);
            }
        }
        late
    }
}
