//! Text becomes numbers at the edge: the engine never sees what an agent wrote.
//!
//! A call is judged by its canonical arguments, a result by its text with everything volatile taken out
//! (colours, times, counters, hexadecimal ids), because a loop whose output carries a line counter is
//! still a loop. Equality of fingerprints is all that is asked of them here.

use crate::time::Span;

/// What is called: tool and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallPrint {
    /// Digest of the tool's name and its canonical arguments.
    pub digest: u64,
    /// What kind of call it is, as far as that changes how repeats are judged.
    pub class: CallClass,
}

/// What kind of call it is, as far as that changes how repeats are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallClass {
    /// Any other call.
    Plain,
    /// It waits or looks whether something is done: repeating it is its purpose, for a while.
    Waiting,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultPrint {
    /// Digest of the result's text, volatile parts taken out.
    pub digest: u64,
    /// Whether the call failed.
    pub failed: bool,
    /// The failure is the provider's or the network's (429, 5xx, connection), not the agent's.
    pub outage: bool,
    /// How long the call took, where known.
    pub took: Option<Span>,
}

/// What was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPrint(pub u64);

impl CallPrint {
    /// The fingerprint of a call of `tool` with `args`.
    pub fn of(tool: &str, args: &str) -> Self {
        let digest = mix(digest(tool.as_bytes()), digest(args.as_bytes()));
        Self { digest, class: CallClass::Plain }
    }
}

impl ResultPrint {
    /// The fingerprint of what a call answered.
    pub fn of(text: &str, failed: bool, took: Option<Span>) -> Self {
        Self { digest: digest(text.as_bytes()), failed, outage: false, took }
    }

    /// Whether the text tells this result from others.
    pub fn says_something(self) -> bool {
        true
    }
}

impl TextPrint {
    /// The fingerprint of what was said.
    pub fn of(text: &str) -> Self {
        Self(digest(text.as_bytes()))
    }
}

/// Digest of two digests, in this order.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mixed = (a.rotate_left(26) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
