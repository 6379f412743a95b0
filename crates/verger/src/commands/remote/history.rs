//! `verger history ID`.

use clap::Args;
use verger_api::{Awaited, HealthSnapshot, HumanDuration, List};
use verger_client::Page;

use super::Screen;
use super::agents::style;
use super::reach::Reach;
use crate::exit::Exit;
use crate::screen::{Style, Table};

/// Show how an agent was over time
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger history agent-7                          the last day
  verger history agent-7 --since 7d --json        a week, for programs")]
pub(crate) struct History {
    /// Which agent
    #[arg(value_name = "ID")]
    id: String,
    /// Back to so long ago, as in 90s, 10m, 24h or 7d
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    since: HumanDuration,
    /// At most so many moments
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    limit: u32,
    #[command(flatten)]
    reach: Reach,
}

pub(super) async fn run(args: &History, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let control = args.reach.control()?;
    let page = Page { limit: Some(args.limit), cursor: None };
    let answer: List<HealthSnapshot> = control.history(&args.id, args.since, &page).await?;
    if args.reach.json {
        return screen.json(&answer);
    }
    if answer.items.is_empty() {
        screen.line(&format!("nothing is known of it within {}", args.since))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["AT", "LIFE", "STATE", "LIVENESS", "WAITS ON", "TASK", "TOKENS", "ERRORS"]);
    for moment in &answer.items {
        let plain = |text: String| (text, Style::Plain);
        table.row([
            plain(moment.at.to_string()),
            plain(moment.incarnation.to_string()),
            (moment.state.to_string(), style(moment.state)),
            plain(moment.liveness.to_string()),
            plain(moment.waiting_on.map_or("-", Awaited::as_str).to_owned()),
            plain(moment.task_id.clone().unwrap_or_else(|| "-".to_owned())),
            plain(moment.metrics.token_count.to_string()),
            plain(moment.metrics.error_count.to_string()),
        ]);
    }
    table.print(screen.out, screen.paint)?;
    if answer.next_cursor.is_some() {
        screen.line("… and more: `--limit` shows them")?;
    }
    Ok(Exit::Done)
}
