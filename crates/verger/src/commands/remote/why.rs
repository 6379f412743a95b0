//! `verger why ID`: the evidence behind the present state, as a person would tell it.

mod story;

use clap::Args;
use serde_json::json;

use super::Screen;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::safe;

/// Say in sentences why an agent is in its state, and what is being done about it
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
    reach: Reach,
}

pub(super) async fn run(args: &Why, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let agent = args.reach.control()?.agent(&args.id).await?;
    let story = story::of(&agent, now());
    if args.reach.json {
        let (state, evidence) = (agent.state, agent.evidence);
        return screen.json(&json!({
            "agentId": agent.agent_id, "state": state, "sentences": story.sentences(), "evidence": evidence,
            "next": story.next,
        }));
    }
    for paragraph in &story.paragraphs {
        screen.line(&safe(&paragraph.text))?;
        for point in &paragraph.points {
            screen.line(&format!("  - {}", safe(point)))?;
        }
    }
    if !story.next.is_empty() {
        screen.line("")?;
        screen.line("What you can do:")?;
    }
    for step in &story.next {
        screen.line(&format!("  {}", safe(step)))?;
    }
    Ok(Exit::Done)
}
