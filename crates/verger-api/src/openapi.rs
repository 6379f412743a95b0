//! The description of all types, for `/openapi.json`. The server adds the paths.

use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::ingest::{IngestReport, Rejected};
use crate::{
    AgentHealth, AgentReadiness, AgentSettings, AnyJson, CallReport, Checkpoint, CheckpointInfo,
    CircuitBreakerStatus, CloudEvent, CreatedToken, DecisionRequest, EscalateRequest, EscalationTicket, FleetSummary,
    Health, HealthSnapshot, Heartbeat, HumanDuration, Incident, Intervention, List, NewCheckpoint, NewToken,
    NudgeRequest, PendingItem, Permit, ProbeResult, Problem, Readiness, RecoverRequest, RecoveryStatus, Signal,
    SignalKind, Task, TaskUpdate, TerminateRequest, Time, Token, WrongMark, WrongRequest,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Verger",
        description = "Watches fleets of autonomous AI agents and acts on what it sees.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(
        Time, HumanDuration, AnyJson, Problem, Health, Readiness, FleetSummary,
        Heartbeat, Signal, SignalKind, IngestReport, Rejected, PendingItem,
        AgentHealth, AgentReadiness, AgentSettings, HealthSnapshot, ProbeResult,
        NudgeRequest, EscalateRequest, TerminateRequest, DecisionRequest, Intervention,
        Task, TaskUpdate, RecoverRequest, RecoveryStatus,
        NewCheckpoint, CheckpointInfo, Checkpoint,
        CircuitBreakerStatus, Permit, CallReport,
        Incident, WrongRequest, WrongMark, EscalationTicket, CloudEvent,
        NewToken, Token, CreatedToken,
        List<AgentHealth>, List<HealthSnapshot>, List<ProbeResult>, List<PendingItem>, List<Task>,
        List<RecoveryStatus>, List<CheckpointInfo>, List<CircuitBreakerStatus>, List<Incident>,
        List<CloudEvent>, List<Token>,
    ))
)]
struct Components;

/// All types as OpenAPI 3.1 describes them, with the way to sign in. Paths are the server's to add.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Components::openapi();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
        "A token of scope agent, read or admin. The local command line finds the admin's by itself.",
    ));
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer.build()));
    document
}
