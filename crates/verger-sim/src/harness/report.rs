//! What a run showed, as it is printed.

use std::collections::BTreeMap;

use serde::Serialize;
use verger_core::time::Span;

use super::breakers::ServiceReport;
use super::judgement::{Finding, Judgement};
use super::messages::MessageReport;
use crate::world::FaultKind;

/// What a run showed, or several in sum.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The seed that decided it; nothing for a sum.
    pub seed: Option<u64>,
    /// How many agents there were.
    pub agents: u32,
    /// For how many days.
    pub days: f64,
    /// Days, summed over agents, in which nothing was wrong with them.
    pub healthy_agent_days: f64,
    /// Episodes in which people were told that something is wrong with an agent.
    pub alarms: u64,
    /// Those of them in which nothing was wrong with the agent or around it.
    pub false_alarms: u64,
    /// Episodes in which an agent was merely shown as degraded.
    pub warnings: WarningReport,
    /// Healthy agents that the monitor decided to stop.
    pub wrong_terminations: u64,
    /// What went wrong, by kind, and how it was found.
    pub faults: BTreeMap<String, FaultReport>,
    /// What else happened, by kind: a monitor has to live with it, and there is nothing to find.
    pub endured: BTreeMap<String, u64>,
    /// From the moment a verdict was allowed to the first reminder, escalation, interruption or stop.
    pub mean_time_to_intervention_seconds: Option<f64>,
    /// Lives that were ended so that another could go on.
    pub recovery: RecoveryReport,
    /// Reminders.
    pub nudges: NudgeReport,
    /// The monitor itself.
    pub monitor: MonitorReport,
    /// What agents depend on, behind circuit breakers.
    pub services: ServiceReport,
    /// Messages between agents.
    pub messages: MessageReport,
    /// Each checker, and `ok` or what broke.
    pub checkers: BTreeMap<String, String>,
    /// How many interventions the mean was taken over.
    #[serde(skip)]
    pub interventions: u64,
}

/// Episodes in which an agent was merely shown as degraded, and nobody was told.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WarningReport {
    /// How many.
    pub raised: u64,
    /// In how many of them nothing was wrong with the agent or around it.
    pub unfounded: u64,
}

/// How faults of one kind were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultReport {
    /// How many there were that lasted long enough to be found.
    pub injected: u64,
    /// How many of them were found.
    pub found: u64,
    /// How many more ended before the policy would have allowed any verdict.
    pub too_short: u64,
    /// How many more nobody could have told from rest or from a good end, and nobody did.
    pub hidden: u64,
    /// From the moment the policy would first allow the verdict, in time that the monitor could see.
    pub latency_seconds: Latency,
    /// Every latency, in milliseconds and in order.
    #[serde(skip)]
    pub latencies: Vec<u64>,
}

/// Quantiles of a latency, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Latency {
    /// Half are not longer.
    pub p50: f64,
    /// All but one in a hundred are not longer.
    pub p99: f64,
    /// None is longer.
    pub max: f64,
}

/// Lives that were ended so that another could go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryReport {
    /// How many.
    pub attempted: u64,
    /// How many of them were followed by another life.
    pub succeeded: u64,
}

/// Reminders.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NudgeReport {
    /// How many were sent.
    pub sent: u64,
    /// To how many the agent reacted.
    pub answered: u64,
}

/// The monitor itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorReport {
    /// How often it was started again.
    pub restarts: u64,
    /// How often it was stopped for a while.
    pub pauses: u64,
    /// For how long it could not see.
    pub blind_seconds: f64,
}

impl Report {
    /// Whether every checker is content and nobody was stopped wrongly.
    pub fn is_green(&self) -> bool {
        self.wrong_terminations == 0 && self.checkers.values().all(|verdict| verdict == "ok")
    }

    /// Several runs taken together. A checker that broke in any of them is broken in the sum.
    pub fn sum(reports: &[Self]) -> Self {
        let mut sum = Self::default();
        for report in reports {
            sum.add(report);
        }
        sum
    }

    pub(super) fn judge(&mut self, judgement: &Judgement) {
        self.alarms = judgement.alarms().count() as u64;
        self.false_alarms = judgement.false_alarms().count() as u64;
        self.warnings.raised = judgement.warnings().count() as u64;
        self.warnings.unfounded = judgement.warnings().filter(|(_, touched)| !touched).count() as u64;
        for finding in &judgement.findings {
            let kind = finding.fault.kind;
            if kind.is_endured() {
                *self.endured.entry(kind.name().into()).or_default() += 1;
            } else {
                self.faults.entry(kind.name().into()).or_default().add(finding);
            }
        }
        self.faults.values_mut().for_each(FaultReport::settle);
        let delays: Vec<u64> = judgement
            .findings
            .iter()
            .filter(|finding| finding.allowance.is_some() && leads_to_intervention(finding.fault.kind))
            .filter_map(|finding| finding.intervened.map(Span::as_millis))
            .collect();
        self.interventions = delays.len() as u64;
        if !delays.is_empty() {
            let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
            self.mean_time_to_intervention_seconds = Some(mean / 1_000.0);
        }
    }

    fn add(&mut self, other: &Self) {
        self.agents += other.agents;
        self.days += other.days;
        self.healthy_agent_days += other.healthy_agent_days;
        self.alarms += other.alarms;
        self.false_alarms += other.false_alarms;
        self.warnings.raised += other.warnings.raised;
        self.warnings.unfounded += other.warnings.unfounded;
        self.wrong_terminations += other.wrong_terminations;
        self.recovery.attempted += other.recovery.attempted;
        self.recovery.succeeded += other.recovery.succeeded;
        self.nudges.sent += other.nudges.sent;
        self.nudges.answered += other.nudges.answered;
        self.monitor.restarts += other.monitor.restarts;
        self.monitor.pauses += other.monitor.pauses;
        self.monitor.blind_seconds += other.monitor.blind_seconds;
        self.services.add(&other.services);
        self.messages.add(&other.messages);
        for (kind, faults) in &other.faults {
            self.faults.entry(kind.clone()).or_default().merge(faults);
        }
        for (kind, count) in &other.endured {
            *self.endured.entry(kind.clone()).or_default() += count;
        }
        self.add_mean(other);
        self.add_checkers(other);
    }

    fn add_mean(&mut self, other: &Self) {
        let total = |report: &Self| {
            report.mean_time_to_intervention_seconds.unwrap_or(0.0) * report.interventions as f64
        };
        let sum = total(self) + total(other);
        self.interventions += other.interventions;
        if self.interventions > 0 {
            self.mean_time_to_intervention_seconds = Some(sum / self.interventions as f64);
        }
    }

    fn add_checkers(&mut self, other: &Self) {
        for (name, verdict) in &other.checkers {
            let known = self.checkers.entry(name.clone()).or_insert_with(|| "ok".into());
            if verdict != "ok" && known == "ok" {
                let seed = other.seed.map_or_else(String::new, |seed| format!("seed {seed}: "));
                *known = format!("{seed}{verdict}");
            }
        }
    }
}

/// An anomaly of consumption alone is a warning, and nothing is done about it (L08).
fn leads_to_intervention(kind: FaultKind) -> bool {
    kind != FaultKind::TokenRunaway
}

impl FaultReport {
    fn add(&mut self, finding: &Finding) {
        if finding.too_short {
            self.too_short += 1;
            return;
        }
        if finding.is_hidden() {
            self.hidden += 1;
            return;
        }
        self.injected += 1;
        if let Some(latency) = finding.found {
            self.found += 1;
            self.latencies.push(latency.as_millis());
        }
    }

    fn merge(&mut self, other: &Self) {
        self.injected += other.injected;
        self.found += other.found;
        self.too_short += other.too_short;
        self.hidden += other.hidden;
        self.latencies.extend_from_slice(&other.latencies);
        self.settle();
    }

    fn settle(&mut self) {
        self.latency_seconds = Latency::of(&mut self.latencies);
    }
}

impl Latency {
    /// The quantiles of these milliseconds, which are put in order.
    pub(super) fn of(latencies: &mut [u64]) -> Self {
        latencies.sort_unstable();
        let at = |share: f64| {
            let last = latencies.len().saturating_sub(1);
            #[expect(clippy::cast_sign_loss, reason = "a share of a count is not negative")]
            let place = (last as f64 * share).ceil() as usize;
            latencies.get(place).map_or(0.0, |millis| *millis as f64 / 1_000.0)
        };
        Self { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(seed: u64, latencies: &[u64], verdict: &str) -> Report {
        let mut faults = FaultReport { injected: 4, found: latencies.len() as u64, ..FaultReport::default() };
        faults.latencies = latencies.to_vec();
        faults.settle();
        Report {
            seed: Some(seed),
            agents: 10,
            days: 1.0,
            faults: [("freeze".to_owned(), faults)].into(),
            mean_time_to_intervention_seconds: Some(latencies.len() as f64),
            interventions: latencies.len() as u64,
            checkers: [("nothing-latched".to_owned(), verdict.to_owned())].into(),
            ..Report::default()
        }
    }

    #[test]
    fn a_sum_takes_quantiles_over_all_faults_and_says_which_seed_broke() {
        let sum = Report::sum(&[
            report(1, &[1_000, 3_000], "ok"),
            report(2, &[2_000, 4_000, 9_000, 5_000], "at 1h: stuck"),
        ]);
        let freeze = &sum.faults["freeze"];
        assert_eq!((freeze.injected, freeze.found), (8, 6));
        assert_eq!(freeze.latency_seconds, Latency { p50: 4.0, p99: 9.0, max: 9.0 });
        assert_eq!(sum.mean_time_to_intervention_seconds, Some((2.0 * 2.0 + 4.0 * 4.0) / 6.0));
        assert_eq!(sum.checkers["nothing-latched"], "seed 2: at 1h: stuck");
        assert!(!sum.is_green());
        assert!(report(1, &[], "ok").is_green());
    }

    #[test]
    fn a_report_is_printed_as_the_contract_says() {
        let json = serde_json::to_string_pretty(&report(1, &[1_500], "ok")).unwrap();
        insta::assert_snapshot!(json, @r#"
        {
          "seed": 1,
          "agents": 10,
          "days": 1.0,
          "healthyAgentDays": 0.0,
          "alarms": 0,
          "falseAlarms": 0,
          "warnings": {
            "raised": 0,
            "unfounded": 0
          },
          "wrongTerminations": 0,
          "faults": {
            "freeze": {
              "injected": 4,
              "found": 1,
              "tooShort": 0,
              "hidden": 0,
              "latencySeconds": {
                "p50": 1.5,
                "p99": 1.5,
                "max": 1.5
              }
            }
          },
          "endured": {},
          "meanTimeToInterventionSeconds": 1.0,
          "recovery": {
            "attempted": 0,
            "succeeded": 0
          },
          "nudges": {
            "sent": 0,
            "answered": 0
          },
          "monitor": {
            "restarts": 0,
            "pauses": 0,
            "blindSeconds": 0.0
          },
          "services": {
            "wantedInVain": 0,
            "madeInVain": 0,
            "unaskedInVain": 0,
            "breakersOpened": 0,
            "closedAfterSeconds": {
              "p50": 0.0,
              "p99": 0.0,
              "max": 0.0
            }
          },
          "messages": {
            "sent": 0,
            "lost": 0,
            "acknowledged": 0,
            "told": 0
          },
          "checkers": {
            "nothing-latched": "ok"
          }
        }
        "#);
    }
}
