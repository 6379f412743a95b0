//! How one agent speaks: its chance in words, its tools and its project's language.

use super::told::{Told, json};
use super::words::{ADJECTIVES, FOLDERS, NOUNS, VERBS};
use crate::rng::Rng;

/// Streams of chance from here on are those of words.
const STREAM: u64 = 0x564F_4943_4500_0000;

/// Room for any name.
const NAME_MAX: usize = 32;

/// How an agent asks for things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A tool for each purpose, with arguments in JSON.
    Tools,
    /// A shell for everything, commands as plain text.
    Shell,
    /// An editor of commands that shows a window of the open file.
    Editor,
}

/// How one agent speaks.
#[derive(Clone, Debug)]
pub(crate) struct Voice {
    pub(crate) rng: Rng,
    pub(crate) dialect: Dialect,
    /// How its project's files end.
    pub(crate) ending: &'static str,
}

impl Voice {
    /// The voice of the agent of this number in the world of this seed.
    pub(crate) fn draw(seed: u64, place: u32) -> Self {
        Self::of(Rng::stream(seed, STREAM + u64::from(place)))
    }

    /// A voice that this chance decides.
    pub(crate) fn of(mut rng: Rng) -> Self {
        let dialect = [Dialect::Tools, Dialect::Shell, Dialect::Editor][rng.weighted(&[60, 25, 15])];
        let ending = *rng.choice::<&str>(&["rs", "py", "ts", "go", "java"]);
        Self { rng, dialect, ending }
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.rng.chance(probability)
    }

    pub(crate) fn number(&mut self, low: u64, high: u64) -> u64 {
        self.rng.range(low, high)
    }

    pub(crate) fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        *self.rng.choice::<&str>(items)
    }

    pub(crate) fn noun(&mut self) -> &'static str {
        self.pick(&NOUNS)
    }

    pub(crate) fn verb(&mut self) -> &'static str {
        self.pick(&VERBS)
    }

    pub(crate) fn adjective(&mut self) -> &'static str {
        self.pick(&ADJECTIVES)
    }

    /// A name in code: `apply_stale_refund`.
    pub(crate) fn name(&mut self) -> String {
        let mut out = String::with_capacity(NAME_MAX);
        self.push_name(&mut out);
        out
    }

    /// The same, at the end of a text.
    pub(crate) fn push_name(&mut self, out: &mut String) {
        let form = self.number(0, 10);
        if form < 8 {
            out.push_str(self.verb());
            out.push('_');
        }
        if form > 3 {
            out.push_str(self.adjective());
            out.push('_');
        }
        out.push_str(self.noun());
    }

    /// The name of a type: `StaleRefund`.
    pub(crate) fn type_name(&mut self) -> String {
        let mut out = String::with_capacity(NAME_MAX);
        for word in [self.adjective(), self.noun()] {
            out.extend(word.chars().take(1).map(|letter| letter.to_ascii_uppercase()));
            out.push_str(&word[1..]);
        }
        out
    }

    /// A file of the project.
    pub(crate) fn file(&mut self) -> String {
        let first = if self.chance(0.5) { self.noun() } else { self.adjective() };
        ["src/", self.pick(&FOLDERS), "/", first, "_", self.noun(), ".", self.ending].concat()
    }

    /// A command in the agent's shell, and what it printed.
    pub(crate) fn run(&self, command: &str, printed: impl Into<String>) -> Told {
        let (tool, args) = self.shell(command);
        Told::new(tool, args, printed)
    }

    /// A command that failed.
    pub(crate) fn run_in_vain(&self, command: &str, printed: &str) -> Told {
        let (tool, args) = self.shell(command);
        let result = match self.dialect {
            Dialect::Tools => format!("Exit code 1\n{printed}"),
            Dialect::Shell | Dialect::Editor => printed.to_owned(),
        };
        Told::failed(tool, args, result)
    }

    /// How the agent asks for a command.
    fn shell(&self, command: &str) -> (&'static str, String) {
        match self.dialect {
            Dialect::Tools => ("Bash", json(&[("command", command)])),
            Dialect::Shell | Dialect::Editor => ("bash", command.to_owned()),
        }
    }
}
