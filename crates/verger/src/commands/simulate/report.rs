//! The report that people read.

use std::io::{self, Write};

use verger_sim::harness::{FaultReport, Report};

use super::seeds::Seeds;
use super::targets::Target;
use super::workers::Plan;

/// Printed before anything runs, so that a run that never ends or panics still names its seed.
pub(super) fn heading(out: &mut dyn Write, seeds: Seeds, plan: &Plan) -> io::Result<()> {
    let faults = if plan.faults { "" } else { ", no faults" };
    let (agents, days) = (counted(&plan.agents, "agent"), counted(&plan.days, "day"));
    writeln!(out, "{seeds}: {agents}, {days}, mode {}{faults}", mode(plan))?;
    out.flush()
}

/// One of several fleets, in one line.
pub(super) fn line(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let injected: u64 = report.faults.values().map(|fault| fault.injected).sum();
    let found: u64 = report.faults.values().map(|fault| fault.found).sum();
    let broken: Vec<_> = broken(report).map(|(name, _)| name.as_str()).collect();
    writeln!(
        out,
        "  seed {:<6} found {found} of {injected} faults, {} alarms, {} false, {} wrong terminations, {}",
        report.seed.unwrap_or_default(),
        report.alarms,
        report.false_alarms,
        report.wrong_terminations,
        if broken.is_empty() {
            "all checkers ok".to_owned()
        } else {
            format!("BROKEN: {}", broken.join(", "))
        },
    )
}

/// Everything about one fleet, or the sums over several.
pub(super) fn full(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    faults(out, report)?;
    writeln!(out)?;
    endured(out, report)?;
    row(out, "alarms", &format!("{}, of which {} false", report.alarms, report.false_alarms))?;
    let warnings = &report.warnings;
    row(out, "warnings", &format!("{}, of which {} unfounded", warnings.raised, warnings.unfounded))?;
    row(out, "healthy agent-days", &format!("{:.1}", report.healthy_agent_days))?;
    row(out, "wrong terminations", &report.wrong_terminations.to_string())?;
    let intervention =
        report.mean_time_to_intervention_seconds.map_or("none was needed".to_owned(), duration);
    row(out, "mean time to intervention", &intervention)?;
    row(out, "nudges", &format!("{} sent, {} answered", report.nudges.sent, report.nudges.answered))?;
    let recovery = &report.recovery;
    row(out, "recoveries", &format!("{} attempted, {} succeeded", recovery.attempted, recovery.succeeded))?;
    let monitor = &report.monitor;
    let blind = duration(monitor.blind_seconds);
    row(
        out,
        "monitor",
        &format!("restarts {}, pauses {}, blind for {blind}", monitor.restarts, monitor.pauses),
    )?;
    services(out, report)?;
    let messages = &report.messages;
    row(
        out,
        "messages",
        &format!(
            "{} sent, {} lost, {} acknowledged, people told {} times",
            messages.sent, messages.lost, messages.acknowledged, messages.told
        ),
    )?;
    checkers(out, report)
}

/// What was asked for and what was reached.
pub(super) fn targets(out: &mut dyn Write, targets: &[Target]) -> io::Result<()> {
    writeln!(out, "\n{:<36} {:>10} {:>12}", "target", "limit", "reached")?;
    for Target { name, limit, reached, met } in targets {
        writeln!(out, "{name:<36} {limit:>10} {reached:>12}  {}", if *met { "met" } else { "MISSED" })?;
    }
    Ok(())
}

fn faults(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.faults.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:<24} {:>8} {:>8} {:>9} {:>7} {:>9} {:>9} {:>9}",
        "fault", "injected", "found", "too short", "hidden", "p50", "p99", "max"
    )?;
    for (kind, FaultReport { injected, found, too_short, hidden, latency_seconds: latency, .. }) in
        &report.faults
    {
        write!(out, "{kind:<24} {injected:>8} {found:>8} {too_short:>9} {hidden:>7}")?;
        for seconds in [latency.p50, latency.p99, latency.max] {
            // Nothing found, nothing measured: a zero would read as "at once".
            write!(out, " {:>9}", if *found == 0 { "-".to_owned() } else { duration(seconds) })?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// What there was nothing to find in.
fn endured(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.endured.is_empty() {
        return Ok(());
    }
    let kinds: Vec<_> = report.endured.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    row(out, "endured", &kinds.join(", "))
}

fn services(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let services = &report.services;
    let share = 100.0 * services.made_in_vain as f64 / services.wanted_in_vain.max(1) as f64;
    row(
        out,
        "calls to failing services",
        &format!(
            "{} of {} wanted ({share:.1} %), {} without asking",
            services.made_in_vain, services.wanted_in_vain, services.unasked_in_vain
        ),
    )?;
    let closed = &services.closed_after_seconds;
    let (p50, max) = (duration(closed.p50), duration(closed.max));
    let opened = services.breakers_opened;
    row(out, "breakers", &format!("opened {opened} times, closed {p50} after all was well, at most {max}"))
}

fn checkers(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let broken: Vec<_> = broken(report).collect();
    let count = report.checkers.len();
    row(out, "checkers", &format!("{} of {count} ok", count - broken.len()))?;
    for (name, what) in broken {
        writeln!(out, "  BROKEN {name}: {what}")?;
    }
    Ok(())
}

fn broken(report: &Report) -> impl Iterator<Item = (&String, &String)> {
    report.checkers.iter().filter(|(_, state)| *state != "ok")
}

fn row(out: &mut dyn Write, name: &str, value: &str) -> io::Result<()> {
    writeln!(out, "{name:<26} {value}")
}

fn counted(count: &impl ToString, noun: &str) -> String {
    let count = count.to_string();
    format!("{count} {noun}{}", if count == "1" { "" } else { "s" })
}

fn mode(plan: &Plan) -> String {
    format!("{:?}", plan.mode).to_lowercase()
}

/// A duration with about three digits, in the unit that suits it.
fn duration(seconds: f64) -> String {
    match seconds {
        ..100.0 => format!("{seconds:.1} s"),
        100.0..6_000.0 => format!("{:.1} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use verger_sim::Mode;
    use verger_sim::harness::{self, Latency, Options};

    use super::*;

    /// A report with every part in it.
    fn example() -> Report {
        let options = Options { seed: 7, days: 0.01, agents: 1, faults: false, mode: Mode::Full };
        let mut report = harness::run(&options, &mut ());
        (report.alarms, report.false_alarms, report.wrong_terminations) = (42, 1, 0);
        report.healthy_agent_days = 693.25;
        report.mean_time_to_intervention_seconds = Some(312.25);
        (report.warnings.raised, report.warnings.unfounded) = (17, 3);
        let fault = |injected, found, p50, p99, max| FaultReport {
            injected,
            found,
            too_short: 2,
            hidden: 1,
            latency_seconds: Latency { p50, p99, max },
            ..FaultReport::default()
        };
        report.faults = [
            ("freeze".to_owned(), fault(40, 40, 0.8, 61.0, 7_200.0)),
            ("near-loop".to_owned(), fault(12, 0, 0.0, 0.0, 0.0)),
        ]
        .into();
        (report.nudges.sent, report.nudges.answered) = (30, 28);
        (report.recovery.attempted, report.recovery.succeeded) = (5, 4);
        (report.monitor.restarts, report.monitor.pauses) = (2, 1);
        report.monitor.blind_seconds = 3_600.0;
        (report.services.wanted_in_vain, report.services.made_in_vain) = (2_000, 250);
        (report.services.unasked_in_vain, report.services.breakers_opened) = (40, 55);
        report.services.closed_after_seconds = Latency { p50: 31.5, p99: 60.0, max: 92.0 };
        (report.messages.sent, report.messages.lost) = (1_960, 157);
        (report.messages.acknowledged, report.messages.told) = (1_581, 51);
        report.checkers = [("budget", "ok"), ("evidence", "alarm without evidence at 2d4h")]
            .map(|(name, state)| (name.to_owned(), state.to_owned()))
            .into();
        report
    }

    fn printed(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_heading_gives_all_it_takes_to_repeat_the_run() {
        let plan = Plan { days: 1.0, agents: 50, faults: false, mode: Mode::Escalate };
        let shown = printed(|out| heading(out, Seeds::one(3), &plan));
        assert_eq!(shown, "seed 3: 50 agents, 1 day, mode escalate, no faults\n");
    }

    #[test]
    fn the_report_tells_what_was_found_how_fast_and_what_broke() {
        insta::assert_snapshot!(printed(|out| full(out, &example())));
    }

    #[test]
    fn one_of_several_fleets_takes_one_line() {
        insta::assert_snapshot!(printed(|out| line(out, &example())));
    }

    #[test]
    fn targets_are_shown_with_what_was_reached() {
        let target = |met: bool| Target {
            name: "wrong terminations".into(),
            limit: "0".into(),
            reached: u8::from(!met).to_string(),
            met,
        };
        insta::assert_snapshot!(printed(|out| targets(out, &[target(true), target(false)])));
    }

    #[test]
    fn durations_are_shown_in_the_unit_that_suits_them() {
        assert_eq!(
            [0.04, 99.94, 100.0, 5_999.0, 36_000.0].map(duration),
            ["0.0 s", "99.9 s", "1.7 min", "100.0 min", "10.0 h"]
        );
    }
}
