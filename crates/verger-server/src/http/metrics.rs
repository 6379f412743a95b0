//! `GET /metrics`: the fleet in numbers, and the monitor's own health.
//!
//! No label is the name of an agent: a fleet of thousands would be as many time series. Numbers of the fleet are left
//! out while the fleet cannot be looked at; those about the monitor never are, because it is then that they are wanted.

use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use verger_core::AgentView;
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
use crate::monitor::{Calendar, place};
use crate::trace::Exported;

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
    of_checks(&app, &mut text);
    of_traces(&app, &mut text);
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
    let ready = if missing(&app.monitor).is_empty() { 1.0 } else { 0.0 };
    text.one("verger_ready", Kind::Gauge, "Whether the monitor does its work.", ready);
    let queued = app.monitor.queued() as f64;
    text.one("verger_queue_messages", Kind::Gauge, "Messages that wait for the loop.", queued);
    let age = app.monitor.queue_age().as_secs_f64();
    text.one("verger_queue_age_seconds", Kind::Gauge, "How long the oldest of them has waited.", age);
    let turns = &app.monitor.tracer().figures.turns;
    text.histogram("verger_loop_turn_duration_seconds", "How long turns of the loop take.", turns);
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
    let unwritten = pulse.failing_for().unwrap_or_default().as_secs_f64();
    text.one("verger_unwritten_seconds", Kind::Gauge, "For how long nothing could be written.", unwritten);
    let help =
        "Calls to who sounds the alarm when they end; withheld while the monitor does not do its work.";
    let calls = counted.dead_man.iter().map(|(result, count)| (*result, *count as f64));
    text.by("verger_dead_man_calls_total", Kind::Counter, help, "result", calls);
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

/// What 004 §7.2 names: `health.checks.duration` and its siblings, in Prometheus' spelling.
fn of_checks(app: &App, text: &mut Exposition) {
    let figures = &app.monitor.tracer().figures;
    let help = "How long agents took to answer pings, and to fetch questions.";
    text.histogram("verger_health_checks_duration_seconds", help, &figures.durations);
    let [success, failure, timeout] = figures.ends().map(|count| count as f64);
    let help = "Checks that were answered.";
    text.one("verger_health_checks_success_total", Kind::Counter, help, success);
    let help = "Checks that could not be made: nobody listens, or the way is broken.";
    text.one("verger_health_checks_failure_total", Kind::Counter, help, failure);
    let help = "Checks that were not answered before the next was due.";
    text.one("verger_health_checks_timeout_total", Kind::Counter, help, timeout);
    let help = "Changes of state, by where they led to.";
    let changes = STATES.into_iter().zip(figures.transitions().map(|count| count as f64));
    text.by("verger_health_state_transitions_total", Kind::Counter, help, "to", changes);
}

fn of_traces(app: &App, text: &mut Exposition) {
    let Exported { sent, lost, failures, waiting, oldest_secs } = app.monitor.tracer().exported();
    let help = "Spans that a receiver has taken.";
    text.one("verger_trace_spans_exported_total", Kind::Counter, help, sent as f64);
    let help = "Spans that were lost: no room while the receiver was away, not wanted, or without an end.";
    let lost = lost.iter().map(|(reason, count)| (*reason, *count as f64));
    text.by("verger_trace_spans_dropped_total", Kind::Counter, help, "reason", lost);
    let help = "Tries to send spans that failed.";
    text.one("verger_trace_export_failures_total", Kind::Counter, help, failures as f64);
    text.one("verger_trace_queue_spans", Kind::Gauge, "Spans that wait to be sent.", waiting as f64);
    let help = "How long spans have been waiting.";
    text.one("verger_trace_queue_age_seconds", Kind::Gauge, help, oldest_secs);
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
    named: Named,
}

/// Agents that are named one by one, where that was asked for: those in trouble first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Named {
    most: usize,
    bad: Vec<(String, HealthState)>,
    good: Vec<(String, HealthState)>,
    left_out: u64,
}

impl Named {
    fn show(&mut self, view: &AgentView) {
        let is_well = matches!(view.state, HealthState::Healthy | HealthState::Terminated);
        let list = if is_well { &mut self.good } else { &mut self.bad };
        if list.len() < self.most {
            list.push((view.id.to_string(), view.state));
        } else {
            self.left_out += 1;
        }
    }

    fn tell(&self, text: &mut Exposition) {
        let shown: Vec<_> = self.bad.iter().chain(&self.good).take(self.most).collect();
        let left_out = self.left_out + (self.bad.len() + self.good.len() - shown.len()) as u64;
        let help = "The state of single agents, as many as `telemetry.metrics.agents_max` allows.";
        let agents = shown
            .iter()
            .map(|(agent, state)| ([("agent", agent.as_str()), ("state", STATES[place(*state)])], 1.0));
        text.by_two("verger_health_state_by_instance", Kind::Gauge, help, agents);
        let help = "Agents that are not named one by one.";
        text.one("verger_health_state_by_instance_omitted", Kind::Gauge, help, left_out as f64);
    }
}

impl Census {
    /// Counts some agents; tells where to go on.
    fn count(&mut self, fleet: &Fleet, calendar: &Calendar, from: u32) -> Option<u32> {
        let (views, next) = fleet.page(calendar.now(), from, LOOK_MAX);
        for view in views {
            self.states[place(view.state)] += 1;
            self.named.show(&view);
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
        self.named.tell(text);
    }
}

/// Counts all agents, some at a time; nothing if the monitor is ending or has too much to do.
async fn count(app: &App) -> Option<Census> {
    let named = Named { most: app.monitor.tracer().figures.agents_max(), ..Named::default() };
    let (mut census, mut from) = (Census { named, ..Census::default() }, 0);
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
