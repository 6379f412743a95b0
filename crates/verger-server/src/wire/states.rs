//! States, causes and modes: words that are the same on both sides.

use verger_api as api;
use verger_core::breaker;
use verger_core::event::Incident;
use verger_core::health::HealthState;
use verger_core::liveness::{Cause, FailureClass, LivenessStatus};
use verger_core::policy::Mode;
use verger_core::signal::{Awaited, Status};

pub(super) fn state(state: HealthState) -> api::HealthState {
    match state {
        HealthState::Unknown => api::HealthState::Unknown,
        HealthState::Healthy => api::HealthState::Healthy,
        HealthState::Degraded => api::HealthState::Degraded,
        HealthState::Stuck => api::HealthState::Stuck,
        HealthState::Failing => api::HealthState::Failing,
        HealthState::Terminated => api::HealthState::Terminated,
    }
}

pub(super) fn liveness(status: LivenessStatus) -> api::LivenessStatus {
    match status {
        LivenessStatus::Online => api::LivenessStatus::Online,
        LivenessStatus::Idle => api::LivenessStatus::Idle,
        LivenessStatus::Busy => api::LivenessStatus::Busy,
        LivenessStatus::Unresponsive => api::LivenessStatus::Unresponsive,
        LivenessStatus::Offline => api::LivenessStatus::Offline,
    }
}

pub(super) fn cause(cause: Cause) -> api::Cause {
    match cause {
        Cause::EventLoopFreeze => api::Cause::EventLoopFreeze,
        Cause::ProcessCrash => api::Cause::ProcessCrash,
        Cause::NetworkPartition => api::Cause::NetworkPartition,
    }
}

pub(super) fn class(class: FailureClass) -> api::FailureClass {
    match class {
        FailureClass::Transient => api::FailureClass::Transient,
        FailureClass::Recoverable => api::FailureClass::Recoverable,
        FailureClass::Terminal => api::FailureClass::Terminal,
    }
}

pub(super) fn mode(mode: Mode) -> api::Mode {
    match mode {
        Mode::Observe => api::Mode::Observe,
        Mode::Nudge => api::Mode::Nudge,
        Mode::Escalate => api::Mode::Escalate,
        Mode::Full => api::Mode::Full,
    }
}

pub(crate) fn mode_in(mode: api::Mode) -> Mode {
    match mode {
        api::Mode::Observe => Mode::Observe,
        api::Mode::Nudge => Mode::Nudge,
        api::Mode::Escalate => Mode::Escalate,
        api::Mode::Full => Mode::Full,
    }
}

pub(super) fn awaited(awaited: Awaited) -> api::Awaited {
    match awaited {
        Awaited::Tool => api::Awaited::Tool,
        Awaited::Model => api::Awaited::Model,
        Awaited::Subagent => api::Awaited::Subagent,
        Awaited::Person => api::Awaited::Person,
        Awaited::Provider => api::Awaited::Provider,
        Awaited::Timer => api::Awaited::Timer,
    }
}

pub(super) fn awaited_in(awaited: api::Awaited) -> Awaited {
    match awaited {
        api::Awaited::Tool => Awaited::Tool,
        api::Awaited::Model => Awaited::Model,
        api::Awaited::Subagent => Awaited::Subagent,
        api::Awaited::Person => Awaited::Person,
        api::Awaited::Provider => Awaited::Provider,
        api::Awaited::Timer => Awaited::Timer,
    }
}

pub(super) fn status_in(status: api::AgentStatus) -> Status {
    match status {
        api::AgentStatus::Healthy => Status::Healthy,
        api::AgentStatus::Busy => Status::Busy,
        api::AgentStatus::Degraded => Status::Degraded,
        api::AgentStatus::Idle => Status::Idle,
        api::AgentStatus::Waiting => Status::Waiting,
    }
}

pub(super) fn breaker_state(state: breaker::State) -> api::BreakerState {
    match state {
        breaker::State::Closed => api::BreakerState::Closed,
        breaker::State::Open => api::BreakerState::Open,
        breaker::State::HalfOpen => api::BreakerState::HalfOpen,
    }
}

pub(super) fn breaker_mode(mode: breaker::Mode) -> api::BreakerMode {
    match mode {
        breaker::Mode::Normal => api::BreakerMode::Normal,
        breaker::Mode::ForcedOpen => api::BreakerMode::ForcedOpen,
        breaker::Mode::Disabled => api::BreakerMode::Disabled,
        breaker::Mode::MetricsOnly => api::BreakerMode::MetricsOnly,
    }
}

pub(super) fn incident(incident: Incident) -> api::IncidentKind {
    match incident {
        Incident::Silent => api::IncidentKind::Silent,
        Incident::Stuck => api::IncidentKind::Stuck,
        Incident::Failing => api::IncidentKind::Failing,
        Incident::Died => api::IncidentKind::Died,
        Incident::Flapping => api::IncidentKind::Flapping,
        Incident::Storm => api::IncidentKind::Storm,
        Incident::OverLimit => api::IncidentKind::OverLimit,
    }
}
