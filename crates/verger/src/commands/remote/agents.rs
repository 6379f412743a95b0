//! `verger agents` and `verger agent ID`.

use clap::Args;
use verger_api::{AgentHealth, Awaited, HealthState, List, LivenessStatus, Time};
use verger_client::{AgentFilter, Page};

use super::Screen;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::{Style, Table, ago, safe, short, until};

/// Agents that are asked for at once.
const PAGE: u32 = 1_000;

/// List agents: how they are doing, and what they wait on
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
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    limit: u32,
    #[command(flatten)]
    reach: Reach,
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
    reach: Reach,
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
        screen.line("no agents")?;
        return Ok(Exit::Done);
    }
    let mut table =
        Table::new(&["AGENT", "STATE", "FOR", "LIVENESS", "SEEN", "WAITS ON", "ROLE", "TASK", "WHY"]);
    for agent in &items {
        table.row(cells(agent, now()));
    }
    table.print(screen.out, screen.paint)?;
    if cursor.is_some() {
        screen.line("… and more: `--limit` shows them")?;
    }
    Ok(Exit::Done)
}

fn cells(agent: &AgentHealth, now: Time) -> [(String, Style); 9] {
    let plain = |text: &str| (text.to_owned(), Style::Plain);
    [
        plain(&agent.agent_id),
        (agent.state.to_string(), style(agent.state)),
        plain(&short(agent.state_changed_at, now)),
        (agent.liveness.status.to_string(), liveness_style(agent.liveness.status)),
        plain(&short(agent.liveness.since, now)),
        plain(agent.waiting_on.as_ref().map_or("-", |waiting| waiting.kind.as_str())),
        plain(&agent.role),
        plain(agent.task_id.as_deref().unwrap_or("-")),
        plain(agent.evidence.first().map_or("", |found| found.text.as_str())),
    ]
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
    screen.line(&format!("{name}  {state}  since {}", ago(agent.state_changed_at, now)))?;
    for (label, text) in facts(&agent, now) {
        screen.line(&format!("  {label:<13} {}", safe(&text)))?;
    }
    for found in &agent.evidence {
        screen.line(&format!("  {:<13} {} ({})", "evidence", safe(&found.text), found.verdict))?;
    }
    for breaker in &agent.circuit_breakers {
        screen.line(&format!("  {:<13} {} {}", "breaker", safe(&breaker.name), breaker.state))?;
    }
    Ok(Exit::Done)
}

fn facts(agent: &AgentHealth, now: Time) -> Vec<(&'static str, String)> {
    let or_never = |at: Option<Time>| at.map_or_else(|| "never".to_owned(), |at| ago(at, now));
    let metrics = &agent.metrics;
    let mut facts = vec![
        ("liveness", format!("{}, seen {}", agent.liveness.status, ago(agent.liveness.since, now))),
        ("task", agent.task_id.clone().unwrap_or_else(|| "none".to_owned())),
        ("role, mode", format!("{}, {}", agent.role, agent.mode)),
        (
            "life",
            format!("{}, for {}", agent.incarnation, crate::screen::lasting(metrics.uptime_seconds * 1_000)),
        ),
        ("ready", if agent.ready { "yes, it may be given work" } else { "no" }.to_owned()),
        ("heartbeats", format!("{}, the last {}", metrics.total_heartbeats, or_never(agent.last_heartbeat))),
        ("checkpoint", or_never(agent.last_checkpoint)),
        ("tool calls", metrics.tool_call_count.to_string()),
        ("errors", metrics.error_count.to_string()),
        ("tokens, cost", format!("{}, ${:.2}", metrics.token_count, metrics.cost_usd)),
        ("interventions", metrics.intervention_count.to_string()),
    ];
    if let Some(waiting) = &agent.waiting_on {
        let patience =
            waiting.until.map_or_else(String::new, |at| format!(", patience ends {}", until(at, now)));
        facts.push((
            "waits on",
            format!("{}, since {}{patience}", awaited(waiting.kind), ago(waiting.since, now)),
        ));
    }
    if let Some(step) = &agent.intervention {
        let attempt = step.attempt.map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
        facts.push(("intervention", format!("{}{attempt}", step.step)));
    }
    if let Some(host) = &agent.host {
        facts.push(("host", host.clone()));
    }
    facts
}
