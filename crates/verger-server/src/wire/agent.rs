//! An agent as people see it.

use verger_api as api;
use verger_core::AgentView;
use verger_core::Intervention;
use verger_core::breaker::{BreakerView, FailureKind};
use verger_core::time::{Timestamp, WallTime};
use verger_core::waste::Delta;

use super::{evidence, states};
use crate::monitor::Calendar;

/// What people see of one agent, with its breakers and the time at which its work was last saved.
pub fn agent_health(
    view: &AgentView,
    breakers: &[BreakerView],
    saved_at: Option<WallTime>,
    calendar: &Calendar,
) -> api::AgentHealth {
    api::AgentHealth {
        agent_id: view.id.to_string(),
        task_id: view.task.as_ref().map(ToString::to_string),
        state: states::state(view.state),
        state_changed_at: time(calendar, view.state_since),
        last_heartbeat: view.metrics.last_heartbeat.map(|at| time(calendar, at)),
        last_checkpoint: saved_at.map(|at| api::Time::from_millis(at.0)),
        metrics: metrics(view, calendar),
        circuit_breakers: breakers.iter().map(|breaker| breaker_status(breaker, calendar)).collect(),
        incarnation: view.incarnation.0,
        role: view.role.to_string(),
        mode: states::mode(view.mode),
        ready: view.ready,
        liveness: api::Liveness {
            status: states::liveness(view.liveness.status),
            cause: view.liveness.cause.map(states::cause),
            class: view.liveness.class.map(states::class),
            since: time(calendar, view.liveness.last_sign),
        },
        waiting_on: view.waiting_on.map(|wait| api::Waiting {
            kind: states::awaited(wait.awaited),
            since: time(calendar, wait.since),
            until: Some(time(calendar, wait.until)),
        }),
        evidence: evidence::all(&view.evidence),
        intervention: view.intervention.map(|step| intervening(step, calendar)),
        probes: None,
        clock_skew_ms: view.clock_skew_ms,
        host: view.host.as_ref().map(ToString::to_string),
        checkpoint_id: view.checkpoint.as_ref().map(ToString::to_string),
        waste: waste(&view.wasted),
    }
}

/// How an agent is at this moment, for its history.
pub fn snapshot(view: &AgentView, calendar: &Calendar) -> api::HealthSnapshot {
    api::HealthSnapshot {
        at: api::Time::from_millis(calendar.wall_now().0),
        incarnation: view.incarnation.0,
        state: states::state(view.state),
        liveness: states::liveness(view.liveness.status),
        waiting_on: view.waiting_on.map(|wait| states::awaited(wait.awaited)),
        task_id: view.task.as_ref().map(ToString::to_string),
        metrics: metrics(view, calendar),
    }
}

/// What is known of an agent's last heartbeat, if it sent one in this life: when it came, and the totals that it told.
/// Texts become fingerprints on their way in, so the words of its phase are not known any more.
pub fn last_heartbeat(view: &AgentView, calendar: &Calendar) -> Option<api::Heartbeat<'static>> {
    let came = view.metrics.last_heartbeat?;
    let vitals = api::Vitals {
        token_count: Some(view.metrics.tokens),
        error_count: Some(view.metrics.errors),
        cost_usd: Some(dollars(view.metrics.cost_micros)),
        role: Some(view.role.to_string().into()),
        ..api::Vitals::default()
    };
    Some(api::Heartbeat {
        agent_id: view.id.to_string().into(),
        task_id: view.task.as_ref().map(|task| task.to_string().into()),
        timestamp: Some(time(calendar, came)),
        incarnation: Some(view.incarnation.0),
        vitals,
    })
}

/// One breaker.
pub(crate) fn breaker_status(breaker: &BreakerView, calendar: &Calendar) -> api::CircuitBreakerStatus {
    let time = |at: Timestamp| time(calendar, at);
    api::CircuitBreakerStatus {
        name: breaker.name.to_string(),
        state: states::breaker_state(breaker.state),
        mode: states::breaker_mode(breaker.mode),
        state_changed_at: time(breaker.since),
        failure_count: breaker.failure_count.into(),
        opened_at: breaker.opened_at.map(time),
        half_open_at: breaker.half_open_at.map(time),
        half_open_in_seconds: breaker.half_open_in.map(|span| span.as_millis().div_ceil(1_000)),
        last_failure: breaker.last_failure.map(time),
        last_failure_kind: breaker.last_failure_kind.map(|kind| failure(kind).to_owned()),
        window_calls: breaker.calls.into(),
        window_failures: breaker.failures.into(),
        window_slow: breaker.slow.into(),
        outstanding_permits: breaker.outstanding,
    }
}

fn failure(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Failed => "failed",
        FailureKind::Outage => "outage",
        FailureKind::Slow => "slow",
        FailureKind::Expired => "never-reported",
    }
}

fn metrics(view: &AgentView, calendar: &Calendar) -> api::AgentMetrics {
    metrics_at(view, calendar.now(), |at| time(calendar, at))
}

/// The counters of an agent at this moment, by whoever can tell times.
pub(super) fn metrics_at(
    view: &AgentView,
    now: Timestamp,
    time: impl Fn(Timestamp) -> api::Time,
) -> api::AgentMetrics {
    let metrics = &view.metrics;
    api::AgentMetrics {
        uptime_seconds: now.since(view.born_at).as_millis() / 1_000,
        token_count: metrics.tokens,
        error_count: metrics.errors,
        tool_call_count: metrics.tool_calls.into(),
        intervention_count: metrics.interventions.into(),
        missed_heartbeats: view.liveness.misses.into(),
        total_heartbeats: metrics.heartbeats.into(),
        disconnection_count: metrics.disconnections.into(),
        last_activity: Some(time(metrics.last_activity)),
        cost_usd: dollars(metrics.cost_micros),
    }
}

fn intervening(step: Intervention, calendar: &Calendar) -> api::Intervening {
    let (step, attempt, until) = match step {
        Intervention::Nudging { attempt } => (api::Step::Nudging, Some(attempt.into()), None),
        Intervention::Escalated { deadline } => (api::Step::Escalated, None, deadline),
        Intervention::MoreTime { until } => (api::Step::MoreTime, None, Some(until)),
        Intervention::HandingOff => (api::Step::HandingOff, None, None),
        Intervention::Stopping => (api::Step::Stopping, None, None),
    };
    api::Intervening { step, attempt, until: until.map(|at| time(calendar, at)) }
}

pub(crate) fn waste(wasted: &Delta) -> api::Waste {
    api::Waste {
        tokens: wasted.spent.tokens,
        cost_usd: dollars(wasted.spent.cost_micros),
        saved_tokens: wasted.saved.tokens,
        saved_cost_usd: dollars(wasted.saved.cost_micros),
    }
}

pub(crate) fn time(calendar: &Calendar, at: Timestamp) -> api::Time {
    api::Time::from_millis(calendar.wall(at).0)
}

pub(super) fn dollars(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}
