//! How wide the screen is, and text that is broken to fit it.
//!
//! Only a terminal has a width. What goes into a pipe or a file is never broken or cut: `grep` reads whole lines. Who
//! wants a pipe to look like a terminal says so by `CLICOLOR_FORCE` and `COLUMNS`.

use std::env;
use std::io::{IsTerminal, stdout};

use super::paint::is_set;

/// Narrower than this nothing can be laid out; the terminal breaks the lines itself.
const NARROWEST: usize = 40;

/// How many characters go into a line; any number where nobody looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width(Option<usize>);

impl Width {
    /// Of standard output.
    pub(crate) fn of_stdout() -> Self {
        if !stdout().is_terminal() && !is_set("CLICOLOR_FORCE") {
            return Self(None);
        }
        let told = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let asked = || rustix::termios::tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col));
        Self::of(told.or_else(asked))
    }

    pub(crate) fn of(columns: Option<usize>) -> Self {
        Self(columns.filter(|columns| NARROWEST <= *columns))
    }

    /// The number of characters, if it is limited.
    pub(crate) const fn columns(self) -> Option<usize> {
        self.0
    }
}

/// The text in lines, each begun by so many spaces but the first, which stands behind what is there already.
pub(crate) fn wrapped(text: &str, indent: usize, width: Width) -> String {
    let Some(columns) = width.columns() else { return text.to_owned() };
    let room = columns.saturating_sub(indent).max(NARROWEST / 2);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one from the beginning");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words_and_goes_on_where_it_began() {
        let text = "the same call with the same result 7 times (limit 4), and nothing saved or learned";
        insta::assert_snapshot!(wrapped(text, 4, Width::of(Some(40))), @r"
        the same call with the same result 7
            times (limit 4), and nothing saved
            or learned
        ");
    }

    #[test]
    fn nothing_is_broken_where_nobody_looks_or_there_is_no_room() {
        let text = "word ".repeat(50);
        assert_eq!(wrapped(&text, 4, Width::of(None)), text);
        assert_eq!(wrapped(&text, 4, Width::of(Some(3))), text);
    }
}
