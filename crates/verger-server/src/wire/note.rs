//! Facts that no specification names: a sentence, and who did it.

use verger_api::event::{EventData, Note};
use verger_core::breaker::WriteChange;
use verger_core::event::{BreakerOrder, Fact};
use verger_core::id::{Actor, AgentId};
use verger_core::notice::TaskWord;
use verger_core::resources::Change as LimitChange;
use verger_core::{messages, probe, tasks, verdicts};

use super::event::task_of;
use super::evidence;

/// A fact as a note. Those with payloads of their own are said in a sentence too.
pub(super) fn of(agent: Option<&AgentId>, fact: &Fact) -> EventData {
    let wrap = wrapper(fact);
    let (by, task) = (by(fact), task_of(fact));
    wrap(Note {
        agent_id: agent.map(ToString::to_string),
        task_id: task.map(ToString::to_string),
        text: text(fact),
        by: by.map(ToString::to_string),
        evidence: match fact {
            Fact::TerminationOrdered { evidence, .. } => evidence::all(evidence),
            _ => Vec::new(),
        },
        details: serde_json::Map::new(),
    })
}

fn wrapper(fact: &Fact) -> fn(Note) -> EventData {
    match fact {
        Fact::Registered { .. } => EventData::AgentRegistered,
        Fact::Unregistered { .. } => EventData::AgentUnregistered,
        Fact::Classified { .. } => EventData::SilenceClassified,
        Fact::NudgeFailed { .. } => EventData::NudgeFailed,
        Fact::EscalationWithdrawn => EventData::EscalationWithdrawn,
        Fact::Interrupted { .. } => EventData::TurnInterrupted,
        Fact::TerminationOrdered { .. } => EventData::TerminationOrdered,
        Fact::TerminationCalledOff => EventData::TerminationCalledOff,
        Fact::TerminationFailed { .. } => EventData::TerminationFailed,
        Fact::Superseded { .. } => EventData::SignalSuperseded,
        Fact::BudgetExhausted { .. } => EventData::BudgetExhausted,
        Fact::Correlated(_) => EventData::FleetIncidentChanged,
        Fact::IncidentOrdered { .. } => EventData::FleetIncidentOrdered,
        Fact::ReviewOpened { .. } => EventData::ReviewOpened,
        Fact::ReviewOver { .. } => EventData::ReviewClosed,
        Fact::RecoveryAlert { .. } => EventData::RecoveryAlertOpened,
        Fact::RecoveryAlertOver { .. } => EventData::RecoveryAlertClosed,
        Fact::Task(_) => EventData::TaskChanged,
        Fact::TaskOrdered { .. } => EventData::TaskOrdered,
        Fact::Message(_) => EventData::MessageChanged,
        Fact::MessageSettled { .. } => EventData::MessageSettled,
        Fact::Checkpoint(_) => EventData::CheckpointChanged,
        Fact::BreakerOrdered { .. } => EventData::BreakerOrdered,
        Fact::Limit(_) => EventData::LimitChanged,
        Fact::Wasted(_) => EventData::WasteCounted,
        Fact::Judged(_) => EventData::WorkerJudged,
        Fact::TicketRaised(_) | Fact::TicketChanged(_) => EventData::TicketChanged,
        Fact::Probed(_) => EventData::ProbesChanged,
        Fact::Recovery(_)
        | Fact::StateChanged { .. }
        | Fact::Disconnected { .. }
        | Fact::Reconnected { .. }
        | Fact::NudgeSent { .. }
        | Fact::NudgeDelivered { .. }
        | Fact::NudgeAnswered { .. }
        | Fact::EscalationTriggered { .. }
        | Fact::EscalationDecided { .. }
        | Fact::Terminated { .. }
        | Fact::IncidentOpened { .. }
        | Fact::IncidentResolved { .. }
        | Fact::Breaker(_) => EventData::RecoveryChanged,
    }
}

fn by(fact: &Fact) -> Option<&Actor> {
    match fact {
        Fact::Unregistered { by } | Fact::TerminationOrdered { by, .. } => by.as_ref(),
        Fact::IncidentOrdered { by, .. }
        | Fact::TaskOrdered { by, .. }
        | Fact::MessageSettled { by, .. }
        | Fact::BreakerOrdered { by, .. } => Some(by),
        _ => None,
    }
}

fn text(fact: &Fact) -> String {
    match fact {
        Fact::Registered { task: None } => "it is watched from now on".to_owned(),
        Fact::Registered { task: Some(task) } => format!("it is watched from now on, at work on {task}"),
        Fact::Unregistered { .. } => "it is no longer watched".to_owned(),
        Fact::Classified { class, cause } => {
            let cause = cause.map_or_else(String::new, |cause| format!(" ({cause})"));
            format!("its silence is {class}{cause}")
        }
        Fact::NudgeFailed { .. } => "a reminder could not be delivered".to_owned(),
        Fact::EscalationWithdrawn => "it got on by itself; nobody has to decide any more".to_owned(),
        Fact::Interrupted { repeats } => format!("it was interrupted after {repeats} repeats"),
        Fact::TerminationOrdered { reason, .. } => format!("it is to be stopped: {reason}"),
        Fact::TerminationCalledOff => "it is not stopped: it took another course".to_owned(),
        Fact::TerminationFailed { attempts: 1 } => {
            "it could not be stopped; the monitor's log says why, and `termination` how it would be"
                .to_owned()
        }
        Fact::TerminationFailed { attempts } => format!("it does not stop after {attempts} attempts"),
        Fact::Superseded { stale: Some(life) } => format!("a signal of its life {life} was turned away"),
        Fact::Superseded { stale: None } => "a signal of an earlier life was turned away".to_owned(),
        Fact::BudgetExhausted { limit, per } => {
            format!("an intervention waits: {limit} in {per} are used up")
        }
        Fact::Correlated(change) => change.to_string(),
        Fact::IncidentOrdered { scope, order, .. } => format!("of {scope} it was ordered: {order:?}"),
        Fact::Recovery(change) => change.to_string(),
        Fact::ReviewOpened { task, why } => format!("people must look at {task}: {why}"),
        Fact::ReviewOver { task } => format!("the review of {task} is over"),
        Fact::RecoveryAlert { condition, .. } => condition.to_string(),
        Fact::RecoveryAlertOver { condition, .. } => format!("no longer: {condition}"),
        Fact::Task(decided) => about_task(decided),
        Fact::TaskOrdered { task, word, .. } => format!("{task}: {}", ordered(word)),
        Fact::Message(decided) => about_message(decided),
        Fact::MessageSettled { message, .. } => format!("message {message} was taken care of"),
        Fact::Checkpoint(change) => about_checkpoint(change),
        Fact::BreakerOrdered { name, order, .. } => about_breaker(&name.to_string(), order),
        Fact::Limit(LimitChange::Near(breach)) => format!("near a limit: {breach}"),
        Fact::Limit(LimitChange::Exceeded(breach)) => format!("over a limit: {breach}"),
        Fact::Limit(LimitChange::Cleared { .. }) => "within its limit again".to_owned(),
        Fact::Wasted(delta) => {
            format!("{} tokens were used in vain, about {} saved", delta.spent.tokens, delta.saved.tokens)
        }
        Fact::Judged(found) => found.to_string(),
        Fact::TicketRaised(ticket) => format!("ticket {}: {}", ticket.id, ticket.report.cause),
        Fact::TicketChanged(change) => about_ticket(change),
        Fact::Probed(change) => about_probes(change),
        // These have payloads of their own.
        Fact::StateChanged { .. }
        | Fact::Disconnected { .. }
        | Fact::Reconnected { .. }
        | Fact::NudgeSent { .. }
        | Fact::NudgeDelivered { .. }
        | Fact::NudgeAnswered { .. }
        | Fact::EscalationTriggered { .. }
        | Fact::EscalationDecided { .. }
        | Fact::Terminated { .. }
        | Fact::IncidentOpened { .. }
        | Fact::IncidentResolved { .. }
        | Fact::Breaker(_) => String::new(),
    }
}

fn about_task(decided: &tasks::Decided) -> String {
    use tasks::Decision;
    match &decided.decision {
        Decision::Stalled => format!("it is stalled: {}", decided.evidence),
        Decision::Unstalled { lasted } => format!("it is stalled no longer, after {lasted}"),
        Decision::Inquire { .. } => "its agent is asked how it gets on".to_owned(),
        Decision::Escalate { .. } => format!("people should know: {}", decided.evidence),
        Decision::EscalationOver { lasted } => format!("what people were told is over after {lasted}"),
        Decision::DeclareFailed { why } => format!("it has failed: {why}"),
        Decision::FailureOver { lasted } => format!("it has failed no longer, after {lasted}"),
        Decision::Superseded { from } => format!("it was taken from {from}"),
        Decision::WentBack { from, to } => format!("it went back from {from} % to {to} %"),
        Decision::Ended { status } => format!("it is {status}"),
        Decision::Abandoned => "nobody works at it any more".to_owned(),
        Decision::Forgotten { status } => format!("it is forgotten; it was {status}"),
    }
}

fn ordered(word: &TaskWord) -> String {
    match word {
        TaskWord::Given { agent: Some(agent), .. } => format!("it was given to {agent}"),
        TaskWord::Given { agent: None, .. } => "it is to be done".to_owned(),
        TaskWord::Update { percent, status, .. } => match (percent, status) {
            (_, Some(status)) => format!("it is {status}"),
            (percent, None) => format!("it is at {} %", percent.unwrap_or_default()),
        },
        TaskWord::Due { within } => format!("it is due in {within}"),
        TaskWord::Explained { .. } => "why it takes so long was explained".to_owned(),
        TaskWord::CannotGoOn => "its agent cannot go on".to_owned(),
    }
}

fn about_message(decided: &messages::Decided) -> String {
    use messages::Decision;
    let what = match decided.decision {
        Decision::Deliver { .. } => "is delivered".to_owned(),
        Decision::Remind { .. } => format!("{} is reminded of it", decided.to),
        Decision::Inquire { .. } => format!("{} is asked how it is", decided.to),
        Decision::Escalate { .. } => format!("people should know: {}", decided.evidence),
        Decision::EscalationOver { lasted } => format!("what people were told is over after {lasted}"),
        Decision::Log => "is not acknowledged".to_owned(),
        Decision::TellSender(why) => format!("was not delivered: {}", why.code()),
        Decision::TellSenderDelivered { after } => format!("was delivered after all, after {after}"),
        Decision::Acknowledged { after, .. } => format!("was acknowledged after {after}"),
        Decision::Dropped | Decision::Expired => "was given up".to_owned(),
    };
    format!("message {} {what}", decided.message)
}

fn about_checkpoint(change: &WriteChange) -> String {
    match change {
        WriteChange::Begin { id, .. } => format!("checkpoint {id} is being written"),
        WriteChange::Queued { id, ahead, .. } => format!("checkpoint {id} waits behind {ahead} others"),
        WriteChange::Overflowed { id, waiting, .. } => format!("checkpoint {id} was refused: {waiting} wait"),
        WriteChange::Written { id, .. } => format!("checkpoint {id} is written"),
        WriteChange::Dropped { id, .. } => format!("checkpoint {id} was given up"),
        WriteChange::Persistent { waiting, .. } => format!("checkpoints cannot be written; {waiting} wait"),
        WriteChange::Recovered { lasted, .. } => format!("checkpoints are written again, after {lasted}"),
    }
}

fn about_breaker(name: &str, order: &BreakerOrder) -> String {
    match order {
        BreakerOrder::Reset => format!("breaker {name} was reset"),
        BreakerOrder::SetMode(mode) => format!("breaker {name} is {mode} from now on"),
        BreakerOrder::Retry => format!("what waits behind {name} is tried again"),
        BreakerOrder::Discard(id) => format!("checkpoint {id} behind {name} was given up"),
    }
}

fn about_ticket(change: &verdicts::Change) -> String {
    use verdicts::Change;
    match change {
        Change::Raised { ticket } => format!("ticket {ticket} was taken in"),
        Change::AdviceWanted { ticket, .. } => format!("a model is asked about ticket {ticket}"),
        Change::Joined { ticket, to } => format!("ticket {ticket} joined {to}"),
        Change::Dismissed { ticket, analysis } => format!("ticket {ticket} was dismissed: {analysis}"),
        Change::InterventionRequested { ticket, analysis, .. } => {
            format!("people should look at ticket {ticket}: {analysis}")
        }
        Change::Answered { ticket, answer, .. } => format!("{} decided on ticket {ticket}", answer.by),
        Change::Closed { ticket, .. } => format!("ticket {ticket} is over"),
    }
}

fn about_probes(change: &probe::Change) -> String {
    match change {
        probe::Change::Start { .. } | probe::Change::Lost { .. } => String::new(),
        probe::Change::ProbeChanged { probe, from, to } => format!("probe {probe}: {from} → {to}"),
        probe::Change::StateChanged { from, to, summary, .. } => format!("probes: {from} → {to}: {summary}"),
    }
}
