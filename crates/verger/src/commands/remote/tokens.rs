//! `verger token create|list|revoke`.

use std::io::{self, Write};

use clap::Subcommand;
use verger_api::{HumanDuration, NewToken, Scope};
use verger_client::Page;

use super::Screen;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::Column::{Kept, Optional};
use crate::screen::{Style, Table, ago, safe, until};

#[derive(Debug, Subcommand)]
pub(crate) enum Tokens {
    /// Make a token; its secret is shown once, and is all that goes to standard output
    #[command(after_help = "\
Examples:
  verger token create --scope agent --agent agent-7       for one agent
  verger token create --scope read --expires-in 30d       for a dashboard
  verger token create --scope admin --label ci --json     for a program that orders things")]
    Create {
        /// What its holder may do: agent, read or admin
        #[arg(long, value_name = "SCOPE")]
        scope: Scope,
        /// With scope agent: the agent that it speaks for
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// What it is for, in your words
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
        /// How long it holds, as in 30d; without it, until it is revoked
        #[arg(long, value_name = "DURATION")]
        expires_in: Option<HumanDuration>,
        #[command(flatten)]
        reach: Reach,
    },
    /// List tokens, without their secrets
    #[command(
        after_help = "Example:\n  verger token list --json | jq '.items[] | select(.scope == \"admin\")'"
    )]
    List {
        #[command(flatten)]
        reach: Reach,
    },
    /// End a token at once
    #[command(after_help = "Example:\n  verger token revoke tok_5cb0cdcdf87e")]
    Revoke {
        /// Its name, as `verger token list` shows it
        id: String,
        #[command(flatten)]
        reach: Reach,
    },
}

impl Tokens {
    /// Which monitor is asked.
    pub(super) fn reach(&self) -> &Reach {
        match self {
            Self::Create { reach, .. } | Self::List { reach } | Self::Revoke { reach, .. } => reach,
        }
    }
}

pub(super) async fn run(what: &Tokens, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    match what {
        Tokens::Create { scope, agent, label, expires_in, reach } => {
            let wanted = NewToken {
                scope: *scope,
                agent_id: agent.clone(),
                label: label.clone(),
                expires_in: *expires_in,
            };
            create(&wanted, reach, screen).await
        }
        Tokens::List { reach } => list(reach, screen).await,
        Tokens::Revoke { id, reach } => {
            reach.control()?.revoke_token(id).await?;
            if reach.json {
                return screen.json(&serde_json::json!({ "id": id, "revoked": true }));
            }
            screen.line(&format!("{} is revoked: it opens nothing any more", safe(id)))?;
            Ok(Exit::Done)
        }
    }
}

async fn create(wanted: &NewToken, reach: &Reach, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let created = reach.control()?.create_token(wanted).await?;
    if reach.json {
        return screen.json(&created);
    }
    screen.line(&created.secret)?;
    // Standard output holds the secret alone: `TOKEN=$(verger token create …)` works.
    let id = safe(&created.token.id);
    let _ = writeln!(
        io::stderr(),
        "This secret is shown once. The token is called {id}; `verger token revoke {id}` ends it."
    );
    Ok(Exit::Done)
}

async fn list(reach: &Reach, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let answer = reach.control()?.tokens(&Page::default()).await?;
    if reach.json {
        return screen.json(&answer);
    }
    if answer.items.is_empty() {
        screen.line("no tokens but the admin's own, in the data directory")?;
        screen.hint("verger token create --scope read --label dashboard")?;
        return Ok(Exit::Done);
    }
    let now = now();
    let mut table = Table::new(&[
        Kept("TOKEN"),
        Kept("SCOPE"),
        Optional("AGENT", "-"),
        Kept("MADE"),
        Kept("ENDS"),
        Optional("LABEL", ""),
    ]);
    for token in answer.items {
        let ends = match (token.revoked_at, token.expires_at) {
            (Some(_), _) => ("revoked".to_owned(), Style::Dim),
            (None, Some(at)) if at < now => ("expired".to_owned(), Style::Dim),
            (None, Some(at)) => (until(at, now), Style::Plain),
            (None, None) => ("when revoked".to_owned(), Style::Plain),
        };
        table.row([
            (token.id, Style::Plain),
            (token.scope.to_string(), Style::Plain),
            (token.agent_id.unwrap_or_else(|| "-".to_owned()), Style::Plain),
            (ago(token.created_at, now), Style::Plain),
            ends,
            (token.label.unwrap_or_default(), Style::Plain),
        ]);
    }
    table.print(screen.out, screen.paint, screen.width)?;
    Ok(Exit::Done)
}
