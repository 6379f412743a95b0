//! The `verger` program: commands and exit codes, nothing else.
//!
//! Deliberately absent: every decision about an agent, which is `verger-core`'s, and everything that talks to
//! the world, which is `verger-server`'s.

mod cli;
mod commands;
mod exit;
mod failure;
mod screen;
mod surroundings;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    if let Some(code) = commands::run::inner() {
        return code;
    }
    let out = &mut io::stdout().lock();
    let done = match Cli::parse().command {
        Command::Serve(args) => commands::serve::run(&args, out),
        Command::Run(args) => commands::run::run(&args),
        Command::Config(what) => commands::config::run(&what, out),
        Command::Remote(command) => commands::remote::run(&command, out),
        Command::Service(what) => commands::service::run(&what, out),
        Command::Inspect(args) => commands::inspect::run(&args, out),
        Command::Simulate(args) => commands::simulate::run(&args, out),
        Command::Completions { shell } => commands::completions::run(shell, out),
    };
    done.unwrap_or_else(|error| failure::report(&error, &format!("{error:#}"), &[])).into()
}
