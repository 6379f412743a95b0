//! Columns that line up, and fit the screen.
//!
//! A pipe gets every column in full. On a terminal, columns that say nothing of anybody are left out, then the least
//! important ones until the rest fits, and the last one is cut where the line ends.

use std::io::{self, Write};

use super::paint::{Paint, Style};
use super::width::Width;
use super::words::safe;

/// What the last column keeps of its text before another one gives way.
const LAST_MIN: usize = 24;
const GAP: usize = 2;

/// A column, and whether it may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Always there.
    Kept(&'static str),
    /// Gives way on a narrow screen, and where no row has anything to say but this.
    Optional(&'static str, &'static str),
}

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Self::Kept(name) | Self::Optional(name, _) => name,
        }
    }
}

/// A table that is put together row by row.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<(String, Style)>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row. What comes from outside is made safe to show.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = (String, Style)>) {
        self.rows.push(cells.into_iter().map(|(text, style)| (safe(&text), style)).collect());
    }

    pub(crate) fn print(&self, out: &mut dyn Write, paint: Paint, width: Width) -> io::Result<()> {
        let shown = self.shown(width);
        let heading: Vec<_> =
            self.columns.iter().map(|column| (column.name().to_owned(), Style::Dim)).collect();
        for row in std::iter::once(&heading).chain(&self.rows) {
            writeln!(out, "{}", self.line(row, &shown, paint, width))?;
        }
        Ok(())
    }

    /// The columns that are shown, by number.
    fn shown(&self, width: Width) -> Vec<usize> {
        let all = 0..self.columns.len();
        let Some(room) = width.columns() else { return all.collect() };
        let mut shown: Vec<usize> = all.filter(|column| self.says_something(*column)).collect();
        while room < self.narrowest(&shown) {
            let gives_way =
                shown.iter().rposition(|column| matches!(self.columns[*column], Column::Optional(..)));
            let Some(at) = gives_way else { break };
            shown.remove(at);
        }
        shown
    }

    fn says_something(&self, column: usize) -> bool {
        match self.columns[column] {
            Column::Kept(_) => true,
            Column::Optional(_, nothing) => self.rows.iter().any(|row| row[column].0 != nothing),
        }
    }

    /// What a line takes at least: the last column can be cut, the others cannot.
    fn narrowest(&self, shown: &[usize]) -> usize {
        let Some((last, others)) = shown.split_last() else { return 0 };
        others.iter().map(|column| self.width(*column) + GAP).sum::<usize>() + self.width(*last).min(LAST_MIN)
    }

    fn line(&self, row: &[(String, Style)], shown: &[usize], paint: Paint, width: Width) -> String {
        let (mut line, mut used) = (String::new(), 0);
        for (at, column) in shown.iter().enumerate() {
            let (text, style) = &row[*column];
            let is_last = at + 1 == shown.len();
            let text = if is_last { cut(text, width, used) } else { text.clone() };
            line.push_str(&paint.paint(*style, &text));
            // The last column ends where its text ends.
            if !is_last {
                let cell = self.width(*column) + GAP;
                line.push_str(&" ".repeat(cell - text.chars().count()));
                used += cell;
            }
        }
        line.trim_end().to_owned()
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].0.chars().count());
        cells.max().unwrap_or(0).max(self.columns[column].name().chars().count())
    }
}

/// The text, as far as it fits behind so many characters.
fn cut(text: &str, width: Width, used: usize) -> String {
    match width.columns().map(|columns| columns.saturating_sub(used)) {
        Some(room) if room < text.chars().count() => {
            text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(table: &Table, columns: Option<usize>) -> String {
        let mut out = Vec::new();
        table.print(&mut out, Paint::plain(), Width::of(columns)).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn columns_line_up_and_hostile_names_do_nothing_to_the_terminal() {
        let mut table = Table::new(&[Column::Kept("AGENT"), Column::Kept("STATE")]);
        for (agent, state) in [("a", "HEALTHY"), ("ünï-2\x1b[2J", "STUCK")] {
            table.row([(agent.to_owned(), Style::Plain), (state.to_owned(), Style::Bad)]);
        }
        insta::assert_snapshot!(printed(&table, None), @r"
        AGENT           STATE
        a               HEALTHY
        ünï-2\u{1b}[2J  STUCK
        ");
    }

    #[test]
    fn a_narrow_screen_gets_what_matters_and_a_pipe_everything() {
        let columns = [
            Column::Kept("AGENT"),
            Column::Optional("ROLE", "default"),
            Column::Optional("TASK", "-"),
            Column::Kept("WHY"),
        ];
        let mut table = Table::new(&columns);
        for (agent, task) in [("agent-1", "-"), ("agent-2", "a-rather-long-task")] {
            let why = "no tool call for 17m (limit 15m), and more besides";
            table.row([agent, "default", task, why].map(|text| (text.to_owned(), Style::Plain)));
        }
        insta::assert_snapshot!(printed(&table, None), @r"
        AGENT    ROLE     TASK                WHY
        agent-1  default  -                   no tool call for 17m (limit 15m), and more besides
        agent-2  default  a-rather-long-task  no tool call for 17m (limit 15m), and more besides
        ");
        insta::assert_snapshot!(printed(&table, Some(60)), @r"
        AGENT    TASK                WHY
        agent-1  -                   no tool call for 17m (limit 15…
        agent-2  a-rather-long-task  no tool call for 17m (limit 15…
        ");
        insta::assert_snapshot!(printed(&table, Some(40)), @r"
        AGENT    WHY
        agent-1  no tool call for 17m (limit 15…
        agent-2  no tool call for 17m (limit 15…
        ");
    }
}
