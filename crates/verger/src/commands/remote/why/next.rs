//! What the monitor does next about an agent, and what people can do.

use verger_api::{AgentHealth, HealthState, Intervening, Mode, RecoveryPhase, RecoveryStatus, Step, Time};

use super::Known;
use crate::screen::{clock, count, quoted, safe, until};

/// A command, and what it does.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) command: String,
    pub(super) does: &'static str,
}

/// What the monitor does next, and when.
pub(super) fn comes(known: &Known, now: Time) -> Vec<String> {
    let agent = &known.agent;
    if agent.state == HealthState::Terminated {
        return vec![after_the_end(known.recovery.as_ref(), now)];
    }
    match (&agent.intervention, agent.state) {
        (Some(doing), _) if doing.step == Step::Stopping && has_failed_to_stop(known) => vec![
            "It was to be stopped, and does not stop; Verger goes on trying.".to_owned(),
            "`termination` in the configuration says how agents are ended; without it none can be."
                .to_owned(),
        ],
        (Some(doing), _) => under_way(agent, doing, now),
        (None, HealthState::Stuck | HealthState::Failing) if agent.mode == Mode::Observe => {
            vec!["Nothing: in mode observe Verger only looks.".to_owned()]
        }
        (None, HealthState::Stuck | HealthState::Failing) => {
            vec!["Nothing is under way. Verger goes on watching, and acts when it is due again.".to_owned()]
        }
        (None, HealthState::Degraded) if alarm(known).is_some() => {
            vec!["People were told. Verger goes on watching, and says so when it is over.".to_owned()]
        }
        (None, HealthState::Degraded) => {
            vec!["This is a warning: nobody was told. It passes, or grows into STUCK or FAILING.".to_owned()]
        }
        (None, HealthState::Unknown) => vec!["Its first signs of life or of work decide.".to_owned()],
        (None, HealthState::Healthy | HealthState::Terminated) => Vec::new(),
    }
}

fn under_way(agent: &AgentHealth, doing: &Intervening, now: Time) -> Vec<String> {
    let end = doing.until.map(|at| format!("at {} ({})", clock(at, now), until(at, now)));
    vec![match (doing.step, end) {
        (Step::Nudging, _) => {
            let times = count(doing.attempt.unwrap_or(1).into(), "time");
            let then = if agent.mode >= Mode::Escalate { "then people are asked" } else { "and no more: its mode is nudge" };
            format!("It was reminded {times}. If it does not get on, it is reminded as often as its role says, {then}.")
        }
        (Step::Escalated, Some(end)) => {
            format!("People were asked what to do. Without an answer Verger decides itself {end}.")
        }
        (Step::Escalated, None) => {
            "People were asked what to do, and have not answered. Nothing more is done until they do, or it gets on."
                .to_owned()
        }
        (Step::MoreTime, Some(end)) => format!("It was given more time; it is looked at again {end}."),
        (Step::MoreTime, None) => "It was given more time.".to_owned(),
        (Step::HandingOff, _) => {
            "It was asked to save its work and stop, so that a successor can go on.".to_owned()
        }
        (Step::Stopping, _) => {
            "It is being stopped. If it does not stop, that is tried again and people are told.".to_owned()
        }
    }]
}

/// What becomes of the work of one that ended.
fn after_the_end(recovery: Option<&RecoveryStatus>, now: Time) -> String {
    let Some(recovery) = recovery else {
        return "Nothing: its work is not taken up again by itself. For that its role needs `restart: recover`, and \
                `spawn` a way to start it."
            .to_owned();
    };
    let (task, reason) = (&recovery.task_id, recovery.reason.trim_end_matches('.'));
    match recovery.status {
        RecoveryPhase::Waiting => {
            let when = recovery.next_attempt_at.map(|at| format!(" {}", until(at, now))).unwrap_or_default();
            format!("Its work ({task}) is taken up again{when}: {reason}.")
        }
        RecoveryPhase::Running => format!("A successor for its work ({task}) is being started: {reason}."),
        RecoveryPhase::Watching => format!("A successor works on {task}, and is watched closely: {reason}."),
        RecoveryPhase::Succeeded => format!("A successor goes on with {task}."),
        RecoveryPhase::Failed => format!("The recovery of {task} was given up: {reason}."),
        RecoveryPhase::HumanReview => format!("People must look at {task}: {reason}."),
    }
}

/// What people can do now.
pub(super) fn you_can(known: &Known) -> Vec<Way> {
    let agent = &known.agent;
    let id = quoted(&safe(&agent.agent_id));
    let way = |command: String, does| Way { command, does };
    let mut ways = Vec::new();
    match (agent.intervention.as_ref().map(|doing| doing.step), agent.state) {
        (Some(Step::Escalated), _) => ways.extend([
            way(format!("verger decide {id} allow-more-time --for 30m"), "leave it alone, then look again"),
            way(format!("verger decide {id} force-handoff"), "have it save its work and stop"),
            way(format!("verger decide {id} terminate-and-recover"), "stop it; its work goes on elsewhere"),
        ]),
        (Some(Step::Stopping | Step::HandingOff), _) => {
            ways.push(way(format!("verger events --agent {id} -f"), "watch it end"));
        }
        (_, HealthState::Stuck | HealthState::Failing | HealthState::Degraded) => ways.extend([
            way(format!("verger nudge {id} -m \"…\""), "remind it, in your words"),
            way(format!("verger escalate {id} --reason \"…\""), "ask people or the orchestrator now"),
        ]),
        (_, HealthState::Terminated) => ways.extend(for_the_work(known)),
        (_, HealthState::Unknown | HealthState::Healthy) => {}
    }
    if let Some(alarm) = alarm(known) {
        ways.push(way(format!("verger wrong {alarm}"), "say that this was a false alarm"));
    }
    ways
}

fn for_the_work(known: &Known) -> Option<Way> {
    let recovery = known.recovery.as_ref().filter(|recovery| {
        matches!(recovery.status, RecoveryPhase::Waiting | RecoveryPhase::Failed | RecoveryPhase::HumanReview)
    })?;
    let command = format!("verger recover {}", quoted(&safe(&recovery.task_id)));
    Some(Way { command, does: "take its work up again now" })
}

/// The event of the alarm that is open, if there is one.
fn alarm(known: &Known) -> Option<&str> {
    let mut over = Vec::new();
    known.events.iter().find_map(|event| {
        let kind = event.data["kind"].as_str()?;
        match event.kind.as_str() {
            "INCIDENT_RESOLVED" => over.push(kind),
            "INCIDENT_OPENED" if !over.contains(&kind) => return Some(event.id.as_str()),
            _ => {}
        }
        None
    })
}

fn has_failed_to_stop(known: &Known) -> bool {
    let told = known.events.iter().map(|event| event.kind.as_str());
    let mut latest = told.filter(|kind| matches!(*kind, "TERMINATION_FAILED" | "TERMINATION_ORDERED"));
    latest.next() == Some("TERMINATION_FAILED")
}
