//! What can be typed. Only what works is listed.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use verger_ingest::Format;
use verger_sim::Mode;

use crate::commands::remote::Remote;
use crate::commands::run::Run;
use crate::commands::service::Service;
use crate::commands::simulate::Seeds;
use crate::exit::Exit;

/// The most agents that one simulation takes.
const AGENTS_MAX: i64 = 100_000;
/// The most days that one simulation takes.
const DAYS_MAX: f64 = 366.0;

/// Watches fleets of autonomous AI agents and acts on what it sees.
#[derive(Debug, Parser)]
#[command(name = "verger", version, arg_required_else_help = true, after_long_help = Exit::help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Run(Run),
    /// Check and show the configuration
    #[command(subcommand, arg_required_else_help = true)]
    Config(Config),
    #[command(flatten)]
    Remote(Remote),
    /// Run the monitor as a service of your user, by systemd
    #[command(subcommand, arg_required_else_help = true)]
    Service(Service),
    Inspect(Inspect),
    Simulate(Simulate),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  verger completions bash > ~/.local/share/bash-completion/completions/verger"
    )]
    Completions {
        /// The shell to complete in
        shell: Shell,
    },
}

/// Run the monitor
///
/// It needs no configuration: it listens on this machine alone, keeps what it knows in one directory, and stops no agent
/// without a person. One directory has one monitor. SIGTERM or Ctrl-C ends it; what it acknowledged survives any end.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger serve                                    on 127.0.0.1:8374; data where commands find it
  verger serve --data-dir ./verger-data           data in this folder
  verger serve --config verger.yaml               thresholds, webhook and commands from a file
  verger serve --listen 127.0.0.1:9000            at another port

It prints where it answers and what to type next; problems go to standard error.
`verger service install` keeps one running.")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where to listen; beyond this machine it needs `access.tls` in the configuration
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Listen beyond this machine without encryption: tokens can be read on the way
    #[arg(long)]
    pub(crate) insecure: bool,
}

/// Which file and which data are meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Place {
    /// The configuration [else `$VERGER_CONFIG`, else none]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where everything is kept [else `$VERGER_DATA_DIR`, else `$XDG_STATE_HOME/verger`; root: `/var/lib/verger`]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Say everything that is wrong with a configuration; start nothing
    #[command(after_help = "\
Examples:
  verger config check verger.yaml

Exit code 1 when something is wrong.")]
    Check {
        /// The file; without it that of --config
        #[arg(value_name = "FILE", conflicts_with = "config")]
        file: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
    /// Show every setting as it holds, and where it comes from
    #[command(after_help = "\
Examples:
  verger config show --changed                    what somebody set
  verger config show --json | jq '.settings[0]'   for programs")]
    Show {
        #[command(flatten)]
        place: Place,
        /// Only what somebody set
        #[arg(long)]
        changed: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Look at recorded runs: which got stuck, at which step a monitor would have said so, and why
///
/// Recordings of coding agents, of agent frameworks and of OpenTelemetry are read; a folder stands for every recording
/// below it. The judgement is the live monitor's, step by step, so it depends on nothing that came later. What cannot be
/// read is named, the rest is read. Nothing leaves this machine, and no monitor is needed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger inspect ~/.claude/projects                       every session of Claude Code
  verger inspect rollout-2026-11-16T09-00-00.jsonl        one session of Codex
  verger inspect runs/ --json | jq -r 'select(.state == \"STUCK\").runId'
  verger inspect --fail-on stuck trajectory.json          for scripts
  verger inspect --expect scenarios.yaml                  play scenarios of your own

Exit code 1 when something could not be read, with --fail-on stuck when a run was stuck, with
--expect when a scenario did not come out as written; 3 when a file is not there.")]
pub(crate) struct Inspect {
    /// Files and folders
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How they are written; without it, found out from each file
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::ALL.map(Format::name)).map(|name| name.parse::<Format>().expect("one of them")))]
    pub(crate) format: Option<Format>,
    /// Print one JSON object per run
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail when a run was stuck
    #[arg(long, value_enum, value_name = "STATE", conflicts_with = "expect")]
    pub(crate) fail_on: Option<FailOn>,
    /// The files hold scenarios, each with what must be found in it
    #[arg(long, conflicts_with = "format")]
    pub(crate) expect: bool,
}

/// What makes `inspect` fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A run that was called stuck
    Stuck,
}

/// Run simulated fleets through the decisions of the real monitor, in virtual time
///
/// A seed decides everything: what the agents do, what goes wrong and when. The same seed and options give the
/// same report, byte for byte. The generator knows the truth, so the report tells which faults were found, how
/// fast, and which alarms were false; checkers watch every step for broken promises.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger simulate                                 a week of 100 agents
  verger simulate --seed 7 --days 1 --agents 50   a day of 50 agents, another course of events
  verger simulate --no-faults                     nothing goes wrong: every alarm is false
  verger simulate --seeds 1..10 --targets         ten fleets, held against the targets
  verger simulate --json | jq .falseAlarms        for programs

Exit code 1 when a checker broke, or with --targets when a target was missed.")]
pub(crate) struct Simulate {
    /// The seed of one fleet
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "seeds",
        allow_negative_numbers = true
    )]
    pub(crate) seed: u64,
    /// Several seeds, both ends included, each a fleet of its own; the sums come last
    #[arg(long, value_name = "A..B")]
    pub(crate) seeds: Option<Seeds>,
    /// How many days pass, in virtual time
    #[arg(long, value_name = "D", default_value_t = 7.0, value_parser = days, allow_negative_numbers = true)]
    pub(crate) days: f64,
    /// How many agents there are in each fleet
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=AGENTS_MAX), allow_negative_numbers = true)]
    pub(crate) agents: u32,
    /// Print one JSON object per fleet instead of a report
    #[arg(long)]
    pub(crate) json: bool,
    /// Let nothing go wrong, with the agents or with the monitor
    #[arg(long)]
    pub(crate) no_faults: bool,
    /// What may be done to an agent without a person
    #[arg(long, value_enum, default_value_t = ModeArg::Full)]
    pub(crate) mode: ModeArg,
    /// Hold the result against Verger's targets; fail when one is missed
    #[arg(long)]
    pub(crate) targets: bool,
}

/// [`Mode`], as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Only look
    Observe,
    /// Remind the agent
    Nudge,
    /// Remind it, then ask people; they decide about stopping
    Escalate,
    /// All of that, and stop it when nobody answers
    Full,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Observe => Self::Observe,
            ModeArg::Nudge => Self::Nudge,
            ModeArg::Escalate => Self::Escalate,
            ModeArg::Full => Self::Full,
        }
    }
}

fn days(text: &str) -> Result<f64, String> {
    let days: f64 = text.parse().map_err(|_| "not a number of days".to_owned())?;
    if 0.0 < days && days <= DAYS_MAX {
        Ok(days)
    } else {
        Err(format!("must be above 0 and at most {DAYS_MAX}"))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn refused(line: &str) -> String {
        let error = Cli::try_parse_from(line.split(' ')).expect_err(line);
        assert_eq!(error.exit_code(), i32::from(Exit::Usage as u8), "{line}");
        error.to_string().lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn impossible_values_are_refused_with_the_reason() {
        insta::assert_snapshot!(
            [
                "verger simulate --agents 0",
                "verger simulate --agents -3",
                "verger simulate --agents 100001",
                "verger simulate --days 0",
                "verger simulate --days -1",
                "verger simulate --days NaN",
                "verger simulate --days inf",
                "verger simulate --days week",
                "verger simulate --seeds 5..4",
                "verger simulate --seeds 7",
                "verger simulate --seeds 1..1000000",
                "verger simulate --seed -1",
                "verger simulate --seed 1 --seeds 1..2",
                "verger simulate --mode kill",
                "verger inspect",
                "verger inspect --format word a.doc",
                "verger inspect --fail-on healthy a.jsonl",
                "verger inspect --expect --format runs a.yaml",
                "verger completions cobol",
                "verger serve --listen",
                "verger config",
                "verger watch-everything",
            ]
            .map(refused)
            .join("\n")
        );
    }

    #[test]
    fn a_bare_call_shows_the_help_and_is_wrong_usage() {
        let error = Cli::try_parse_from(["verger"]).expect_err("a command is needed");
        assert_eq!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
        assert_eq!(error.exit_code(), i32::from(Exit::Usage as u8));
    }

    /// Every command that does something, by its words.
    fn leaves(command: &clap::Command, words: &str) -> Vec<(String, clap::Command)> {
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let mut leaves: Vec<_> =
            below.flat_map(|below| leaves(below, &format!("{words} {}", below.get_name()))).collect();
        if leaves.is_empty() {
            leaves.push((words.to_owned(), command.clone()));
        }
        leaves
    }

    #[test]
    fn every_command_shows_how_it_is_used() {
        let all = leaves(&Cli::command(), "verger");
        assert!(25 <= all.len(), "{}", all.len());
        for (words, command) in all {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("\n  {words}")), "`{words} --help` has no example");
            let wide = help.lines().find(|line| 100 < line.chars().count());
            assert_eq!(wide, None, "`{words} --help` is too wide");
        }
    }

    #[test]
    fn the_help_names_what_works_and_every_exit_code() {
        let mut cli = Cli::command().term_width(100);
        cli.build();
        insta::assert_snapshot!("help", cli.render_long_help());
        for command in ["serve", "run", "config", "inspect", "simulate"] {
            let command = cli.find_subcommand_mut(command).expect("it is a command");
            let help = command.clone().term_width(100).render_long_help();
            insta::assert_snapshot!(format!("help_{}", command.get_name()), help);
        }
    }
}
