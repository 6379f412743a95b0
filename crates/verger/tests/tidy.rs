//! Rules about the code that no lint checks: how long, how finished, how steady.
//!
//! The limits are a little wider than the style asks for (500 lines a file, 60 a function), so that they stop a
//! hub in the making and not a good file.

mod support;

use std::fs;
use std::path::Path;

use toml::{Table, Value};

const FILE_LINES_MAX: usize = 550;
const FUNCTION_LINES_MAX: usize = 80;

/// What must not stand in any source, and why. Written in two parts, so that this file does not hold it either.
const FORBIDDEN: [(&str, &str); 4] = [
    (concat!("todo", "!("), "unfinished"),
    (concat!("unimplemented", "!("), "unfinished"),
    (concat!("#[ig", "nore"), "a test that does not run"),
    (
        concat!("#![al", "low"),
        "silences a lint for a whole crate; use #[expect] with a reason, where it is needed",
    ),
];

/// What must not stand in tests: they wait for a condition or use virtual time.
const SLEEP: &str = concat!("thread::", "sleep");

/// What the core's `clippy.toml` must ban: clocks, randomness, the world and unordered iteration.
const CORE_BANS: [&str; 15] = [
    "std::time::Instant",
    "std::time::SystemTime",
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::hash::RandomState",
    "std::fs::File",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::env::var",
    "std::process::Command::new",
    "std::thread::spawn",
    concat!("std::thread::", "sleep"),
];

#[test]
fn no_file_grows_into_a_hub() {
    assert_eq!(in_sources(long_file), Vec::<String>::new());
}

#[test]
fn no_function_is_too_long_to_read_at_once() {
    assert_eq!(in_sources(long_functions), Vec::<String>::new());
}

#[test]
fn nothing_is_unfinished_skipped_or_silenced() {
    assert_eq!(in_sources(forbidden), Vec::<String>::new());
}

#[test]
fn no_test_sleeps() {
    assert_eq!(in_sources(naps), Vec::<String>::new());
}

#[test]
fn the_core_bans_clocks_randomness_the_world_and_unordered_iteration() {
    let path = support::root().join("crates/verger-core/clippy.toml");
    let config = fs::read_to_string(path).expect("the core has a clippy.toml of its own");
    assert_eq!(unbanned(&config.parse().expect("valid TOML")), Vec::<String>::new());
}

/// What `rule` finds in each Rust source of the project.
fn in_sources(rule: fn(&Path, &str) -> Vec<String>) -> Vec<String> {
    let root = support::root();
    let mut sources = support::files(&root.join("crates"), ".rs");
    sources.extend(support::files(&root.join("fuzz"), ".rs"));
    assert!(10 < sources.len(), "the sources were not found");
    sources
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).expect("a readable source");
            rule(path.strip_prefix(&root).expect("below the root"), &text)
        })
        .collect()
}

fn long_file(path: &Path, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let long = FILE_LINES_MAX < lines;
    long.then(|| format!("{}: {lines} lines", path.display())).into_iter().collect()
}

/// Relies on rustfmt: a function ends at the first brace that is indented like its first line.
fn long_functions(path: &Path, text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().collect();
    let mut long = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let signature = lines[start..].iter().take_while(|line| !line.ends_with(['{', ';', '}'])).count();
        if !lines.get(start + signature).is_some_and(|line| line.ends_with('{')) {
            continue;
        }
        let length = lines[start..].iter().take_while(|line| **line != end).count() + 1;
        if FUNCTION_LINES_MAX < length {
            long.push(format!("{}:{}: {name} has {length} lines", path.display(), start + 1));
        }
    }
    long
}

/// The name of the function that begins in this line.
fn function_name(line: &str) -> Option<&str> {
    const BEFORE: [&str; 8] =
        ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern", "default"];
    let (before, after) = line.trim_start().split_once("fn ")?;
    let declares = before.split_whitespace().all(|word| BEFORE.contains(&word));
    declares.then(|| after.split(['(', '<']).next().unwrap_or(after))
}

fn forbidden(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (what, why) in FORBIDDEN.iter().filter(|(what, _)| line.contains(what)) {
            found.push(format!("{}:{}: {what} ({why})", path.display(), number + 1));
        }
    }
    found
}

fn naps(path: &Path, text: &str) -> Vec<String> {
    let mut in_test = path.components().any(|part| part.as_os_str() == "tests");
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        in_test |= line.contains("#[cfg(test)]");
        if in_test && line.contains(SLEEP) {
            found.push(format!("{}:{}: a test sleeps", path.display(), number + 1));
        }
    }
    found
}

fn unbanned(config: &Table) -> Vec<String> {
    let banned: Vec<_> = ["disallowed-types", "disallowed-methods"]
        .iter()
        .filter_map(|list| config.get(*list)?.as_array())
        .flatten()
        .filter_map(|entry| entry.get("path").unwrap_or(entry).as_str())
        .collect();
    let missing = CORE_BANS.iter().filter(|path| !banned.contains(*path));
    let unexplained = ["disallowed-types", "disallowed-methods"]
        .iter()
        .filter_map(|list| config.get(*list)?.as_array())
        .flatten()
        .filter(|entry| entry.get("reason").and_then(Value::as_str).is_none_or(str::is_empty));
    missing
        .map(|path| format!("{path} is not banned"))
        .chain(unexplained.map(|entry| format!("{entry} has no reason")))
        .collect()
}

/// The rules themselves are held against sources that break them.
mod checks {
    use super::*;

    fn function(lines: usize) -> String {
        format!(
            "impl A {{\n    pub(crate) fn long<T>(\n        a: T,\n    ) {{\n{}    }}\n}}\n",
            "        a();\n".repeat(lines - 4)
        )
    }

    #[test]
    fn a_long_file_is_found() {
        let path = Path::new("a.rs");
        assert_eq!(long_file(path, &"\n".repeat(FILE_LINES_MAX)), Vec::<String>::new());
        assert_eq!(long_file(path, &"\n".repeat(FILE_LINES_MAX + 1)), ["a.rs: 551 lines"]);
    }

    #[test]
    fn a_long_function_is_found() {
        let path = Path::new("a.rs");
        assert_eq!(long_functions(path, &function(FUNCTION_LINES_MAX)), Vec::<String>::new());
        assert_eq!(long_functions(path, &function(FUNCTION_LINES_MAX + 1)), ["a.rs:2: long has 81 lines"]);
        let declared = format!("trait A {{\n    fn a(&self);\n    fn b() {{}}\n}}\n{}", "\n".repeat(100));
        assert_eq!(long_functions(path, &declared), Vec::<String>::new());
        assert_eq!(function_name("    // the fn is long"), None);
    }

    #[test]
    fn what_is_unfinished_skipped_or_silenced_is_found() {
        for (what, why) in FORBIDDEN {
            assert_eq!(
                forbidden(Path::new("a.rs"), &format!("\n  {what}")),
                [format!("a.rs:2: {what} ({why})")]
            );
        }
    }

    #[test]
    fn a_nap_is_found_in_tests_alone() {
        let nap = format!("std::{SLEEP}(second);");
        assert_eq!(naps(Path::new("src/a.rs"), &nap), Vec::<String>::new());
        assert_eq!(naps(Path::new("tests/a.rs"), &nap), ["tests/a.rs:1: a test sleeps"]);
        assert_eq!(
            naps(Path::new("src/a.rs"), &format!("#[cfg(test)]\n{nap}")),
            ["src/a.rs:2: a test sleeps"]
        );
    }

    #[test]
    fn a_ban_that_is_missing_or_has_no_reason_is_found() {
        let all = CORE_BANS.map(|path| format!("{{ path = \"{path}\", reason = \"r\" }}")).join(", ");
        let config =
            |bans: &str| format!("disallowed-types = [{bans}]").parse::<Table>().expect("valid TOML");
        assert_eq!(unbanned(&config(&all)), Vec::<String>::new());
        assert_eq!(
            unbanned(&config(&all.replace("std::env::var", "std::env::vars"))),
            ["std::env::var is not banned"]
        );
        assert_eq!(unbanned(&config(&format!("{all}, \"a::B\""))), ["\"a::B\" has no reason"]);
    }
}
