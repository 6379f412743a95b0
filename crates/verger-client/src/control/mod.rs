//! For people's programs: look at the fleet, follow what happens, order something.
//!
//! One method per address of the monitor, each a few lines. Answers are the wire types of `verger-api`.

mod events;
mod filters;
mod sse;

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use verger_api::{
    AgentHealth, AgentReadiness, CircuitBreakerStatus, CreatedToken, DecisionRequest, EscalateRequest,
    FleetSummary, Health, HealthSnapshot, HumanDuration, Incident, Intervention, List, NewToken,
    NudgeRequest, Readiness, RecoverRequest, RecoveryStatus, TerminateRequest, Token, WrongMark,
    WrongRequest,
};

pub use events::{Event, EventStream, Streamed};
pub use filters::{AgentFilter, BreakerFilter, IncidentFilter, Page};

use crate::access::Access;
use crate::error::Error;
use crate::transport::Transport;
use filters::Query;

/// A monitor, as one speaks to it. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Control {
    transport: Transport,
}

/// A link by which a browser is signed in. It works once, and not for long.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct SignIn {
    /// The link.
    pub url: String,
}

/// Without the link: whoever has it is signed in.
impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignIn")
    }
}

type Answer<T> = Result<T, Error>;

impl Control {
    /// The monitor at this address. Nothing is asked yet.
    pub fn new(access: &Access) -> Answer<Self> {
        Ok(Self { transport: Transport::new(access)? })
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether it runs, and which version.
    pub async fn health(&self) -> Answer<Health> {
        self.transport.ask(Method::GET, &["health"], &[])?.within(Duration::from_secs(5)).answer().await
    }

    /// Whether it does its work, and what is missing.
    pub async fn ready(&self) -> Answer<Readiness> {
        self.transport.ask(Method::GET, &["ready"], &[])?.within(Duration::from_secs(5)).yes_or_no().await
    }

    /// All agents at a glance.
    pub async fn fleet(&self) -> Answer<FleetSummary> {
        self.transport.get(&["v1", "fleet"], &[]).await
    }

    /// Agents, a page at a time.
    pub async fn agents(&self, filter: &AgentFilter, page: &Page) -> Answer<List<AgentHealth>> {
        self.transport.get(&["v1", "agents"], &filter.query(page)).await
    }

    /// One agent.
    pub async fn agent(&self, id: &str) -> Answer<AgentHealth> {
        self.transport.get(&["v1", "agents", id], &[]).await
    }

    /// Whether an agent should be given work now, and why not.
    pub async fn agent_ready(&self, id: &str) -> Answer<AgentReadiness> {
        self.transport.ask(Method::GET, &["v1", "agents", id, "ready"], &[])?.yes_or_no().await
    }

    /// Watches an agent no longer.
    pub async fn unregister(&self, id: &str) -> Answer<()> {
        self.transport.ask(Method::DELETE, &["v1", "agents", id], &[])?.done().await
    }

    /// How an agent was since so long ago.
    pub async fn history(&self, id: &str, since: HumanDuration, page: &Page) -> Answer<List<HealthSnapshot>> {
        let query = Query::new().put("duration", Some(since)).page(page);
        self.transport.get(&["v1", "agents", id, "history"], &query.pairs()).await
    }

    /// What happened to an agent, the newest first.
    pub async fn agent_events(&self, id: &str, page: &Page) -> Answer<List<Event>> {
        let query = Query::new().page(page);
        let path = ["v1", "agents", id, "events"];
        let List { items, next_cursor } =
            self.transport.get::<List<Box<RawValue>>>(&path, &query.pairs()).await?;
        let read = |json: Box<RawValue>| {
            Event::read(json.get()).map_err(|error| self.transport.foreign(error.to_string()))
        };
        Ok(List { items: items.into_iter().map(read).collect::<Answer<_>>()?, next_cursor })
    }

    /// What happens, from now on, or after the event that was seen last.
    pub async fn events(&self, after: Option<&str>) -> Answer<EventStream> {
        EventStream::open(self.transport.clone(), after.map(ToOwned::to_owned)).await
    }

    /// Reminds an agent.
    pub async fn nudge(&self, id: &str, request: &NudgeRequest) -> Answer<Intervention> {
        self.transport.post(&["v1", "agents", id, "nudge"], request).await
    }

    /// Asks people about an agent.
    pub async fn escalate(&self, id: &str, request: &EscalateRequest) -> Answer<Intervention> {
        self.transport.post(&["v1", "agents", id, "escalate"], request).await
    }

    /// Answers an open escalation.
    pub async fn decide(&self, id: &str, request: &DecisionRequest) -> Answer<Intervention> {
        self.transport.post(&["v1", "agents", id, "decision"], request).await
    }

    /// Ends an agent.
    pub async fn terminate(&self, id: &str, request: &TerminateRequest) -> Answer<Intervention> {
        self.transport.post(&["v1", "agents", id, "terminate"], request).await
    }

    /// Takes the work of a task up again.
    pub async fn recover(&self, task: &str, request: &RecoverRequest) -> Answer<RecoveryStatus> {
        self.transport.post(&["v1", "tasks", task, "recover"], request).await
    }

    /// How the recovery of a task stands.
    pub async fn recovery(&self, task: &str) -> Answer<RecoveryStatus> {
        self.transport.get(&["v1", "tasks", task, "recovery"], &[]).await
    }

    /// What is wrong, or was.
    pub async fn incidents(&self, filter: &IncidentFilter, page: &Page) -> Answer<List<Incident>> {
        self.transport.get(&["v1", "incidents"], &filter.query(page)).await
    }

    /// Says that an alarm was false.
    pub async fn wrong(&self, event: &str, request: &WrongRequest) -> Answer<WrongMark> {
        self.transport.post(&["v1", "events", event, "wrong"], request).await
    }

    /// Circuit breakers, a page at a time.
    pub async fn breakers(&self, filter: &BreakerFilter, page: &Page) -> Answer<List<CircuitBreakerStatus>> {
        self.transport.get(&["v1", "breakers"], &filter.query(page)).await
    }

    /// One circuit breaker.
    pub async fn breaker(&self, name: &str) -> Answer<CircuitBreakerStatus> {
        self.transport.get(&["v1", "breakers", name], &[]).await
    }

    /// Closes a circuit breaker.
    pub async fn reset_breaker(&self, name: &str) -> Answer<CircuitBreakerStatus> {
        self.transport.post(&["v1", "breakers", name, "reset"], &serde_json::Map::new()).await
    }

    /// The tokens that were made, without their secrets.
    pub async fn tokens(&self, page: &Page) -> Answer<List<Token>> {
        self.transport.get(&["v1", "tokens"], &Query::new().page(page).pairs()).await
    }

    /// Makes a token. Its secret is in the answer, and nowhere else.
    pub async fn create_token(&self, request: &NewToken) -> Answer<CreatedToken> {
        self.transport.post(&["v1", "tokens"], request).await
    }

    /// Ends a token.
    pub async fn revoke_token(&self, id: &str) -> Answer<()> {
        self.transport.ask(Method::DELETE, &["v1", "tokens", id], &[])?.done().await
    }

    /// Has the monitor copy all that it remembers into a file on its machine. That may take a while.
    pub async fn backup(&self, file: &Path) -> Answer<Value> {
        let asked = self.transport.ask(Method::POST, &["v1", "backup"], &[])?;
        asked.json(&serde_json::json!({ "file": file }))?.within(Duration::from_hours(1)).answer().await
    }

    /// A link by which a browser is signed in.
    pub async fn sign_in(&self) -> Answer<SignIn> {
        self.transport.post(&["v1", "sessions"], &serde_json::Map::new()).await
    }
}
