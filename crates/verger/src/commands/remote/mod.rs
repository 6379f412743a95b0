//! Commands that ask a running monitor, or order something of it.
//!
//! Each prints for people, or with `--json` what the monitor answered. What the monitor refuses becomes an exit code
//! ([`Exit`]).

mod agents;
mod backup;
mod breakers;
mod doctor;
mod events;
mod fleet;
mod hints;
mod history;
mod open;
mod orders;
mod reach;
mod tokens;
mod told;
mod why;

use std::io::Write;

use clap::Subcommand;
use serde::Serialize;
use tokio::runtime::Builder;

pub(crate) use reach::Reach;

use crate::exit::Exit;
use crate::failure;
use crate::screen::{Paint, Style, Width, wrapped};

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
    Backup(backup::Backup),
}

/// Where commands print.
pub(crate) struct Screen<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) paint: Paint,
    pub(crate) width: Width,
}

impl Screen<'_> {
    /// Prints an answer as it came, on one line.
    fn json(&mut self, answer: &impl Serialize) -> anyhow::Result<Exit> {
        writeln!(self.out, "{}", serde_json::to_string(answer)?)?;
        Ok(Exit::Done)
    }

    /// Whether a person looks at it, as far as can be told.
    fn is_seen(&self) -> bool {
        self.width.columns().is_some()
    }

    /// What one could do next, for people alone.
    fn hint(&mut self, text: &str) -> anyhow::Result<()> {
        if self.is_seen() {
            let text = self.paint.paint(Style::Dim, &wrapped(&format!("next: {text}"), 6, self.width));
            self.line(&text)?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> anyhow::Result<()> {
        writeln!(self.out, "{text}")?;
        Ok(())
    }
}

impl Remote {
    /// Which monitor it asks.
    fn reach(&self) -> &Reach {
        match self {
            Self::Agents(args) => &args.reach,
            Self::Agent(args) => &args.reach,
            Self::Why(args) => &args.reach,
            Self::History(args) => &args.reach,
            Self::Fleet(args) => &args.reach,
            Self::Events(args) => &args.reach,
            Self::Nudge(args) => &args.whom.reach,
            Self::Escalate(args) => &args.whom.reach,
            Self::Decide(args) => &args.whom.reach,
            Self::Terminate(args) => &args.whom.reach,
            Self::Recover(args) => &args.reach,
            Self::Wrong(args) => &args.reach,
            Self::Breakers(args) => args.reach(),
            Self::Token(what) => what.reach(),
            Self::Open(args) => &args.reach,
            Self::Doctor(args) => &args.reach,
            Self::Backup(args) => &args.reach,
        }
    }

    /// The agent that an order is about.
    fn whom(&self) -> Option<&str> {
        match self {
            Self::Nudge(args) => Some(&args.whom.id),
            Self::Escalate(args) => Some(&args.whom.id),
            Self::Decide(args) => Some(&args.whom.id),
            Self::Terminate(args) => Some(&args.whom.id),
            _ => None,
        }
    }
}

pub(crate) fn run(command: &Remote, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut screen = Screen { out, paint: Paint::of_stdout(), width: Width::of_stdout() };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match carry_out(command, &mut screen).await {
            Ok(exit) => Ok(exit),
            Err(error) => {
                Ok(failure::report(&error, &hints::sentence(&error), &hints::of(&error, command).await))
            }
        }
    })
}

async fn carry_out(command: &Remote, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    match command {
        Remote::Agents(args) => agents::list(args, screen).await,
        Remote::Agent(args) => agents::one(args, screen).await,
        Remote::Why(args) => why::run(args, screen).await,
        Remote::History(args) => history::run(args, screen).await,
        Remote::Fleet(args) => fleet::run(args, screen).await,
        Remote::Events(args) => events::run(args, screen).await,
        Remote::Nudge(args) => orders::nudge(args, screen).await,
        Remote::Escalate(args) => orders::escalate(args, screen).await,
        Remote::Decide(args) => orders::decide(args, screen).await,
        Remote::Terminate(args) => orders::terminate(args, screen).await,
        Remote::Recover(args) => orders::recover(args, screen).await,
        Remote::Wrong(args) => orders::wrong(args, screen).await,
        Remote::Breakers(args) => breakers::run(args, screen).await,
        Remote::Token(what) => tokens::run(what, screen).await,
        Remote::Open(args) => open::run(args, screen).await,
        Remote::Doctor(args) => doctor::run(args, screen).await,
        Remote::Backup(args) => backup::run(args, screen).await,
    }
}
