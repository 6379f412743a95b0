//! `verger backup FILE`: has the monitor make a copy of all that it remembers.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use super::Screen;
use super::reach::Reach;
use crate::exit::Exit;
use crate::screen::{count, safe};

/// Copy everything that a running monitor remembers into one file
///
/// Nobody who reports or asks waits for it. The monitor makes the file, on its machine. To restore it, put it into an
/// empty data directory as `verger.db` and start a monitor there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger backup verger-2026-11-16.db
  verger backup \"backups/verger-$(date +%F).db\" --json

Exit code 5 when no monitor works on this data.")]
pub(crate) struct Backup {
    /// The file to make; there must be none of this name
    file: PathBuf,
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn run(args: &Backup, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    // The monitor may work in another folder.
    let file =
        std::path::absolute(&args.file).with_context(|| format!("{} is no file", args.file.display()))?;
    let control = args.reach.control()?;
    control.health().await?;
    if file.exists() {
        bail!("{} exists already, and nothing is written over; choose another name", file.display());
    }
    let made = control.backup(&file).await?;
    if args.reach.json {
        return screen.json(&made);
    }
    let megabytes = made["bytes"].as_u64().unwrap_or(0) as f64 / 1e6;
    screen.line(&format!("{}: {megabytes:.1} MB", safe(&file.display().to_string())))?;
    if let Some(lost @ 1..) = made["checkpointsLost"].as_u64() {
        screen.line(&format!(
            "{} not in it: damaged or missing in the data directory",
            count(lost, "checkpoint")
        ))?;
    }
    screen.hint(
        "to restore it, put it into an empty folder as verger.db and run `verger serve --data-dir` there",
    )?;
    Ok(Exit::Done)
}
