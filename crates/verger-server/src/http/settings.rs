//! What an admin sets for one agent. One that was never heard is registered by it (L52).
//!
//! What cannot be set for a single agent yet is refused by name, all of it at once, and nothing is changed: who sets a
//! limit must not believe in one that nobody keeps.

use axum::Json;
use axum::extract::State;
use verger_api::{AgentHealth, AgentSettings, FieldError, HttpError, read_body};
use verger_core::command::{CommandError, Order};
use verger_core::id::{AgentId, RoleName, TaskId};
use verger_core::notice::{Notice, Speaker, TaskWord};
use verger_core::signal::{Body, Content, Signal, Spawn, TaskChange, Trust};
use verger_core::tasks::Start;
use verger_core::time::Span;
use verger_engine::{Answer, Message};

use super::agents::{order, seen};
use super::asker::Asker;
use super::named::{Named, checked, wrong_fields};
use super::notice::notice;
use super::received::Received;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Caller, Denied, Right};
use crate::monitor::wall_now;
use crate::wire;

pub(super) fn routes() -> Routes {
    let told = Told::new("putAgentSettings", "agents", "Set role, task or mode of an agent", Who::Admin);
    let told = told.body("AgentSettings").answers(200, "The agent as it is now.", "AgentHealth").refuses(409);
    Routes::new().put("/v1/agents/{id}", put, told)
}

async fn put(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Result<Received, Refusal>,
) -> Result<Json<AgentHealth>, Refusal> {
    caller.may(Right::Order)?;
    let settings: AgentSettings = read_body(&body?)?;
    if check(&app, &id, &settings).await? == Known::No {
        let role = settings.role.as_deref().map(RoleName::from);
        told(&app, &id, Body::Spawn(Spawn { role, ..Spawn::default() })).await?;
    }
    // What is refused most often comes first: nothing else is changed then.
    if let Some(task) = &settings.task_id {
        assign(&app, &caller, &id, task.as_str().into()).await?;
    }
    if let Some(role) = &settings.role {
        order(&app, &caller, &id, None, Order::SetRole(role.as_str().into())).await?;
    }
    if let Some(mode) = settings.mode {
        order(&app, &caller, &id, None, Order::SetMode(Some(wire::mode_in(mode)))).await?;
    }
    seen(&app, &caller, &id).await.map(Json)
}

/// Whether an agent is registered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Yes,
    No,
}

/// Refuses what would be refused half way, and what nobody would keep.
async fn check(app: &App, id: &str, settings: &AgentSettings) -> Result<Known, Refusal> {
    let flaws = not_yet(settings);
    if !flaws.is_empty() {
        return Err(wrong_fields(flaws));
    }
    if let Some(task) = &settings.task_id {
        checked("taskId", task, &app.limits)?;
    }
    let (agent, role) = (AgentId::from(id), settings.role.as_deref().map(RoleName::from));
    let look = app.monitor.look(move |fleet, calendar| match role {
        Some(role) if fleet.policies().role(Some(&role)).name != role => Err(CommandError::UnknownRole(role)),
        Some(_) | None if fleet.view(calendar.now(), &agent).is_some() => Ok(Known::Yes),
        Some(_) | None => Ok(Known::No),
    });
    Ok(look.await??)
}

/// What cannot be set for one agent.
fn not_yet(settings: &AgentSettings) -> Vec<FieldError> {
    let probes = settings.probes.as_ref().is_some_and(|probes| !probes.is_empty());
    let asked = [
        ("limits", settings.limits.is_some(), "limits are set for a role, in verger.yaml"),
        ("nudge", settings.nudge.is_some(), "an agent is reminded by its inbox and the replies to it only"),
        ("probes", probes, "probes are not run yet"),
        ("spawn", settings.spawn.is_some(), "how agents are started is set in verger.yaml"),
    ];
    let refused = asked.into_iter().filter(|(_, is_asked, _)| *is_asked);
    refused.map(|(field, _, why)| FieldError { field: field.to_owned(), detail: why.to_owned() }).collect()
}

/// Gives a task to an agent: recorded as a person's order, and from now on it is what the agent works on.
async fn assign(app: &App, caller: &Caller, id: &str, task: TaskId) -> Result<(), Refusal> {
    let by = Speaker::Person(caller.actor().ok_or(Denied::NoToken)?);
    let word = TaskWord::Given {
        agent: Some(AgentId::from(id)),
        description: None,
        due_in: None,
        ago: Span::ZERO,
        start: Start::Same,
    };
    notice(app, Notice::Task { task: task.clone(), by, word: Box::new(word) }).await?;
    told(app, id, Body::Task(TaskChange::Assigned(task))).await
}

/// Says something of an agent on the admin's word.
async fn told(app: &App, id: &str, body: Body) -> Result<(), Refusal> {
    let content =
        Content { incarnation: None, sent_at: None, received_at: wall_now(), trust: Trust::Verified, body };
    let signal = Signal { agent: AgentId::from(id), content };
    let answers = app.monitor.tell(vec![Message::Signal(signal)]).await?;
    match answers.into_iter().next() {
        Some(Answer::Accepted(_)) => Ok(()),
        // It was unregistered, or began another life, between the two.
        Some(Answer::Refused(turned)) => Err(Refusal::code("VG0102", turned.to_string())),
        _ => Err(Refusal::http(HttpError::Internal, "what was set was not answered")),
    }
}
