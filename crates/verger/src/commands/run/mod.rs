//! `verger run`: any program as a watched agent. ADR 0005 says who does what.

mod comeback;
mod dispositions;
mod ending;
mod keeper;
mod monitor;
mod notify;
mod place;
mod record;
mod relay;
mod reporter;
mod runner;
mod streams;
mod terminal;
mod typist;
mod words;
mod wrapper;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;
use tokio::runtime::Builder;
use verger_client::Watched;

use self::ending::Ending;
use crate::exit::Exit;

/// Run any program as a watched agent
///
/// The program runs as it would without this: on a terminal or in a pipe, with the same keys, signals and exit code. Its
/// exit, freeze and silence are seen, and `verger terminate` ends all that it started. If no monitor runs, one is started
/// for you; without one the program runs all the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger run -- claude                            as an agent with a name of its own
  verger run --agent coder-1 -- ./agent.py        as this one
  verger run --agent coder-1 --task issue-42 --role critical -- ./agent.py
  verger run --restart -- ./worker                brought back when it fails
  verger run -- make -j8 2>&1 | tee log           in a pipe

The program finds VERGER_AGENT_ID, VERGER_TOKEN, VERGER_URL and NOTIFY_SOCKET around it.
Exit code: the program's own; 126 if it may not be executed, 127 if it is not there.")]
pub(crate) struct Run {
    /// The agent's name [else the program's, with a number]
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// What it works on
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The profile that it is watched under
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Bring it back when it fails, after the waits and within the limits of the monitor
    #[arg(long)]
    restart: bool,
    /// Where the monitor is [else `$VERGER_URL`, else what runs on the data directory]
    #[arg(long, value_name = "URL", help_heading = "Which monitor")]
    url: Option<String>,
    /// Where its data is [else `$VERGER_DATA_DIR`, else `$XDG_STATE_HOME/verger`; root: `/var/lib/verger`]
    #[arg(long, value_name = "DIR", help_heading = "Which monitor")]
    data_dir: Option<PathBuf>,
    /// The program, and what it is called with
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What this program does when it is called by itself, as a part of `verger run`.
pub(crate) fn inner() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (word, rest) = arguments.split_first()?;
    match word.to_str()? {
        keeper::KEEP => Some(keeper::keep(rest)),
        monitor::DETACH => Some(monitor::detach(rest)),
        ending::END_BY => ending::ended_by(rest),
        _ => None,
    }
}

/// This program. One that was replaced meanwhile is still there under this name.
fn own_program() -> PathBuf {
    let own = std::env::current_exe().ok().filter(|path| path.exists());
    own.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

pub(crate) fn run(args: &Run) -> anyhow::Result<Exit> {
    if let Some(watched) = Watched::here() {
        say(&format!("{watched}, so this is a part of it and is not watched by itself"));
        directly(&args.command);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(runner::run(args));
    // Threads that wait for input or for a name would be waited for.
    runtime.shutdown_background();
    ended?.follow()
}

/// The program instead of this one.
fn directly(words: &[OsString]) -> ! {
    let (name, arguments) =
        words.split_first().map_or((OsStr::new(""), &[][..]), |(name, rest)| (name.as_os_str(), rest));
    let error = Command::new(name).args(arguments).exec();
    not_started(words, error.raw_os_error().unwrap_or(0)).follow()
}

/// As shells say and end it.
fn not_started(words: &[OsString], errno: i32) -> Ending {
    let error = io::Error::from_raw_os_error(errno);
    let name = words.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    say(&format!("{name}: {error}"));
    Ending::Code(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

/// A line for the person. Nothing is left to be done if it cannot be written.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "verger: {text}");
}
