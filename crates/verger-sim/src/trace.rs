//! What happens in a run, as a stream that checkers and the score read.
//!
//! Pings and vital signs are left out: they come by the million, carry nothing that could harm anybody, and
//! go into the [`Digest`] alone.

use std::fmt::{self, Write as _};

use verger_core::effect::Effect;
use verger_engine::Batch;

use crate::world::{Delivery, SimTime, Truth};

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// When, in true time.
    pub at: SimTime,
    /// What was really the case, up to now.
    pub truth: &'a Truth,
    /// What happened.
    pub what: What<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A batch is on disk. Its state rows are left out.
    Committed {
        /// What it holds.
        batch: &'a Batch,
        /// When it was decided, which is earlier than now if the disk was slow.
        decided: SimTime,
    },
    /// An effect left the monitor.
    Released(&'a Effect),
    /// The monitor's process is stopped or its machine suspended.
    Paused,
    /// The monitor died.
    Died,
    /// The monitor was started again.
    Restarted,
    /// The fleet was restored from its rows beside the running one.
    Drilled {
        /// How the two differ, if they do.
        difference: Option<&'a str>,
    },
    /// The world was healed: no new faults from here on.
    Healed,
}

/// Looks on while a run happens, to explain it to people.
pub trait Watcher {
    /// Something happened.
    fn happened(&mut self, _moment: &Moment<'_>) {}

    /// These arrive at the monitor's sockets, or are lost if it has none.
    fn arrived(&mut self, _at: SimTime, _deliveries: &[Delivery]) {}
}

/// Nobody looks on.
impl Watcher for () {}

/// A fingerprint of everything that was decided and done. Equal runs have equal digests.
///
/// FNV-1a over the written form: slow is fine here, and it is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// Adds a committed batch.
    pub fn batch(&mut self, batch: &Batch) {
        self.number(batch.mark.number);
        self.number(batch.mark.observed.as_millis());
        for event in &batch.events {
            let _ = write!(self, "{event:?}");
        }
        for effect in &batch.effects {
            let _ = write!(self, "{effect:?}");
        }
    }

    /// Adds a released effect.
    pub fn released(&mut self, at: SimTime, effect: &Effect) {
        self.number(at.0);
        self.number(u64::from(effect.key.seq));
        self.bytes(effect.key.agent.as_str().as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x0100_0000_01B3).rotate_left(17);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
