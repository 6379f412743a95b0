//! How an effect is kept until its outcome is known.
//!
//! ```text
//! layout (one byte) │ the effect, field by field │ checksum (four bytes)
//! ```
//!
//! An effect lies in the outbox across restarts and, after an update, is read by a version that did not write it. So
//! it says which layout it has, and it is sealed: carrying out something that a disk has changed would be worse than
//! refusing the start.

use super::{Damaged, Stored, from_row};
use crate::effect::{Action, Effect, Escalation, ProbeStart, Question};
use crate::messages::ForSender;
use crate::recovery::{Context, Lost, Spawn};

/// The layout of effects. A change of layout raises it, and keeps a reader for the one before.
const LAYOUT: u8 = 1;

/// Why a kept effect cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EffectError {
    /// Something changed it.
    #[error("the kept effect is damaged")]
    Damaged,
    /// A newer version wrote it.
    #[error("the kept effect has layout {found}, and this version reads up to {known}")]
    Newer {
        /// Its layout.
        found: u8,
        /// The newest layout that this version reads.
        known: u8,
    },
}

/// Writes an effect, so that [`effect_from_bytes`] gives the same one back.
pub fn effect_to_bytes(effect: &Effect) -> Vec<u8> {
    let mut bytes = vec![LAYOUT];
    effect.put(&mut bytes);
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Reads an effect to its last byte, or refuses it.
pub fn effect_from_bytes(bytes: &[u8]) -> Result<Effect, EffectError> {
    let (sealed, sum) = bytes.split_last_chunk().ok_or(EffectError::Damaged)?;
    let (&found, content) = sealed.split_first().ok_or(EffectError::Damaged)?;
    if checksum(sealed) != u32::from_le_bytes(*sum) {
        return Err(EffectError::Damaged);
    }
    if found > LAYOUT {
        return Err(EffectError::Newer { found, known: LAYOUT });
    }
    from_row(content).map_err(|Damaged| EffectError::Damaged)
}

/// FNV-1a, as state rows are sealed: against accidents, not against malice.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fields!(Effect { key, action });
fields!(Escalation { reason, evidence, task, checkpoint, nudges, timeout });
fields!(ProbeStart { probe, run, timeout, failures, last });
fields!(Question { ticket, within });
fields!(Spawn { task, agent, start, attempt, from, context });
fields!(Context { reason, attempt, attempts_max, from, lost });
fields!(Lost { checkpoints, work });

variants!(Action {
    0 = Ping, 1 = Inquire { task, within, text }, 2 = Nudge { attempt, text }, 3 = Escalate(escalation),
    4 = Interrupt { repeats }, 5 = RequestHandoff { within }, 6 = Stop { within }, 7 = Survey { task },
    8 = Spawn(spawn), 9 = Withdraw { task, start, incarnation }, 10 = Deliver { message, from, attempt },
    11 = RemindOfMessage { message, from, unread }, 12 = TellSender { message, to, news },
    13 = WriteCheckpoint { id, store, attempt }, 14 = Probe(probe), 15 = AskAdvice(question),
});
variants!(ForSender { 0 = NotDelivered(why), 1 = Delivered { after }, 2 = Dropped, 3 = Expired });

#[cfg(test)]
mod tests;
