//! `grpc.health.v1`, on the same port as everything else: a service is an agent, and `""` the monitor itself.
//!
//! The messages stand here by hand: the ready-made service knows no `List`, and has to be told of every agent and every
//! change beforehand. An agent that has a way to it and is healthy or degraded is SERVING; one of which nothing is
//! known yet is UNKNOWN; any other is not serving. The monitor's own health needs no token, an agent's a token that may
//! see it, as over HTTP.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::stream::{self, BoxStream};
use tokio::sync::watch;
use tonic::server::{Grpc, ServerStreamingService, UnaryService};
use tonic::{Code, Status};
use tonic_prost::ProstCodec;
use verger_core::AgentView;
use verger_core::health::HealthState;
use verger_core::id::AgentId;
use verger_core::liveness::LivenessStatus;

use super::asker::Asker;
use super::health::missing;
use super::{App, Refusal};
use crate::access::{Caller, Denied, Right};
use crate::traffic::Streaming;

/// Agents that are listed. The protocol has no pages: a larger fleet is asked for one by one, or over HTTP.
const LIST_MAX: usize = 10_000;
/// Bytes of a request.
const REQUEST_MAX: usize = 64 << 10;
/// Who watches is told of a change within this time, however much happens meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The monitor's own readiness is no event; whoever watches it is told within this time.
const MONITOR_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, PartialEq, Eq, prost::Message)]
struct CheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct CheckResponse {
    #[prost(enumeration = "Answer", tag = "1")]
    status: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct ListRequest {}

#[derive(Clone, PartialEq, Eq, prost::Message)]
struct ListResponse {
    #[prost(btree_map = "string, message", tag = "1")]
    statuses: BTreeMap<String, CheckResponse>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
enum Answer {
    Unknown = 0,
    Serving = 1,
    NotServing = 2,
    ServiceUnknown = 3,
}

impl From<Answer> for CheckResponse {
    fn from(status: Answer) -> Self {
        Self { status: status.into() }
    }
}

type Asked = Result<Asker, Refusal>;
type Answering<T> = Pin<Box<dyn Future<Output = Result<tonic::Response<T>, Status>> + Send>>;

pub(super) async fn check(State(app): State<App>, asked: Asked, request: Request) -> Response {
    let method = Method { app, asked: who(asked) };
    small(Grpc::new(ProstCodec::<CheckResponse, CheckRequest>::default()))
        .unary(method, request)
        .await
        .map(Body::new)
}

pub(super) async fn list(State(app): State<App>, asked: Asked, request: Request) -> Response {
    let method = Method { app, asked: who(asked) };
    small(Grpc::new(ProstCodec::<ListResponse, ListRequest>::default()))
        .unary(method, request)
        .await
        .map(Body::new)
}

pub(super) async fn watch(State(app): State<App>, asked: Asked, request: Request) -> Response {
    let method = Method { app, asked: who(asked) };
    let mut grpc = small(Grpc::new(ProstCodec::<CheckResponse, CheckRequest>::default()));
    grpc.server_streaming(method, request).await.map(Body::new)
}

/// A request is a name, and nothing larger is read.
fn small<C>(grpc: Grpc<C>) -> Grpc<C>
where
    C: tonic::codec::Codec,
{
    grpc.apply_max_message_size_config(Some(REQUEST_MAX), None)
}

/// One call, and who makes it.
struct Method {
    app: App,
    asked: Result<Caller, Status>,
}

impl UnaryService<CheckRequest> for Method {
    type Response = CheckResponse;
    type Future = Answering<CheckResponse>;

    fn call(&mut self, request: tonic::Request<CheckRequest>) -> Self::Future {
        let (app, asked, service) = (self.app.clone(), self.asked.clone(), request.into_inner().service);
        Box::pin(async move {
            may_see(&asked?, &service)?;
            match serving(&app, &service).await? {
                Answer::ServiceUnknown => {
                    Err(Status::not_found(format!("no agent `{service}` is registered")))
                }
                known => Ok(tonic::Response::new(known.into())),
            }
        })
    }
}

impl UnaryService<ListRequest> for Method {
    type Response = ListResponse;
    type Future = Answering<ListResponse>;

    fn call(&mut self, _: tonic::Request<ListRequest>) -> Self::Future {
        let (app, asked) = (self.app.clone(), self.asked.clone());
        Box::pin(async move {
            asked?.may(Right::Read).map_err(denied)?;
            let look = app.monitor.look(|fleet, calendar| {
                let (views, more) = fleet.page(calendar.now(), 0, LIST_MAX);
                more.is_none().then(|| views.iter().map(of_agent).collect::<Vec<_>>())
            });
            let agents = look.await.map_err(|error| Status::unavailable(error.to_string()))?;
            let too_many = || Status::resource_exhausted(format!("there are more than {LIST_MAX} agents"));
            let mut statuses: BTreeMap<_, _> = agents.ok_or_else(too_many)?.into_iter().collect();
            statuses.insert(String::new(), of_monitor(&app).into());
            Ok(tonic::Response::new(ListResponse { statuses }))
        })
    }
}

impl ServerStreamingService<CheckRequest> for Method {
    type Response = CheckResponse;
    type ResponseStream = BoxStream<'static, Result<CheckResponse, Status>>;
    type Future = Answering<Self::ResponseStream>;

    fn call(&mut self, request: tonic::Request<CheckRequest>) -> Self::Future {
        let (app, asked, service) = (self.app.clone(), self.asked.clone(), request.into_inner().service);
        Box::pin(async move {
            may_see(&asked?, &service)?;
            let too_many = || Status::resource_exhausted("there are as many streams as may be");
            let streaming = app.traffic.stream().ok_or_else(too_many)?;
            let newest = app.newest.clone();
            let watching = Watching { app, service, newest, told: None, _streaming: streaming };
            let changes = stream::unfold(watching, |mut watching| async {
                let status = watching.next().await?;
                Some((Ok(status.into()), watching))
            });
            Ok(tonic::Response::new(Box::pin(changes) as Self::ResponseStream))
        })
    }
}

/// Somebody who wants to know of every change.
struct Watching {
    app: App,
    service: String,
    newest: watch::Receiver<i64>,
    told: Option<Answer>,
    _streaming: Streaming,
}

impl Watching {
    /// The next status that differs from the last; nothing when the monitor ends.
    async fn next(&mut self) -> Option<Answer> {
        loop {
            // What is committed after this is noticed by the wait below.
            self.newest.mark_unchanged();
            let present = serving(&self.app, &self.service).await.ok()?;
            if self.told.replace(present) != Some(present) {
                return Some(present);
            }
            tokio::time::sleep(LOOK_EVERY).await;
            // Liveness is no event either until it is certain.
            if let Ok(ended) = tokio::time::timeout(MONITOR_EVERY, self.newest.changed()).await {
                ended.ok()?;
            }
        }
    }
}

async fn serving(app: &App, service: &str) -> Result<Answer, Status> {
    if service.is_empty() {
        return Ok(of_monitor(app));
    }
    let agent = AgentId::from(service);
    let look = app.monitor.look(move |fleet, calendar| fleet.view(calendar.now(), &agent));
    let view = look.await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(view.map_or(Answer::ServiceUnknown, |view| state(&view)))
}

fn of_monitor(app: &App) -> Answer {
    if missing(&app.monitor).is_empty() { Answer::Serving } else { Answer::NotServing }
}

fn of_agent(view: &AgentView) -> (String, CheckResponse) {
    (view.id.to_string(), state(view).into())
}

fn state(view: &AgentView) -> Answer {
    match (view.liveness.status, view.state) {
        (_, HealthState::Stuck | HealthState::Failing | HealthState::Terminated)
        | (LivenessStatus::Unresponsive | LivenessStatus::Offline, _) => Answer::NotServing,
        (_, HealthState::Healthy | HealthState::Degraded) => Answer::Serving,
        (_, HealthState::Unknown) => Answer::Unknown,
    }
}

fn who(asked: Asked) -> Result<Caller, Status> {
    asked.map(|Asker(caller)| caller).map_err(|refusal| {
        let code = match refusal.status() {
            401 => Code::Unauthenticated,
            403 => Code::PermissionDenied,
            503 => Code::Unavailable,
            _ => Code::Internal,
        };
        Status::new(code, refusal.detail())
    })
}

fn may_see(caller: &Caller, service: &str) -> Result<(), Status> {
    if service.is_empty() {
        return Ok(());
    }
    caller.may(Right::See(&service.into())).map_err(denied)
}

fn denied(denied: Denied) -> Status {
    let code = match denied {
        Denied::NoToken => Code::Unauthenticated,
        Denied::NotAllowed | Denied::AnotherAgent | Denied::Watched => Code::PermissionDenied,
    };
    Status::new(code, denied.to_string())
}
