//! Hostile bytes for every decoder, and what must be true whatever they are.
//!
//! Each function here takes any bytes at all, hands them to one decoder as the outside would, and asserts more than
//! that nothing panics:
//!
//! - what is accepted lies within the documented bounds, and comes back the same when it is written and read again;
//! - what is refused is refused with a sentence of bounded length, and with a code where people may meet one;
//! - the same bytes give the same answer.
//!
//! `fuzz_targets/` holds a program for each, in which libFuzzer looks for bytes that reach new code (`scripts/fuzz`).
//! `seeds/` holds what it begins with, all of it written for the purpose; what once broke something is kept there too.
//!
//! Deliberately absent: the network, clocks, randomness. A case that fails fails again.

mod decisions;
mod documents;
mod recordings;
mod reports;
mod resuming;
mod settings;
mod state;
mod steps;
mod texts;

#[cfg(test)]
mod tests;

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;

pub use decisions::decisions;
pub use documents::{bodies, checkpoints, events};
pub use recordings::{otlp, recordings, scenarios};
pub use reports::{heartbeats, lines, signals};
pub use resuming::{cursors, resume};
pub use settings::configuration;
pub use state::{effects, rows};
pub use steps::steps;
pub use texts::texts;

/// One decoder under fire.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it is called: its program, its function here and its folder of seeds.
    pub name: &'static str,
    /// Hands bytes to it, and panics when something is not as it must be.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($name:ident),+ $(,)?) => {
        /// All of them.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: $name }),+];
    };
}

targets! {
    bodies, checkpoints, configuration, cursors, decisions, effects, events, heartbeats, lines, otlp, recordings,
    resume, rows, scenarios, signals, steps, texts,
}

/// A sentence that somebody is told: there is one, and it is no copy of what was sent.
fn assert_told(sentence: &str) {
    assert!(!sentence.trim().is_empty(), "refused without a word");
    assert!(sentence.len() <= SENTENCE_MAX, "refused with {} bytes: {sentence:.200}…", sentence.len());
}

/// The longest sentence about what is wrong.
const SENTENCE_MAX: usize = 2_048;

/// What was read, written and read again is the same, but for the last digit of a fraction: `serde_json` reads those
/// quickly, not exactly, and nothing that is counted in fractions (money, shares) is decided by it.
fn assert_alike<A: Serialize + PartialEq<B> + Debug, B: Serialize + Debug>(again: &A, first: &B) {
    if again != first {
        let json =
            |text: Result<Value, serde_json::Error>| text.expect("what came as JSON is written as JSON");
        let is_alike = alike(&json(serde_json::to_value(again)), &json(serde_json::to_value(first)));
        assert!(is_alike, "read as {first:?}, and as {again:?} when it was written");
    }
}

fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= a.abs() * 1e-14
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| alike(a, b)))
        }
        _ => a == b,
    }
}
