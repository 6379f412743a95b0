//! `verger inspect`: what a live monitor would have made of recorded runs.
//!
//! Standard output holds what was found, run by run, as soon as a run is read; standard error what could not be read,
//! and progress if it is a terminal. One recording that cannot be read does not keep the others from being read.

mod expect;
mod json;
mod report;

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use verger_ingest::{Expanded, Finding, Inspector, ReadError, Recording, State, expand, read};

use crate::cli::{FailOn, Inspect};
use crate::exit::Exit;
use crate::screen::{Paint, safe};
use report::Sums;

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
    let paint = Paint::of_stdout();
    let mut printed = Ok(());
    let mut found = |finding: Finding| {
        sums.count(&finding);
        if printed.is_ok() {
            let name = recording.name();
            printed = bar.suspend(|| if args.json { json::line(out, &finding) } else { report::run(out, paint, name, &finding) });
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

/// Whether a run is one to look at.
const fn is_notable(state: State) -> bool {
    matches!(state, State::Stuck | State::Failing)
}
