//! `verger fleet`.

use clap::Args;
use verger_api::{FleetSummary, HealthState, Time};

use super::Screen;
use super::agents::style;
use super::doctor::told_missing;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::Column::{Kept, Optional};
use crate::screen::{Style, Table, ago, count, grouped, lasting, quoted, safe, short, wrapped};

/// Show all agents at a glance, what is wrong, and how the monitor itself is doing
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger fleet
  verger fleet --json | jq .states.STUCK")]
pub(crate) struct Fleet {
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn run(args: &Fleet, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let fleet = args.reach.control()?.fleet().await?;
    if args.reach.json {
        return screen.json(&fleet);
    }
    let now = now();
    let heading = format!("{}, {} ready for work", count(fleet.agents, "agent"), grouped(fleet.ready));
    screen.line(&screen.paint.paint(Style::Strong, &heading))?;
    let states = states(&fleet).map(|(state, count)| {
        let shown = if count == 0 { Style::Dim } else { style(state) };
        screen.paint.paint(shown, &format!("{} {state}", grouped(count)))
    });
    screen.line(&format!("  {}", states.join("  ")))?;
    for (label, text) in facts(&fleet, now) {
        let text = wrapped(&safe(&text), LABEL + 3, screen.width);
        screen.line(&format!("  {} {text}", screen.paint.paint(Style::Dim, &format!("{label:<LABEL$}"))))?;
    }
    incidents(&fleet, now, screen)?;
    Ok(Exit::Done)
}

/// How wide labels are.
const LABEL: usize = 9;

fn states(fleet: &FleetSummary) -> [(HealthState, u64); 6] {
    let counts = &fleet.states;
    [
        (HealthState::Healthy, counts.healthy),
        (HealthState::Degraded, counts.degraded),
        (HealthState::Stuck, counts.stuck),
        (HealthState::Failing, counts.failing),
        (HealthState::Terminated, counts.terminated),
        (HealthState::Unknown, counts.unknown),
    ]
}

fn facts(fleet: &FleetSummary, now: Time) -> Vec<(&'static str, String)> {
    let (live, wait) = (&fleet.liveness, &fleet.waiting);
    let monitor = &fleet.monitor;
    let mut facts = vec![(
        "liveness",
        counted(&[
            (live.online, "online"),
            (live.busy, "busy"),
            (live.idle, "idle"),
            (live.unresponsive, "unresponsive"),
            (live.offline, "offline"),
        ]),
    )];
    facts.push((
        "waiting",
        counted(&[
            (wait.tool, "on a tool"),
            (wait.model, "on the model"),
            (wait.subagent, "on a sub-agent"),
            (wait.person, "on a person"),
            (wait.provider, "on a provider"),
            (wait.timer, "on a timer"),
        ]),
    ));
    facts.push(("tasks", counted(&[(fleet.tasks.open, "open"), (fleet.tasks.stalled, "stalled")])));
    facts.push((
        "breakers",
        counted(&[(fleet.breakers.open, "open"), (fleet.breakers.half_open, "half open")]),
    ));
    if fleet.waste.tokens > 0 {
        let spent = format!(
            "{} (${:.2}) spent while stuck",
            count(fleet.waste.tokens, "token"),
            fleet.waste.cost_usd
        );
        facts.push(("waste", spent));
    }
    let pace = if monitor.lateness_ms < 100 {
        "keeping up".to_owned()
    } else {
        format!("{} ms behind", monitor.lateness_ms)
    };
    facts.push((
        "monitor",
        format!("version {}, started {}, {pace}", monitor.version, ago(monitor.started_at, now)),
    ));
    for part in &monitor.missing {
        facts.push(("trouble", told_missing(part)));
    }
    if let Some(blind) = monitor.blind_times.first() {
        let length = lasting(u64::try_from(blind.until.as_millis() - blind.from.as_millis()).unwrap_or(0));
        let when = ago(blind.until, now);
        facts.push((
            "blind",
            format!("for {length}, until {when} ({}); nobody is blamed for that time", blind.cause),
        ));
    }
    facts
}

/// What there is of each; what there is none of is left out.
fn counted(counts: &[(u64, &str)]) -> String {
    let some: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, of)| format!("{} {of}", grouped(*count)))
        .collect();
    if some.is_empty() { "none".to_owned() } else { some.join(", ") }
}

fn incidents(fleet: &FleetSummary, now: Time, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    screen.line("")?;
    if fleet.open_incidents == 0 {
        return screen.line(&screen.paint.paint(Style::Good, "no open incidents"));
    }
    let heading = count(fleet.open_incidents, "open incident");
    screen.line(&screen.paint.paint(Style::Bad, &heading))?;
    let mut table =
        Table::new(&[Kept("  EVENT"), Kept("ABOUT"), Kept("KIND"), Kept("FOR"), Optional("WHY", "")]);
    for incident in &fleet.incidents {
        let plain = |text: &str| (text.to_owned(), Style::Plain);
        table.row([
            plain(&format!("  {}", incident.id)),
            plain(incident.agent_id.as_deref().or(incident.scope.as_deref()).unwrap_or("the fleet")),
            (incident.kind.to_string(), Style::Bad),
            plain(&short(incident.opened_at, now)),
            plain(incident.evidence.first().map_or("", |found| found.text.as_str())),
        ]);
    }
    table.print(screen.out, screen.paint, screen.width)?;
    if let Some(agent) = fleet.incidents.iter().find_map(|incident| incident.agent_id.as_deref()) {
        screen.hint(&format!("verger why {}", quoted(&safe(agent))))?;
    }
    Ok(())
}
