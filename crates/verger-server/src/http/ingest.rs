//! What agents send: heartbeats and signals, one by one or by the thousand.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use verger_api::ingest::{self, Ingest, IngestReport};
use verger_api::signal::SignalBody;
use verger_api::{Heartbeat, HttpError};
use verger_core::Refusal as Turned;
use verger_core::id::AgentId;
use verger_core::signal::Signal;
use verger_core::time::WallTime;
use verger_engine::{Answer, Message};

use super::inbox::{superseded_item, waiting};
use super::reported::Reported;
use super::routes::Routes;
use super::told::{Told, Who};
use super::traced::reported;
use super::{App, Refusal};
use crate::access::{Caller, Right};
use crate::monitor::wall_now;
use crate::wire;

pub(super) fn routes() -> Routes {
    let beats = Told::new("postHeartbeats", "ingest", "Tell that agents are alive", Who::Anybody);
    let signals = Told::new("postSignals", "ingest", "Tell what agents do", Who::Anybody);
    let taken = "What was taken, and what was not; for one object also what waits for its agent.";
    Routes::new()
        .post("/v1/heartbeats", heartbeats, beats.batch("Heartbeat").answers(202, taken, "IngestReport"))
        .post("/v1/signals", self::signals, signals.batch("Signal").answers(202, taken, "IngestReport"))
}

async fn heartbeats(
    State(app): State<App>,
    Reported { caller, body, trace }: Reported,
) -> Result<Response, Refusal> {
    let received_at = wall_now();
    let read = ingest::heartbeats(&body, &app.limits);
    let is_one = is_one(&read)?;
    let (items, report) = read.into_parts();
    let mut taking = Taking::new(report, items.len(), received_at);
    let is_watched = app.monitor.heard().is_wanted();
    for (index, beat) in items {
        let agent = AgentId::from(beat.agent_id.as_ref());
        match caller.may(Right::Vital(&agent)) {
            Ok(()) => {
                taking.push(index, wire::heartbeat(&beat, received_at, caller.trust(&agent)));
                taking.beats.extend(is_watched.then(|| (index, beat.into_owned())));
            }
            Err(denied) => taking.report.reject(index, denied.to_string()),
        }
    }
    reported(trace, taking.answer(&app, is_one)).await
}

async fn signals(
    State(app): State<App>,
    Reported { caller, body, trace }: Reported,
) -> Result<Response, Refusal> {
    let received_at = wall_now();
    let read = ingest::signals(&body, &app.limits);
    let is_one = is_one(&read)?;
    let (items, report) = read.into_parts();
    let mut taking = Taking::new(report, items.len(), received_at);
    let is_watched = app.monitor.heard().is_wanted();
    for (index, said) in items {
        let agent = AgentId::from(said.agent_id.as_ref());
        match may_say(&caller, &agent, said.body.kind().needs_token()) {
            Ok(()) => {
                for signal in wire::signal(&said, received_at, caller.trust(&agent), app.calls()) {
                    taking.push(index, signal);
                }
                taking.beats.extend(beat(said).filter(|_| is_watched).map(|beat| (index, beat)));
            }
            Err(denied) => taking.report.reject(index, denied.to_string()),
        }
    }
    reported(trace, taking.answer(&app, is_one)).await
}

fn may_say(caller: &Caller, agent: &AgentId, needs_token: bool) -> Result<(), crate::access::Denied> {
    caller.may(if needs_token { Right::Own(agent) } else { Right::Vital(agent) })
}

/// A signal that is a heartbeat, as one.
fn beat(said: verger_api::Signal<'_>) -> Option<Heartbeat<'static>> {
    let SignalBody::Heartbeat(vitals) = said.body else { return None };
    let (agent_id, task_id, incarnation) = (said.agent_id, said.task_id, said.incarnation);
    Some(Heartbeat { agent_id, task_id, timestamp: said.at, incarnation, vitals: *vitals }.into_owned())
}

/// Whether the body is one object. One that is wrong is refused as a whole: there is nothing else in it.
fn is_one<T>(read: &Ingest<T>) -> Result<bool, Refusal> {
    match read {
        Ingest::One(Ok(_)) => Ok(true),
        Ingest::One(Err(error)) => Err(Refusal::http(HttpError::WrongField, error.clone())),
        Ingest::Many(_) => Ok(false),
    }
}

/// Signals of one body on their way to the loop.
struct Taking {
    report: IngestReport,
    /// The place in the body that each message came from.
    places: Vec<usize>,
    messages: Vec<Message>,
    agent: Option<AgentId>,
    /// Heartbeats that somebody wants to see, by their places.
    beats: Vec<(usize, Heartbeat<'static>)>,
    received_at: WallTime,
}

impl Taking {
    fn new(report: IngestReport, items: usize, received_at: WallTime) -> Self {
        let (places, messages) = (Vec::with_capacity(items), Vec::with_capacity(items));
        Self { report, places, messages, agent: None, beats: Vec::new(), received_at }
    }

    /// Shows what was taken to whoever watches.
    fn show(&mut self, app: &App) {
        for (index, beat) in std::mem::take(&mut self.beats) {
            if !self.report.rejected.iter().any(|rejected| rejected.index == index) {
                let heard = app.monitor.heard();
                heard.pass_on(wire::heard(beat, heard.number(), self.received_at));
            }
        }
    }

    fn push(&mut self, index: usize, signal: Signal) {
        self.agent.get_or_insert_with(|| signal.agent.clone());
        self.places.push(index);
        self.messages.push(Message::Signal(signal));
    }

    async fn answer(mut self, app: &App, is_one: bool) -> Result<Response, Refusal> {
        let answers = app.monitor.tell(std::mem::take(&mut self.messages)).await?;
        let mut superseded = false;
        let mut refused = None;
        for (place, answer) in std::mem::take(&mut self.places).into_iter().zip(answers) {
            let Answer::Refused(turned) = answer else { continue };
            superseded |= matches!(turned, Turned::Superseded { .. });
            // A body's item may hold several signals; it is rejected once.
            if refused.replace(place) != Some(place) && !(is_one && superseded) {
                self.report.reject(place, turned.to_string());
            }
        }
        if !superseded {
            self.show(app);
        }
        if is_one {
            let agent = self.agent.filter(|_| !superseded);
            let mut pending = match &agent {
                Some(agent) if app.monitor.pending().has(agent) => waiting(app, agent).await?,
                _ => Vec::new(),
            };
            if superseded {
                pending.push(superseded_item());
            }
            self.report.pending = Some(pending);
        }
        Ok((StatusCode::ACCEPTED, Json(self.report)).into_response())
    }
}
