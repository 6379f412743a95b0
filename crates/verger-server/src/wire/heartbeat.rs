//! A heartbeat as a signal.

use verger_api as api;
use verger_api::event::{CloudEvent, EventData};
use verger_api::redact;
use verger_core::id::Incarnation;
use verger_core::signal::{Body, Content, Context, Heartbeat, Signal, Trust};
use verger_core::time::{AgentTime, Span, WallTime};

use super::{SOURCE, states};
use crate::monitor::HeardBeat;

/// What a heartbeat says, read from the socket at this time.
pub fn heartbeat(beat: &api::Heartbeat<'_>, received_at: WallTime, trust: Trust) -> Signal {
    let sent_at = beat.timestamp.map(|at| AgentTime(at.as_millis()));
    let task = beat.task_id.as_deref().map(Into::into);
    let body = Body::Heartbeat(Heartbeat { task, ..vitals(&beat.vitals, sent_at, received_at) });
    let incarnation = beat.incarnation.map(Incarnation);
    let content = Content { incarnation, sent_at, received_at, trust, body };
    Signal { agent: beat.agent_id.as_ref().into(), content }
}

/// A heartbeat as an event, for whoever watches them come. Nothing of it is kept; credentials are not shown either.
pub fn heard(beat: api::Heartbeat<'static>, number: u64, received_at: WallTime) -> HeardBeat {
    let received = api::Time::from_millis(received_at.0);
    let mut beat = api::Heartbeat { timestamp: beat.timestamp.or(Some(received)), ..beat };
    let vitals = &mut beat.vitals;
    for text in [&mut vitals.phase, &mut vitals.last_tool_call, &mut vitals.progress_indicator] {
        *text = text.take().map(|text| redact(&text).into_owned().into());
    }
    let (agent, task) = (beat.agent_id.to_string(), beat.task_id.as_ref().map(ToString::to_string));
    let event = CloudEvent {
        id: format!("heartbeat-{}-{number}", received_at.0).into(),
        source: SOURCE.into(),
        subject: Some(agent.clone().into()),
        time: received,
        incarnation: beat.incarnation,
        task_id: task.clone().map(Into::into),
        traceparent: None,
        data: EventData::AgentHeartbeat(beat),
    };
    HeardBeat { agent: agent.into(), task: task.map(Into::into), body: event.to_json().into() }
}

/// What an agent says of itself. Its clock only tells how long something lasts.
pub(super) fn vitals(said: &api::Vitals<'_>, sent_at: Option<AgentTime>, received_at: WallTime) -> Heartbeat {
    let context = said.context_used.zip(said.context_limit).map(|(used, limit)| Context { used, limit });
    Heartbeat {
        task: None,
        role: said.role.as_deref().map(Into::into),
        tokens: said.token_count,
        errors: said.error_count,
        progress: progress(said),
        status: said.status.map(states::status_in),
        busy_for: said.busy_until.map(|until| lasting(until, sent_at, received_at)),
        context,
        cost_micros: said.cost_usd.map(micros),
    }
}

/// How long it is until then, by the clock that said so.
pub(super) fn lasting(until: api::Time, sent_at: Option<AgentTime>, received_at: WallTime) -> Span {
    let now = sent_at.map_or(received_at.0, |sent| sent.0);
    Span::millis(u64::try_from(until.as_millis().saturating_sub(now)).unwrap_or(0))
}

/// Money in millionths of a dollar; nonsense is nothing.
#[expect(clippy::cast_sign_loss, reason = "what is negative, or no number, becomes nought by the cast")]
pub(super) fn micros(dollars: f64) -> u64 {
    (dollars * 1_000_000.0) as u64
}

/// Any change of indicator or phase is progress, so all of their text counts.
fn progress(said: &api::Vitals<'_>) -> Option<u64> {
    if said.progress_indicator.is_none() && said.phase.is_none() {
        return None;
    }
    let parts = [said.progress_indicator.as_deref().unwrap_or(""), "\n", said.phase.as_deref().unwrap_or("")];
    Some(digest(&parts))
}

/// A digest that never changes between versions (FNV-1a): what it is made of is stored.
pub(super) fn digest(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_api::ingest::{Ingest, Limits, heartbeats};

    fn heard(json: &str) -> Signal {
        let Ingest::One(Ok(beat)) = heartbeats(json.as_bytes(), &Limits::default()) else { panic!("{json}") };
        heartbeat(&beat, WallTime(1_790_000_000_000), Trust::Unverified)
    }

    fn beat(json: &str) -> Heartbeat {
        match heard(json).content.body {
            Body::Heartbeat(beat) => beat,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn l02_every_field_of_a_heartbeat_is_heard() {
        let json = r#"{"agentId":"a","taskId":"t","tokenCount":12,"errorCount":3,"status":"busy",
            "contextUsed":10,"contextLimit":100,"costUsd":0.5,"role":"critical","incarnation":4}"#;
        let signal = heard(json);
        assert_eq!((signal.agent.as_str(), signal.content.incarnation), ("a", Some(Incarnation(4))));
        let beat = beat(json);
        assert_eq!((beat.tokens, beat.errors, beat.cost_micros), (Some(12), Some(3), Some(500_000)));
        assert_eq!(beat.context, Some(Context { used: 10, limit: 100 }));
        assert_eq!(beat.task, Some("t".into()));
        assert_eq!(beat.role, Some("critical".into()));
    }

    #[test]
    fn money_that_is_nonsense_is_nothing() {
        assert_eq!([micros(-1.0), micros(f64::NAN), micros(0.000_002)], [0, 0, 2]);
        assert_eq!(micros(f64::INFINITY), u64::MAX);
    }

    #[test]
    fn l53_how_long_it_is_busy_is_told_by_its_own_clock_if_it_says_what_that_shows() {
        let own = r#"{"agentId":"a","timestamp":"2020-01-01T00:00:00Z","busyUntil":"2020-01-01T00:20:00Z"}"#;
        assert_eq!(beat(own).busy_for, Some(Span::minutes(20)));
        let past = r#"{"agentId":"a","busyUntil":"2020-01-01T00:20:00Z"}"#;
        assert_eq!(beat(past).busy_for, Some(Span::ZERO));
    }

    #[test]
    fn l06_an_indicator_or_a_phase_that_changes_is_progress_and_silence_about_it_is_none() {
        let said = |json: &str| beat(json).progress;
        assert_eq!(said(r#"{"agentId":"a"}"#), None);
        let ten = said(r#"{"agentId":"a","progressIndicator":"10"}"#);
        assert_ne!(ten, said(r#"{"agentId":"a","progressIndicator":"11"}"#));
        assert_ne!(ten, said(r#"{"agentId":"a","progressIndicator":"10","phase":"tests"}"#));
        assert_eq!(ten, said(r#"{"agentId":"a","progressIndicator":"10"}"#));
    }
}
