//! What Verger says and hears over HTTP, as types.
//!
//! ```text
//! agents ──► body ──► ingest ──► Heartbeat, Signal ──► server ──► core
//! people ◄── JSON ◄── AgentHealth, Task, Incident … ◄── server ◄── core, store
//!        ◄── SSE, webhooks ◄── CloudEvent ◄───────────── journal
//! ```
//!
//! What it promises:
//!
//! - **One spelling out, several in.** Answers are camelCase and hold every field. Input may be `snake_case`,
//!   fields that are not known are ignored, times are RFC 3339.
//! - **One bad item spoils nothing.** Of a batch the good ones are kept, and each bad one is told by its place and
//!   the field that is wrong ([`ingest`]).
//! - **Hostile input costs what its length costs.** Nothing recurses, panics or looks at a byte again and again.
//! - **Errors keep their names.** Every refusal is a [`Problem`] with a code that has a page in the book
//!   ([`codes`]).
//! - **Credentials stay outside.** [`redact`] takes what has their shape out of text before it is kept.
//!
//! The server, the clients, the terminal UI and the generated SDKs share these types and nothing else. Deliberately
//! absent: whatever serves or calls them, async runtimes, clocks, and the core; the server converts.

mod agents;
mod audit;
mod body;
mod breakers;
mod checkpoints;
pub mod codes;
mod duration;
pub mod event;
mod evidence;
mod fleet;
mod health;
mod heartbeat;
mod history;
mod incidents;
pub mod ingest;
mod interventions;
mod json;
mod openapi;
mod page;
mod pending;
mod probes;
mod problem;
mod recovery;
mod redact;
mod resume;
mod scan;
mod service;
mod sessions;
mod settings;
pub mod signal;
mod states;
mod tasks;
mod tickets;
mod time;
mod tokens;
mod words;

pub use agents::{
    AgentHealth, AgentMetrics, AgentQuery, AgentReadiness, Intervening, Liveness, Step, Waiting, Waste,
};
pub use audit::{AuditEntry, AuditQuery};
pub use body::{BodyError, read_body};
pub use breakers::{BreakerMode, BreakerQuery, BreakerState, CallReport, CircuitBreakerStatus, Permit};
pub use checkpoints::{Checkpoint, CheckpointInfo, CheckpointQuery, NewCheckpoint, State, StateError};
pub use codes::HttpError;
pub use duration::{DurationError, HumanDuration};
pub use event::{CloudEvent, EventData, EventQuery, EventType, StreamQuery};
pub use evidence::{Evidence, Stretch, StretchStep, Verdict};
pub use fleet::{
    BlindCause, BlindTime, BreakerCounts, FleetSummary, LivenessCounts, MonitorHealth, StateCounts,
    TaskCounts, WaitingCounts,
};
pub use health::{Health, Missing, Readiness};
pub use heartbeat::{Heartbeat, Vitals};
pub use history::{HealthSnapshot, HistoryQuery};
pub use incidents::{Incident, IncidentKind, IncidentQuery, IncidentState, WrongMark, WrongRequest};
pub use interventions::{
    Decision, DecisionRequest, Delivery, EscalateRequest, EscalationResult, Intervention, InterventionKind,
    NudgeRequest, NudgeResult, TerminateRequest, TerminationResult,
};
pub use json::AnyJson;
pub use openapi::openapi;
pub use page::{CursorError, Cursors, List};
pub use pending::{InboxQuery, PendingItem, PendingKind};
pub use probes::{ProbeQuery, ProbeResult, ProbeSettings, ProbeState, ProbeType, ProbesHealth};
pub use problem::{FieldError, PROBLEM_JSON, Problem};
pub use recovery::{RecoverRequest, RecoveryPhase, RecoveryQuery, RecoveryResult, RecoveryStatus};
pub use redact::redact;
pub use resume::{LastEventIdError, Resume, last_event_id};
pub use service::HealthMonitoringService;
pub use sessions::{Identity, SignInLink, SignInQuery};
pub use settings::{AgentSettings, NudgeSettings, ResourceLimits, SpawnSettings};
pub use signal::{Signal, SignalBody, SignalKind};
pub use states::{AgentStatus, Awaited, Cause, FailureClass, HealthState, LivenessStatus, Mode};
pub use tasks::{PercentError, Task, TaskQuery, TaskStatus, TaskUpdate};
pub use tickets::{EscalationTicket, Severity};
pub use time::{Time, TimeError};
pub use tokens::{CreatedToken, NewToken, NewTokenError, Scope, Token};
pub use words::UnknownWord;
