//! Verger's targets (L14 and the promises), and whether a simulation met them.
//!
//! A checker is about one step that must never happen; a target is about rates, so it needs many fleets to
//! mean anything. That is why it is asked for by `--targets` and not part of every run.

use verger_sim::harness::Report;
use verger_sim::world::FaultKind;

/// False alarms, as a share of all alarms and of the days that agents were healthy.
const FALSE_ALARMS_MAX: f64 = 0.01;
/// From the first moment at which the policy allows it to the first intervention, on average.
const INTERVENTION_SECONDS_MAX: f64 = 600.0;
/// Of the faults of a kind.
const FOUND_MIN: f64 = 0.99;
/// Below so many faults of a kind, one fault more or less decides: the share says nothing.
const INJECTED_MIN: u64 = 1_000;

/// One target and what was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// What is measured.
    pub(super) name: String,
    /// What must be reached.
    pub(super) limit: String,
    /// What was reached.
    pub(super) reached: String,
    /// Whether that is enough.
    pub(super) met: bool,
}

/// Every target that `report` has enough data for.
pub(super) fn of(report: &Report) -> Vec<Target> {
    let mut targets = vec![
        Target {
            name: "wrong terminations".into(),
            limit: "0".into(),
            reached: report.wrong_terminations.to_string(),
            met: report.wrong_terminations == 0,
        },
        checkers(report),
        rare("false alarms among alarms", share(report.false_alarms, report.alarms as f64)),
        rare("false alarms per healthy agent-day", share(report.false_alarms, report.healthy_agent_days)),
    ];
    targets.extend(report.mean_time_to_intervention_seconds.map(prompt));
    targets.extend(
        report
            .faults
            .iter()
            .filter(|(kind, fault)| INJECTED_MIN <= fault.injected && is_sought(kind))
            .map(|(kind, fault)| found(kind, share(fault.found, fault.injected as f64))),
    );
    targets
}

fn rare(name: &str, share: f64) -> Target {
    Target {
        name: name.into(),
        limit: format!("< {} %", FALSE_ALARMS_MAX * 100.0),
        reached: format!("{:.3} %", share * 100.0),
        met: share < FALSE_ALARMS_MAX,
    }
}

fn prompt(seconds: f64) -> Target {
    Target {
        name: "mean time to intervention".into(),
        limit: format!("< {INTERVENTION_SECONDS_MAX} s"),
        reached: format!("{seconds:.1} s"),
        met: seconds < INTERVENTION_SECONDS_MAX,
    }
}

fn found(kind: &str, share: f64) -> Target {
    Target {
        name: format!("{kind} found"),
        limit: format!(">= {} %", FOUND_MIN * 100.0),
        reached: format!("{:.2} %", share * 100.0),
        met: FOUND_MIN <= share,
    }
}

/// `part` of `whole`; nothing of nothing is nothing.
fn share(part: u64, whole: f64) -> f64 {
    if part == 0 { 0.0 } else { part as f64 / whole }
}

/// Whether Verger should find every fault of this kind: one that a detector looks for.
fn is_sought(kind: &str) -> bool {
    FaultKind::ALL.iter().any(|fault| fault.name() == kind && !fault.is_endured())
}

/// Every checker, in one line.
fn checkers(report: &Report) -> Target {
    let broken: Vec<_> = report.checkers.iter().filter(|(_, verdict)| *verdict != "ok").collect();
    Target {
        name: "checkers broken".into(),
        limit: "0".into(),
        reached: broken.len().to_string(),
        met: broken.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use verger_sim::Mode;
    use verger_sim::harness::{self, FaultReport, Options};

    use super::*;

    /// A report that meets every target, and then is changed by `spoil`.
    fn missed(spoil: impl FnOnce(&mut Report)) -> Vec<String> {
        let options = Options { seed: 1, days: 0.01, agents: 1, faults: false, mode: Mode::Full };
        let mut report = harness::run(&options, &mut ());
        (report.alarms, report.false_alarms, report.wrong_terminations) = (1_000, 9, 0);
        report.healthy_agent_days = 1_000.0;
        report.mean_time_to_intervention_seconds = Some(599.0);
        report.faults = [("freeze".to_owned(), fault(1_000, 990))].into();
        spoil(&mut report);
        of(&report).into_iter().filter(|target| !target.met).map(|target| target.name).collect()
    }

    fn fault(injected: u64, found: u64) -> FaultReport {
        FaultReport { injected, found, ..FaultReport::default() }
    }

    #[test]
    fn l14_a_report_within_every_limit_misses_nothing() {
        assert_eq!(missed(|_| {}), Vec::<String>::new());
        assert_eq!(missed(|report| report.mean_time_to_intervention_seconds = None), Vec::<String>::new());
    }

    #[test]
    fn l14_each_target_can_be_missed() {
        assert_eq!(missed(|report| report.wrong_terminations = 1), ["wrong terminations"]);
        assert_eq!(
            missed(|report| drop(report.checkers.insert("evidence".to_owned(), "at 1h: none".to_owned()))),
            ["checkers broken"]
        );
        assert_eq!(missed(|report| report.alarms = 900), ["false alarms among alarms"]);
        assert_eq!(
            missed(|report| report.healthy_agent_days = 900.0),
            ["false alarms per healthy agent-day"]
        );
        assert_eq!(
            missed(|report| report.mean_time_to_intervention_seconds = Some(600.0)),
            ["mean time to intervention"]
        );
        assert_eq!(
            missed(|report| report.faults = [("crash".to_owned(), fault(1_000, 989))].into()),
            ["crash found"]
        );
        assert_eq!(
            missed(|report| report.faults = [("near-loop".to_owned(), fault(1_000, 989))].into()),
            ["near-loop found"]
        );
        assert_eq!(
            missed(|report| report.faults = [("partition".to_owned(), fault(1_000, 989))].into()),
            ["partition found"]
        );
    }

    #[test]
    fn few_faults_of_a_kind_and_what_nobody_looks_for_prove_nothing() {
        let endured = FaultKind::ALL.into_iter().filter(|kind| kind.is_endured());
        let unsought = endured.map(|kind| (kind.name(), fault(5_000, 0)));
        for (kind, fault) in unsought.chain([("crash", fault(999, 0))]) {
            assert_eq!(
                missed(|report| report.faults = [(kind.to_owned(), fault)].into()),
                Vec::<String>::new()
            );
        }
    }
}
