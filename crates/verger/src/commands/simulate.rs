//! `verger simulate`: runs seeded fleets and reports how the decisions did.
//!
//! Standard output holds nothing but what the seeds and options decide, so two runs can be compared byte for
//! byte. Progress goes to standard error, and only if that is a terminal.

mod progress;
mod report;
mod seeds;
mod targets;
mod workers;

use std::io::Write;

use verger_sim::harness::Report;

use crate::cli::Simulate;
use crate::exit::Exit;
use progress::Bar;
pub(crate) use seeds::Seeds;
use workers::Plan;

pub(crate) fn run(args: &Simulate, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let seeds = args.seeds.unwrap_or(Seeds::one(args.seed));
    let plan = Plan { days: args.days, agents: args.agents, faults: !args.no_faults, mode: args.mode.into() };
    if !args.json {
        report::heading(out, seeds, &plan)?;
    }
    let bar = Bar::new(seeds.count(), plan.days);
    let mut reports = Vec::new();
    workers::run(seeds, &plan, workers::available(), &bar, |report| {
        bar.hidden_while(|| show(out, &report, args))?;
        reports.push(report);
        Ok(())
    })?;
    bar.finish();
    conclude(out, &reports, args)
}

/// What is printed as soon as one fleet is done and all before it were printed.
fn show(out: &mut dyn Write, report: &Report, args: &Simulate) -> anyhow::Result<()> {
    if args.json {
        writeln!(out, "{}", serde_json::to_string(report)?)?;
    } else if args.seeds.is_some() {
        report::line(out, report)?;
    }
    out.flush()?;
    Ok(())
}

/// What is printed at the end, and how it went.
fn conclude(out: &mut dyn Write, reports: &[Report], args: &Simulate) -> anyhow::Result<Exit> {
    let whole = if args.seeds.is_some() { Report::sum(reports) } else { reports[0].clone() };
    match (args.json, args.seeds) {
        (true, Some(_)) => writeln!(out, "{}", serde_json::to_string(&whole)?)?,
        (true, None) => {}
        (false, _) => report::full(out, &whole)?,
    }
    let targets = if args.targets { targets::of(&whole) } else { Vec::new() };
    if !args.json && args.targets {
        report::targets(out, &targets)?;
    }
    out.flush()?;
    let missed: Vec<_> =
        targets.iter().filter(|target| !target.met).map(|target| target.name.as_str()).collect();
    if !missed.is_empty() {
        anyhow::bail!("targets missed: {}", missed.join("; "));
    }
    Ok(if reports.iter().all(Report::is_green) { Exit::Done } else { Exit::Failed })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn output(line: &str) -> String {
        let Command::Simulate(args) = Cli::parse_from(line.split(' ')).command else { panic!("{line}") };
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        for line in [
            "verger simulate --seed 3 --days 0.2 --agents 5",
            "verger simulate --seeds 1..3 --days 0.1 --agents 3 --json",
        ] {
            assert_eq!(output(line), output(line));
        }
    }

    #[test]
    fn the_seed_comes_first() {
        assert!(output("verger simulate --seed 42 --days 0.1 --agents 2").starts_with("seed 42"));
        assert!(
            output("verger simulate --seed 42 --days 0.1 --agents 2 --json").starts_with("{\"seed\":42,")
        );
    }

    #[test]
    fn the_json_object_holds_the_fields_of_the_contract_and_the_warnings() {
        let object: serde_json::Value =
            serde_json::from_str(&output("verger simulate --days 0.5 --agents 10 --json")).unwrap();
        let mut fields: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            [
                "agents",
                "alarms",
                "checkers",
                "days",
                "endured",
                "falseAlarms",
                "faults",
                "healthyAgentDays",
                "meanTimeToInterventionSeconds",
                "messages",
                "monitor",
                "nudges",
                "recovery",
                "seed",
                "services",
                "warnings",
                "wrongTerminations",
            ]
        );
        for (pointer, names) in [
            ("/recovery", ["attempted", "succeeded"].as_slice()),
            ("/nudges", &["answered", "sent"]),
            ("/monitor", &["blindSeconds", "pauses", "restarts"]),
            ("/warnings", &["raised", "unfounded"]),
            ("/messages", &["acknowledged", "lost", "sent", "told"]),
            (
                "/services",
                &["breakersOpened", "closedAfterSeconds", "madeInVain", "unaskedInVain", "wantedInVain"],
            ),
        ] {
            let mut inner: Vec<_> =
                object.pointer(pointer).unwrap().as_object().unwrap().keys().map(String::as_str).collect();
            inner.sort_unstable();
            assert_eq!(inner, names, "{pointer}");
        }
    }

    #[test]
    fn a_kind_of_fault_tells_what_was_found_and_what_was_too_short_to_be() {
        let object: serde_json::Value =
            serde_json::from_str(&output("verger simulate --days 1 --agents 20 --json")).unwrap();
        for (kind, fault) in object["faults"].as_object().unwrap() {
            let fields: Vec<_> = fault.as_object().unwrap().keys().map(String::as_str).collect();
            for field in ["injected", "found", "tooShort", "hidden", "latencySeconds"] {
                assert!(fields.contains(&field), "{kind} lacks {field}");
            }
            assert_eq!(fields.len(), 5, "{kind}: {fields:?}");
        }
    }

    #[test]
    fn several_seeds_give_one_object_each_and_a_last_one_with_the_sums() {
        let lines: Vec<serde_json::Value> =
            output("verger simulate --seeds 4..6 --days 0.1 --agents 3 --json")
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
        let seeds: Vec<_> = lines.iter().map(|line| line["seed"].as_u64()).collect();
        assert_eq!(seeds, [Some(4), Some(5), Some(6), None]);
        let alarms = |line: &serde_json::Value| line["alarms"].as_u64().unwrap();
        assert_eq!(alarms(&lines[3]), lines[..3].iter().map(alarms).sum::<u64>());
    }
}
