//! `verger history ID`.

use clap::Args;
use verger_api::{Awaited, HealthSnapshot, HumanDuration, List};
use verger_client::Page;

use super::Screen;
use super::agents::style;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::Column::{Kept, Optional};
use crate::screen::{Style, Table, clock, grouped, safe};

/// Show how an agent was over time, wherever something changed
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
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn run(args: &History, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let control = args.reach.control()?;
    let page = Page { limit: Some(args.limit), cursor: None };
    let answer: List<HealthSnapshot> = control.history(&args.id, args.since, &page).await?;
    if args.reach.json {
        return screen.json(&answer);
    }
    if answer.items.is_empty() {
        screen.line(&format!("nothing was recorded of {} within {}", safe(&args.id), args.since))?;
        return Ok(Exit::Done);
    }
    let now = now();
    let mut table = Table::new(&[
        Kept("AT"),
        Kept("STATE"),
        Optional("LIVENESS", "online"),
        Optional("WAITS ON", "-"),
        Optional("TASK", "-"),
        Optional("LIFE", "1"),
        Kept("TOKENS"),
        Kept("CALLS"),
        Kept("ERRORS"),
    ]);
    for moment in changes(&answer.items) {
        let plain = |text: String| (text, Style::Plain);
        let at = if screen.is_seen() { clock(moment.at, now) } else { moment.at.to_string() };
        table.row([
            plain(at),
            (moment.state.to_string(), style(moment.state)),
            plain(moment.liveness.to_string()),
            plain(moment.waiting_on.map_or("-", Awaited::as_str).to_owned()),
            plain(moment.task_id.clone().unwrap_or_else(|| "-".to_owned())),
            plain(moment.incarnation.to_string()),
            plain(grouped(moment.metrics.token_count)),
            plain(grouped(moment.metrics.tool_call_count)),
            plain(grouped(moment.metrics.error_count)),
        ]);
    }
    table.print(screen.out, screen.paint, screen.width)?;
    screen.hint("moments at which nothing changed are left out; --json has them")?;
    if answer.next_cursor.is_some() {
        screen
            .line(&format!("… these are the first {}; `--limit` shows more", grouped(args.limit.into())))?;
    }
    Ok(Exit::Done)
}

/// The moments at which something was other than before.
fn changes(moments: &[HealthSnapshot]) -> impl Iterator<Item = &HealthSnapshot> {
    let shown = |moment: &HealthSnapshot| {
        let HealthSnapshot { state, liveness, waiting_on, task_id, incarnation, metrics, .. } = moment;
        let counts = (metrics.token_count, metrics.tool_call_count, metrics.error_count);
        (*state, *liveness, *waiting_on, task_id.clone(), *incarnation, counts)
    };
    let mut last = None;
    moments.iter().filter(move |moment| last.replace(shown(moment)) != Some(shown(moment)))
}
