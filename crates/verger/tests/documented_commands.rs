//! Every command that the documentation shows is run.
//!
//! A block that begins with ```` ```console ```` holds commands after `$ `; what follows is their output. A block
//! whose command must fail says so: ```` ```console exit=1 ````. Simulations are run with the options shown, on a
//! smaller scale; `make` is asked what it would do, not to do it.

mod support;

use std::fs;
use std::process::Command;

/// A command line from the documentation.
#[derive(Debug, PartialEq, Eq)]
struct Documented {
    line: String,
    exit: i32,
}

#[test]
fn every_documented_command_works() {
    let commands: Vec<_> = documents().iter().flat_map(|text| commands(text)).collect();
    for program in ["verger", "make"] {
        assert!(
            commands.iter().any(|command| command.line.starts_with(program)),
            "no {program} command was found"
        );
    }
    let failures: Vec<_> = commands.iter().filter_map(failure).collect();
    assert_eq!(failures, Vec::<String>::new());
}

fn documents() -> Vec<String> {
    let root = support::root();
    let mut pages = support::files(&root.join("docs/src"), ".md");
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    pages.iter().map(|page| fs::read_to_string(page).expect("a readable page")).collect()
}

/// The commands in all console blocks of a page.
fn commands(text: &str) -> Vec<Documented> {
    let mut commands = Vec::new();
    let mut exit = None;
    for line in text.lines() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            exit =
                if exit.is_none() && info.starts_with("console") { Some(expected_exit(info)) } else { None };
        } else if let (Some(exit), Some(line)) = (exit, line.trim_start().strip_prefix("$ "))
            && (line.starts_with("verger ") || line.starts_with("make "))
        {
            commands.push(Documented { line: line.to_owned(), exit });
        }
    }
    commands
}

fn expected_exit(info: &str) -> i32 {
    let exit = info.split_whitespace().find_map(|word| word.strip_prefix("exit="));
    exit.map_or(0, |code| code.parse().expect("an exit code"))
}

/// What went wrong with a command, if anything did.
fn failure(command: &Documented) -> Option<String> {
    let words: Vec<_> = command.line.split_whitespace().collect();
    let run = match words[0] {
        "make" => Command::new("make")
            .arg("--dry-run")
            .args(&words[1..])
            .current_dir(support::root())
            // The test may itself have been started by make.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .output(),
        // What must fail is run as shown: on a smaller scale it might not.
        _ if command.exit != 0 => verger().args(&words[1..]).output(),
        _ => verger().args(small(&words[1..])).output(),
    };
    let run = run.unwrap_or_else(|error| panic!("{}: {error}", words[0]));
    let shown = String::from_utf8_lossy(&run.stderr).into_owned();
    (run.status.code() != Some(command.exit)).then(|| format!("`{}`: {}: {shown}", command.line, run.status))
}

/// The program, in the folder of the project: the pages name files from there.
fn verger() -> Command {
    let mut verger = Command::new(env!("CARGO_BIN_EXE_verger"));
    verger.current_dir(support::root());
    verger
}

/// The arguments of `verger` up to a pipe or a redirection, a simulation cut down to a short one.
fn small(words: &[&str]) -> Vec<String> {
    let mut words = words.iter().take_while(|word| !matches!(**word, "|" | ">" | ">>" | "#" | "&&"));
    let mut small: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        match *word {
            // Given below.
            "--days" | "--agents" => drop(words.next()),
            // Rates over a short simulation of a few agents say nothing.
            "--targets" => {}
            "--seeds" => {
                let first = words.next().and_then(|range| range.split("..").next()).unwrap_or_default();
                small.extend(["--seeds".to_owned(), format!("{first}..{first}")]);
            }
            word => small.push(word.to_owned()),
        }
    }
    if small.first().is_some_and(|command| command == "simulate") {
        small.extend(["--days", "0.05", "--agents", "5"].map(str::to_owned));
    }
    small
}

/// The checks themselves are held against commands that do not work.
mod checks {
    use super::*;

    #[test]
    fn commands_are_found_in_console_blocks_alone() {
        let text = "$ make no\n```sh\n$ make no\n```\n```console\n$ make test\nsome output\n$ ls\n```\n```console exit=2\n$ verger x\n```\n";
        let found = |line: &str, exit| Documented { line: line.to_owned(), exit };
        assert_eq!(commands(text), [found("make test", 0), found("verger x", 2)]);
    }

    #[test]
    fn a_command_that_does_not_work_is_found() {
        let wrong = |line: &str, exit| failure(&Documented { line: line.to_owned(), exit }).is_some();
        assert!(wrong("make no-such-target", 0));
        assert!(wrong("verger no-such-command", 0));
        assert!(!wrong("verger no-such-command", 2));
        assert!(wrong("verger --version", 1));
        assert!(!wrong("verger --version", 0));
    }

    #[test]
    fn a_simulation_is_cut_down_and_otherwise_as_shown() {
        let words = "simulate --seeds 4..9 --days 7 --json --targets --agents 100 | jq .seed";
        let words: Vec<_> = words.split(' ').collect();
        assert_eq!(small(&words).join(" "), "simulate --seeds 4..4 --json --days 0.05 --agents 5");
        assert_eq!(small(&["completions", "bash", ">", "file"]), ["completions", "bash"]);
    }
}
