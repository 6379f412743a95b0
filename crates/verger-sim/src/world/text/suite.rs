//! A suite of tests that do not pass yet, and what it prints each time it is run.

use std::fmt::{self, Write as _};

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
        let mut out = String::with_capacity(400);
        // Writing to a text cannot fail.
        let _ = match voice.ending {
            "rs" => self.as_cargo(&mut out, passing, &seconds),
            "py" => self.as_pytest(&mut out, passing, &seconds),
            "ts" => self.as_vitest(&mut out, passing, &seconds),
            "go" => self.as_go(&mut out, &seconds),
            _ => self.as_maven(&mut out, passing, &seconds),
        };
        if failing > 0 { voice.run_in_vain(&self.command, &out) } else { voice.run(&self.command, out) }
    }

    /// Who fails, and what the last of them says.
    fn shown(&self) -> (impl Iterator<Item = &str>, Option<&(String, String)>) {
        (self.failing.iter().take(NAMED).map(|(test, _)| test.as_str()), self.failing.last())
    }

    fn as_cargo(&self, out: &mut String, passing: u32, seconds: &str) -> fmt::Result {
        let (tests, last) = self.shown();
        let failing = self.failing.len();
        writeln!(out, "running {} tests", passing as usize + failing)?;
        for test in tests {
            writeln!(out, "test {test} ... FAILED")?;
        }
        if let Some((test, says)) = last {
            writeln!(out, "---- {test} ----\n{says}")?;
        }
        let outcome = if failing > 0 { "FAILED" } else { "ok" };
        writeln!(out, "test result: {outcome}. {passing} passed; {failing} failed; finished in {seconds}s")
    }

    fn as_pytest(&self, out: &mut String, passing: u32, seconds: &str) -> fmt::Result {
        let (tests, last) = self.shown();
        if let Some((test, says)) = last {
            writeln!(out, "____ {test} ____\n{says}")?;
        }
        for test in tests {
            writeln!(out, "FAILED {test}")?;
        }
        match self.failing.len() {
            0 => writeln!(out, "{passing} passed in {seconds}s"),
            failing => writeln!(out, "{failing} failed, {passing} passed in {seconds}s"),
        }
    }

    fn as_vitest(&self, out: &mut String, passing: u32, seconds: &str) -> fmt::Result {
        let (tests, last) = self.shown();
        for test in tests {
            writeln!(out, " × {test}")?;
        }
        if let Some((test, says)) = last {
            writeln!(out, " FAIL  {test}\n{says}")?;
        }
        let failing = self.failing.len();
        let failed = if failing > 0 { format!("{failing} failed | ") } else { String::new() };
        writeln!(
            out,
            "Tests  {failed}{passing} passed ({})\nDuration  {seconds}s",
            passing as usize + failing
        )
    }

    fn as_go(&self, out: &mut String, seconds: &str) -> fmt::Result {
        let (tests, last) = self.shown();
        for test in tests {
            writeln!(out, "--- FAIL: {test} (0.00s)")?;
        }
        match last {
            Some((_, says)) => writeln!(out, "    {says}\nFAIL\nFAIL\tinternal\t{seconds}s"),
            None => writeln!(out, "ok  \tinternal\t{seconds}s"),
        }
    }

    fn as_maven(&self, out: &mut String, passing: u32, seconds: &str) -> fmt::Result {
        let (tests, last) = self.shown();
        for test in tests {
            writeln!(out, "[ERROR] {test}")?;
        }
        if let Some((_, says)) = last {
            writeln!(out, "{says}")?;
        }
        let failing = self.failing.len();
        let all = passing as usize + failing;
        writeln!(
            out,
            "Tests run: {all}, Failures: {failing}, Errors: 0, Skipped: 0, Time elapsed: {seconds} s"
        )
    }
}

/// A test, and what it says when it fails.
fn failure(voice: &mut Voice) -> (String, String) {
    let test = format!("{}::{}", voice.noun(), voice.name());
    let (file, number) = (voice.file(), voice.number(10, 900));
    let says = match voice.number(0, 3) {
        0 => format!(
            "assertion `left == right` failed\n  left: {}\n right: {}\n at {file}:{number}",
            voice.number(0, 99),
            voice.number(100, 999)
        ),
        1 => format!(
            "{}Error: {} is {}\n at {file}:{number}",
            voice.type_name(),
            voice.name(),
            voice.adjective()
        ),
        _ => format!(
            "expected {} to {} {}, got none\n at {file}:{number}",
            voice.noun(),
            voice.verb(),
            voice.noun()
        ),
    };
    (test, says)
}
