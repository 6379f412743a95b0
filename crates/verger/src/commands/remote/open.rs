//! `verger open`: signs a browser in.

use std::io::{IsTerminal, stdout};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::json;

use super::Screen;
use super::reach::Reach;
use crate::exit::Exit;

/// Sign a browser in to the monitor
///
/// The link works once, for a minute. There is no dashboard yet: a browser that is signed in reads what a read token
/// reads, such as /v1/fleet.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger open                  opens the browser
  verger open --print          only prints the link, for a browser elsewhere")]
pub(crate) struct Open {
    /// Print the link, and open nothing
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn run(args: &Open, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let link = args.reach.control()?.sign_in().await?;
    if args.reach.json {
        return screen.json(&json!({ "url": link.url }));
    }
    screen.line(&link.url)?;
    // Nobody sits in front of a pipe.
    if !args.print && stdout().is_terminal() && !browse(&link.url) {
        screen.hint("no browser could be opened here; open the link in one. It works once, for a minute.")?;
    }
    Ok(Exit::Done)
}

/// The link goes by standard habit through `xdg-open`; other users may see it in the list of processes for a moment, and
/// it works once.
fn browse(url: &str) -> bool {
    let mut program = Command::new("xdg-open");
    program.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    program.status().is_ok_and(|status| status.success())
}
