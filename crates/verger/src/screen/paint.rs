//! Colour, on a terminal alone.

use std::env;
use std::io::{IsTerminal, stdout};

/// How a word stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As everything else.
    Plain,
    /// A heading, or what matters less.
    Dim,
    /// All is well.
    Good,
    /// Worth a look.
    Warn,
    /// Something is wrong.
    Bad,
    /// What the text is about.
    Strong,
}

/// Whether words stand out at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    coloured: bool,
}

impl Paint {
    /// For standard output, by the habits of terminals: `NO_COLOR` forbids colours, `CLICOLOR_FORCE` asks for them;
    /// else a terminal that can gets them.
    pub(crate) fn of_stdout() -> Self {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let wanted = is_set("CLICOLOR_FORCE") || (stdout().is_terminal() && !is_dumb);
        Self { coloured: wanted && !is_set("NO_COLOR") }
    }

    /// Without colours.
    #[cfg(test)]
    pub(crate) const fn plain() -> Self {
        Self { coloured: false }
    }

    /// The text in its style.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Dim => "2",
            Style::Good => "32",
            Style::Warn => "33",
            Style::Bad => "31",
            Style::Strong => "1",
        };
        if self.coloured && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Whether a variable switches something on.
pub(super) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_those_who_can_see_them() {
        assert_eq!(Paint { coloured: true }.paint(Style::Bad, "STUCK"), "\x1b[31mSTUCK\x1b[0m");
        assert_eq!(Paint::plain().paint(Style::Bad, "STUCK"), "STUCK");
    }
}
