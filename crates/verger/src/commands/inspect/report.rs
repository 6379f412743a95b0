//! The report that people read: a line for a run that got on, the repeated stretch for one that did not.
//!
//! Everything fits eighty columns. Texts come from agents and from whatever they read, so nothing of them reaches the
//! terminal as they wrote it.

use std::io::{self, Write};
use std::path::Path;

use verger_ingest::{Finding, Lap, Sameness, State, Stretch};

use crate::screen::{Paint, Style, safe};

/// Letters of a line of text, which is indented by two.
const TEXT: usize = 76;
/// Letters of a column of the stretch.
const COLUMN: usize = 32;
/// Steps of the stretch that are shown at its beginning and at its end.
const SHOWN_MAX: usize = 8;
/// Letters that are shown before a difference that lies beyond the column.
const BEFORE_DIFFERENCE: usize = 12;

/// What was found over all.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) runs: u64,
    pub(super) stuck: u64,
    degraded: u64,
    failing: u64,
    pub(super) flawed: u64,
}

impl Sums {
    pub(super) fn count(&mut self, finding: &Finding) {
        self.runs += 1;
        match finding.state {
            State::Healthy => {}
            State::Degraded => self.degraded += 1,
            State::Stuck => self.stuck += 1,
            State::Failing => self.failing += 1,
        }
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let healthy = self.runs - self.stuck - self.degraded - self.failing;
        let runs = if self.runs == 1 { "1 run".to_owned() } else { format!("{} runs", self.runs) };
        write!(out, "\n{runs}: {} stuck, {} failing, ", self.stuck, self.failing)?;
        write!(out, "{} degraded, {healthy} healthy", self.degraded)?;
        if self.flawed > 0 {
            write!(out, "; {} broken, passed over", counted(self.flawed, "place"))?;
        }
        writeln!(out)
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Prints runs one after another.
pub(super) struct Report<'a> {
    pub(super) paint: Paint,
    pub(super) file: &'a Path,
}

impl Report<'_> {
    /// One run. Those that need more than a line stand apart.
    pub(super) fn run(&self, out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
        let state = self.paint.paint(style(finding.state), &format!("{:<8}", finding.state.name()));
        let steps = counted(finding.steps.into(), "step");
        let id = safe(&finding.run_id);
        if finding.state == State::Healthy {
            return writeln!(out, "{state}  {steps:>11}  {id}");
        }
        writeln!(out, "\n{state}  {steps:>11}  {}", self.paint.paint(Style::Strong, &id))?;
        writeln!(out, "  {}", wrapped(&headline(finding)))?;
        for evidence in &finding.evidence {
            writeln!(out, "  {}", wrapped(&safe(&evidence.text)))?;
        }
        if let Some(call) = &finding.unanswered {
            let call = format!("never answered: {} {}", safe(&call.who), safe(&call.what));
            writeln!(out, "  {}", cut(&call, TEXT))?;
        }
        if let Some(at) = finding.recovered_at {
            writeln!(out, "  It found its way again at step {at}.")?;
        }
        writeln!(out, "  {}", self.paint.paint(Style::Dim, &safe(&self.file.display().to_string())))?;
        if finding.state == State::Stuck
            && let Some(shown) = &finding.stretch
        {
            stretch(out, self.paint, shown)?;
        }
        writeln!(out)
    }
}

/// When, since when, and as what.
fn headline(finding: &Finding) -> String {
    let when = match (finding.stuck_at, finding.since) {
        (Some(at), Some(since)) => format!("stuck at step {at}, since step {since}"),
        (None, Some(since)) => format!("repeats itself from step {since} on"),
        _ => format!("{} at its end", finding.state.name().to_lowercase()),
    };
    match finding.kind {
        Some(kind) => format!("{when}: {}", kind.name()),
        None => when,
    }
}

fn style(state: State) -> Style {
    match state {
        State::Healthy => Style::Good,
        State::Degraded => Style::Warn,
        State::Stuck | State::Failing => Style::Bad,
    }
}

/// What was called and what came back, side by side.
pub(super) fn stretch(out: &mut dyn Write, paint: Paint, stretch: &Stretch) -> io::Result<()> {
    if stretch.laps.is_empty() {
        return Ok(());
    }
    if let Some(length) = stretch.length.filter(|length| *length > 1) {
        writeln!(out, "  It comes again every {length} steps.")?;
    }
    let heading = format!("    {:>5}    {:<COLUMN$}   came back", "step", "called");
    writeln!(out, "{}", paint.paint(Style::Dim, &heading))?;
    let hidden = stretch.laps.len().saturating_sub(2 * SHOWN_MAX);
    for (at, lap) in stretch.laps.iter().enumerate() {
        if hidden > 1 && (SHOWN_MAX..SHOWN_MAX + hidden).contains(&at) {
            if at == SHOWN_MAX {
                writeln!(out, "    {:>5}    {hidden} steps more", "…")?;
            }
            continue;
        }
        row(out, paint, lap)?;
    }
    let marks = "    = the same as before   ~ alike";
    writeln!(out, "{}", paint.paint(Style::Dim, marks))
}

fn row(out: &mut dyn Write, paint: Paint, lap: &Lap) -> io::Result<()> {
    let shown = &lap.shown;
    let who = safe(&shown.who);
    let room = COLUMN.saturating_sub(who.chars().count() + 1).max(COLUMN / 2);
    let what = excerpt(&shown.what, lap.call, lap.differs_at.call, room);
    let called = cut(&format!("{who} {what}"), COLUMN);
    let result = excerpt(&shown.result, lap.result, lap.differs_at.result, COLUMN);
    // Padded before it is painted: the colours have no width.
    let result = paint.paint(if shown.failed { Style::Bad } else { Style::Plain }, &result);
    let line =
        format!("    {:>5}  {} {called:<COLUMN$} {} {result}", shown.i, mark(lap.call), mark(lap.result));
    writeln!(out, "{}", line.trim_end())
}

fn mark(sameness: Sameness) -> char {
    match sameness {
        Sameness::Different => ' ',
        Sameness::Alike => '~',
        Sameness::Same => '=',
    }
}

/// The beginning of a text; of one that is alike another, the part where it differs.
fn excerpt(text: &str, sameness: Sameness, differs_at: usize, width: usize) -> String {
    let hidden = differs_at.saturating_sub(BEFORE_DIFFERENCE);
    if sameness == Sameness::Alike && width <= differs_at && hidden > 0 {
        let rest: String = text.chars().skip(hidden).collect();
        return cut(&format!("…{}", safe(&rest)), width);
    }
    cut(&safe(text), width)
}

/// At most this many letters.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Broken between words.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is always a line");
        if !last.is_empty() && TEXT < last.chars().count() + 1 + word.chars().count() {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join("\n  ")
}
