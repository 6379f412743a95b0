//! Lines of code, as they stand in files, patches and hits.

use std::fmt::Write as _;

use super::voice::Voice;

/// Room for most lines.
const LINE_MAX: usize = 64;

/// What stands before, between and after two names.
const LINES: [(&str, &str, &str); 12] = [
    ("    let ", " = ", "();"),
    ("    if ", ".is_empty() || !", " {"),
    ("    return ", ".", "()"),
    ("    // ", " needs the ", " first"),
    ("    self.", ".push(", ")"),
    ("    ", ": ", ","),
    ("def ", "(", "):"),
    ("    raise ValueError(", ", ", ")"),
    ("    for ", " in ", ":"),
    ("    ", " = ", "[0]"),
    ("    assert ", " == ", ""),
    ("fn ", "(", ": &str) {"),
];

/// One line of code.
pub(crate) fn line(voice: &mut Voice) -> String {
    let mut out = String::with_capacity(LINE_MAX);
    push_line(voice, &mut out);
    out
}

/// One line of code, at the end of a text. Most of what agents read is this: it is not formatted, but put together.
pub(crate) fn push_line(voice: &mut Voice, out: &mut String) {
    let (before, between, after) = *voice.rng.choice(&LINES);
    out.push_str(before);
    voice.push_name(out);
    out.push_str(between);
    if voice.chance(0.4) {
        voice.push_name(out);
    } else {
        out.push_str(voice.noun());
    }
    out.push_str(after);
}

/// Some lines of code.
pub(crate) fn block(voice: &mut Voice, lines: u64) -> String {
    let mut out = String::with_capacity(lines as usize * LINE_MAX);
    for _ in 0..lines {
        push_line(voice, &mut out);
        out.push('\n');
    }
    out
}

/// A file that is looked at more than once, and changes only when it is changed.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) lines: Vec<String>,
}

impl Source {
    pub(crate) fn draw(voice: &mut Voice, lines: u64) -> Self {
        Self { file: voice.file(), lines: (0..lines).map(|_| line(voice)).collect() }
    }

    /// What an editor shows of it: the whole, with numbers.
    pub(crate) fn page(&self) -> String {
        let mut out = format!("[File: {} ({} lines total)]\n", self.file, self.lines.len());
        for (nth, line) in self.lines.iter().enumerate() {
            let _ = writeln!(out, "{}:{line}", nth + 1);
        }
        out
    }
}
