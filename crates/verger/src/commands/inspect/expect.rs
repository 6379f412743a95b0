//! `verger inspect --expect`: plays scenarios and says which came out as written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use verger_ingest::Kind;
use verger_ingest::scenario::{self, Outcome, Scenario};

use super::json::Line;
use super::report;
use crate::cli::Inspect;
use crate::exit::Exit;
use crate::screen::{Paint, Style, safe};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Played<'a> {
    file: String,
    scenario: &'a str,
    passed: bool,
    expected: String,
    #[serde(flatten)]
    found: Line<'a>,
}

pub(super) fn run(args: &Inspect, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let (mut passed, mut failed) = (0_u32, 0_u32);
    let mut worst = Exit::Done;
    for path in args.files.iter().flat_map(|path| files(path)) {
        let scenarios = match load(&path) {
            Ok(scenarios) => scenarios,
            Err((exit, problem)) => {
                // Nothing is left to be done if even this cannot be written.
                let _ = writeln!(io::stderr(), "error: {}", safe(&problem));
                worst = super::worse(worst, exit);
                continue;
            }
        };
        for scenario in scenarios {
            let outcome = scenario.play();
            *(if outcome.passed { &mut passed } else { &mut failed }) += 1;
            show(args, out, &path, &scenario, &outcome)?;
        }
    }
    if !args.json && passed + failed > 0 {
        writeln!(out, "\n{passed} of {} scenarios as expected", passed + failed)?;
    }
    out.flush()?;
    Ok(if failed > 0 { super::worse(worst, Exit::Failed) } else { worst })
}

/// A file, or every scenario file below a folder.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return vec![path.to_path_buf()] };
    let mut inside: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    inside.sort();
    inside.retain(|path| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"));
    inside
}

fn load(path: &Path) -> Result<Vec<Scenario>, (Exit, String)> {
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => (Exit::NotFound, format!("{}: no such file or folder", path.display())),
        _ => (Exit::Failed, format!("{}: cannot be read: {error}", path.display())),
    })?;
    scenario::parse(&text).map_err(|error| (Exit::Failed, format!("{}: {error}", path.display())))
}

fn show(
    args: &Inspect,
    out: &mut dyn Write,
    path: &Path,
    scenario: &Scenario,
    outcome: &Outcome,
) -> anyhow::Result<()> {
    let found = Line::of(&outcome.finding);
    if args.json {
        let file = path.display().to_string();
        let expected = scenario.expected.to_string();
        let played = Played { file, scenario: &scenario.name, passed: outcome.passed, expected, found };
        writeln!(out, "{}", serde_json::to_string(&played)?)?;
        return Ok(());
    }
    let paint = Paint::of_stdout();
    if outcome.passed {
        writeln!(out, "{}    {}", paint.paint(Style::Good, "ok"), safe(&scenario.name))?;
        return Ok(());
    }
    writeln!(out, "{}  {}", paint.paint(Style::Bad, "FAIL"), safe(&scenario.name))?;
    let got = match outcome.finding.stuck_at {
        Some(at) => {
            format!("stuck at step {at}, as `{}`", outcome.finding.kind.map_or("unknown", Kind::name))
        }
        None => format!("quiet ({})", outcome.finding.state.name()),
    };
    writeln!(out, "      expected {}, got {}", safe(&scenario.expected.to_string()), safe(&got))?;
    if let Some(stretch) = outcome.finding.stretch.as_ref().filter(|_| outcome.finding.stuck_at.is_some()) {
        report::stretch(out, paint, stretch)?;
    }
    Ok(())
}
