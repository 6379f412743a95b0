//! `verger why ID`: what an agent's state rests on, what happened, what comes next, and what one can do.

mod next;
mod story;
mod timeline;

use clap::Args;
use serde_json::json;
use verger_api::{AgentHealth, HealthState, RecoveryStatus};
use verger_client::{Control, Event, Page};

use super::Screen;
use super::agents::style;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::{Style, clock, safe, wrapped};
use story::Story;
pub(super) use story::weight;

/// Events that are looked through for what led to the present state.
const EVENTS_MAX: u32 = 100;

/// Explain an agent's state: evidence, what happened, what comes next, what to do
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger why agent-7
  verger why agent-7 --json | jq -r '.sentences[]'")]
pub(crate) struct Why {
    /// Which agent
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    pub(super) reach: Reach,
}

/// All that is known of an agent and bears on its state.
pub(super) struct Known {
    pub(super) agent: AgentHealth,
    /// What happened to it, the newest first.
    pub(super) events: Vec<Event>,
    /// Of one that ended: what becomes of its work.
    pub(super) recovery: Option<RecoveryStatus>,
}

pub(super) async fn run(args: &Why, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let control = args.reach.control()?;
    let agent = control.agent(&args.id).await?;
    let known = known(&control, agent).await;
    let story = story::of(&known, now());
    if args.reach.json {
        return screen.json(&for_programs(&known.agent, &story));
    }
    print(&known.agent, &story, screen)?;
    Ok(Exit::Done)
}

/// What could not be had is left out: the evidence alone answers the question.
async fn known(control: &Control, agent: AgentHealth) -> Known {
    let page = Page { limit: Some(EVENTS_MAX), cursor: None };
    let events =
        control.agent_events(&agent.agent_id, &page).await.map_or_else(|_| Vec::new(), |list| list.items);
    let task = agent.task_id.clone().unwrap_or_else(|| format!("agent:{}", agent.agent_id));
    let recovery = match agent.state {
        HealthState::Terminated => control.recovery(&task).await.ok(),
        _ => None,
    };
    Known { agent, events, recovery }
}

fn for_programs(agent: &AgentHealth, story: &Story) -> serde_json::Value {
    let timeline: Vec<_> = story
        .happened
        .iter()
        .map(|step| json!({"at": step.at, "event": step.event, "text": step.text}))
        .collect();
    let you_can: Vec<_> =
        story.you_can.iter().map(|way| json!({"command": way.command, "does": way.does})).collect();
    json!({
        "agentId": agent.agent_id, "state": agent.state, "since": agent.state_changed_at,
        "sentences": story.sentences(), "evidence": agent.evidence, "timeline": timeline, "next": story.next,
        "youCan": you_can,
    })
}

fn print(agent: &AgentHealth, story: &Story, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    let state = screen.paint.paint(style(agent.state), agent.state.as_str());
    let name = screen.paint.paint(Style::Strong, &safe(&agent.agent_id));
    let headline = wrapped(&safe(&story.headline), 0, screen.width);
    screen.line(&format!("{name} is {state}{headline}"))?;
    section("Why", &story.findings, "- ", screen)?;
    steps(agent, screen)?;
    section("Now", &story.standing, "", screen)?;
    if !story.happened.is_empty() {
        heading("What happened", screen)?;
    }
    let now = now();
    for step in &story.happened {
        let head = format!("  {}  ", clock(step.at, now));
        let text = wrapped(&safe(&step.text), head.chars().count(), screen.width);
        screen.line(&format!("{}{text}", screen.paint.paint(Style::Dim, &head)))?;
    }
    section("What comes next", &story.next, "", screen)?;
    if !story.you_can.is_empty() {
        heading("What you can do", screen)?;
    }
    let longest = story.you_can.iter().map(|way| way.command.chars().count()).max().unwrap_or(0);
    for way in &story.you_can {
        let (command, does) = (safe(&way.command), screen.paint.paint(Style::Dim, way.does));
        screen.line(&format!("  {command}{}  {does}", " ".repeat(longest - way.command.chars().count())))?;
    }
    Ok(())
}

/// The steps that go round, one below the other: whoever looks sees it.
fn steps(agent: &AgentHealth, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    let Some(stretch) = agent.evidence.iter().find_map(|found| found.stretch.as_ref()) else { return Ok(()) };
    heading("Steps that came to nothing", screen)?;
    let now = now();
    let unnamed = stretch.count.saturating_sub(u32::try_from(stretch.steps.len()).unwrap_or(u32::MAX));
    if unnamed > 0 {
        let since = clock(stretch.since, now);
        screen.line(&format!(
            "  {}",
            screen.paint.paint(Style::Dim, &format!("{since}  … {unnamed} before these"))
        ))?;
    }
    for step in &stretch.steps {
        let head = format!("  {}  step {:<5}", clock(step.at, now), step.step);
        let what = step.tool.as_deref().map_or_else(|| "said something".into(), safe);
        screen.line(&format!("{}  {what}", screen.paint.paint(Style::Dim, &head)))?;
    }
    Ok(())
}

fn section(title: &str, sentences: &[String], bullet: &str, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    if sentences.is_empty() {
        return Ok(());
    }
    heading(title, screen)?;
    for sentence in sentences {
        let text = wrapped(&safe(sentence), 2 + bullet.len(), screen.width);
        screen.line(&format!("  {bullet}{text}"))?;
    }
    Ok(())
}

fn heading(title: &str, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    screen.line("")?;
    let title = screen.paint.paint(Style::Strong, title);
    screen.line(&title)
}
