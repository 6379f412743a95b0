//! Commands that ask a running monitor, or order something of it.
//!
//! Each prints for people, or with `--json` what the monitor answered. What the monitor refuses becomes an exit code
//! ([`Exit`]).

mod agents;
mod breakers;
mod doctor;
mod events;
mod fleet;
mod history;
mod open;
mod orders;
mod reach;
mod tokens;
mod why;

use std::io::Write;

use clap::Subcommand;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::exit::Exit;
use crate::screen::Paint;

#[derive(Debug, Subcommand)]
pub(crate) enum Remote {
    Agents(agents::Agents),
    Agent(agents::One),
    Why(why::Why),
    History(history::History),
    Fleet(fleet::Fleet),
    Events(events::Events),
    Nudge(orders::Nudge),
    Escalate(orders::Escalate),
    Decide(orders::Decide),
    Terminate(orders::Terminate),
    Recover(orders::Recover),
    Wrong(orders::Wrong),
    Breakers(breakers::Breakers),
    /// Make, list and revoke tokens
    #[command(subcommand, arg_required_else_help = true)]
    Token(tokens::Tokens),
    Open(open::Open),
    Doctor(doctor::Doctor),
}

/// Where commands print.
pub(crate) struct Screen<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) paint: Paint,
}

impl Screen<'_> {
    /// Prints an answer as it came, on one line.
    fn json(&mut self, answer: &impl Serialize) -> anyhow::Result<Exit> {
        writeln!(self.out, "{}", serde_json::to_string(answer)?)?;
        Ok(Exit::Done)
    }

    fn line(&mut self, text: &str) -> anyhow::Result<()> {
        writeln!(self.out, "{text}")?;
        Ok(())
    }
}

pub(crate) fn run(command: &Remote, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut screen = Screen { out, paint: Paint::of_stdout() };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            Remote::Agents(args) => agents::list(args, &mut screen).await,
            Remote::Agent(args) => agents::one(args, &mut screen).await,
            Remote::Why(args) => why::run(args, &mut screen).await,
            Remote::History(args) => history::run(args, &mut screen).await,
            Remote::Fleet(args) => fleet::run(args, &mut screen).await,
            Remote::Events(args) => events::run(args, &mut screen).await,
            Remote::Nudge(args) => orders::nudge(args, &mut screen).await,
            Remote::Escalate(args) => orders::escalate(args, &mut screen).await,
            Remote::Decide(args) => orders::decide(args, &mut screen).await,
            Remote::Terminate(args) => orders::terminate(args, &mut screen).await,
            Remote::Recover(args) => orders::recover(args, &mut screen).await,
            Remote::Wrong(args) => orders::wrong(args, &mut screen).await,
            Remote::Breakers(args) => breakers::run(args, &mut screen).await,
            Remote::Token(what) => tokens::run(what, &mut screen).await,
            Remote::Open(args) => open::run(args, &mut screen).await,
            Remote::Doctor(args) => doctor::run(args, &mut screen).await,
        }
    })
}
