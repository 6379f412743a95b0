//! The `verger` program: commands and exit codes, nothing else.
//!
//! Deliberately absent: every decision about an agent, which is `verger-core`'s, and everything that talks to
//! the world, which is `verger-server`'s.

mod cli;
mod commands;
mod exit;
mod screen;
mod surroundings;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let out = &mut io::stdout().lock();
    let done = match Cli::parse().command {
        Command::Serve(args) => commands::serve::run(&args, out),
        Command::Config(what) => commands::config::run(&what, out),
        Command::Remote(command) => commands::remote::run(&command, out),
        Command::Service(what) => commands::service::run(&what, out),
        Command::Backup(args) => commands::backup::run(&args, out),
        Command::Inspect(args) => commands::inspect::run(&args, out),
        Command::Simulate(args) => commands::simulate::run(&args, out),
        Command::Completions { shell } => commands::completions::run(shell, out),
    };
    done.unwrap_or_else(|error| report(&error)).into()
}

/// Says what went wrong. A reader that has seen enough (`verger … | head`) is no failure.
fn report(error: &anyhow::Error) -> Exit {
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return Exit::Done;
    }
    // Nothing is left to be done if even this cannot be written.
    let _ = writeln!(io::stderr(), "error: {error:#}");
    error.downcast_ref::<verger_client::Error>().map_or(Exit::Failed, Exit::of)
}
