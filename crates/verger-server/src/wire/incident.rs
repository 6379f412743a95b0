//! What is wrong, as a row that the store keeps and as people see it.

use verger_api as api;
use verger_core::AgentView;
use verger_core::correlation::Change;
use verger_core::event::{Event, Fact, Incident};
use verger_core::time::Timestamp;
use verger_store::{IncidentChange, KeptIncident, Place};

use super::{evidence, states};

/// What an event says of an incident.
pub(super) fn change(event: &Event, place: Place, known: Option<&AgentView>) -> Option<IncidentChange> {
    match &event.fact {
        Fact::IncidentOpened { incident, since, part_of } => {
            let opened = api::Incident {
                agent_id: whose(event, *incident),
                incarnation: event.agent.as_ref().map(|(_, life)| life.0),
                part_of: part_of.as_ref().map(ToString::to_string),
                evidence: known.map(|view| evidence::all(&view.evidence)).unwrap_or_default(),
                ..begun(states::incident(*incident), event, place, *since)
            };
            Some(IncidentChange::Opened {
                key: key(event, *incident),
                agent: opened.agent_id.as_deref().map(Into::into),
                body: json(&opened),
            })
        }
        Fact::IncidentResolved { incident, .. } => {
            Some(IncidentChange::Resolved { key: key(event, *incident) })
        }
        Fact::Correlated(change) => of_many(change, event, place),
        _ => None,
    }
}

/// Agents that failed together have one incident.
fn of_many(change: &Change, event: &Event, place: Place) -> Option<IncidentChange> {
    let key = |scope: &dyn std::fmt::Display| format!("correlated {scope}");
    let told = |scope: &dyn std::fmt::Display, affected: u32, since: Timestamp| api::Incident {
        scope: Some(scope.to_string()),
        affected: Some(affected),
        ..begun(api::IncidentKind::Correlated, event, place, since)
    };
    match change {
        Change::Opened { scope, affected, since, .. } => Some(IncidentChange::Opened {
            key: key(scope),
            agent: None,
            body: json(&told(scope, *affected, *since)),
        }),
        Change::Widened { scope, affected, .. } => {
            Some(IncidentChange::Changed { key: key(scope), body: json(&told(scope, *affected, event.at)) })
        }
        Change::Resolved { scope, .. } => Some(IncidentChange::Resolved { key: key(scope) }),
        Change::StillFrozen { .. } | Change::Frozen { .. } | Change::Thawed { .. } => None,
    }
}

/// Tells an incident from others that are open.
fn key(event: &Event, incident: Incident) -> String {
    let kind = states::incident(incident);
    whose(event, incident).map_or_else(|| kind.to_string(), |agent| format!("{kind} {agent}"))
}

/// A storm is the fleet's, whoever's step it was in which it began.
fn whose(event: &Event, incident: Incident) -> Option<String> {
    let agent = event.agent.as_ref().filter(|_| incident != Incident::Storm);
    agent.map(|(agent, _)| agent.to_string())
}

fn begun(kind: api::IncidentKind, event: &Event, place: Place, since: Timestamp) -> api::Incident {
    let ago = i64::try_from(event.at.since(since).as_millis()).unwrap_or(i64::MAX);
    api::Incident {
        id: place.id.to_string(),
        kind,
        state: api::IncidentState::Open,
        agent_id: None,
        incarnation: None,
        scope: None,
        affected: None,
        part_of: None,
        opened_at: api::Time::from_millis(place.at.wall.0.saturating_sub(ago)),
        resolved_at: None,
        evidence: Vec::new(),
        wrong: false,
    }
}

fn json(incident: &api::Incident) -> String {
    serde_json::to_string(incident).expect("it has only texts, numbers and times")
}

/// An incident out of the store; nothing if what is stored cannot be read.
pub fn incident(kept: &KeptIncident) -> Option<api::Incident> {
    let told: api::Incident = serde_json::from_str(&kept.body).ok()?;
    let state = if kept.resolved.is_some() { api::IncidentState::Resolved } else { api::IncidentState::Open };
    Some(api::Incident {
        id: kept.id.to_string(),
        state,
        // When more became known of it is not when it began.
        opened_at: told.opened_at.min(api::Time::from_millis(kept.opened.0)),
        resolved_at: kept.resolved.map(|at| api::Time::from_millis(at.0)),
        wrong: kept.wrong,
        ..told
    })
}
