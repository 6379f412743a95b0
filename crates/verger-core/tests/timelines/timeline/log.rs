//! Facts and effects as a person would note them down.

use super::desk;
use verger_core::breaker::{Transition, WriteChange};
use verger_core::effect::{Action, Effect};
use verger_core::event::{Event, Fact};
use verger_core::evidence::Evidence;
use verger_core::resources::Change;
use verger_core::waste::Delta;
use verger_core::{probe, verdicts};

pub(crate) fn event(event: &Event) -> String {
    let who = match &event.agent {
        Some((id, life)) if life.0 == 1 && id.as_str() == "a" => String::new(),
        Some((id, life)) if id.as_str() == "a" => format!("{life} "),
        Some((id, life)) if life.0 == 1 => format!("{id} "),
        Some((id, life)) => format!("{id}{life} "),
        None => "fleet ".to_owned(),
    };
    who + &fact(&event.fact)
}

fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Registered { .. } => "registered".to_owned(),
        Fact::Unregistered { .. } => "unregistered".to_owned(),
        Fact::StateChanged { from, to, evidence } => format!("{from} -> {to}{}", because(evidence)),
        Fact::Disconnected { status, cause, .. } => {
            format!("disconnected: {status}{}", cause.map_or_else(String::new, |cause| format!(", {cause}")))
        }
        Fact::Reconnected { downtime } => format!("reconnected after {downtime}"),
        Fact::Classified { class, .. } => format!("classified {class}"),
        Fact::NudgeSent { attempt, by, .. } => format!("nudge {attempt} queued{}", asked_by(by.as_ref())),
        Fact::NudgeDelivered { .. } => "nudge delivered".to_owned(),
        Fact::NudgeFailed { .. } => "nudge not delivered".to_owned(),
        Fact::NudgeAnswered { after, .. } => format!("nudge answered after {after}"),
        Fact::EscalationTriggered { reason, by } => format!("escalated: {reason}{}", asked_by(by.as_ref())),
        Fact::EscalationDecided { decision, .. } => format!("decided: {decision:?}"),
        Fact::EscalationWithdrawn => "escalation withdrawn".to_owned(),
        Fact::Interrupted { repeats } => format!("interrupted at {repeats} repeats"),
        Fact::TerminationOrdered { reason, by, .. } => {
            format!("to be stopped: {reason}{}", asked_by(by.as_ref()))
        }
        Fact::TerminationCalledOff => "is not stopped: it took another course".to_owned(),
        Fact::TerminationFailed { attempts } => format!("does not stop after {attempts} attempts"),
        Fact::Terminated { reason, recover, checkpoint, seen: _ } => {
            let from = checkpoint.as_ref().map_or_else(String::new, |id| format!(" from {id}"));
            format!(
                "ended: {reason}{}",
                if *recover { format!(", to be recovered{from}") } else { String::new() }
            )
        }
        Fact::IncidentOpened { incident, part_of: None, .. } => format!("incident {incident:?}"),
        Fact::IncidentOpened { incident, part_of: Some(scope), .. } => {
            format!("incident {incident:?}, part of that of {scope}")
        }
        Fact::IncidentResolved { incident, lasted } => format!("incident {incident:?} over after {lasted}"),
        Fact::Superseded { .. } => "an earlier life was turned away".to_owned(),
        Fact::Correlated(change) => change.to_string(),
        Fact::IncidentOrdered { scope, by, order } => format!("of {scope} {by} ordered {order:?}"),
        Fact::Recovery(change) => change.to_string(),
        Fact::ReviewOpened { task, why } => format!("people must look at {task}: {why}"),
        Fact::ReviewOver { task } => format!("the review of {task} is over"),
        Fact::RecoveryAlert { task, condition } => format!("alert{}: {condition}", about(task.as_ref())),
        Fact::RecoveryAlertOver { task, condition } => {
            format!("alert{} over: {condition}", about(task.as_ref()))
        }
        Fact::Breaker(change) => {
            let Transition { from, to, reason } = change.transition;
            format!("breaker {} {from} -> {to}: {reason}", change.name)
        }
        Fact::BreakerOrdered { name, by, order } => format!("breaker {name}: {by} ordered {order:?}"),
        Fact::Checkpoint(change) => checkpoint(change),
        Fact::Limit(Change::Near(breach)) => format!("near a limit: {breach}"),
        Fact::Limit(Change::Exceeded(breach)) => format!("over a limit: {breach}"),
        Fact::Limit(Change::Cleared { level, resource }) => {
            format!("{level:?} {resource:?} within its limit")
        }
        Fact::Wasted(Delta { spent, saved }) => format!(
            "wasted {} tokens and {} millionths, saved {} and {}",
            spent.tokens, spent.cost_micros, saved.tokens, saved.cost_micros
        ),
        Fact::BudgetExhausted { limit, per } => format!("limit reached: {limit} in {per}"),
        Fact::Task(decided) => desk::task(decided),
        Fact::TaskOrdered { task, by, word } => format!("task {task}: {by} says {}", desk::word(word)),
        Fact::Message(decided) => desk::message(decided),
        Fact::MessageSettled { message, by } => format!("message {message}: {by} took care of it"),
        Fact::Judged(found) => format!("judged {:?}: {found}", found.standing),
        Fact::TicketRaised(ticket) => format!("ticket {}: {}", ticket.report.severity, ticket.report.cause),
        Fact::TicketChanged(change) => ticket(change),
        Fact::Probed(change) => probed(change),
    }
}

fn checkpoint(change: &WriteChange) -> String {
    match change {
        WriteChange::Begin { id, .. } => format!("checkpoint {id} begins"),
        WriteChange::Queued { id, ahead, .. } => format!("checkpoint {id} waits behind {ahead}"),
        WriteChange::Overflowed { id, waiting, .. } => format!("checkpoint {id} refused, {waiting} wait"),
        WriteChange::Written { id, .. } => format!("checkpoint {id} written"),
        WriteChange::Dropped { id, .. } => format!("checkpoint {id} given up"),
        WriteChange::Persistent { waiting, .. } => format!("checkpoints cannot be written, {waiting} wait"),
        WriteChange::Recovered { lasted, .. } => format!("checkpoints are written again after {lasted}"),
    }
}

pub(crate) fn effect(effect: &Effect) -> String {
    let mut whom = String::new();
    if effect.key.agent.as_str() != "a" {
        whom.push(' ');
        whom.push_str(effect.key.agent.as_str());
    }
    if effect.key.incarnation.0 != 1 {
        whom.push(' ');
        whom.push_str(&effect.key.incarnation.to_string());
    }
    match &effect.action {
        Action::Ping => format!("=> ping{whom}"),
        Action::Inquire { task: None, .. } => format!("=> inquire{whom}"),
        Action::Inquire { task: Some(task), .. } => format!("=> inquire{whom} about {task}"),
        Action::Nudge { attempt, .. } => format!("=> nudge{whom} {attempt}"),
        Action::Escalate(_) => format!("=> escalate{whom}"),
        Action::Interrupt { repeats } => format!("=> interrupt{whom} at {repeats}"),
        Action::RequestHandoff { within } => format!("=> request handoff{whom} within {within}"),
        Action::Stop { within } => format!("=> stop{whom} within {within}"),
        Action::Survey { task } => format!("=> survey{whom} the checkpoints of {task}"),
        Action::Spawn(spawn) => {
            let from = spawn.from.as_ref().map_or("its start".to_owned(), ToString::to_string);
            format!("=> start{whom} for {} from {from}", spawn.task)
        }
        Action::Withdraw { task, start, .. } => format!("=> withdraw{whom} start {start} of {task}"),
        Action::Deliver { message, attempt, .. } => format!("=> deliver{whom} {message}, attempt {attempt}"),
        Action::RemindOfMessage { message, unread, .. } => {
            format!("=> remind{whom} of {message}, {unread} unread")
        }
        Action::TellSender { message, news, .. } => format!("=> tell{whom} of {message}: {news:?}"),
        Action::WriteCheckpoint { id, attempt, .. } => format!("=> write{whom} {id}, try {attempt}"),
        Action::Probe(start) => format!("=> probe{whom} {}", start.probe),
        Action::AskAdvice(question) => format!("=> ask advice{whom} within {}", question.within),
    }
}

fn ticket(change: &verdicts::Change) -> String {
    use verdicts::Change;
    match change {
        Change::Raised { .. } | Change::AdviceWanted { .. } => panic!("told otherwise"),
        Change::Joined { .. } => "ticket joined".to_owned(),
        Change::Dismissed { analysis, .. } => format!("ticket dismissed: {analysis}"),
        Change::InterventionRequested { severity, analysis, .. } => {
            format!("people are told, {severity}: {analysis}")
        }
        Change::Answered { answer, .. } => {
            format!("{} decided on the ticket: {:?}", answer.by, answer.decision)
        }
        Change::Closed { ending, told, .. } => {
            format!("ticket over: {ending:?}{}", if *told { ", told" } else { "" })
        }
    }
}

fn probed(change: &probe::Change) -> String {
    use probe::Change;
    match change {
        Change::Start { .. } | Change::Lost { .. } => panic!("not recorded"),
        Change::ProbeChanged { probe, from, to } => format!("probe {probe}: {from} -> {to}"),
        Change::StateChanged { from, to, summary, .. } => format!("probes: {from} -> {to}: {summary}"),
    }
}

fn because(evidence: &[Evidence]) -> String {
    if evidence.is_empty() {
        return String::new();
    }
    let texts: Vec<String> = evidence.iter().map(ToString::to_string).collect();
    format!(": {}", texts.join("; "))
}

fn about(task: Option<&verger_core::id::TaskId>) -> String {
    task.map_or_else(String::new, |task| format!(" of {task}"))
}

fn asked_by(by: Option<&verger_core::id::Actor>) -> String {
    by.map_or_else(String::new, |by| format!(" (by {by})"))
}
