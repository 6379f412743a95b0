//! Columns that line up.

use std::io::{self, Write};

use super::paint::{Paint, Style};
use super::words::safe;

/// A table that is put together row by row.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<(String, Style)>>,
}

impl Table {
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self { heading: heading.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. What comes from outside is made safe to show.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = (String, Style)>) {
        self.rows.push(cells.into_iter().map(|(text, style)| (safe(&text), style)).collect());
    }

    pub(crate) fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.heading.len()).map(|column| self.width(column)).collect();
        let heading: Vec<_> = self.heading.iter().map(|name| ((*name).to_owned(), Style::Dim)).collect();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let mut line = String::new();
            for (at, ((text, style), width)) in row.iter().zip(&widths).enumerate() {
                line.push_str(&paint.paint(*style, text));
                // The last column ends where its text ends.
                if at + 1 < row.len() {
                    line.push_str(&" ".repeat(width - text.chars().count() + 2));
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.chars().count());
        cells.max().unwrap_or(0).max(self.heading[column].chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_hostile_names_do_nothing_to_the_terminal() {
        let mut table = Table::new(&["AGENT", "STATE"]);
        for (agent, state) in [("a", "HEALTHY"), ("ünï-2\x1b[2J", "STUCK")] {
            table.row([(agent.to_owned(), Style::Plain), (state.to_owned(), Style::Bad)]);
        }
        let mut out = Vec::new();
        table.print(&mut out, Paint::plain()).expect("memory takes everything");
        let text = String::from_utf8(out).expect("text");
        insta::assert_snapshot!(text, @r"
        AGENT           STATE
        a               HEALTHY
        ünï-2\u{1b}[2J  STUCK
        ");
    }
}
