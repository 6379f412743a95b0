//! What the processes of one run have in their environment, so that they are known without their parents.
//!
//! A child inherits its environment, through any number of forks and sessions, and `/proc` shows the one that it was
//! started with. So a process that bears the mark was started by the run, whoever its parent is now. A run inside a
//! run adds its mark to the one that it finds: the outer one knows its own all the same.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;

use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

/// The variable with the agent's name; its whole tree has it.
pub const AGENT_VARIABLE: &str = "VERGER_AGENT_ID";
/// The variable with the marks of the runs that a process belongs to, the innermost last, with `:` between.
pub const RUN_VARIABLE: &str = "VERGER_RUN";

/// More runs inside each other than anybody needs; the outermost are left out beyond.
const NESTED_MAX: usize = 16;
/// In characters: 128 random bits in hexadecimal.
const LENGTH: usize = 32;

/// The mark of one run. Not secret, and not to be guessed either, so that nobody bears it by accident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mark(String);

/// A text that is no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a mark is 32 hexadecimal digits")]
pub struct MarkError;

impl Mark {
    /// A new one, that no other run has.
    pub fn random() -> Self {
        let mut bytes = [0; LENGTH / 2];
        SystemRandom::new().fill(&mut bytes).expect("the system has randomness once it has started");
        let mut text = String::with_capacity(LENGTH);
        for byte in bytes {
            write!(text, "{byte:02x}").expect("a string takes any text");
        }
        Self(text)
    }

    /// What [`RUN_VARIABLE`] is set to for the child, given what it is here.
    pub fn variable(&self, outer: Option<&OsStr>) -> String {
        let outer = outer.map(OsStr::to_string_lossy).unwrap_or_default();
        let mut marks: Vec<_> = outer.split(':').filter(|mark| is_mark(mark)).collect();
        marks.drain(..marks.len().saturating_sub(NESTED_MAX - 1));
        marks.push(&self.0);
        marks.join(":")
    }

    /// Whether an environment, as `/proc` shows it, bears this mark.
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        values(environment, RUN_VARIABLE)
            .any(|value| value.split(|byte| *byte == b':').any(|mark| mark == self.0.as_bytes()))
    }
}

impl TryFrom<String> for Mark {
    type Error = MarkError;

    fn try_from(text: String) -> Result<Self, MarkError> {
        if is_mark(&text) { Ok(Self(text)) } else { Err(MarkError) }
    }
}

impl From<Mark> for String {
    fn from(mark: Mark) -> Self {
        mark.0
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The names of the variables of an environment, without their values.
pub(super) fn names(environment: &[u8]) -> impl Iterator<Item = &OsStr> {
    let variables = environment.split(|byte| *byte == 0);
    variables.filter_map(|variable| {
        let end = variable.iter().position(|byte| *byte == b'=').filter(|end| *end > 0)?;
        Some(OsStr::from_bytes(&variable[..end]))
    })
}

fn values<'a>(environment: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let variables = environment.split(|byte| *byte == 0);
    variables.filter_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

fn is_mark(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(value: &str) -> Vec<u8> {
        format!("PATH=/bin\0{RUN_VARIABLE}={value}\0HOME=/\0").into_bytes()
    }

    #[test]
    fn a_mark_is_known_in_an_environment_also_beside_others() {
        let (outer, inner, other) = (Mark::random(), Mark::random(), Mark::random());
        let alone = outer.variable(None);
        let both = inner.variable(Some(OsStr::new(&alone)));
        for (value, known) in [(&alone, [true, false]), (&both, [true, true])] {
            let found = [&outer, &inner].map(|mark| mark.is_in(&environment(value)));
            assert_eq!(found, known, "{value}");
            assert!(!other.is_in(&environment(value)));
        }
        assert!(!outer.is_in(format!("OTHER_{RUN_VARIABLE}={outer}\0").as_bytes()));
        assert!(!outer.is_in(b""));
    }

    #[test]
    fn runs_inside_each_other_do_not_grow_the_variable_for_ever() {
        let mut value = "nonsense:".to_owned();
        for _ in 0..100 {
            value = Mark::random().variable(Some(OsStr::new(&value)));
        }
        assert_eq!(value.split(':').count(), NESTED_MAX);
    }

    #[test]
    fn names_are_told_without_values() {
        let names: Vec<_> = names(b"A=secret\0B==\0=x\0nothing\0C=\0").collect();
        assert_eq!(names, ["A", "B", "C"]);
    }

    #[test]
    fn only_a_mark_is_a_mark() {
        let mark = Mark::random();
        assert_eq!(Mark::try_from(String::from(mark.clone())), Ok(mark));
        for text in ["", "x", "0123456789ABCDEF0123456789ABCDEF"] {
            assert_eq!(Mark::try_from(text.to_owned()), Err(MarkError));
        }
    }
}
