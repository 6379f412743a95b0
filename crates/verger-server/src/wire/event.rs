//! What happened, as a `CloudEvent`.
//!
//! Facts that the specifications name have payloads of their own; the others are [notes](super::note): a sentence, and
//! who did it.

use std::sync::Arc;

use verger_api::event::{
    AgentCritical, AgentDegraded, AgentDisconnected, AgentHealthy, AgentReconnected, AgentTerminated,
    BreakerStateChanged, CloudEvent, EscalationDecided, EscalationTriggered, EventData, HealthStateChanged,
    IncidentOpened, IncidentResolved, MonitorBlind, NudgeAnswered, NudgeDelivered, NudgeSent,
    RecoveryCompleted, RecoveryFailed, RecoveryInitiated,
};
use verger_api::{self as api, Time};
use verger_core::command::Decision;
use verger_core::event::{Event, Fact, Incident};
use verger_core::evidence::{Evidence, Family};
use verger_core::health::HealthState;
use verger_core::id::{AgentId, TaskId};
use verger_core::liveness::FailureClass;
use verger_core::recovery::Change;
use verger_core::time::Timestamp;
use verger_core::{AgentView, Intervention};
use verger_engine::{Blind, BlindCause};
use verger_store::{EncodeEvent, EventText, IncidentChange, JournalEvent, Place};

use super::{agent, evidence, incident, note, states};
use crate::trace::Tracer;

/// What may be decided about an agent that is in trouble.
const OPTIONS: [api::Decision; 3] =
    [api::Decision::AllowMoreTime, api::Decision::ForceHandoff, api::Decision::TerminateAndRecover];

/// Puts facts into `CloudEvents`.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    /// Which monitor says so, as in `/verger`.
    pub source: String,
    /// Knows which trace an event belongs to.
    pub tracer: Arc<Tracer>,
}

impl EncodeEvent for Encoder {
    fn encode(&self, event: &Event, place: Place, known: Option<&AgentView>) -> EventText {
        let data = Said::new(event, place, known).data(&event.fact);
        self.written(event, place, known, data)
    }

    /// 002 has names of its own for an agent that is well, and for a silence that nothing explains.
    fn also(&self, event: &Event, place: Place, known: Option<&AgentView>) -> Option<EventText> {
        let said = Said::new(event, place, known);
        let Fact::StateChanged { to, evidence, .. } = &event.fact else { return None };
        let data = match to {
            HealthState::Healthy => said.healthy(known?),
            HealthState::Degraded => said.silent(known?, evidence)?,
            HealthState::Unknown | HealthState::Stuck | HealthState::Failing | HealthState::Terminated => {
                return None;
            }
        };
        Some(self.written(event, place, known, data))
    }

    fn blind(&self, blind: &Blind, place: Place) -> Option<EventText> {
        let (until, lasted) = (place.at.wall.0, blind.lasted.as_millis());
        let from = until.saturating_sub(i64::try_from(lasted).unwrap_or(i64::MAX));
        let data = EventData::MonitorBlind(MonitorBlind {
            from: Time::from_millis(from),
            until: Time::from_millis(until),
            lasted_ms: lasted,
            cause: match blind.cause {
                BlindCause::Down => api::BlindCause::Down,
                BlindCause::Paused => api::BlindCause::Paused,
                BlindCause::Behind => api::BlindCause::Behind,
                BlindCause::Store => api::BlindCause::Store,
            },
        });
        let envelope = CloudEvent {
            id: place.id.to_string().into(),
            source: self.source.as_str().into(),
            subject: None,
            time: Time::from_millis(until),
            incarnation: None,
            task_id: None,
            traceparent: None,
            data,
        };
        let (kind, body) = (envelope.data.kind().as_str(), envelope.to_json());
        Some(EventText { kind, task: None, body })
    }

    fn incident(&self, event: &Event, place: Place, known: Option<&AgentView>) -> Option<IncidentChange> {
        incident::change(event, place, known)
    }
}

impl Encoder {
    /// What is said of an event, in its envelope. One that is about an agent is about what it works on, too.
    fn written(&self, event: &Event, place: Place, known: Option<&AgentView>, data: EventData) -> EventText {
        let work = || known.and_then(|view| view.task.clone());
        let task = task_of(&event.fact).cloned().or_else(work);
        let kind = data.kind().as_str();
        let subject = subject(event, task.as_ref()).map(Into::into);
        let context = self.tracer.on_event(event, place, kind, task.as_ref());
        let envelope = CloudEvent {
            id: place.id.to_string().into(),
            source: self.source.as_str().into(),
            subject,
            time: Time::from_millis(place.at.wall.0),
            incarnation: event.agent.as_ref().map(|(_, life)| life.0),
            task_id: task.as_ref().map(|task| task.as_str().into()),
            traceparent: context.map(|context| context.to_string().into()),
            data,
        };
        let body = envelope.to_json();
        EventText { kind, task, body }
    }
}

/// Whom an event is about: its agent, else its breaker, else its task.
fn subject(event: &Event, task: Option<&TaskId>) -> Option<String> {
    if let Some((agent, _)) = &event.agent {
        return Some(agent.to_string());
    }
    match &event.fact {
        Fact::Breaker(change) => Some(change.name.to_string()),
        Fact::BreakerOrdered { name, .. } => Some(name.to_string()),
        _ => task.map(ToString::to_string),
    }
}

/// The task that a fact is about.
pub(super) fn task_of(fact: &Fact) -> Option<&TaskId> {
    match fact {
        Fact::Recovery(change) => Some(change.task()),
        Fact::ReviewOpened { task, .. } | Fact::ReviewOver { task } | Fact::TaskOrdered { task, .. } => {
            Some(task)
        }
        Fact::Registered { task }
        | Fact::RecoveryAlert { task, .. }
        | Fact::RecoveryAlertOver { task, .. } => task.as_ref(),
        Fact::Task(decided) => Some(&decided.task),
        _ => None,
    }
}

/// One fact, with what is needed to say it.
struct Said<'a> {
    agent: Option<&'a AgentId>,
    /// Its number in the journal.
    id: i64,
    at: Timestamp,
    wall: i64,
    /// How its agent is.
    known: Option<&'a AgentView>,
}

impl<'a> Said<'a> {
    fn new(event: &'a Event, place: Place, known: Option<&'a AgentView>) -> Self {
        let agent = event.agent.as_ref().map(|(agent, _)| agent);
        Self { agent, id: place.id, at: event.at, wall: place.at.wall.0, known }
    }

    fn agent(&self) -> String {
        self.agent.map_or_else(String::new, ToString::to_string)
    }

    /// An earlier moment on people's clocks. What was not seen in between is not known here.
    fn time(&self, at: Timestamp) -> Time {
        let ago = i64::try_from(self.at.since(at).as_millis()).unwrap_or(i64::MAX);
        Time::from_millis(self.wall.saturating_sub(ago))
    }

    fn data(&self, fact: &Fact) -> EventData {
        self.of_health(fact)
            .or_else(|| self.of_interventions(fact))
            .or_else(|| of_machines(fact))
            .unwrap_or_else(|| note::of(self.agent, fact))
    }

    fn of_health(&self, fact: &Fact) -> Option<EventData> {
        let agent = self.agent();
        Some(match fact {
            Fact::StateChanged { from, to, evidence } => self.changed(*from, *to, evidence),
            Fact::Disconnected { status, cause, last_seen } => {
                EventData::AgentDisconnected(AgentDisconnected {
                    agent,
                    reason: cause.map_or_else(|| status.to_string(), |cause| format!("{status}: {cause}")),
                    last_seen: self.time(*last_seen),
                    kind: cause.map(states::cause),
                })
            }
            Fact::Reconnected { downtime } => {
                EventData::AgentReconnected(AgentReconnected { agent, downtime: downtime.as_millis() })
            }
            Fact::Classified { class: FailureClass::Terminal, cause } => {
                EventData::AgentHealthCritical(AgentCritical { agent, kind: cause.map(states::cause) })
            }
            Fact::Terminated { reason, checkpoint, recover, .. } => {
                EventData::AgentTerminated(AgentTerminated {
                    agent_id: agent,
                    reason: reason.to_string(),
                    checkpoint: checkpoint.as_ref().map(ToString::to_string),
                    recover: *recover,
                })
            }
            Fact::IncidentOpened { incident, since, part_of } => EventData::IncidentOpened(IncidentOpened {
                id: self.id.to_string(),
                kind: states::incident(*incident),
                agent_id: self.whose(*incident),
                since: self.time(*since),
                scope: None,
                part_of: part_of.as_ref().map(ToString::to_string),
                evidence: self.found(),
            }),
            Fact::IncidentResolved { incident, lasted } => EventData::IncidentResolved(IncidentResolved {
                id: self.id.to_string(),
                kind: states::incident(*incident),
                agent_id: self.whose(*incident),
                lasted_ms: lasted.as_millis(),
            }),
            _ => return None,
        })
    }

    fn changed(&self, from: HealthState, to: HealthState, evidence: &[Evidence]) -> EventData {
        let is_trouble = matches!(to, HealthState::Stuck | HealthState::Failing);
        let well = match from {
            HealthState::Unknown => "it shows life",
            _ => "nothing stands against it any more",
        };
        EventData::HealthStateChanged(HealthStateChanged {
            agent_id: self.agent(),
            from: states::state(from),
            to: states::state(to),
            reason: evidence::sentence(evidence, well),
            evidence: evidence::all(evidence),
            task_id: self.task(),
            checkpoint: self.checkpoint(),
            nudges: self.known.filter(|_| is_trouble).map(nudges),
            options: if is_trouble { OPTIONS.to_vec() } else { Vec::new() },
        })
    }

    /// An agent is well.
    fn healthy(&self, known: &AgentView) -> EventData {
        let metrics = agent::metrics_at(known, self.at, |at| self.time(at));
        EventData::AgentHealthy(AgentHealthy { agent: self.agent(), metrics })
    }

    /// Neither activity nor a pong explains the silence of an agent; nothing if it is degraded for another reason.
    fn silent(&self, known: &AgentView, evidence: &[Evidence]) -> Option<EventData> {
        let silence: Vec<Evidence> =
            evidence.iter().filter(|found| found.sign.family() == Family::Life).cloned().collect();
        (!silence.is_empty()).then(|| {
            EventData::AgentDegraded(AgentDegraded {
                agent: self.agent(),
                reason: evidence::sentence(&silence, ""),
                idle_time: self.at.since(known.metrics.last_activity).as_millis(),
            })
        })
    }

    /// What stands against its agent.
    fn found(&self) -> Vec<api::Evidence> {
        self.known.map(|view| evidence::all(&view.evidence)).unwrap_or_default()
    }

    fn task(&self) -> Option<String> {
        self.known.and_then(|view| view.task.as_ref()).map(ToString::to_string)
    }

    fn checkpoint(&self) -> Option<String> {
        self.known.and_then(|view| view.checkpoint.as_ref()).map(ToString::to_string)
    }

    /// A storm is the fleet's, whoever's step it was in which it began.
    fn whose(&self, incident: Incident) -> Option<String> {
        self.agent.filter(|_| incident != Incident::Storm).map(ToString::to_string)
    }

    /// When it is decided without people.
    fn deadline(&self) -> Option<Time> {
        match self.known?.intervention? {
            Intervention::Escalated { deadline } => deadline.map(|at| self.ahead(at)),
            _ => None,
        }
    }

    /// A moment that is to come.
    fn ahead(&self, at: Timestamp) -> Time {
        let wait = i64::try_from(at.since(self.at).as_millis()).unwrap_or(i64::MAX);
        Time::from_millis(self.wall.saturating_add(wait))
    }

    fn of_interventions(&self, fact: &Fact) -> Option<EventData> {
        let agent_id = self.agent();
        Some(match fact {
            Fact::NudgeSent { key, attempt, text, by } => EventData::NudgeSent(NudgeSent {
                agent_id,
                attempt: (*attempt).into(),
                message: text.to_string(),
                id: key.to_string(),
                by: by.as_ref().map(ToString::to_string),
            }),
            Fact::NudgeDelivered { key } => {
                EventData::NudgeDelivered(NudgeDelivered { agent_id, id: key.to_string() })
            }
            Fact::NudgeAnswered { key, after } => EventData::NudgeAnswered(NudgeAnswered {
                agent_id,
                id: key.to_string(),
                after_ms: after.as_millis(),
            }),
            Fact::EscalationTriggered { reason, by } => EventData::EscalationTriggered(EscalationTriggered {
                agent_id,
                reason: reason.to_string(),
                by: by.as_ref().map(ToString::to_string),
                evidence: self.found(),
                task_id: self.task(),
                checkpoint: self.checkpoint(),
                options: OPTIONS.to_vec(),
                deadline: self.deadline(),
            }),
            Fact::EscalationDecided { decision: taken, reason, by } => {
                EventData::EscalationDecided(EscalationDecided {
                    agent_id,
                    decision: decision(*taken),
                    reason: reason.to_string(),
                    by: by.as_ref().map(ToString::to_string),
                })
            }
            _ => return None,
        })
    }
}

/// Reminders that were sent in the present trouble.
fn nudges(known: &AgentView) -> u32 {
    match known.intervention {
        Some(Intervention::Nudging { attempt }) => attempt.into(),
        _ => 0,
    }
}

fn of_machines(fact: &Fact) -> Option<EventData> {
    Some(match fact {
        Fact::Breaker(change) => EventData::CircuitBreakerStateChanged(BreakerStateChanged {
            name: change.name.to_string(),
            from: states::breaker_state(change.transition.from),
            to: states::breaker_state(change.transition.to),
            reason: Some(change.transition.reason.to_string()),
        }),
        Fact::Recovery(change) => match change.as_ref() {
            Change::Initiated { task, attempt, from, .. } => {
                EventData::RecoveryInitiated(RecoveryInitiated {
                    task_id: task.to_string(),
                    from_checkpoint: from.as_ref().map(ToString::to_string),
                    attempt: (*attempt).into(),
                })
            }
            Change::Completed { task, life, .. } => EventData::RecoveryCompleted(RecoveryCompleted {
                task_id: task.to_string(),
                new_agent_id: life.agent.to_string(),
                incarnation: Some(life.incarnation.0),
            }),
            Change::Failed { task, why, attempts } => EventData::RecoveryFailed(RecoveryFailed {
                task_id: task.to_string(),
                reason: why.to_string(),
                attempts: (*attempts).into(),
            }),
            _ => return None,
        },
        _ => return None,
    })
}

/// The state that an agent is in after an event of the journal, if that is what it tells.
pub(crate) fn state_after(event: &JournalEvent) -> Option<api::HealthState> {
    let body: serde_json::Value = serde_json::from_str(&event.body).ok()?;
    body["data"]["to"].as_str()?.parse().ok()
}

/// Whether an event of the journal alarmed somebody: something was said against an agent, or done because of it.
pub(crate) fn is_alarm(event: &JournalEvent) -> bool {
    use api::EventType as Type;
    match event.kind.parse() {
        Ok(Type::HealthStateChanged) => {
            let bad = [api::HealthState::Degraded, api::HealthState::Stuck, api::HealthState::Failing];
            state_after(event).is_some_and(|to| bad.contains(&to))
        }
        Ok(
            Type::IncidentOpened
            | Type::FleetIncidentChanged
            | Type::NudgeSent
            | Type::TurnInterrupted
            | Type::EscalationTriggered
            | Type::TerminationOrdered
            | Type::AgentTerminated
            | Type::AgentDegraded
            | Type::AgentDisconnected
            | Type::AgentHealthCritical
            | Type::SilenceClassified
            | Type::CircuitBreakerStateChanged
            | Type::LimitChanged
            | Type::RecoveryAlertOpened
            | Type::ReviewOpened
            | Type::TaskChanged
            | Type::MessageChanged
            | Type::WorkerJudged
            | Type::WorkerEscalationTicket
            | Type::QueenInterventionRequested
            | Type::ProbesChanged,
        ) => true,
        Ok(_) | Err(_) => false,
    }
}

pub(super) fn decision(decision: Decision) -> api::Decision {
    match decision {
        Decision::AllowMoreTime(_) => api::Decision::AllowMoreTime,
        Decision::ForceHandoff => api::Decision::ForceHandoff,
        Decision::TerminateAndRecover => api::Decision::TerminateAndRecover,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_core::health::HealthState;
    use verger_core::id::Incarnation;
    use verger_core::time::{Span, WallTime};
    use verger_store::Moment;

    fn encoded(agent: Option<&str>, fact: Fact) -> (EventText, CloudEvent<'static>) {
        let at = Timestamp::ZERO + Span::secs(100);
        let agent = agent.map(|agent| (agent.into(), Incarnation(2)));
        let place = Place { id: 7, at: Moment { observed: at, wall: WallTime(1_790_000_000_000) } };
        let encoder = Encoder { source: "/verger".to_owned(), ..Encoder::default() };
        let text = encoder.encode(&Event { at, agent, fact }, place, None);
        let event = CloudEvent::decode(text.body.as_bytes()).expect("it can be read back");
        (text, event)
    }

    #[test]
    fn l49_a_change_of_state_says_whose_which_life_when_and_why() {
        let evidence = Arc::new([]);
        let fact = Fact::StateChanged { from: HealthState::Stuck, to: HealthState::Healthy, evidence };
        let (text, event) = encoded(Some("a"), fact);
        assert_eq!(text.kind, "HEALTH_STATE_CHANGED");
        assert_eq!(
            (event.id.as_ref(), event.subject.as_deref(), event.incarnation),
            ("7", Some("a"), Some(2))
        );
        assert_eq!(event.time.as_millis(), 1_790_000_000_000);
        let EventData::HealthStateChanged(data) = event.data else { panic!("{:?}", event.data) };
        assert_eq!((data.from, data.to), (api::HealthState::Stuck, api::HealthState::Healthy));
    }

    #[test]
    fn l49_a_silence_says_when_the_agent_was_last_seen() {
        let last_seen = Timestamp::ZERO + Span::secs(40);
        let status = verger_core::liveness::LivenessStatus::Offline;
        let (_, event) = encoded(Some("a"), Fact::Disconnected { status, cause: None, last_seen });
        let EventData::AgentDisconnected(data) = event.data else { panic!("{:?}", event.data) };
        assert_eq!(data.last_seen.as_millis(), 1_790_000_000_000 - 60_000);
    }

    #[test]
    fn l49_what_no_document_names_is_a_note_about_its_task() {
        let (text, event) = encoded(None, Fact::ReviewOver { task: "t".into() });
        assert_eq!((text.kind, text.task), ("REVIEW_CLOSED", Some("t".into())));
        assert_eq!((event.subject.as_deref(), event.task_id.as_deref()), (Some("t"), Some("t")));
    }
}
