//! `verger fleet`.

use clap::Args;
use verger_api::{FleetSummary, HealthState, Time};

use super::Screen;
use super::agents::style;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::{Style, ago, lasting, safe};

/// Show all agents at a glance, what is wrong, and how the monitor itself is doing
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger fleet
  verger fleet --json | jq .states.STUCK")]
pub(crate) struct Fleet {
    #[command(flatten)]
    reach: Reach,
}

pub(super) async fn run(args: &Fleet, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let fleet = args.reach.control()?.fleet().await?;
    if args.reach.json {
        return screen.json(&fleet);
    }
    let agents = if fleet.agents == 1 { "agent" } else { "agents" };
    let heading = format!("{} {agents}, {} ready for work", fleet.agents, fleet.ready);
    screen.line(&screen.paint.paint(Style::Strong, &heading))?;
    let states = states(&fleet).map(|(state, count)| {
        let shown = if count == 0 { Style::Dim } else { style(state) };
        screen.paint.paint(shown, &format!("{count} {state}"))
    });
    screen.line(&format!("  {}", states.join("  ")))?;
    for (label, text) in facts(&fleet, now()) {
        screen.line(&format!("  {label:<9} {}", safe(&text)))?;
    }
    incidents(&fleet, screen)?;
    Ok(Exit::Done)
}

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
    let mut facts = vec![
        (
            "liveness",
            format!(
                "{} online, {} busy, {} idle, {} unresponsive, {} offline",
                live.online, live.busy, live.idle, live.unresponsive, live.offline
            ),
        ),
        (
            "waiting",
            format!(
                "{} on tools, {} on the model, {} on sub-agents, {} on people, {} on a provider, {} on a timer",
                wait.tool, wait.model, wait.subagent, wait.person, wait.provider, wait.timer
            ),
        ),
        ("tasks", format!("{} open, {} stalled", fleet.tasks.open, fleet.tasks.stalled)),
        ("breakers", format!("{} open, {} half open", fleet.breakers.open, fleet.breakers.half_open)),
        ("waste", format!("{} tokens, ${:.2}", fleet.waste.tokens, fleet.waste.cost_usd)),
        (
            "monitor",
            format!(
                "version {}, started {}, {} ms behind",
                monitor.version,
                ago(monitor.started_at, now),
                monitor.lateness_ms
            ),
        ),
    ];
    if let Some(blind) = monitor.blind_times.first() {
        let length = lasting(u64::try_from(blind.until.as_millis() - blind.from.as_millis()).unwrap_or(0));
        let when = ago(blind.until, now);
        facts.push((
            "blind",
            format!("for {length} until {when} ({}); nothing of it is held against anybody", blind.cause),
        ));
    }
    facts
}

fn incidents(fleet: &FleetSummary, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    if fleet.open_incidents == 0 {
        return screen.line("nothing is wrong");
    }
    let heading = format!("{} open incidents", fleet.open_incidents);
    screen.line(&screen.paint.paint(Style::Bad, &heading))?;
    for incident in &fleet.incidents {
        let whom = incident.agent_id.as_deref().or(incident.scope.as_deref()).unwrap_or("the fleet");
        let why = incident.evidence.first().map_or(String::new(), |found| format!(": {}", found.text));
        let since = ago(incident.opened_at, now());
        screen.line(&format!(
            "  {}  {}  {}, since {since}{}",
            incident.id,
            safe(whom),
            incident.kind,
            safe(&why)
        ))?;
    }
    Ok(())
}
