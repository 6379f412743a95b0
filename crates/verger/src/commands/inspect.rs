//! `verger inspect`: what a live monitor would have made of recorded runs.
//!
//! Standard output holds what was found, run by run, as soon as a run is read; standard error what could not be read,
//! and progress if it is a terminal. One recording that cannot be read does not keep the others from being read.

mod expect;
mod json;
mod report;

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use verger_ingest::{Expanded, Finding, Inspector, ReadError, Recording, expand, read};

use crate::cli::{FailOn, Inspect};
use crate::exit::Exit;
use crate::screen::{Paint, safe};
use report::{Report, Sums};

/// Flaws of one recording that are named; the rest is counted.
const FLAWS_NAMED: usize = 5;

pub(crate) fn run(args: &Inspect, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.expect {
        return expect::run(args, out);
    }
    let Expanded { recordings, errors } = expand(&args.files);
    let bar = bar(&recordings);
    let mut sums = Sums::default();
    let mut worst = Exit::Done;
    for error in &errors {
        worst = worse(worst, complain(&bar, error));
    }
    for recording in &recordings {
        if let Err(error) = one(recording, args, out, &bar, &mut sums)? {
            worst = worse(worst, complain(&bar, &error));
        }
    }
    bar.finish_and_clear();
    if !args.json && sums.runs > 0 {
        sums.print(out)?;
    }
    out.flush()?;
    let found_stuck = args.fail_on == Some(FailOn::Stuck) && sums.stuck > 0;
    Ok(if found_stuck { worse(worst, Exit::Failed) } else { worst })
}

/// Reads one recording and prints what is found in it. The inner error is the recording's, the outer the reader's.
fn one(
    recording: &Recording,
    args: &Inspect,
    out: &mut dyn Write,
    bar: &ProgressBar,
    sums: &mut Sums,
) -> anyhow::Result<Result<(), ReadError>> {
    let report = Report { paint: Paint::of_stdout(), file: recording.name() };
    let mut printed = Ok(());
    let mut found = |finding: Finding| {
        sums.count(&finding);
        if printed.is_ok() {
            printed =
                bar.suspend(|| if args.json { json::line(out, &finding) } else { report.run(out, &finding) });
        }
    };
    let mut inspector = Inspector::new(&mut found);
    let done = read(recording, args.format, &mut inspector, &|bytes| bar.inc(bytes));
    let (flaws, flawed) = (inspector.flaws, inspector.flawed);
    printed?;
    // A recording that gave nothing says so itself, with the first thing that was wrong.
    if done.is_ok() && flawed > 0 {
        sums.flawed += flawed;
        bar.suspend(|| {
            let name = safe(&recording.name().display().to_string());
            let mut err = io::stderr().lock();
            // Nothing is left to be done if even this cannot be written.
            for flaw in flaws.iter().take(FLAWS_NAMED) {
                let _ = writeln!(err, "warning: {name}: {}", safe(&flaw.to_string()));
            }
            let more = flawed - flaws.len().min(FLAWS_NAMED) as u64;
            if more > 0 {
                let _ = writeln!(err, "warning: {name}: and {more} more that could not be read");
            }
        });
    }
    Ok(done.map(|_| ()))
}

/// The bar counts bytes over all recordings. Without a terminal at standard error it draws nothing.
fn bar(recordings: &[Recording]) -> ProgressBar {
    let bytes = recordings.iter().map(Recording::bytes).sum();
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {bytes} of {total_bytes}, {eta} left");
    bar.set_style(style.expect("the template is valid"));
    bar
}

fn complain(bar: &ProgressBar, error: &ReadError) -> Exit {
    // Nothing is left to be done if even this cannot be written.
    bar.suspend(|| drop(writeln!(io::stderr(), "error: {}", safe(&error.to_string()))));
    if matches!(error, ReadError::NotFound(_)) { Exit::NotFound } else { Exit::Failed }
}

/// What is not there at all is worth more to a script than what could not be read.
fn worse(one: Exit, other: Exit) -> Exit {
    if one == Exit::Done || other == Exit::NotFound { other } else { one }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::Parser;
    use tempfile::TempDir;

    use super::*;
    use crate::cli::{Cli, Command};

    /// A folder with a run that loops and one that does not.
    fn recordings() -> (TempDir, PathBuf) {
        let folder = TempDir::new().expect("a folder");
        let step = |i: usize, command: &str, result: &str| serde_json::json!({"i": i, "kind": "tool", "name": "bash", "args": command, "result": result, "error": false});
        let loops: Vec<_> = (0..9)
            .map(|i| step(i, "pdflatex a.tex", "bash: line 1: pdflatex: \x1b[31mcommand not found\x1b[0m"))
            .collect();
        let works: Vec<_> =
            (0..9).map(|i| step(i, &format!("cat part{i}.txt"), &"abc".repeat(i + 1))).collect();
        let lines = [
            serde_json::json!({"run_id": "loops\x1b[2J", "steps": loops}).to_string(),
            "{broken".to_owned(),
            serde_json::json!({"run_id": "works", "steps": works}).to_string(),
        ];
        let path = folder.path().join("runs.jsonl");
        fs::write(&path, lines.join("\n")).expect("a file");
        (folder, path)
    }

    fn output(arguments: &[&str], path: &Path) -> (String, Exit) {
        let path = path.display().to_string();
        let words = ["verger", "inspect"].iter().chain(arguments).copied().chain([path.as_str()]);
        let Command::Inspect(args) = Cli::parse_from(words).command else { panic!("{arguments:?}") };
        let mut out = Vec::new();
        let exit = run(&args, &mut out).expect("memory takes everything");
        (String::from_utf8(out).expect("text"), exit)
    }

    #[test]
    fn programs_get_the_fields_of_the_contract_a_line_each() {
        let (_folder, path) = recordings();
        let (text, exit) = output(&["--json"], &path);
        assert_eq!(exit, Exit::Done);
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let fields: Vec<_> = lines[0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["evidence", "kind", "runId", "state", "steps", "stuckAtStep"]);
        assert_eq!(
            (lines[0]["state"].as_str(), lines[1]["state"].as_str()),
            (Some("STUCK"), Some("HEALTHY"))
        );
        assert!(lines[0]["stuckAtStep"].is_u64() && lines[1]["stuckAtStep"].is_null(), "{text}");
        assert_eq!(lines[1]["runId"], "works");
        assert!(!lines[0]["evidence"].as_array().unwrap().is_empty());
    }

    #[test]
    fn x19_people_see_the_stretch_in_eighty_columns_and_no_escape_of_an_agent() {
        let (_folder, path) = recordings();
        let (text, _) = output(&[], &path);
        let path = path.display().to_string();
        insta::assert_snapshot!(text.replace(&path, "FILE"));
        assert!(!text.contains('\x1b'), "{text}");
        let long: Vec<_> =
            text.lines().filter(|line| !line.contains(&path) && 80 < line.chars().count()).collect();
        assert_eq!(long, Vec::<&str>::new());
    }

    #[test]
    fn scripts_learn_from_the_exit_code() {
        let (folder, path) = recordings();
        assert_eq!(output(&["--fail-on", "stuck"], &path).1, Exit::Failed);
        assert_eq!(output(&[], &folder.path().join("no.jsonl")).1, Exit::NotFound);
        for (name, content) in
            [("empty.jsonl", ""), ("odd.jsonl", "{\"a\": 1}\n"), ("noise.jsonl", "\0\u{1}\n\u{2}")]
        {
            let path = folder.path().join(name);
            fs::write(&path, content).expect("a file");
            assert_eq!(output(&[], &path).1, Exit::Failed, "{name}");
        }
        // One that is not there does not keep the others from being read.
        let gone = folder.path().join("no.jsonl").display().to_string();
        let (text, exit) = output(&["--json", &gone], &path);
        assert_eq!((text.lines().count(), exit), (2, Exit::NotFound));
    }

    #[test]
    fn scenarios_are_played_and_those_that_differ_are_shown() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("mine.yaml");
        let step = "steps: [{call: bash, args: make, result: 'make: *** No targets.', exit: 2, times: 9}]";
        let scenarios = format!(
            "scenarios:\n- {{name: it loops, expect: stuck, {step}}}\n- {{name: it is fine, expect: quiet, {step}}}\n"
        );
        fs::write(&path, scenarios).expect("a file");
        let (text, exit) = output(&["--expect"], &path);
        assert_eq!(exit, Exit::Failed);
        insta::assert_snapshot!(text);
        let (text, _) = output(&["--expect", "--json"], &path);
        let passed: Vec<_> = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["passed"].as_bool())
            .collect();
        assert_eq!(passed, [Some(true), Some(false)]);
        fs::write(&path, "scenarios:\n- {name: x, expect: loud, steps: []}\n").expect("a file");
        assert_eq!(output(&["--expect"], &path).1, Exit::Failed);
        assert_eq!(output(&["--expect"], &folder.path().join("no.yaml")).1, Exit::NotFound);
    }
}
