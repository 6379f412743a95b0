//! What agents send: heartbeats and signals, one by one or by the thousand.

use axum::extract::State;
use axum::response::Response;
use verger_api::ingest::{self, Ingest, IngestReport};
use verger_api::signal::SignalBody;
use verger_api::{Heartbeat, HttpError};
use verger_core::Refusal as Turned;
use verger_core::id::AgentId;
use verger_core::signal::{Body, Signal, Trust};
use verger_core::time::WallTime;
use verger_engine::{Answer, Message};

use super::inbox::{superseded_item, waiting};
use super::refusal::no_room;
use super::reported::Reported;
use super::routes::Routes;
use super::told::{Told, Who};
use super::traced::reported;
use super::{App, Refusal, once};
use crate::access::{Caller, Right};
use crate::monitor::wall_now;
use crate::traffic::{Reason, TooOften};
use crate::wire;

pub(super) fn routes() -> Routes {
    let beats = Told::new("postHeartbeats", "ingest", "Tell that agents are alive", Who::Anybody);
    let signals = Told::new("postSignals", "ingest", "Tell what agents do", Who::Anybody);
    let taken = "What was taken, and what was not; for one object also what waits for its agent.";
    let name =
        "A name for this body. Sent again under the same name it counts once, and is answered the same.";
    let told = |told: Told, of: &str| {
        // Nobody needs a token, and one that is not valid is refused all the same.
        told.batch(of).header(once::HEADER, name).answers(202, taken, "IngestReport").refuses(401)
    };
    let (beats, signals) = (told(beats, "Heartbeat"), told(signals, "Signal"));
    Routes::new().post("/v1/heartbeats", heartbeats, beats).post("/v1/signals", self::signals, signals)
}

/// How much one body may hold.
fn limits(app: &App) -> ingest::Limits {
    ingest::Limits { items: app.traffic.limits().batch as usize, ..app.limits }
}

async fn heartbeats(
    State(app): State<App>,
    Reported { caller, body, name, trace }: Reported,
) -> Result<Response, Refusal> {
    let (by, own) = (caller.clone(), app.clone());
    let is_named = name.is_some();
    let take = async move { reported(trace, take_heartbeats(&app, &caller, &body, is_named)).await };
    once::taken(own, &by, name, take).await
}

async fn take_heartbeats(
    app: &App,
    caller: &Caller,
    body: &[u8],
    is_named: bool,
) -> Result<IngestReport, Refusal> {
    let received_at = wall_now();
    let read = ingest::heartbeats(body, &limits(app));
    let is_one = is_one(&read)?;
    let (items, report) = read.into_parts();
    let mut taking = Taking::new(report, items.len(), received_at);
    let is_watched = app.monitor.heard().is_wanted();
    for (index, beat) in items {
        let agent = AgentId::from(beat.agent_id.as_ref());
        let trust = caller.trust(&agent);
        match caller.may(Right::Vital(&agent)) {
            Ok(()) if taking.is_held_back(app, index, &agent, trust) => {}
            Ok(()) => {
                taking.push(index, wire::heartbeat(&beat, received_at, trust));
                taking.beats.extend(is_watched.then(|| (index, beat.into_owned())));
            }
            Err(denied) => taking.report.reject(index, denied.to_string()),
        }
    }
    taking.answer(app, is_one, is_named).await
}

async fn signals(
    State(app): State<App>,
    Reported { caller, body, name, trace }: Reported,
) -> Result<Response, Refusal> {
    let (by, own) = (caller.clone(), app.clone());
    let is_named = name.is_some();
    let take = async move { reported(trace, take_signals(&app, &caller, &body, is_named)).await };
    once::taken(own, &by, name, take).await
}

async fn take_signals(
    app: &App,
    caller: &Caller,
    body: &[u8],
    is_named: bool,
) -> Result<IngestReport, Refusal> {
    let received_at = wall_now();
    let read = ingest::signals(body, &limits(app));
    let is_one = is_one(&read)?;
    let (items, report) = read.into_parts();
    let mut taking = Taking::new(report, items.len(), received_at);
    let is_watched = app.monitor.heard().is_wanted();
    for (index, said) in items {
        let agent = AgentId::from(said.agent_id.as_ref());
        let trust = caller.trust(&agent);
        match may_say(caller, &agent, said.body.kind().needs_token()) {
            Ok(()) if taking.is_held_back(app, index, &agent, trust) => {}
            Ok(()) => {
                for signal in wire::signal(&said, received_at, trust, app.calls()) {
                    taking.push(index, signal);
                }
                taking.beats.extend(beat(said).filter(|_| is_watched).map(|beat| (index, beat)));
            }
            Err(denied) => taking.report.reject(index, denied.to_string()),
        }
    }
    taking.answer(app, is_one, is_named).await
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
    /// Calls that end.
    ended: Vec<(AgentId, Trust, u64)>,
    /// Heartbeats that somebody wants to see, by their places.
    beats: Vec<(usize, Heartbeat<'static>)>,
    received_at: WallTime,
    /// Whose rate was looked at last, and what came of it: what one agent sends at once is taken or held back together.
    paced: Option<(AgentId, Trust, Result<(), TooOften>)>,
    /// Items that are welcome later, and the last reason.
    later: (usize, Option<Refusal>),
}

impl Taking {
    fn new(report: IngestReport, items: usize, received_at: WallTime) -> Self {
        let (places, messages) = (Vec::with_capacity(items), Vec::with_capacity(items));
        let (ended, beats, later) = (Vec::new(), Vec::new(), (0, None));
        Self { report, places, messages, agent: None, ended, beats, received_at, paced: None, later }
    }

    /// Whether this agent has sent too much lately.
    fn is_held_back(&mut self, app: &App, index: usize, agent: &AgentId, trust: Trust) -> bool {
        let is_verified = trust == Trust::Verified;
        let verdict = match &self.paced {
            Some((last, as_whom, verdict)) if last == agent && *as_whom == trust => *verdict,
            _ => app.traffic.agent(agent.as_str(), is_verified),
        };
        match verdict {
            Ok(()) => app.traffic.on_signal(agent.as_str(), is_verified),
            Err(too_often) => self.put_off(index, too_often.into()),
        }
        self.paced = Some((agent.clone(), trust, verdict));
        verdict.is_err()
    }

    /// An item is not taken now, and would be later.
    fn put_off(&mut self, index: usize, why: Refusal) {
        self.report.reject(index, why.detail());
        self.later = (self.later.0 + 1, Some(why));
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
        if let Body::ToolFinished { call, .. } = signal.content.body {
            self.ended.push((signal.agent.clone(), signal.content.trust, call));
        }
        self.places.push(index);
        self.messages.push(Message::Signal(signal));
    }

    async fn answer(mut self, app: &App, is_one: bool, is_named: bool) -> Result<IngestReport, Refusal> {
        let messages = std::mem::take(&mut self.messages);
        // What has a name is sent again: whether it was taken must not be left open.
        let answers = if is_named {
            app.monitor.tell_to_the_end(messages).await?
        } else {
            app.monitor.tell(messages).await?
        };
        for (agent, trust, call) in std::mem::take(&mut self.ended) {
            app.calls().forget(&agent, trust, call);
        }
        let mut superseded = false;
        let mut refused = None;
        for (place, answer) in std::mem::take(&mut self.places).into_iter().zip(answers) {
            let Answer::Refused(turned) = answer else { continue };
            superseded |= matches!(turned, Turned::Superseded { .. });
            // A body's item may hold several signals; it is rejected once.
            if refused.replace(place) != Some(place) && !(is_one && superseded) {
                match no_room(&turned) {
                    Some(why) => {
                        app.traffic.on_refused(Reason::Agents);
                        self.put_off(place, why);
                    }
                    None => self.report.reject(place, turned.to_string()),
                }
            }
        }
        // A body of which nothing could be taken now, and all could be later, is to be sent again.
        if let (put_off, Some(why)) = std::mem::take(&mut self.later)
            && put_off == self.report.rejected.len()
            && self.report.accepted == 0
        {
            return Err(why);
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
        Ok(self.report)
    }
}
