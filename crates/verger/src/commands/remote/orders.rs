//! Commands by which people order something: remind, ask, decide, end, take up again, call an alarm false.

use clap::Args;
use verger_api::{
    Decision, DecisionRequest, Delivery, EscalateRequest, HumanDuration, Intervention, InterventionKind,
    NudgeRequest, RecoverRequest, TerminateRequest, Time, WrongRequest,
};

use super::Screen;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::failure;
use crate::screen::{quoted, safe, until};

/// Whom an order is about.
#[derive(Debug, Args)]
pub(crate) struct Whom {
    /// Which agent
    #[arg(value_name = "ID")]
    pub(super) id: String,
    /// Only if this is its present life: an order about an earlier one is refused
    #[arg(long, value_name = "N")]
    incarnation: Option<u32>,
    #[command(flatten)]
    pub(super) reach: Reach,
}

/// Remind an agent of its work
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger nudge agent-7
  verger nudge agent-7 -m \"The tests fail since your last change; look at them first.\"

It is queued until the agent takes it: with the reply to its next heartbeat, or from its inbox.
`verger events --agent agent-7 -f` shows when it arrives and whether the agent reacts.")]
pub(crate) struct Nudge {
    #[command(flatten)]
    pub(super) whom: Whom,
    /// What it is told; without it, the words of its role
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

/// Ask people, or the orchestrator, what to do about an agent
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  verger escalate agent-7 --reason \"it rewrites the same file\"

Whoever `notify` and `orchestrator` of the configuration name is told. `verger decide` answers.")]
pub(crate) struct Escalate {
    #[command(flatten)]
    pub(super) whom: Whom,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Answer an open escalation
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger decide agent-7 allow-more-time --for 30m --reason \"a long build\"
  verger decide agent-7 force-handoff
  verger decide agent-7 terminate-and-recover --reason \"it is lost\"

allow-more-time        leave it alone for that long, then look again
force-handoff          have it save its work and stop; a successor goes on
terminate-and-recover  stop it; its work starts again from the last valid checkpoint")]
pub(crate) struct Decide {
    #[command(flatten)]
    pub(super) whom: Whom,
    /// allow-more-time, force-handoff or terminate-and-recover
    #[arg(value_name = "DECISION")]
    decision: Decision,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// With allow-more-time: for how long, as in 30m
    #[arg(long = "for", value_name = "DURATION")]
    lasts: Option<HumanDuration>,
}

/// End an agent; what it saved is kept
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  verger terminate agent-7 --reason \"no longer needed\"

Verger ends it by what `termination` of the configuration names: a command or a webhook.")]
pub(crate) struct Terminate {
    #[command(flatten)]
    pub(super) whom: Whom,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Take the work of a task up again from its last valid checkpoint
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger recover build-42
  verger recover build-42 --from 01J9 --reason \"the last checkpoint is broken\"")]
pub(crate) struct Recover {
    /// Which task
    #[arg(value_name = "TASK")]
    task: String,
    /// From this checkpoint instead of the newest valid one
    #[arg(long, value_name = "CHECKPOINT")]
    from: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    pub(super) reach: Reach,
}

/// Mark an alarm as false
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  verger wrong 4711 --reason \"it was waiting for a review\"

`verger events` shows the numbers of events, and `verger why` that of an open alarm.")]
pub(crate) struct Wrong {
    /// The number of the event
    #[arg(value_name = "EVENT")]
    event: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    pub(super) reach: Reach,
}

pub(super) async fn nudge(args: &Nudge, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let Whom { id, incarnation, reach } = &args.whom;
    let request = NudgeRequest { message: args.message.clone(), incarnation: *incarnation };
    told(&reach.control()?.nudge(id, &request).await?, reach, screen)
}

pub(super) async fn escalate(args: &Escalate, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let Whom { id, incarnation, reach } = &args.whom;
    let request = EscalateRequest { reason: args.reason.clone(), incarnation: *incarnation };
    told(&reach.control()?.escalate(id, &request).await?, reach, screen)
}

pub(super) async fn decide(args: &Decide, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let Whom { id, incarnation, reach } = &args.whom;
    if args.lasts.is_some() && args.decision != Decision::AllowMoreTime {
        failure::say("--for goes with allow-more-time alone", &[]);
        return Ok(Exit::Usage);
    }
    let until = args.lasts.map(|lasts| {
        let lasts = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
        Time::from_millis(now().as_millis().saturating_add(lasts))
    });
    let (decision, reason) = (args.decision, args.reason.clone());
    let request = DecisionRequest { decision, reason, until, incarnation: *incarnation };
    told(&reach.control()?.decide(id, &request).await?, reach, screen)
}

pub(super) async fn terminate(args: &Terminate, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let Whom { id, incarnation, reach } = &args.whom;
    let request = TerminateRequest { reason: args.reason.clone(), incarnation: *incarnation };
    told(&reach.control()?.terminate(id, &request).await?, reach, screen)
}

fn told(done: &Intervention, reach: &Reach, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    if reach.json {
        return screen.json(done);
    }
    let agent = safe(&done.agent_id);
    let said = match (done.kind, done.delivery) {
        (InterventionKind::Nudge, Delivery::Queued) => format!("reminder for {agent} queued"),
        (InterventionKind::Nudge, delivery) => format!("reminder for {agent} {delivery}"),
        (InterventionKind::Escalation, _) => format!("people are asked about {agent}"),
        (InterventionKind::Decision, _) => format!("decision about {agent} recorded"),
        (InterventionKind::Termination, _) => format!("termination of {agent} ordered"),
    };
    let text = done.message.as_ref().or(done.reason.as_ref()).filter(|text| !text.is_empty());
    let text =
        text.map_or_else(String::new, |text| format!(": {}", safe(text.lines().next().unwrap_or_default())));
    screen.line(&format!("{said} (life {}, {}){text}", done.incarnation, safe(&done.id)))?;
    let id = quoted(&agent);
    screen.hint(&match done.kind {
        InterventionKind::Nudge => {
            format!("verger events --agent {id} -f   shows when it arrives, and whether it helps")
        }
        InterventionKind::Escalation => {
            format!("verger decide {id} allow-more-time|force-handoff|terminate-and-recover")
        }
        InterventionKind::Decision => format!("verger why {id}   shows what follows"),
        InterventionKind::Termination => format!("verger events --agent {id} -f   shows how it ends"),
    })?;
    Ok(Exit::Done)
}

pub(super) async fn recover(args: &Recover, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let request = RecoverRequest { from_checkpoint: args.from.clone(), reason: args.reason.clone() };
    let status = args.reach.control()?.recover(&args.task, &request).await?;
    if args.reach.json {
        return screen.json(&status);
    }
    let next =
        status.next_attempt_at.map(|at| format!("; next attempt {}", until(at, now()))).unwrap_or_default();
    let from = status
        .from_checkpoint
        .as_deref()
        .map(|id| format!(" from checkpoint {}", safe(id)))
        .unwrap_or_default();
    let (task, reason) = (safe(&status.task_id), safe(&status.reason));
    screen.line(&format!("recovery of {task}{from}: {}, {reason}{next}", status.status))?;
    screen.hint(&format!("verger why {}   shows how it goes", quoted(&safe(&status.agent_id))))?;
    Ok(Exit::Done)
}

pub(super) async fn wrong(args: &Wrong, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let request = WrongRequest { reason: args.reason.clone() };
    let mark = args.reach.control()?.wrong(&args.event, &request).await?;
    if args.reach.json {
        return screen.json(&mark);
    }
    let whom = mark.agent_id.as_deref().map(|agent| format!(" about {}", safe(agent))).unwrap_or_default();
    screen.line(&format!("event {}{whom} is marked as a false alarm", safe(&mark.event_id)))?;
    screen.hint("if it happens again, give the agent a role with more patience; `verger config show` lists every limit")?;
    Ok(Exit::Done)
}
