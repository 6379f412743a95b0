//! Tasks: who does what, and how it gets on.
//!
//! What is said of a task goes to the core as one word after another, and the first that is refused ends it. An agent
//! speaks of its own task only; that it is its own is looked up, whatever it says.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use verger_api::{List, Task, TaskQuery, TaskStatus, TaskUpdate, Time, read_body};
use verger_core::fleet::Fleet;
use verger_core::id::{AgentId, TaskId};
use verger_core::notice::{Notice, NoticeError, Speaker, TaskWord};
use verger_core::signal::Trust;
use verger_core::tasks::{Refusal as TaskRefusal, Start};
use verger_core::time::{Span, WallTime};
use verger_store::{Archive, Moment};

use super::asker::Asker;
use super::events::blocking;
use super::named::{Named, checked, kept_text, wrong_field};
use super::notice::notice;
use super::page;
use super::received::Received;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::{Caller, Denied, Right};
use crate::monitor::{Calendar, wall_now};
use crate::wire;

/// Tasks that are looked at between two turns of the loop.
const LOOK_MAX: usize = 1_000;

pub(super) fn routes() -> Routes {
    let list = Told::new("listTasks", "tasks", "Tasks, by name", Who::AgentOrReader);
    let get = Told::new("getTask", "tasks", "One task", Who::AgentOrReader);
    let put = Told::new("putTask", "tasks", "Give a task, or say how it gets on", Who::Agent);
    Routes::new()
        .get("/v1/tasks", self::list, list.query::<TaskQuery>().answers(200, "A page.", "List_Task"))
        .get("/v1/tasks/{id}", one, get.answers(200, "The task.", "Task"))
        .put(
            "/v1/tasks/{id}",
            self::put,
            put.body("TaskUpdate").answers(200, "The task as it is on disk.", "Task").refuses(409),
        )
}

async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    query: Result<Query<TaskQuery>, QueryRejection>,
) -> Result<Json<List<Task>>, Refusal> {
    caller.is_somebody()?;
    let Query(query) = query?;
    let agent = query.agent.as_deref().map(AgentId::from);
    may_see(&caller, agent.as_ref())?;
    let name = format!("tasks {:?} {:?}", query.agent, query.status);
    let limit = page::limit(query.limit)?;
    let mut after = page::after(&app, &name, query.cursor.as_ref())?.map(TaskId::from);
    let mut found = Vec::new();
    loop {
        let (agent, from, status) = (agent.clone(), after.take(), query.status);
        let look = app
            .monitor
            .look(move |fleet, calendar| search(fleet, calendar, agent.as_ref(), from.as_ref(), status));
        let (mut tasks, next) = look.await?;
        found.append(&mut tasks);
        after = next;
        if limit < found.len() || after.is_none() {
            break;
        }
    }
    found.truncate(limit + 1);
    let archive = app.monitor.archive().clone();
    let found = blocking(move || described(&archive, found)).await?;
    Ok(Json(page::page(&app, &name, found, limit, |last| last.task_id.clone())))
}

/// Those of so many tasks that are asked for, and after which to go on.
fn search(
    fleet: &Fleet,
    calendar: &Calendar,
    agent: Option<&AgentId>,
    after: Option<&TaskId>,
    status: Option<TaskStatus>,
) -> (Vec<Task>, Option<TaskId>) {
    let policy = &fleet.policies().tasks;
    let views = fleet.tasks().page(calendar.now(), policy, agent, after, LOOK_MAX);
    let next = views.last().filter(|_| views.len() == LOOK_MAX).map(|last| last.id.clone());
    let tasks = views.iter().map(|view| wire::task(view, calendar));
    (tasks.filter(|task| status.is_none_or(|status| status == task.status)).collect(), next)
}

/// With all that was written about them: the loop keeps only the beginning, and of those that are over nothing.
fn described(archive: &Archive, mut tasks: Vec<Task>) -> Result<Vec<Task>, verger_store::Error> {
    for task in &mut tasks {
        let kept = archive.task(&task.task_id.as_str().into())?.and_then(|kept| kept.text);
        task.description = kept.or(task.description.take());
    }
    Ok(tasks)
}

/// Its agent may see a task; one that nobody has, only who may see everything.
pub(super) fn may_see(caller: &Caller, worker: Option<&AgentId>) -> Result<(), Denied> {
    caller.may(worker.map_or(Right::Read, Right::See))
}

async fn one(State(app): State<App>, Asker(caller): Asker, Named(id): Named) -> Result<Json<Task>, Refusal> {
    let task = known(&app, &id).await?;
    let worker = task.as_ref().and_then(|task| task.agent_id.as_deref()).map(AgentId::from);
    may_see(&caller, worker.as_ref())?;
    shown(&app, task.ok_or_else(|| unknown(&id))?).await
}

fn unknown(id: &str) -> Refusal {
    NoticeError::from(TaskRefusal::Unknown(id.into())).into()
}

async fn shown(app: &App, task: Task) -> Result<Json<Task>, Refusal> {
    let archive = app.monitor.archive().clone();
    let mut tasks = blocking(move || described(&archive, vec![task])).await?;
    Ok(Json(tasks.remove(0)))
}

async fn known(app: &App, id: &str) -> Result<Option<Task>, Refusal> {
    let id = TaskId::from(id);
    let look = app.monitor.look(move |fleet, calendar| {
        let view = fleet.tasks().view(calendar.now(), &fleet.policies().tasks, &id);
        view.map(|view| wire::task(&view, calendar))
    });
    Ok(look.await?)
}

async fn put(
    State(app): State<App>,
    Asker(caller): Asker,
    Named(id): Named,
    body: Result<Received, Refusal>,
) -> Result<Json<Task>, Refusal> {
    let by = speaker(&caller)?;
    let mut said: TaskUpdate = read_body(&body?)?;
    if let Some(agent) = &said.agent_id {
        checked("agentId", agent, &app.limits)?;
    }
    let before = known(&app, &id).await?;
    if let Speaker::Agent { id: own, .. } = &by {
        claim(own, &mut said, before.as_ref())?;
    }
    let texts = [("description", &mut said.description), ("explanation", &mut said.explanation)];
    for (field, text) in texts {
        *text = text.take().map(|text| kept_text(field, &text, &app.limits)).transpose()?;
    }
    let is_person = matches!(by, Speaker::Person(_));
    for word in words(&said, before.as_ref(), is_person, wall_now())? {
        notice(&app, Notice::Task { task: id.as_str().into(), by: by.clone(), word: Box::new(word) }).await?;
    }
    let after = known(&app, &id).await?.ok_or_else(|| unknown(&id))?;
    write_down(&app, &after, said.description).await?;
    shown(&app, after).await
}

fn speaker(caller: &Caller) -> Result<Speaker, Denied> {
    match caller {
        Caller::Admin(name) => Ok(Speaker::Person(name.clone())),
        Caller::Agent(id) => Ok(Speaker::Agent { id: id.clone(), trust: Trust::Verified }),
        Caller::Watched(_) => Err(Denied::Watched),
        Caller::Reader(_) => Err(Denied::NotAllowed),
        Caller::Nobody => Err(Denied::NoToken),
    }
}

/// An agent may speak of its own task, and take one that nobody has, for itself alone.
fn claim(own: &AgentId, said: &mut TaskUpdate, before: Option<&Task>) -> Result<(), Denied> {
    let is_own = |agent: &str| agent == own.as_str();
    let worker = before.and_then(|task| task.agent_id.as_deref());
    if !said.agent_id.as_deref().is_none_or(is_own) || !worker.is_none_or(is_own) {
        return Err(Denied::AnotherAgent);
    }
    if worker.is_none() && before.is_some() && said.agent_id.is_none() {
        return Err(Denied::AnotherAgent);
    }
    if before.is_none() {
        said.agent_id = Some(own.to_string());
    }
    Ok(())
}

/// What is said, word by word, in an order in which none makes the next impossible.
fn words(
    said: &TaskUpdate,
    before: Option<&Task>,
    is_person: bool,
    now: WallTime,
) -> Result<Vec<TaskWord>, Refusal> {
    let percent = said.percent().map_err(|error| wrong_field("progressPercentage", &error.to_string()))?;
    let until = |at: Time| Span::millis(u64::try_from(at.as_millis().saturating_sub(now.0)).unwrap_or(0));
    let ago = |at: Time| Span::millis(u64::try_from(now.0.saturating_sub(at.as_millis())).unwrap_or(0));
    let begins = matches!(said.status, Some(TaskStatus::Assigned | TaskStatus::InProgress));
    let is_over = before.is_some_and(|task| task.ended_at.is_some());
    let gives = said.agent_id.is_some() || said.description.is_some() || said.assigned_at.is_some();
    let mut words = Vec::new();
    if before.is_none() || gives || is_over && begins {
        // Only a person may have something done again that is finished.
        let start = if is_over && begins && is_person { Start::Again } else { Start::Same };
        words.push(TaskWord::Given {
            agent: said.agent_id.as_deref().map(Into::into),
            description: said.description.as_deref().map(Into::into),
            due_in: said.expected_completion.map(until),
            ago: said.assigned_at.map_or(Span::ZERO, ago),
            start,
        });
    } else if let Some(due) = said.expected_completion {
        words.push(TaskWord::Due { within: until(due) });
    }
    if let Some(text) = &said.explanation {
        words.push(TaskWord::Explained { text: Some(text.as_str().into()), lasting: None });
    }
    let status = said.status.filter(|status| *status != TaskStatus::Assigned || before.is_some());
    if percent.is_some() || status.is_some() || said.last_progress_update.is_some() {
        let (status, ago) =
            (status.map(wire::task_status_in), said.last_progress_update.map_or(Span::ZERO, ago));
        words.push(TaskWord::Update { percent, status, ago });
    }
    Ok(words)
}

/// Keeps the words, and that a task is over; both are on disk when this is done.
async fn write_down(app: &App, task: &Task, text: Option<String>) -> Result<(), Refusal> {
    let look = app.monitor.look(|_, calendar| Moment { observed: calendar.now(), wall: calendar.wall_now() });
    let at = look.await?;
    let id = TaskId::from(task.task_id.as_str());
    let archive = app.monitor.archive();
    archive.put_task(id.clone(), text, at).await?;
    if task.ended_at.is_some() {
        archive.end_task(id, at).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(json: &str, before: Option<&Task>) -> Vec<TaskWord> {
        words(&read_body(json.as_bytes()).expect("a body"), before, true, WallTime(1_790_000_000_000))
            .expect("words")
    }

    fn open(status: TaskStatus) -> Task {
        let at = Time::from_millis(0);
        Task {
            task_id: "t".to_owned(),
            agent_id: None,
            status,
            description: None,
            assigned_at: Some(at),
            expected_completion: None,
            last_progress_update: None,
            progress_percentage: None,
            explanation: None,
            stalled_since: None,
            failed_since: None,
            ended_at: matches!(status, TaskStatus::Done).then_some(at),
        }
    }

    #[test]
    fn r06_a_new_task_is_given_before_it_is_updated() {
        let words = said(r#"{"agentId":"a","status":"in_progress","progressPercentage":10}"#, None);
        assert!(
            matches!(
                &words[..],
                [TaskWord::Given { start: Start::Same, .. }, TaskWord::Update { percent: Some(10), .. }]
            ),
            "{words:?}"
        );
        assert!(matches!(said("{}", None)[..], [TaskWord::Given { .. }]), "to name it makes it known");
    }

    #[test]
    fn r06_what_is_known_of_a_task_is_not_given_again() {
        let open = open(TaskStatus::InProgress);
        let words = said(r#"{"expectedCompletion":"2020-01-01T00:00:00Z"}"#, Some(&open));
        assert_eq!(words, [TaskWord::Due { within: Span::ZERO }], "what has passed is due now");
        assert_eq!(said("{}", Some(&open)), []);
    }

    #[test]
    fn a_person_may_have_a_finished_task_done_again_by_saying_so() {
        let done = open(TaskStatus::Done);
        let again = said(r#"{"status":"assigned","agentId":"b"}"#, Some(&done));
        assert!(matches!(again[0], TaskWord::Given { start: Start::Again, .. }), "{again:?}");
        let named = said(r#"{"agentId":"b"}"#, Some(&done));
        assert!(matches!(named[0], TaskWord::Given { start: Start::Same, .. }), "{named:?}");
    }

    #[test]
    fn an_agent_claims_nothing_that_is_anothers() {
        let (own, mut said) = (AgentId::from("a"), TaskUpdate::default());
        assert_eq!(claim(&own, &mut said, None), Ok(()));
        assert_eq!(said.agent_id.as_deref(), Some("a"), "a new one is its own");
        let theirs = Task { agent_id: Some("b".to_owned()), ..open(TaskStatus::Assigned) };
        assert_eq!(claim(&own, &mut TaskUpdate::default(), Some(&theirs)), Err(Denied::AnotherAgent));
        let nobodys = open(TaskStatus::Assigned);
        assert_eq!(claim(&own, &mut TaskUpdate::default(), Some(&nobodys)), Err(Denied::AnotherAgent));
        let mut to_another = TaskUpdate { agent_id: Some("b".to_owned()), ..TaskUpdate::default() };
        assert_eq!(claim(&own, &mut to_another, None), Err(Denied::AnotherAgent));
    }
}
