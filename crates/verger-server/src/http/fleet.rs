//! All agents at a glance, and the monitor that watches them.

use axum::Json;
use axum::extract::State;
use verger_api::{
    BlindTime, BreakerCounts, FleetSummary, Incident, LivenessCounts, MonitorHealth, StateCounts, TaskCounts,
    Time, WaitingCounts, Waste,
};
use verger_core::AgentView;
use verger_core::fleet::Fleet;
use verger_core::health::HealthState;
use verger_core::liveness::LivenessStatus;
use verger_core::signal::Awaited;
use verger_store::{Archive, IncidentQuery};

use super::asker::Asker;
use super::events::blocking;
use super::health::missing;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::Right;
use crate::monitor::{Calendar, wall_now};
use crate::wire;

/// Agents that are counted between two turns of the loop.
const LOOK_MAX: usize = 1_000;
/// Incidents that are told one by one.
const INCIDENTS_MAX: usize = 100;
/// Blind times that are told.
const BLIND_TIMES: usize = 20;

pub(super) fn routes() -> Routes {
    let told = Told::new("getFleet", "fleet", "All agents at a glance, and the monitor itself", Who::Reader);
    Routes::new().get("/v1/fleet", fleet, told.answers(200, "The fleet.", "FleetSummary"))
}

async fn fleet(State(app): State<App>, Asker(caller): Asker) -> Result<Json<FleetSummary>, Refusal> {
    caller.may(Right::Read)?;
    let mut counted = Counted::default();
    let mut place = Some(0);
    while let Some(at) = place {
        let look = app.monitor.look(move |fleet, calendar| {
            let (views, next) = fleet.page(calendar.now(), at, LOOK_MAX);
            counted.add(&views);
            (counted, next)
        });
        (counted, place) = look.await?;
    }
    let seen = app.monitor.look(Seen::of).await?;
    let archive = app.monitor.archive().clone();
    let kept = blocking(move || Kept::read(&archive)).await?;
    Ok(Json(FleetSummary {
        at: seen.at,
        agents: counted.agents,
        ready: counted.ready,
        states: counted.states(),
        liveness: counted.liveness(),
        waiting: counted.waiting(),
        tasks: seen.tasks,
        breakers: seen.breakers,
        incidents: kept.incidents,
        open_incidents: kept.open_incidents,
        waste: seen.waste,
        monitor: MonitorHealth {
            version: app.version.to_owned(),
            started_at: started_at(&app),
            observed_seconds: seen.observed_seconds,
            lateness_ms: app.monitor.pulse().late().as_millis() as u64,
            effects_pending: kept.effects_pending,
            last_event_id: Some(kept.newest).filter(|id| *id > 0).map(|id| id.to_string()),
            blind_times: kept.blind_times,
            missing: missing(&app.monitor),
        },
    }))
}

fn started_at(app: &App) -> Time {
    let ago = i64::try_from(app.started.elapsed().as_millis()).unwrap_or(i64::MAX);
    Time::from_millis(wall_now().0.saturating_sub(ago))
}

/// Agents, counted page by page. They change between two pages: a fleet is never seen as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    agents: u64,
    ready: u64,
    by_state: [u64; 6],
    by_liveness: [u64; 5],
    by_wait: [u64; 7],
}

impl Counted {
    fn add(&mut self, views: &[AgentView]) {
        for view in views {
            self.agents += 1;
            self.ready += u64::from(view.ready);
            self.by_state[state_place(view.state)] += 1;
            self.by_liveness[liveness_place(view.liveness.status)] += 1;
            self.by_wait[wait_place(view.waiting_on.map(|wait| wait.awaited))] += 1;
        }
    }

    fn states(&self) -> StateCounts {
        let [unknown, healthy, degraded, stuck, failing, terminated] = self.by_state;
        StateCounts { unknown, healthy, degraded, stuck, failing, terminated }
    }

    fn liveness(&self) -> LivenessCounts {
        let [online, idle, busy, unresponsive, offline] = self.by_liveness;
        LivenessCounts { online, idle, busy, unresponsive, offline }
    }

    fn waiting(&self) -> WaitingCounts {
        let [nothing, tool, model, subagent, person, provider, timer] = self.by_wait;
        WaitingCounts { nothing, tool, model, subagent, person, provider, timer }
    }
}

fn state_place(state: HealthState) -> usize {
    match state {
        HealthState::Unknown => 0,
        HealthState::Healthy => 1,
        HealthState::Degraded => 2,
        HealthState::Stuck => 3,
        HealthState::Failing => 4,
        HealthState::Terminated => 5,
    }
}

fn liveness_place(status: LivenessStatus) -> usize {
    match status {
        LivenessStatus::Online => 0,
        LivenessStatus::Idle => 1,
        LivenessStatus::Busy => 2,
        LivenessStatus::Unresponsive => 3,
        LivenessStatus::Offline => 4,
    }
}

fn wait_place(awaited: Option<Awaited>) -> usize {
    match awaited {
        None => 0,
        Some(Awaited::Tool) => 1,
        Some(Awaited::Model) => 2,
        Some(Awaited::Subagent) => 3,
        Some(Awaited::Person) => 4,
        Some(Awaited::Provider) => 5,
        Some(Awaited::Timer) => 6,
    }
}

/// What the loop knows beside the agents.
struct Seen {
    at: Time,
    observed_seconds: u64,
    tasks: TaskCounts,
    breakers: BreakerCounts,
    waste: Waste,
}

impl Seen {
    fn of(fleet: &Fleet, calendar: &Calendar) -> Self {
        let (tasks, breakers) = (fleet.tasks().counts(), fleet.breakers().counts());
        let count = |count: usize| count as u64;
        Self {
            at: Time::from_millis(calendar.wall_now().0),
            observed_seconds: calendar.now().as_millis() / 1_000,
            tasks: TaskCounts {
                open: count(tasks.open),
                stalled: count(tasks.stalled),
                ended: count(tasks.ended),
            },
            breakers: BreakerCounts {
                closed: breakers.closed.into(),
                open: breakers.open.into(),
                half_open: breakers.half_open.into(),
            },
            waste: wire::waste(&fleet.wasted()),
        }
    }
}

/// What only the store knows.
struct Kept {
    incidents: Vec<Incident>,
    open_incidents: u64,
    effects_pending: u64,
    newest: i64,
    blind_times: Vec<BlindTime>,
}

impl Kept {
    fn read(archive: &Archive) -> Result<Self, verger_store::Error> {
        let open = IncidentQuery { open: Some(true), limit: INCIDENTS_MAX, ..IncidentQuery::default() };
        Ok(Self {
            incidents: archive.incidents(&open)?.iter().filter_map(wire::incident).collect(),
            open_incidents: archive.open_incidents()?,
            effects_pending: archive.effects_out()?,
            newest: archive.newest_event()?,
            blind_times: archive.blind_times(BLIND_TIMES)?.iter().filter_map(blind_time).collect(),
        })
    }
}

fn blind_time(time: &verger_store::BlindTime) -> Option<BlindTime> {
    let until = time.until.wall.0;
    let lasted = i64::try_from(time.lasted.as_millis()).unwrap_or(i64::MAX);
    Some(BlindTime {
        from: Time::from_millis(until.saturating_sub(lasted)),
        until: Time::from_millis(until),
        cause: time.cause.parse().ok()?,
    })
}
