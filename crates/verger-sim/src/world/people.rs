//! People and the orchestrator: they are asked, and decide after a while, or never.
//!
//! By day an answer takes 1 to 40 minutes. At night three in ten are left until the morning and three in
//! ten are never answered. Nine in ten answers are right; the wrong ones allow a faulty agent more time.
//! Some are given twice, and some arrive when the life they are about is over.

use std::sync::Arc;

use verger_core::command::{Command, Decision, Order};
use verger_core::effect::{EffectKey, Outcome};
use verger_core::event::Fact;
use verger_core::id::{Actor, Incarnation};
use verger_core::notice::Notice;
use verger_core::recovery;
use verger_core::signal::Author;
use verger_core::time::Span;

use super::agent::Agent;
use super::effects::tell;
use super::fault::FaultKind;
use super::moment::{Errand, ErrandStage, Moment};
use super::run::Delivery;
use super::stage::Stage;
use super::text;
use super::time::{HOUR, SECOND, SimTime, millis};
use super::truth::EndedBy;

/// The orchestrator is asked about an agent.
pub(crate) fn ask(agent: u32, stage: &mut Stage, now: SimTime, key: &EffectKey) {
    let receipt = stage.whim.range(100, 5 * SECOND);
    tell(stage, now + receipt, key, Outcome::Delivered);
    let prompt = now + millis(stage.whim.log_between(60.0, 2_400.0));
    let awake = stage.calm || (7..22).contains(&now.hour());
    let answered = match stage.whim.weighted(&[4, 3, 3]) {
        _ if awake => Some(prompt),
        0 => Some(prompt),
        1 => Some(now.next_hour(8) + stage.whim.range(0, HOUR)),
        _ => None,
    };
    if let Some(at) = answered {
        let errand = Errand { key: key.clone(), agent, stage: ErrandStage::Decide };
        stage.queue.set(at, Moment::Errand(Box::new(errand)));
    }
}

/// Somebody makes up their mind about the life they were asked about.
pub(crate) fn decide(agent: &mut Agent, stage: &mut Stage, now: SimTime, key: &EffectKey) {
    let same_life = Incarnation(agent.life) == key.incarnation;
    let fault = agent.condition.fault().filter(|_| same_life);
    let decision = match fault {
        // They answer what they were asked, though the life in question is over.
        None if !same_life => Decision::TerminateAndRecover,
        None => more_time(stage),
        Some(_) if !stage.calm && stage.whim.chance(0.1) => more_time(stage),
        Some(kind) => {
            if agent.alive && !agent.frozen && stage.whim.chance(0.06) {
                return deal_with(agent, stage, now);
            }
            remedy(kind, stage)
        }
    };
    let command = command(key, decision);
    if !stage.calm && stage.whim.chance(0.04) {
        let again = now + millis(stage.whim.log_between(1.0, 60.0));
        stage.deliver_at(again, Delivery::Command(command.clone()));
    }
    stage.out.push(Delivery::Command(command));
}

fn command(key: &EffectKey, decision: Decision) -> Command {
    Command {
        agent: key.agent.clone(),
        incarnation: Some(key.incarnation),
        by: Actor::from("orchestrator"),
        order: Order::Decide { decision, reason: Arc::from("looked at it") },
    }
}

fn more_time(stage: &mut Stage) -> Decision {
    let minutes = stage.whim.range(10, 120);
    Decision::AllowMoreTime(stage.whim.chance(0.6).then(|| Span::minutes(minutes)))
}

fn remedy(kind: FaultKind, stage: &mut Stage) -> Decision {
    let gentle = match kind {
        FaultKind::Freeze | FaultKind::Crash | FaultKind::HostLoss => 0.05,
        FaultKind::ContextExhaustion => 0.8,
        _ => 0.4,
    };
    if stage.whim.chance(gentle) { Decision::ForceHandoff } else { Decision::TerminateAndRecover }
}

/// A person takes the agent in hand instead of answering.
fn deal_with(agent: &mut Agent, stage: &mut Stage, now: SimTime) {
    let text = text::stop(&mut agent.voice);
    agent.hear_said(stage, now, Author::Person, &text);
    agent.recover(stage, now, EndedBy::Decision);
}

/// People are told of something that only they can settle, and do within some hours, by day.
pub(crate) fn hear(stage: &mut Stage, now: SimTime, fact: &Fact) {
    let (task, order) = match fact {
        Fact::ReviewOpened { task, .. } if stage.whim.chance(0.7) => {
            (task, recovery::Order::Recover { from: None })
        }
        Fact::ReviewOpened { task, .. } => (task, recovery::Order::ReviewDone),
        Fact::RecoveryAlert { task: Some(task), condition: recovery::Condition::MayStillRun } => {
            (task, recovery::Order::ConfirmEnded)
        }
        _ => return,
    };
    let looked = millis(stage.whim.log_between(300.0, 7_200.0));
    let awake = stage.calm || (7..22).contains(&now.hour());
    let at = if awake { now + looked } else { now.next_hour(8) + looked };
    let notice = Notice::Recovery { task: task.clone(), by: Actor::from("operator"), order };
    stage.deliver_at(at, Delivery::Notice(notice));
}
