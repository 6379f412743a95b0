//! `verger events`.

use std::io::{self, Write};

use clap::Args;
use verger_api::List;
use verger_client::{Control, Event, Page, Streamed};

use super::reach::{Reach, now};
use super::{Screen, told};
use crate::exit::Exit;
use crate::screen::{Style, clock, safe, wrapped};

/// Show what happened, and with -f what happens
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger events                          the latest
  verger events -f                       and what comes, until Ctrl-C
  verger events --agent agent-7 -n 200   of one agent
  verger events -f --json                one CloudEvent a line, for programs

A stream that breaks off is taken up again where it broke.")]
pub(crate) struct Events {
    /// Go on with what happens
    #[arg(short, long)]
    follow: bool,
    /// Only about this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// How many of the past
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    lines: u32,
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn run(args: &Events, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let control = args.reach.control()?;
    let last = match &args.agent {
        Some(agent) => past_of(&control, agent, args, screen).await?,
        None => past(&control, args, screen).await?,
    };
    if args.follow {
        follow(&control, last, args, screen).await?;
    }
    Ok(Exit::Done)
}

/// The latest events of one agent, the oldest first; and the number of the last.
async fn past_of(
    control: &Control,
    agent: &str,
    args: &Events,
    screen: &mut Screen<'_>,
) -> anyhow::Result<Option<String>> {
    // Nobody else's name is a mistake.
    control.agent(agent).await?;
    if args.lines == 0 {
        return Ok(None);
    }
    let page = Page { limit: Some(args.lines), cursor: None };
    let List { items, .. } = control.agent_events(agent, &page).await?;
    for event in items.iter().rev() {
        show(event, args, screen)?;
    }
    Ok(items.first().map(|event| event.id.clone()))
}

/// The latest events of all; and the number of the last.
async fn past(control: &Control, args: &Events, screen: &mut Screen<'_>) -> anyhow::Result<Option<String>> {
    let Some(newest) = control.fleet().await?.monitor.last_event_id else { return Ok(None) };
    let number: i64 = newest.parse().unwrap_or(0);
    let from = number.saturating_sub(i64::from(args.lines)).max(0);
    if from == number {
        return Ok(Some(newest));
    }
    let mut stream = control.events(Some(&from.to_string())).await?;
    loop {
        if let Streamed::Event(event) = stream.next().await? {
            show(&event, args, screen)?;
            if number <= event.id.parse().unwrap_or(i64::MAX) {
                return Ok(Some(event.id.clone()));
            }
        }
    }
}

async fn follow(
    control: &Control,
    last: Option<String>,
    args: &Events,
    screen: &mut Screen<'_>,
) -> anyhow::Result<()> {
    let mut stream = control.events(last.as_deref()).await?;
    let mut is_away = false;
    loop {
        match stream.next().await {
            Ok(Streamed::Event(event)) => {
                is_away = false;
                let concerns = args.agent.is_none() || args.agent == event.subject;
                if concerns {
                    show(&event, args, screen)?;
                }
            }
            Ok(Streamed::Reset { from }) => {
                let _ = writeln!(io::stderr(), "some events are no longer kept; going on with {from}");
            }
            Err(error) if error.is_passing() => {
                if !std::mem::replace(&mut is_away, true) {
                    let _ = writeln!(io::stderr(), "{error}; waiting for it");
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// One event: when, its number, whom it is about, what happened. Its type is for those who look for it by `grep`.
fn show(event: &Event, args: &Events, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    if args.reach.json {
        screen.line(&event.json)?;
    } else {
        let (time, kind) = if screen.is_seen() {
            (clock(event.time, now()), String::new())
        } else {
            (event.time.to_string(), format!("  [{}]", safe(&event.kind)))
        };
        let subject = safe(event.subject.as_deref().unwrap_or("-"));
        let head = format!("{time}  {:>5}  {subject:<12}  ", safe(&event.id));
        let text = wrapped(&told::sentence(event), head.chars().count(), screen.width);
        let text = screen.paint.paint(told::style(event), &text);
        screen.line(&format!("{}{text}{kind}", screen.paint.paint(Style::Dim, &head)))?;
    }
    screen.out.flush()?;
    Ok(())
}
