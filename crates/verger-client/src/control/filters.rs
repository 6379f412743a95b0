//! What a list is asked for, as the query of its address.

use std::fmt::Display;

use verger_api::{BreakerState, HealthState, IncidentState};

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// At most so many items; the monitor's usual number if it is not said.
    pub limit: Option<u32>,
    /// Where the last page ended.
    pub cursor: Option<String>,
}

/// Which agents. What is not said does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFilter {
    /// In this state.
    pub state: Option<HealthState>,
    /// Under this profile.
    pub role: Option<String>,
    /// At work on this task.
    pub task: Option<String>,
}

/// Which circuit breakers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BreakerFilter {
    /// In this state.
    pub state: Option<BreakerState>,
    /// Of this agent.
    pub agent: Option<String>,
}

/// Which incidents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentFilter {
    /// Open or resolved.
    pub state: Option<IncidentState>,
    /// About this agent.
    pub agent: Option<String>,
}

type Pairs = Vec<(&'static str, String)>;

impl AgentFilter {
    pub(super) fn query(&self, page: &Page) -> Pairs {
        let query = Query::new().put("state", self.state).put("role", self.role.as_ref());
        query.put("task", self.task.as_ref()).page(page).pairs()
    }
}

impl BreakerFilter {
    pub(super) fn query(&self, page: &Page) -> Pairs {
        Query::new().put("state", self.state).put("agent", self.agent.as_ref()).page(page).pairs()
    }
}

impl IncidentFilter {
    pub(super) fn query(&self, page: &Page) -> Pairs {
        Query::new().put("state", self.state).put("agent", self.agent.as_ref()).page(page).pairs()
    }
}

/// A query that is put together.
pub(super) struct Query(Pairs);

impl Query {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn put(mut self, name: &'static str, value: Option<impl Display>) -> Self {
        self.0.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(super) fn page(self, page: &Page) -> Self {
        self.put("limit", page.limit).put("cursor", page.cursor.as_ref())
    }

    pub(super) fn pairs(self) -> Pairs {
        self.0
    }
}
