//! What is wrong with a configuration, told as a person would like to read it.
//!
//! ```text
//! verger.yaml:3:5: unknown key `intervall_seconds`
//!   |
//! 3 |     intervall_seconds: 60
//!   |     ^^^^^^^^^^^^^^^^^
//!   = did you mean `interval_seconds`?
//! ```
//!
//! The text of the file is somebody else's: whatever in it could move a cursor or ring a bell is shown as a mark.

use std::fmt;
use std::path::{Path, PathBuf};

/// A longer line is shown only around the place.
const LINE_SHOWN_MAX: usize = 100;
/// More problems than this are counted, not listed: nobody reads them.
const LISTED_MAX: usize = 100;

/// Where something stands in the file. Lines and columns count from one, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// How many characters it takes.
    pub length: u32,
}

impl Place {
    /// The place of the character at a byte offset.
    pub(crate) fn of_offset(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        Self { line: line as u32, column: column as u32, length: 1 }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where; nowhere when it is about the whole file, the environment or a flag.
    pub place: Option<Place>,
    /// Which key, by its dotted name; empty when it is about no single one.
    pub key: String,
    /// What is wrong, as a fragment.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// It is about the environment or a flag, not about the file.
    pub outside: bool,
}

impl Problem {
    pub(crate) fn of_file(message: impl Into<String>) -> Self {
        Self { place: None, key: String::new(), message: message.into(), hint: None, outside: false }
    }

    pub(crate) fn of_key(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), ..Self::of_file(message) }
    }

    /// A problem of a variable or a flag.
    pub(crate) fn of_outside(name: &str, message: impl fmt::Display) -> Self {
        Self { outside: true, ..Self::of_key(name, format!("{name}: {message}")) }
    }

    pub(crate) fn at(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Everything that is wrong, at once. Never empty.
#[derive(Clone, Debug, thiserror::Error)]
pub struct Problems {
    file: PathBuf,
    lines: Vec<String>,
    found: Vec<Problem>,
}

impl Problems {
    pub(crate) fn one(file: &Path, problem: Problem) -> Self {
        Self { file: file.to_path_buf(), lines: Vec::new(), found: vec![problem] }
    }

    /// The problems in the order of the file, each once.
    pub(crate) fn new(file: &Path, text: &str, mut found: Vec<Problem>) -> Self {
        found.sort_by_key(|problem| problem.place);
        // What an alias repeats is wrong once.
        found.dedup_by(|a, b| a.place.is_some() && (a.place, &a.message) == (b.place, &b.message));
        Self { file: file.to_path_buf(), lines: text.lines().map(str::to_owned).collect(), found }
    }

    /// The file that was read; the name that stands for the environment and flags when there was none.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// All of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.found.iter()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    fn write_one(&self, f: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
        let file = visible(&self.file.to_string_lossy());
        match problem.place {
            Some(Place { line, column, .. }) => write!(f, "{file}:{line}:{column}: ")?,
            None if problem.outside => {}
            None => write!(f, "{file}: ")?,
        }
        writeln!(f, "{}", visible(&problem.message))?;
        if let Some(place) = problem.place {
            self.write_snippet(f, place)?;
        }
        match &problem.hint {
            Some(hint) => writeln!(f, "  = {}", visible(hint)),
            None => Ok(()),
        }
    }

    fn write_snippet(&self, f: &mut fmt::Formatter<'_>, place: Place) -> fmt::Result {
        let Some(line) = self.lines.get(place.line as usize - 1) else { return Ok(()) };
        let column = place.column.max(1) as usize - 1;
        let length = line.chars().count();
        let first = if length <= LINE_SHOWN_MAX { 0 } else { column.saturating_sub(LINE_SHOWN_MAX / 2) };
        let shown: String = line.chars().skip(first).take(LINE_SHOWN_MAX).collect();
        let room = shown.chars().count().saturating_sub(column - first).max(1);
        let marks = "^".repeat((place.length.max(1) as usize).min(room));
        let (number, gap) = (place.line.to_string(), " ".repeat(place.line.to_string().len()));
        let (before, after) =
            (if 0 < first { "…" } else { "" }, if first + LINE_SHOWN_MAX < length { "…" } else { "" });
        let indent = " ".repeat(column - first + usize::from(0 < first));
        writeln!(f, "{gap} |\n{number} | {before}{}{after}\n{gap} | {indent}{marks}", visible(&shown))
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.found.iter().take(LISTED_MAX) {
            self.write_one(f, problem)?;
        }
        match self.found.len().checked_sub(LISTED_MAX) {
            Some(more) if 0 < more => writeln!(f, "… and {more} more"),
            _ => Ok(()),
        }
    }
}

/// The text with a mark for everything that a terminal would not simply show; a column stays a column.
pub(crate) fn visible(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars()
        .map(|c| {
            if c == '\t' {
                ' '
            } else if steers(c) {
                '\u{FFFD}'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, problem: Problem) -> String {
        Problems::new(Path::new("verger.yaml"), text, vec![problem]).to_string()
    }

    #[test]
    fn a_problem_shows_where_it_is_and_what_to_do() {
        let place = Place { line: 2, column: 3, length: 5 };
        let problem = Problem::of_key("a.moed", "unknown key `moed`").at(place).hint("did you mean `mode`?");
        insta::assert_snapshot!(shown("a:\n  moed: full\n", problem), @r"
        verger.yaml:2:3: unknown key `moed`
          |
        2 |   moed: full
          |   ^^^^^
          = did you mean `mode`?
        ");
    }

    #[test]
    fn x19_text_of_the_file_cannot_steer_a_terminal() {
        let place = Place { line: 1, column: 1, length: 3 };
        let text = shown("a\u{1b}[31m\u{202E}: 1", Problem::of_file("no \u{7}bell").at(place));
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202E}']), "{text:?}");
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}: 1 {}", "k".repeat(500), "v".repeat(500));
        let shown = shown(&text, Problem::of_file("long").at(Place { line: 1, column: 501, length: 2000 }));
        assert!(shown.lines().all(|line| line.chars().count() < LINE_SHOWN_MAX + 10), "{shown}");
    }

    #[test]
    fn a_thousand_problems_are_not_listed() {
        let found = (0..1000).map(|n| Problem::of_file(format!("no. {n}"))).collect();
        let shown = Problems::new(Path::new("a"), "", found).to_string();
        assert_eq!((shown.lines().count(), shown.lines().last()), (101, Some("… and 900 more")));
    }
}
