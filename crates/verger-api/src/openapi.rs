//! The description of all types, for `/openapi.json`. The server adds the paths.

mod signal;

use utoipa::OpenApi;
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Ref, RefOr, Schema};

use crate::ingest::{IngestReport, Rejected};
use crate::{
    AgentHealth, AgentReadiness, AgentSettings, AnyJson, AuditEntry, CallReport, Checkpoint, CheckpointInfo,
    CircuitBreakerStatus, CloudEvent, CreatedToken, DecisionRequest, EscalateRequest, EscalationTicket,
    FleetSummary, Health, HealthSnapshot, Heartbeat, HumanDuration, Identity, Incident, Intervention, List,
    NewCheckpoint, NewToken, NudgeRequest, PendingItem, Permit, ProbeResult, Problem, Readiness,
    RecoverRequest, RecoveryStatus, SignInLink, Signal, SignalKind, Task, TaskUpdate, TerminateRequest, Time,
    Token, WrongMark, WrongRequest,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Verger",
        description = "Watches fleets of autonomous AI agents and acts on what it sees.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(
        Time, HumanDuration, AnyJson<'_>, Problem, Health, Readiness, FleetSummary,
        Heartbeat<'_>, Signal<'_>, SignalKind, IngestReport, Rejected, PendingItem,
        AgentHealth, AgentReadiness, AgentSettings, HealthSnapshot, ProbeResult,
        NudgeRequest, EscalateRequest, TerminateRequest, DecisionRequest, Intervention,
        Task, TaskUpdate, RecoverRequest, RecoveryStatus,
        NewCheckpoint<'_>, CheckpointInfo, Checkpoint<'_>,
        CircuitBreakerStatus, Permit, CallReport,
        Incident, WrongRequest, WrongMark, EscalationTicket, CloudEvent<'_>,
        NewToken, Token, CreatedToken, AuditEntry, SignInLink, Identity,
        List<AgentHealth>, List<HealthSnapshot>, List<ProbeResult>, List<PendingItem>, List<Task>,
        List<RecoveryStatus>, List<CheckpointInfo>, List<CircuitBreakerStatus>, List<Incident>,
        List<CloudEvent<'_>>, List<Token>, List<AuditEntry>,
    ))
)]
struct Components;

/// All types as `OpenAPI` 3.1 describes them, with the way to sign in. Paths are the server's to add.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Components::openapi();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
        "A token of scope agent, read or admin. The local command line finds the admin's by itself.",
    ));
    let components = document.components.get_or_insert_default();
    components.schemas.iter_mut().for_each(|(name, schema)| refer(name, schema));
    signal::spread(&mut components.schemas);
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer.build()));
    document
}

/// Lets a list refer to its items instead of describing them again: whoever makes a client from this would get two
/// types for each otherwise.
fn refer(name: &str, schema: &mut RefOr<Schema>) {
    if let Some(item) = name.strip_prefix("List_")
        && let RefOr::T(Schema::Object(list)) = schema
        && let Some(RefOr::T(Schema::Array(items))) = list.properties.get_mut("items")
    {
        items.items = ArrayItems::RefOrSchema(Box::new(Ref::from_schema_name(item).into()));
    }
}
