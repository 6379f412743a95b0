//! `GET /metrics`: the fleet in numbers, and the monitor's own health.
//!
//! No label is the name of an agent: a fleet of thousands would be as many time series. Numbers of the fleet are left
//! out while the fleet cannot be looked at; those about the monitor never are, because it is then that they are wanted.

use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use verger_core::fleet::Fleet;
use verger_core::health::HealthState;
use verger_core::liveness::LivenessStatus;

use super::asker::Asker;
use super::exposition::{CONTENT_TYPE, Exposition, Kind};
use super::health::missing;
use super::routes::Routes;
use super::told::{Told, Who};
use super::{App, Refusal};
use crate::access::Right;
use crate::monitor::Calendar;

/// Agents that are counted between two turns of the loop.
const LOOK_MAX: usize = 5_000;
/// A scrape gives up counting after this time; Prometheus waits ten seconds by default.
const COUNT_WITHIN: Duration = Duration::from_secs(5);

/// In the order of their counts.
const STATES: [&str; 6] = ["UNKNOWN", "HEALTHY", "DEGRADED", "STUCK", "FAILING", "TERMINATED"];
const STATUSES: [&str; 5] = ["online", "idle", "busy", "unresponsive", "offline"];

pub(super) fn routes() -> Routes {
    let told = Told::new("getMetrics", "monitor", "Figures for Prometheus", Who::Reader);
    Routes::new().get("/metrics", metrics, told.answers_text("All of them.", "text/plain"))
}

async fn metrics(State(app): State<App>, Asker(caller): Asker) -> Result<Response, Refusal> {
    caller.may(Right::Read)?;
    let mut text = Exposition::default();
    of_monitor(&app, &mut text);
    of_traffic(&app, &mut text);
    of_work(&app, &mut text);
    // A loop that stands still must not have its own numbers wait.
    if let Ok(Some(census)) = tokio::time::timeout(COUNT_WITHIN, count(&app)).await {
        census.tell(&mut text);
    }
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text.text()).into_response())
}

fn of_monitor(app: &App, text: &mut Exposition) {
    let (pulse, counted) = (app.monitor.pulse(), app.monitor.counters().read());
    let version = [(app.version, 1.0)];
    text.by("verger_build_info", Kind::Gauge, "The version that runs.", "version", version);
    let uptime = app.started.elapsed().as_secs_f64();
    text.one("verger_uptime_seconds", Kind::Gauge, "Since when the monitor runs.", uptime);
    let ready = if missing(app).is_empty() { 1.0 } else { 0.0 };
    text.one("verger_ready", Kind::Gauge, "Whether the monitor does its work.", ready);
    let queued = app.monitor.queued() as f64;
    text.one("verger_queue_messages", Kind::Gauge, "Messages that wait for the loop.", queued);
    let turns = pulse.turns() as f64;
    text.one("verger_loop_turns_total", Kind::Counter, "Turns of the loop.", turns);
    let age = pulse.age().as_secs_f64();
    text.one("verger_loop_age_seconds", Kind::Gauge, "How long ago the loop last turned.", age);
    let late = pulse.late().as_secs_f64();
    text.one("verger_loop_lateness_seconds", Kind::Gauge, "By how much the last turn was late.", late);
    let help = "Batches that reached the disk.";
    text.one("verger_commits_total", Kind::Counter, help, counted.commits as f64);
    let help = "Tries to write a batch that failed.";
    text.one("verger_commit_failures_total", Kind::Counter, help, counted.commits_failed as f64);
    let help = "How long the monitor could not see, and held nothing against anybody.";
    let blind = counted.blind_millis.iter().map(|(cause, millis)| (*cause, *millis as f64 / 1_000.0));
    text.by("verger_blind_seconds_total", Kind::Counter, help, "cause", blind);
    let help = "How often the configuration was loaded again.";
    let reloads = counted.reloads.iter().map(|(result, count)| (*result, *count as f64));
    text.by("verger_config_reloads_total", Kind::Counter, help, "result", reloads);
    let help = "Whether what was last read of the configuration holds; 0 when it was refused.";
    let holds = if counted.reload_failed { 0.0 } else { 1.0 };
    text.one("verger_config_last_reload_successful", Kind::Gauge, help, holds);
}

fn of_traffic(app: &App, text: &mut Exposition) {
    let (traffic, monitor) = (&app.traffic, &app.monitor);
    let present = traffic.present();
    let help = "Connections that are open.";
    text.one("verger_connections", Kind::Gauge, help, present.connections as f64);
    let help = "Answers under way that do not end: events, inboxes, watched health.";
    text.one("verger_streams", Kind::Gauge, help, present.streams as f64);
    let help = "What large bodies weigh that are being read or taken in.";
    text.one("verger_bodies_bytes", Kind::Gauge, help, present.bodies as f64);
    let help = "What was refused because of a limit, by what the limit is on.";
    let refused = traffic.refused().map(|(reason, count)| (reason, count as f64));
    text.by("verger_refusals_total", Kind::Counter, help, "limit", refused);
    let help =
        "Connections that were cut off: idle when others wanted their place, slow when they took no answer.";
    let cut = traffic.cut().map(|(reason, count)| (reason, count as f64));
    text.by("verger_connections_cut_total", Kind::Counter, help, "reason", cut);
    let help =
        "Vital signs that were dropped because too much waited for the loop. Nothing else is ever dropped.";
    text.one("verger_vital_signs_dropped_total", Kind::Counter, help, monitor.dropped() as f64);
    let help = "Requests that were turned away because too much waited for the loop.";
    text.one("verger_queue_refusals_total", Kind::Counter, help, monitor.turned_away() as f64);
}

fn of_work(app: &App, text: &mut Exposition) {
    let counted = app.monitor.counters().read();
    let help = "What the loop took in: signals, orders and notices.";
    let inputs = counted.inputs.iter().map(|(kind, count)| (*kind, *count as f64));
    text.by("verger_signals_total", Kind::Counter, help, "kind", inputs);
    let help = "Signals that were turned away.";
    text.one("verger_signals_refused_total", Kind::Counter, help, counted.refused as f64);
    let of = |action: &str| {
        counted.actions.iter().find(|(name, _)| *name == action).map_or(0.0, |(_, count)| *count as f64)
    };
    let help = "Interventions that went out.";
    let interventions = [("nudge", of("nudge")), ("escalation", of("escalate")), ("termination", of("stop"))];
    text.by("verger_interventions_total", Kind::Counter, help, "kind", interventions);
    let help = "Everything that went out to be done.";
    let actions = counted.actions.iter().map(|(action, count)| (*action, *count as f64));
    text.by("verger_effects_total", Kind::Counter, help, "action", actions);
}

/// The fleet in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Census {
    states: [u64; STATES.len()],
    statuses: [u64; STATUSES.len()],
    ready: u64,
    breakers: [u64; 3],
    followed: u64,
    displaced: u64,
}

impl Census {
    /// Counts some agents; tells where to go on.
    fn count(&mut self, fleet: &Fleet, calendar: &Calendar, from: u32) -> Option<u32> {
        let (views, next) = fleet.page(calendar.now(), from, LOOK_MAX);
        for view in views {
            self.states[match view.state {
                HealthState::Unknown => 0,
                HealthState::Healthy => 1,
                HealthState::Degraded => 2,
                HealthState::Stuck => 3,
                HealthState::Failing => 4,
                HealthState::Terminated => 5,
            }] += 1;
            self.statuses[match view.liveness.status {
                LivenessStatus::Online => 0,
                LivenessStatus::Idle => 1,
                LivenessStatus::Busy => 2,
                LivenessStatus::Unresponsive => 3,
                LivenessStatus::Offline => 4,
            }] += 1;
            self.ready += u64::from(view.ready);
        }
        if next.is_none() {
            let breakers = fleet.breakers().counts();
            self.breakers = [breakers.closed, breakers.open, breakers.half_open].map(u64::from);
            let steps = fleet.followed();
            (self.followed, self.displaced) = (steps.followed as u64, steps.displaced);
        }
        next
    }

    fn tell(&self, text: &mut Exposition) {
        let named = |names: &[&'static str], counts: &[u64]| -> Vec<(&'static str, f64)> {
            names.iter().copied().zip(counts.iter().map(|count| *count as f64)).collect()
        };
        let states = named(&STATES, &self.states);
        text.by("verger_agents", Kind::Gauge, "Agents, by how they are doing.", "state", states);
        let statuses = named(&STATUSES, &self.statuses);
        let help = "Agents, by whether they are there.";
        text.by("verger_agents_by_liveness", Kind::Gauge, help, "status", statuses);
        let help = "Agents that should be given work now.";
        text.one("verger_agents_ready", Kind::Gauge, help, self.ready as f64);
        let breakers = named(&["CLOSED", "OPEN", "HALF_OPEN"], &self.breakers);
        text.by("verger_breakers", Kind::Gauge, "Circuit breakers, by state.", "state", breakers);
        let help = "Agents whose steps are followed, to see loops.";
        text.one("verger_followed_agents", Kind::Gauge, help, self.followed as f64);
        let help = "Agents that were followed no more, to make room for others.";
        text.one("verger_followed_displaced_total", Kind::Counter, help, self.displaced as f64);
    }
}

/// Counts all agents, some at a time; nothing if the monitor is ending or has too much to do.
async fn count(app: &App) -> Option<Census> {
    let (mut census, mut from) = (Census::default(), 0);
    loop {
        let look = app.monitor.look(move |fleet, calendar| {
            let next = census.count(fleet, calendar, from);
            (census, next)
        });
        let next;
        (census, next) = look.await.ok()?;
        match next {
            Some(place) => from = place,
            None => return Some(census),
        }
    }
}
