//! Checkpoints: saved before they are acknowledged, in line while their store fails (L26), read back only if intact.
//!
//! ```text
//! POST ─► may they? ─► line before them, or breaker open? ─no──► write, fsync ─► 201
//!                                        │                         │ fails
//!                                        └─yes─► keep, stand in line ─► 202, written later
//! ```

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use verger_api::ingest::Limits;
use verger_api::{self as api, AnyJson, CheckpointInfo, CheckpointQuery, HttpError, List, read_body, redact};
use verger_core::breaker::{self, BreakerName};
use verger_core::id::{AgentId, CheckpointId, Incarnation, TaskId};
use verger_core::notice::{CheckpointNotice, Notice};
use verger_core::signal::{Body as SignalBody, Content, Signal};
use verger_core::time::{Timestamp, WallTime};
use verger_engine::{Answer, Message};
use verger_store::{Archive, CheckpointBody, CheckpointRefusal, Moment, NewCheckpoint};

use super::asker::Asker;
use super::named::{Named, checked, wrong_field};
use super::received::Received;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal, page};
use crate::access::{Caller, Denied, Right};
use crate::monitor::wall_now;
use crate::wire::{checkpoint_content, checkpoint_info, checkpoint_state};

/// What the store of checkpoints is called in the names of breakers.
const STORE: &str = "store";

pub(super) fn routes() -> Routes {
    let save = Told::new("saveCheckpoint", "checkpoints", "Keep a checkpoint", Who::Agent);
    let list =
        Told::new("listCheckpoints", "checkpoints", "A task's checkpoints, newest first", Who::AgentOrReader);
    let get = Told::new("getCheckpoint", "checkpoints", "One checkpoint, with its state", Who::AgentOrReader);
    Routes::new()
        .post(
            "/v1/checkpoints",
            self::save,
            save.body("NewCheckpoint")
                .answers(201, "It is on disk.", "CheckpointInfo")
                .answers(202, "It is on disk, and waits for its store.", "CheckpointInfo")
                .refuses(409),
        )
        .get(
            "/v1/tasks/{id}/checkpoints",
            of_task,
            list.query::<CheckpointQuery>().answers(200, "A page.", "List_CheckpointInfo"),
        )
        .get("/v1/checkpoints/{id}", one, get.answers(200, "The checkpoint.", "Checkpoint"))
}

async fn save(
    State(app): State<App>,
    Asker(caller): Asker,
    body: Result<Received, Refusal>,
) -> Result<Response, Refusal> {
    speaks_for_agents(&caller)?;
    app.monitor.is_writable()?;
    let (body, by, limits) = (body?, caller.clone(), app.limits);
    let mut asked = off_thread(move || Asked::read(&body, &by, &limits)).await?;
    let agent = asked.new.agent.clone();
    let breaker = BreakerName::of_agent(&agent, breaker::Kind::Checkpoint, STORE)
        .map_err(|error| Refusal::http(HttpError::WrongField, format!("agentId: {error}")))?;
    let standing = Standing::of(&app, &asked.new.task, &agent, &breaker).await?;
    standing.admits(asked.incarnation)?;
    if matches!(caller, Caller::Agent(_)) {
        own_task(&app, &standing, &asked.new.task, &agent).await?;
    }
    asked.new.at.observed = standing.now;
    if !standing.must_wait {
        let (archive, new) = (app.monitor.archive().clone(), asked.new.clone());
        match app.monitor.within(off_thread(move || Ok(write(&archive, new)))).await?? {
            Ok(info) => {
                tell_of(&app, &caller, &agent, asked.incarnation, info.id.as_str());
                return Ok((StatusCode::CREATED, Json(info)).into_response());
            }
            Err(verger_store::Error::Checkpoint(refusal)) => return Err(refusal.into()),
            // The store fails: what can still be kept is kept.
            Err(_) => {}
        }
    }
    let info = stand_in_line(&app, &caller, asked, breaker).await?;
    Ok((StatusCode::ACCEPTED, Json(info)).into_response())
}

/// Who may save nothing at all need not send anything that is read.
fn speaks_for_agents(caller: &Caller) -> Result<(), Denied> {
    match caller {
        Caller::Agent(_) | Caller::Admin(_) | Caller::Watched(_) => Ok(()),
        Caller::Reader(_) => Err(Denied::NotAllowed),
        Caller::Nobody => Err(Denied::NoToken),
    }
}

/// What is to be saved, read from a body.
struct Asked {
    new: NewCheckpoint,
    incarnation: Option<u32>,
}

impl Asked {
    /// Large bodies take a while: not to be called where others wait.
    fn read(body: &[u8], caller: &Caller, limits: &Limits) -> Result<Self, Refusal> {
        let mut asked: api::NewCheckpoint<'_> = read_body(body)?;
        caller.may(Right::Own(&asked.agent_id.as_str().into()))?;
        asked.id = asked.id.filter(|id| !id.is_empty());
        check(&asked, limits)?;
        let (now, made) = (wall_now(), asked.created_at.map(|at| WallTime(at.as_millis())));
        let wrong = |error: &dyn std::fmt::Display| Refusal::http(HttpError::WrongField, error.to_string());
        let state = asked.take_state().map_err(|error| wrong(&error))?;
        let new = NewCheckpoint {
            id: asked.id.map(Into::into),
            task: asked.task_id.into(),
            agent: asked.agent_id.into(),
            parent: asked.parent_id.map(Into::into),
            phase: asked.phase.map(|phase| redact(&phase).into_owned()),
            at: Moment { observed: Timestamp::ZERO, wall: made.map_or(now, |made| made.min(now)) },
            body: checkpoint_content(&state).map_err(|error| wrong(&error))?,
        };
        Ok(Self { new, incarnation: asked.incarnation })
    }
}

/// Names end up in rows, on terminals and in addresses; what cannot be one is refused before anything is kept.
fn check(asked: &api::NewCheckpoint<'_>, limits: &Limits) -> Result<(), Refusal> {
    let names = [
        ("taskId", Some(&asked.task_id)),
        ("agentId", Some(&asked.agent_id)),
        ("id", asked.id.as_ref()),
        ("parentId", asked.parent_id.as_ref()),
    ];
    for (field, name) in names {
        name.map_or(Ok(()), |name| checked(field, name, limits))?;
    }
    let is_long = asked.phase.as_ref().is_some_and(|phase| limits.label_bytes < phase.len());
    let flaw = || format!("must not have more than {} bytes", limits.label_bytes);
    if is_long { Err(wrong_field("phase", &flaw())) } else { Ok(()) }
}

/// How the agent and its way to the store stand.
struct Standing {
    now: Timestamp,
    present: Option<Incarnation>,
    /// Who works at the task, if that is known.
    worker: Option<AgentId>,
    must_wait: bool,
}

impl Standing {
    async fn of(app: &App, task: &TaskId, agent: &AgentId, breaker: &BreakerName) -> Result<Self, Refusal> {
        let (task, agent, breaker) = (task.clone(), agent.clone(), breaker.clone());
        let look = app.monitor.look(move |fleet, calendar| {
            let now = calendar.now();
            let is_closed = |view: breaker::BreakerView| view.state == breaker::State::Closed;
            Self {
                now,
                present: fleet.view(now, &agent).map(|view| view.incarnation),
                worker: fleet.tasks().view(now, &fleet.policies().tasks, &task).and_then(|view| view.agent),
                must_wait: fleet.writes().contains(&breaker)
                    || !fleet.breakers().view(now, &breaker).is_none_or(is_closed),
            }
        });
        Ok(look.await?)
    }

    /// A life that is over must not write over what its successor does.
    fn admits(&self, incarnation: Option<u32>) -> Result<(), Refusal> {
        match (incarnation, self.present) {
            (Some(asked), Some(present)) if asked < present.0 => Err(Refusal::code(
                "VG0102",
                format!("incarnation {asked} of this agent is over; the present one is {}", present.0),
            )),
            _ => Ok(()),
        }
    }
}

/// An agent saves its own work: of a task that it was given, or else of one at which nobody else has worked yet.
async fn own_task(app: &App, standing: &Standing, task: &TaskId, agent: &AgentId) -> Result<(), Refusal> {
    if let Some(worker) = &standing.worker {
        return if worker == agent { Ok(()) } else { Err(Denied::AnotherAgent.into()) };
    }
    let (archive, task) = (app.monitor.archive().clone(), task.clone());
    let newest = off_thread(move || Ok(archive.checkpoints(&task, None, 1)?)).await?;
    let is_own = newest.first().is_none_or(|newest| newest.agent == *agent);
    if is_own { Ok(()) } else { Err(Denied::AnotherAgent.into()) }
}

/// Writes it down. Without a parent it follows the task's newest; one that is there already keeps its own.
fn write(archive: &Archive, mut new: NewCheckpoint) -> Result<CheckpointInfo, verger_store::Error> {
    if new.parent.is_none() {
        let known = match &new.id {
            Some(id) => archive.checkpoint_info(id)?,
            None => None,
        };
        new.parent = match known {
            Some(known) => known.parent,
            None => archive.checkpoints(&new.task, None, 1)?.pop().map(|newest| newest.id),
        };
    }
    let saved = archive.save_checkpoint(new.clone())?.wait()?;
    let stored = NewCheckpoint { id: Some(saved.id), at: saved.at, ..new };
    Ok(checkpoint_info(&stored, false))
}

/// Keeps it, and has the core write it when it can be.
async fn stand_in_line(
    app: &App,
    caller: &Caller,
    asked: Asked,
    breaker: BreakerName,
) -> Result<CheckpointInfo, Refusal> {
    let archive = app.monitor.archive();
    let id = app.monitor.within(archive.queue_checkpoint(asked.new.clone())).await??;
    let agent = asked.new.agent.clone();
    // The line belongs to an agent, so there has to be one.
    let life = signal(caller, &agent, asked.incarnation, SignalBody::Activity);
    let submit = Notice::Checkpoint { breaker, what: CheckpointNotice::Submit { id: id.clone() } };
    let answers = app.monitor.tell(vec![life, Message::Notice(submit)]).await?;
    match answers.into_iter().nth(1) {
        Some(Answer::Noticed(Ok(_))) => {
            let new = NewCheckpoint { id: Some(id), ..asked.new };
            Ok(checkpoint_info(&new, true))
        }
        refused => {
            archive.forget_queued_checkpoint(id).await?;
            match refused {
                Some(Answer::Noticed(Err(error))) => Err(Refusal::code(error.code(), error.to_string())),
                _ => Err(Refusal::http(HttpError::Internal, "the checkpoint was not answered")),
            }
        }
    }
}

/// Has the core know that work was saved. Nobody waits for it: what was saved is on disk, and is found there.
fn tell_of(app: &App, caller: &Caller, agent: &AgentId, incarnation: Option<u32>, id: &str) {
    let saved = signal(caller, agent, incarnation, SignalBody::Checkpoint { id: id.into() });
    // A monitor that has too much to do learns of it when it looks through the checkpoints.
    let _ = app.monitor.send(vec![saved]);
}

fn signal(caller: &Caller, agent: &AgentId, incarnation: Option<u32>, body: SignalBody) -> Message {
    let content = Content {
        incarnation: incarnation.map(Incarnation),
        sent_at: None,
        received_at: wall_now(),
        trust: caller.trust(agent),
        body,
    };
    Message::Signal(Signal { agent: agent.clone(), content })
}

async fn of_task(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(task): Named,
    query: Result<Query<CheckpointQuery>, QueryRejection>,
) -> Result<Json<List<CheckpointInfo>>, Refusal> {
    let own = match &caller {
        Caller::Agent(agent) => Some(agent.clone()),
        _ => caller.may(Right::Read).map(|()| None)?,
    };
    let Query(query) = query?;
    let limit = page::limit(query.limit)?;
    let wrong = |_| Refusal::http(HttpError::WrongCursor, "the cursor cannot be read");
    let before = match &query.cursor {
        Some(cursor) => Some(app.cursors.open("checkpoints", cursor)?.parse().map_err(wrong)?),
        None => None,
    };
    let archive = app.monitor.archive().clone();
    let found = off_thread(move || Ok(archive.checkpoints(&task.into(), before, limit + 1)?));
    let mut found = found.await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|last| last.number.to_string());
    let next_cursor = next.map(|number| app.cursors.seal("checkpoints", &number));
    // An agent sees what it saved itself.
    let seen = found.iter().filter(|info| own.as_ref().is_none_or(|own| *own == info.agent));
    Ok(Json(List { items: seen.map(crate::wire::stored_checkpoint).collect(), next_cursor }))
}

async fn one(State(app): State<App>, Asker(caller): Asker, Named(id): Named) -> Result<Response, Refusal> {
    let archive = app.monitor.archive().clone();
    off_thread(move || {
        let id = CheckpointId::from(id);
        let (info, content) = found(&archive, &id, &caller)?;
        let (state, state_ref) = checkpoint_state(&content);
        let state = state.map(AnyJson::from_text).transpose();
        let state = state.map_err(|_| Refusal::http(HttpError::CheckpointDamaged, "its state is no JSON"))?;
        let info = CheckpointInfo { state_ref, ..info };
        Ok(Json(api::Checkpoint { info, state }).into_response())
    })
    .await
}

/// A checkpoint and its content, wherever it is: written, or still in line.
fn found(
    archive: &Archive,
    id: &CheckpointId,
    caller: &Caller,
) -> Result<(CheckpointInfo, Vec<u8>), Refusal> {
    if let Some((info, body)) = archive.checkpoint(id)? {
        caller.may(Right::See(&info.agent))?;
        return match body {
            CheckpointBody::Intact(content) => Ok((crate::wire::stored_checkpoint(&info), content)),
            CheckpointBody::Damaged => Err(damaged(id, "is not what was saved")),
            CheckpointBody::Missing => Err(damaged(id, "is lost")),
        };
    }
    if let Some(waiting) = archive.queued_checkpoint(id)? {
        caller.may(Right::See(&waiting.agent))?;
        return Ok((checkpoint_info(&waiting, true), waiting.body));
    }
    caller.may(Right::Read)?;
    Err(Refusal::code("VG0315", format!("no checkpoint `{id}` is known")))
}

fn damaged(id: &CheckpointId, how: &str) -> Refusal {
    Refusal::http(HttpError::CheckpointDamaged, format!("the content of checkpoint `{id}` {how}"))
}

/// Does what takes a while without holding anybody up.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let failed = |_| Refusal::http(HttpError::Internal, "the checkpoint could not be handled");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

impl From<CheckpointRefusal> for Refusal {
    fn from(refusal: CheckpointRefusal) -> Self {
        let kind = match refusal {
            CheckpointRefusal::TooLarge(_) => HttpError::TooLarge,
            _ => HttpError::CheckpointConflict,
        };
        Self::http(kind, refusal.to_string())
    }
}
