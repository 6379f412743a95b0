//! `verger breakers` and `verger breakers reset NAME`.

use clap::{Args, Subcommand};
use verger_api::{BreakerState, CircuitBreakerStatus};
use verger_client::{BreakerFilter, Page};

use super::Screen;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::Column::{Kept, Optional};
use crate::screen::{Style, Table, ago, quoted, safe, short, until};

/// List circuit breakers, or close one
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  verger breakers                                     all of them
  verger breakers --state open                        those that refuse calls
  verger breakers reset agent-7/api/search            let calls through again"
)]
pub(crate) struct Breakers {
    #[command(subcommand)]
    what: Option<What>,
    /// Only those in this state: closed, open or half-open
    #[arg(long, value_name = "STATE")]
    state: Option<BreakerState>,
    /// Only those of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Close a breaker, so that calls pass again
    #[command(after_help = "\
Example:
  verger breakers reset agent-7/tool/bash

Mend what failed first: a breaker opens again when calls go on failing.")]
    Reset {
        /// Its name, as `verger breakers` shows it
        name: String,
        #[command(flatten)]
        reach: Reach,
    },
}

impl Breakers {
    /// Which monitor is asked.
    pub(super) fn reach(&self) -> &Reach {
        match &self.what {
            Some(What::Reset { reach, .. }) => reach,
            None => &self.reach,
        }
    }
}

pub(super) async fn run(args: &Breakers, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    match &args.what {
        Some(What::Reset { name, reach }) => reset(name, reach, screen).await,
        None => list(args, screen).await,
    }
}

async fn reset(name: &str, reach: &Reach, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let breaker = reach.control()?.reset_breaker(name).await?;
    if reach.json {
        return screen.json(&breaker);
    }
    screen.line(&format!("{} is {}: calls pass again", safe(&breaker.name), breaker.state))?;
    Ok(Exit::Done)
}

async fn list(args: &Breakers, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let filter = BreakerFilter { state: args.state, agent: args.agent.clone() };
    let page = Page { limit: Some(1_000), cursor: None };
    let answer = args.reach.control()?.breakers(&filter, &page).await?;
    if args.reach.json {
        return screen.json(&answer);
    }
    if answer.items.is_empty() {
        let filtered = args.state.is_some() || args.agent.is_some();
        screen.line(if filtered {
            "no circuit breaker matches"
        } else {
            "no circuit breakers yet: calls make them"
        })?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&[
        Kept("NAME"),
        Kept("STATE"),
        Kept("FOR"),
        Kept("FAILURES"),
        Optional("LAST FAILURE", "-"),
        Optional("TRIED AGAIN", "-"),
    ]);
    for breaker in &answer.items {
        table.row(cells(breaker));
    }
    table.print(screen.out, screen.paint, screen.width)?;
    if let Some(open) = answer.items.iter().find(|breaker| breaker.state == BreakerState::Open) {
        screen
            .hint(&format!("verger breakers reset {}   lets calls through now", quoted(&safe(&open.name))))?;
    }
    Ok(Exit::Done)
}

fn cells(breaker: &CircuitBreakerStatus) -> [(String, Style); 6] {
    let (plain, now) = (|text: String| (text, Style::Plain), now());
    let style = match breaker.state {
        BreakerState::Closed => Style::Good,
        BreakerState::HalfOpen => Style::Warn,
        BreakerState::Open => Style::Bad,
    };
    let tried = breaker.half_open_at.filter(|_| breaker.state == BreakerState::Open);
    [
        plain(breaker.name.clone()),
        (breaker.state.to_string(), style),
        plain(short(breaker.state_changed_at, now)),
        plain(breaker.failure_count.to_string()),
        plain(breaker.last_failure.map_or_else(|| "-".to_owned(), |at| ago(at, now))),
        plain(tried.map_or_else(|| "-".to_owned(), |at| until(at, now))),
    ]
}
