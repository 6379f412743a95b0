//! `verger agents` and `verger agent ID`.

use clap::Args;
use verger_api::{AgentHealth, Awaited, HealthState, Intervening, List, LivenessStatus, Step, Time};
use verger_client::{AgentFilter, Page};

use super::Screen;
use super::reach::{Reach, now};
use super::why::weight;
use crate::exit::Exit;
use crate::screen::Column::{Kept, Optional};
use crate::screen::{Style, Table, ago, clock, count, grouped, lasting, quoted, safe, short, until, wrapped};

/// Agents that are asked for at once.
const PAGE: u32 = 1_000;

/// List agents: how they are doing, and why; those in trouble first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger agents                          all of them
  verger agents --state stuck            those that make no progress
  verger agents --task build-42 --json   who works on a task, for programs")]
pub(crate) struct Agents {
    /// Only those in this state: unknown, healthy, degraded, stuck, failing or terminated
    #[arg(long, value_name = "STATE")]
    state: Option<HealthState>,
    /// Only those under this profile
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Only those at work on this task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    pub(super) reach: Reach,
}

/// Show one agent in full
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger agent agent-7
  verger agent agent-7 --json | jq .metrics

`verger why agent-7` says in sentences why it is in its state.")]
pub(crate) struct One {
    /// Which agent
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn list(args: &Agents, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let control = args.reach.control()?;
    let filter = AgentFilter { state: args.state, role: args.role.clone(), task: args.task.clone() };
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let left = args.limit.saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX));
        let page = Page { limit: Some(left.min(PAGE)), cursor };
        let List { items: mut found, next_cursor } = control.agents(&filter, &page).await?;
        items.append(&mut found);
        cursor = next_cursor;
        if cursor.is_none() || args.limit as usize <= items.len() {
            break;
        }
    }
    if args.reach.json {
        return screen.json(&List { items, next_cursor: cursor });
    }
    if items.is_empty() {
        return none(args, screen);
    }
    let cut = cursor.is_some();
    items.sort_by(|one, other| {
        urgency(one).cmp(&urgency(other)).then_with(|| one.agent_id.cmp(&other.agent_id))
    });
    table(&items, now()).print(screen.out, screen.paint, screen.width)?;
    if cut {
        screen
            .line(&format!("… these are the first {}; `--limit` shows more", grouped(args.limit.into())))?;
    }
    if let Some(worst) = items.first().filter(|worst| urgency(worst) < 3) {
        screen.hint(&format!("verger why {}", quoted(&safe(&worst.agent_id))))?;
    }
    Ok(Exit::Done)
}

fn none(args: &Agents, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    if args.state.is_some() || args.role.is_some() || args.task.is_some() {
        screen.line("no agent matches")?;
    } else {
        screen.line("no agents yet")?;
        let url = args.reach.url_left().unwrap_or_else(|| "http://127.0.0.1:8374".to_owned());
        screen.hint(&format!("curl {url}/v1/heartbeats -d '{{\"agentId\":\"hello\"}}'   makes one known"))?;
    }
    Ok(Exit::Done)
}

/// Whom people should look at first.
fn urgency(agent: &AgentHealth) -> u8 {
    match agent.state {
        HealthState::Failing => 0,
        HealthState::Stuck => 1,
        HealthState::Degraded => 2,
        HealthState::Unknown => 3,
        HealthState::Healthy => 4,
        HealthState::Terminated => 5,
    }
}

fn table(agents: &[AgentHealth], now: Time) -> Table {
    let mut table = Table::new(&[
        Kept("AGENT"),
        Kept("STATE"),
        Kept("FOR"),
        Optional("ACTION", "-"),
        Optional("WAITS ON", "-"),
        Optional("LIVENESS", "online"),
        Optional("SEEN", ""),
        Optional("TASK", "-"),
        Optional("ROLE", "default"),
        Kept("WHY"),
    ]);
    for agent in agents {
        table.row(cells(agent, now));
    }
    table
}

fn cells(agent: &AgentHealth, now: Time) -> [(String, Style); 10] {
    let plain = |text: &str| (text.to_owned(), Style::Plain);
    let gravest = agent.evidence.iter().max_by_key(|found| weight(found.verdict));
    [
        plain(&agent.agent_id),
        (agent.state.to_string(), style(agent.state)),
        plain(&short(agent.state_changed_at, now)),
        plain(agent.intervention.as_ref().map_or("-", |doing| action(doing.step))),
        plain(agent.waiting_on.as_ref().map_or("-", |waiting| waiting.kind.as_str())),
        (agent.liveness.status.to_string(), liveness_style(agent.liveness.status)),
        plain(&short(agent.liveness.since, now)),
        plain(agent.task_id.as_deref().unwrap_or("-")),
        plain(&agent.role),
        plain(gravest.map_or("", |found| found.text.as_str())),
    ]
}

/// What is being done about an agent, in a column.
fn action(step: Step) -> &'static str {
    match step {
        Step::Nudging => "reminded",
        Step::Escalated => "people asked",
        Step::MoreTime => "more time",
        Step::HandingOff => "handing off",
        Step::Stopping => "stopping",
    }
}

pub(super) fn style(state: HealthState) -> Style {
    match state {
        HealthState::Unknown | HealthState::Terminated => Style::Dim,
        HealthState::Healthy => Style::Good,
        HealthState::Degraded => Style::Warn,
        HealthState::Stuck | HealthState::Failing => Style::Bad,
    }
}

fn liveness_style(status: LivenessStatus) -> Style {
    match status {
        LivenessStatus::Online | LivenessStatus::Busy | LivenessStatus::Idle => Style::Plain,
        LivenessStatus::Unresponsive => Style::Warn,
        LivenessStatus::Offline => Style::Bad,
    }
}

/// What is waited for, in words.
pub(super) fn awaited(kind: Awaited) -> &'static str {
    match kind {
        Awaited::Tool => "a tool call to end",
        Awaited::Model => "the model's answer",
        Awaited::Subagent => "a sub-agent to end its work",
        Awaited::Person => "a person's answer",
        Awaited::Provider => "the model's provider to work again",
        Awaited::Timer => "a moment that it set itself",
    }
}

pub(super) async fn one(args: &One, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let agent = args.reach.control()?.agent(&args.id).await?;
    if args.reach.json {
        return screen.json(&agent);
    }
    let now = now();
    let state = screen.paint.paint(style(agent.state), agent.state.as_str());
    let name = screen.paint.paint(Style::Strong, &safe(&agent.agent_id));
    let since = clock(agent.state_changed_at, now);
    screen.line(&format!("{name}  {state}  since {since}, {}", ago(agent.state_changed_at, now)))?;
    for (label, text) in facts(&agent, now) {
        let text = wrapped(&safe(&text), LABEL + 3, screen.width);
        screen.line(&format!("  {} {text}", screen.paint.paint(Style::Dim, &format!("{label:<LABEL$}"))))?;
    }
    screen.hint(&format!("verger why {} explains it", quoted(&safe(&agent.agent_id))))?;
    Ok(Exit::Done)
}

/// How wide labels are.
const LABEL: usize = 13;

fn facts(agent: &AgentHealth, now: Time) -> Vec<(&'static str, String)> {
    let or_never = |at: Option<Time>| at.map_or_else(|| "never".to_owned(), |at| ago(at, now));
    let metrics = &agent.metrics;
    let mut facts: Vec<_> = agent
        .evidence
        .iter()
        .map(|found| ("evidence", format!("{} ({})", found.text, found.verdict)))
        .collect();
    facts.push((
        "liveness",
        format!("{}, last heard from {}", agent.liveness.status, ago(agent.liveness.since, now)),
    ));
    facts.extend(agent.waiting_on.as_ref().map(|waiting| {
        let patience =
            waiting.until.map(|at| format!("; patience ends {}", until(at, now))).unwrap_or_default();
        ("waits for", format!("{}, since {}{patience}", awaited(waiting.kind), ago(waiting.since, now)))
    }));
    facts.extend(agent.intervention.as_ref().map(|doing| ("action", doing_about(doing, now))));
    facts.extend([
        ("task", agent.task_id.clone().unwrap_or_else(|| "none".to_owned())),
        (
            "ready",
            if agent.ready { "yes: it can be given work" } else { "no: give it no work now" }.to_owned(),
        ),
        ("role", format!("{}, mode {}", agent.role, agent.mode)),
        ("life", format!("{}, for {}", agent.incarnation, lasting(metrics.uptime_seconds * 1_000))),
        (
            "heartbeats",
            format!("{}, the last {}", grouped(metrics.total_heartbeats), or_never(agent.last_heartbeat)),
        ),
        ("checkpoint", saved(agent, now)),
        (
            "calls",
            format!(
                "{}, {}",
                count(metrics.tool_call_count, "tool call"),
                count(metrics.error_count, "error")
            ),
        ),
        ("spent", format!("{} (${:.2})", count(metrics.token_count, "token"), metrics.cost_usd)),
        ("interventions", metrics.intervention_count.to_string()),
    ]);
    facts.extend(agent.host.clone().map(|host| ("host", host)));
    facts.extend(
        agent
            .circuit_breakers
            .iter()
            .map(|breaker| ("breaker", format!("{} {}", breaker.name, breaker.state))),
    );
    facts
}

fn doing_about(doing: &Intervening, now: Time) -> String {
    let attempt = doing.attempt.map(|attempt| format!(", attempt {attempt}")).unwrap_or_default();
    let end = doing.until.map(|at| format!(", until {}", clock(at, now))).unwrap_or_default();
    format!("{}{attempt}{end}", action(doing.step))
}

fn saved(agent: &AgentHealth, now: Time) -> String {
    match (agent.last_checkpoint, &agent.checkpoint_id) {
        (Some(at), Some(id)) => format!("{id}, {}", ago(at, now)),
        (Some(at), None) => ago(at, now),
        (None, _) => "none".to_owned(),
    }
}
