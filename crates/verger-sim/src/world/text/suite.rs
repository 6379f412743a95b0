//! A suite of tests that do not pass yet, and what it prints each time it is run.

use std::fmt::Write as _;

use super::edit::edit;
use super::told::Told;
use super::voice::Voice;

/// How many failures are printed by name; of the others only the number is.
const NAMED: usize = 8;

/// Tests, some of which fail.
#[derive(Debug)]
pub(crate) struct Suite {
    command: String,
    /// The files that are changed to make them pass.
    files: Vec<String>,
    /// Those that fail, each with what it says.
    failing: Vec<(String, String)>,
}

impl Suite {
    pub(crate) fn draw(voice: &mut Voice, failing: u32) -> Self {
        let name = voice.name();
        let command = match voice.ending {
            "rs" => format!("cargo test -p {name}"),
            "py" => format!("pytest tests/test_{name}.py -x -q"),
            "ts" => format!("npx vitest run {name}"),
            "go" => format!("go test ./internal/{name}/..."),
            _ => format!("mvn -q test -Dtest={name}"),
        };
        let files = (0..voice.number(1, 4)).map(|_| voice.file()).collect();
        let failing = (0..failing).map(|_| failure(voice)).collect();
        Self { command, files, failing }
    }

    /// One of its files is changed.
    pub(crate) fn change(&self, voice: &mut Voice) -> Told {
        let file = voice.rng.choice(&self.files).clone();
        edit(voice, &file)
    }

    /// The tests are run; so many fail, of those that failed before.
    pub(crate) fn run(&mut self, voice: &mut Voice, passing: u32, failing: u32) -> Told {
        self.failing.truncate(failing as usize);
        let seconds = format!("{}.{:02}", voice.number(0, 40), voice.number(0, 100));
        let mut out = format!("running {} tests\n", passing + failing);
        for (test, _) in self.failing.iter().take(NAMED) {
            let _ = writeln!(out, "test {test} ... FAILED");
        }
        if let Some((test, says)) = self.failing.last() {
            let _ = writeln!(out, "---- {test} ----\n{says}");
        }
        let outcome = if failing > 0 { "FAILED" } else { "ok" };
        let _ = writeln!(out, "test result: {outcome}. {passing} passed; {failing} failed; finished in {seconds}s");
        if failing > 0 { voice.run_in_vain(&self.command, &out) } else { voice.run(&self.command, out) }
    }
}

/// A test, and what it says when it fails.
fn failure(voice: &mut Voice) -> (String, String) {
    let test = format!("{}::{}", voice.noun(), voice.name());
    let (file, number) = (voice.file(), voice.number(10, 900));
    let says = match voice.number(0, 3) {
        0 => format!("assertion `left == right` failed\n  left: {}\n right: {}\n at {file}:{number}", voice.number(0, 99), voice.number(100, 999)),
        1 => format!("{}Error: {} is {}\n at {file}:{number}", voice.type_name(), voice.name(), voice.adjective()),
        _ => format!("expected {} to {} {}, got none\n at {file}:{number}", voice.noun(), voice.verb(), voice.noun()),
    };
    (test, says)
}
