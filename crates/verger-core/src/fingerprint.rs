//! Text becomes numbers at the edge: the engine never sees what an agent wrote.
//!
//! A call is judged by its canonical arguments, a result by its text with everything volatile taken out
//! (colours, times, counters, hexadecimal ids), because a loop whose output carries a line counter is
//! still a loop. Equality of fingerprints is all that is asked of them here.
//!
//! Fingerprints are stored, so how they are made is a format: the digest is written out here and never a
//! library's. Making one takes time linear in the text, of which a bounded part is read, and no memory.

mod arguments;
mod digest;
mod outage;
mod shapes;
mod volatile;
mod waiting;

use crate::time::Span;
use digest::Digest;
pub(crate) use digest::mix;
pub(crate) use outage::is_outage;
pub(crate) use volatile::escape_length;

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

/// The part of a text that is read from its beginning, and as much again from its end where results are
/// concerned. Agents cut what a tool answers at some 30 KiB themselves.
const READ_MAX: usize = 64 * 1024;

/// Marks, in the first byte, the digest of a result that says nothing of its own ("", "exit code 1").
const BARE: u64 = 0xff << 56;

impl CallPrint {
    /// The fingerprint of a call of `tool` with `args`.
    ///
    /// Of JSON objects neither the order of the keys nor the space between them matters, nor what the model
    /// says about the call while making it.
    pub fn of(tool: &str, args: &str) -> Self {
        let class = if waiting::waits(tool, args) { CallClass::Waiting } else { CallClass::Plain };
        Self { digest: mix(Digest::of(tool.as_bytes()), arguments::digest(args)), class }
    }
}

impl ResultPrint {
    /// The fingerprint of what a call answered.
    pub fn of(text: &str, failed: bool, took: Option<Span>) -> Self {
        let (digest, bare) = volatile::digest(text);
        let digest = match (bare, digest & BARE == BARE) {
            (true, _) => digest | BARE,
            (false, true) => digest & !(1 << 56),
            (false, false) => digest,
        };
        Self { digest, failed, outage: failed && is_outage(text), took }
    }

    /// Whether the text tells this result from that of any other call. Two searches that find nothing both say
    /// "exit code 1"; that does not make them alike.
    pub fn says_something(self) -> bool {
        self.digest & BARE != BARE
    }
}

impl TextPrint {
    /// The fingerprint of what was said, volatile parts taken out as in results.
    pub fn of(text: &str) -> Self {
        Self(volatile::digest(text).0)
    }
}

#[cfg(test)]
mod tests;
