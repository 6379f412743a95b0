//! Every type of event, and what it holds.

use serde::Serialize;
use utoipa::openapi::schema::{AnyOf, AnyOfBuilder};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::payload::{
    AgentCritical, AgentDegraded, AgentDisconnected, AgentHealthy, AgentReconnected, AgentTerminated,
    BreakerStateChanged, EscalationDecided, EscalationTriggered, HealthStateChanged, IncidentOpened,
    IncidentResolved, InterventionRequested, MonitorBlind, Note, NudgeAnswered, NudgeDelivered, NudgeSent,
    RecoveryCompleted, RecoveryFailed, RecoveryInitiated, TicketRaised,
};
use crate::Heartbeat;
use crate::words::words;

macro_rules! events {
    ($($(#[$about:meta])* $variant:ident($payload:ty) = $text:literal,)+) => {
        words! {
            /// The types of events.
            pub enum EventType {
                $($(#[$about])* $variant = $text,)+
            }
        }

        /// What happened.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum EventData {
            $($(#[$about])* $variant($payload),)+
        }

        impl EventData {
            /// The type of the event.
            pub const fn kind(&self) -> EventType {
                match self {
                    $(Self::$variant(_) => EventType::$variant,)+
                }
            }

            /// The names of all that an event may hold, with how each is described.
            fn all(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                $(
                    schemas.push((<$payload as ToSchema>::name().into_owned(), <$payload>::schema()));
                    <$payload as ToSchema>::schemas(schemas);
                )+
            }

            /// Any of them. A note has so few fields of its own that what fits another often fits it too.
            fn any() -> AnyOf {
                let names = [$(<$payload as ToSchema>::name()),+];
                let names: std::collections::BTreeSet<_> = names.into_iter().collect();
                let any = names.into_iter().fold(AnyOfBuilder::new(), |any, name| any.item(Ref::from_schema_name(name)));
                any.description(Some("What happened; `type` says which of these it is.")).build()
            }

            /// Reads what an event of this type holds.
            pub(super) fn read(kind: EventType, json: &str) -> Result<Self, serde_json::Error> {
                Ok(match kind {
                    $(EventType::$variant => Self::$variant(serde_json::from_str(json)?),)+
                })
            }
        }
    };
}

impl PartialSchema for EventData {
    fn schema() -> RefOr<Schema> {
        RefOr::T(Schema::AnyOf(Self::any()))
    }
}

impl ToSchema for EventData {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Self::all(schemas);
    }
}

events! {
    // 000 §5, and what is between its events.
    /// A heartbeat came. Not kept; only for whoever asks.
    AgentHeartbeat(Heartbeat<'static>) = "AGENT_HEARTBEAT",
    /// An agent's state changed.
    HealthStateChanged(HealthStateChanged) = "HEALTH_STATE_CHANGED",
    /// A reminder was decided on and queued.
    NudgeSent(NudgeSent) = "NUDGE_SENT",
    /// It reached the agent.
    NudgeDelivered(NudgeDelivered) = "NUDGE_DELIVERED",
    /// The agent reacted.
    NudgeAnswered(NudgeAnswered) = "NUDGE_ANSWERED",
    /// The orchestrator was asked.
    EscalationTriggered(EscalationTriggered) = "ESCALATION_TRIGGERED",
    /// It has answered, or its time was up.
    EscalationDecided(EscalationDecided) = "ESCALATION_DECIDED",
    /// A life is over.
    AgentTerminated(AgentTerminated) = "AGENT_TERMINATED",
    /// An attempt to recover a task began.
    RecoveryInitiated(RecoveryInitiated) = "RECOVERY_INITIATED",
    /// It has passed its watch.
    RecoveryCompleted(RecoveryCompleted) = "RECOVERY_COMPLETED",
    /// It has failed.
    RecoveryFailed(RecoveryFailed) = "RECOVERY_FAILED",
    /// A circuit breaker opened, is tried, or closed.
    CircuitBreakerStateChanged(BreakerStateChanged) = "CIRCUIT_BREAKER_STATE_CHANGED",
    // 002.
    /// An agent shows life again, or for the first time.
    AgentHealthy(AgentHealthy) = "agent-healthy",
    /// Neither activity nor pong explains its silence.
    AgentDegraded(AgentDegraded) = "agent-degraded",
    /// It is silent for too long.
    AgentDisconnected(AgentDisconnected) = "agent-disconnected",
    /// It is back.
    AgentReconnected(AgentReconnected) = "agent-reconnected",
    /// Somebody should act.
    AgentHealthCritical(AgentCritical) = "agent-health-critical",
    // 003.
    /// A judge reported a worker.
    WorkerEscalationTicket(TicketRaised) = "WORKER_ESCALATION_TICKET",
    /// The queen asks a person to look.
    QueenInterventionRequested(InterventionRequested) = "QUEEN_INTERVENTION_REQUESTED",
    // Verger's.
    /// Something is wrong.
    IncidentOpened(IncidentOpened) = "INCIDENT_OPENED",
    /// It is over.
    IncidentResolved(IncidentResolved) = "INCIDENT_RESOLVED",
    /// The monitor could not see for a while.
    MonitorBlind(MonitorBlind) = "MONITOR_BLIND",
    // What else the core records. All of these hold a note.
    /// A new agent, or a new life of a known one.
    AgentRegistered(Note) = "AGENT_REGISTERED",
    /// An agent is no longer watched.
    AgentUnregistered(Note) = "AGENT_UNREGISTERED",
    /// A silence was classified.
    SilenceClassified(Note) = "SILENCE_CLASSIFIED",
    /// A reminder could not be delivered.
    NudgeFailed(Note) = "NUDGE_FAILED",
    /// An escalation is over because the agent got on by itself.
    EscalationWithdrawn(Note) = "ESCALATION_WITHDRAWN",
    /// An agent's turn was interrupted because it repeated itself.
    TurnInterrupted(Note) = "TURN_INTERRUPTED",
    /// An agent is to be stopped.
    TerminationOrdered(Note) = "TERMINATION_ORDERED",
    /// It took another course before it was.
    TerminationCalledOff(Note) = "TERMINATION_CALLED_OFF",
    /// It could not be stopped.
    TerminationFailed(Note) = "TERMINATION_FAILED",
    /// A signal from a life that is over was turned away.
    SignalSuperseded(Note) = "SIGNAL_SUPERSEDED",
    /// A limit held an intervention back.
    BudgetExhausted(Note) = "BUDGET_EXHAUSTED",
    /// Many agents turned bad together, or that changed.
    FleetIncidentChanged(Note) = "FLEET_INCIDENT_CHANGED",
    /// A person gave an order about them.
    FleetIncidentOrdered(Note) = "FLEET_INCIDENT_ORDERED",
    /// A recovery went on.
    RecoveryChanged(Note) = "RECOVERY_CHANGED",
    /// People must look at a task.
    ReviewOpened(Note) = "REVIEW_OPENED",
    /// They did.
    ReviewClosed(Note) = "REVIEW_CLOSED",
    /// People should know something of a recovery.
    RecoveryAlertOpened(Note) = "RECOVERY_ALERT_OPENED",
    /// That is over.
    RecoveryAlertClosed(Note) = "RECOVERY_ALERT_CLOSED",
    /// Something was decided about a task.
    TaskChanged(Note) = "TASK_CHANGED",
    /// A person said something of a task.
    TaskOrdered(Note) = "TASK_ORDERED",
    /// Something was decided about a message.
    MessageChanged(Note) = "MESSAGE_CHANGED",
    /// A person took care of a message.
    MessageSettled(Note) = "MESSAGE_SETTLED",
    /// A checkpoint waits, is safe or was given up.
    CheckpointChanged(Note) = "CHECKPOINT_CHANGED",
    /// A person gave an order about a breaker.
    BreakerOrdered(Note) = "BREAKER_ORDERED",
    /// A limit on what is used is near, exceeded, or no longer.
    LimitChanged(Note) = "LIMIT_CHANGED",
    /// What went into a trouble that is over.
    WasteCounted(Note) = "WASTE_COUNTED",
    /// The judge found a worker in another standing.
    WorkerJudged(Note) = "WORKER_JUDGED",
    /// Something became of a ticket.
    TicketChanged(Note) = "TICKET_CHANGED",
    /// What probes find of an agent changed.
    ProbesChanged(Note) = "PROBES_CHANGED",
}
