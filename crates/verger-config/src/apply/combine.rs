//! Combinations that cannot be meant.
//!
//! Almost all are of one form: this must not be more than that. Each is told at whichever of the two was set, with
//! both values, so that nobody has to know the defaults to understand it.

use verger_core::policy::Role;

use super::{Applied, Applying, fleet_rows, role_key};
use crate::keys::Threshold;
use crate::keys::breaker::{BREAKER, GATES};
use crate::keys::role::ROLE;
use crate::problem::Problem;
use crate::value::Value;

/// In a role, the first must not be more than the second.
const OF_ROLE: [(&str, &str); 7] = [
    ("liveness.beats.interval", "liveness.beats.timeout"),
    ("liveness.pings.timeout", "liveness.pings.interval"),
    ("patience.usual", "patience.tool"),
    ("progress.degraded_after", "progress.stuck_after"),
    ("repetition.repeats", "repetition.repeats_stuck"),
    ("flapping.clear_below", "flapping.raise_at"),
    ("intervention.repeats_escalate", "intervention.repeats_stop"),
];

/// The same for the fleet.
const OF_FLEET: [(&str, &str); 11] = [
    ("writes.pause", "writes.pause_max"),
    ("messages.redeliver_after", "messages.redeliver_max"),
    ("messages.per_receiver_max", "messages.total_max"),
    ("tasks.explained_for", "tasks.explained_max"),
    ("tasks.per_agent_max", "tasks.open_max"),
    ("judge.warn_at", "judge.medium_at"),
    ("judge.medium_at", "judge.high_at"),
    ("judge.high_at", "judge.critical_at"),
    ("judge.check_interval", "judge.stall_critical"),
    ("correlation.freeze_max", "correlation.lasts_max"),
    ("breakers.bounds.per_agent_max", "breakers.bounds.total_max"),
];

/// The same for each kind of breaker.
const OF_BREAKER: [(&str, &str); 1] = [("minimum_calls", "window")];

impl Applying<'_> {
    pub(super) fn combinations(&mut self) {
        let mut policies = self.applied.policies.clone();
        let fleet: Vec<_> = fleet_rows().map(|row| (row.name, shown(row, &mut policies))).collect();
        self.orders(&OF_FLEET, &fleet, str::to_owned);
        let mut roles = Vec::new();
        policies.each(|role| roles.push(role.clone()));
        for role in &mut roles {
            let name = role.name.to_string();
            self.orders(&of_role(role), &values(ROLE, role), |key| role_key(&name, key));
        }
        for gate in &GATES {
            let policy = (gate.at)(&mut policies.breakers);
            self.orders(&OF_BREAKER, &values(BREAKER, policy), |key| format!("breakers.{}.{key}", gate.name));
            if policy.slow_after.is_none() {
                self.without_slow_after(gate.name);
            }
        }
    }

    fn orders(
        &mut self,
        orders: &[(&str, &str)],
        values: &[(&str, (Value, String))],
        key: impl Fn(&str) -> String,
    ) {
        let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        for (low, high) in orders {
            let (Some((low_value, low_shown)), Some((high_value, high_shown))) = (value(low), value(high))
            else {
                continue;
            };
            if !exceeds(low_value, high_value) {
                continue;
            }
            let Applied { set, .. } = &self.applied;
            let (low_key, high_key) = (key(low), key(high));
            let places = [set.get(&low_key), set.get(&high_key)];
            let told =
                |shown: &str, set: bool| if set { shown.to_owned() } else { format!("{shown} by default") };
            let message = format!(
                "`{low_key}` ({}) must not be more than `{high_key}` ({})",
                told(low_shown, places[0].is_some()),
                told(high_shown, places[1].is_some())
            );
            let problem = Problem::of_key(&low_key, message);
            let place = places.into_iter().flatten().max();
            self.problems.push(place.map_or(problem.clone(), |place| problem.at(*place)));
        }
    }

    fn without_slow_after(&mut self, gate: &str) {
        let key = format!("breakers.{gate}.slow_rate");
        if let Some(place) = self.applied.set.get(&key) {
            let problem = Problem::of_key(&key, format!("`{key}` means nothing without `slow_after`"));
            self.problems.push(problem.at(*place).hint(format!("set `breakers.{gate}.slow_after`")));
        }
    }
}

/// Pings that are switched off have no order.
fn of_role(role: &Role) -> Vec<(&'static str, &'static str)> {
    let pinged = role.liveness.pings.is_some();
    OF_ROLE.into_iter().filter(|(low, _)| pinged || !low.starts_with("liveness.pings.")).collect()
}

fn values<T: Clone>(rows: &[Threshold<T>], policy: &T) -> Vec<(&'static str, (Value, String))> {
    let mut policy = policy.clone();
    rows.iter().map(|row| (row.name, shown(row, &mut policy))).collect()
}

fn shown<T>(row: &Threshold<T>, policy: &mut T) -> (Value, String) {
    let value = (row.at)(policy).get();
    let shown = row.kind.shown(&value);
    (value, shown)
}

fn exceeds(low: &Value, high: &Value) -> bool {
    match (low, high) {
        (Value::Count(low), Value::Count(high)) => high < low,
        (Value::Duration(low), Value::Duration(high)) => high < low,
        _ => false,
    }
}
