//! `verger serve` on a disk, or in a folder.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::disk::Disk;
use super::http::Http;
use super::until;

/// Silence is noticed within a second, so that judgement can be seen to go on. What dies is the load's doing.
const CONFIG: &str = "roles:\n  default:\n    startup_grace: 0\n    liveness: {beats: {interval: 500ms, timeout: 1s}}\n\
                      correlation:\n  affected_min: 100000\n  look_around: 0\n";

/// Where data lies, and everything that outlives one run of the program.
pub(crate) struct Place<'a> {
    folder: &'a Path,
    disk: Option<&'a Disk>,
}

impl<'a> Place<'a> {
    pub(crate) fn new(folder: &'a Path, disk: Option<&'a Disk>) -> Self {
        fs::write(folder.join("verger.yaml"), CONFIG).expect("a place to write");
        Self { folder, disk }
    }

    /// The data directory, for tests.
    pub(crate) fn data(&self) -> PathBuf {
        self.disk.map_or_else(|| self.folder.to_owned(), Disk::outside).join("data")
    }

    /// The data directory, as the program finds it.
    fn named(&self) -> PathBuf {
        self.disk.map_or(self.folder, Disk::inside).join("data")
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn verger(&self) -> Command {
        let mut command = match self.disk {
            Some(disk) => disk.enter(env!("CARGO_BIN_EXE_verger")),
            None => Command::new(env!("CARGO_BIN_EXE_verger")),
        };
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VERGER_")) {
            command.env_remove(name);
        }
        command
    }

    fn serve(&self) -> Command {
        let mut command = self.verger();
        command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(self.folder.join("verger.yaml"));
        command.arg("--data-dir").arg(self.named());
        command
    }

    /// Starts a monitor that is expected to run.
    pub(crate) fn start(&self) -> Program {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.folder.join("log"));
        let mut command = self.serve();
        command.stdout(Stdio::piped()).stderr(log.expect("it is ours"));
        let mut child = command.spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut lines = output.lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("http://")?.1.trim().to_owned()));
        let address = address.unwrap_or_else(|| panic!("it ended at once: {}", self.log()));
        std::thread::spawn(move || lines.for_each(drop));
        let token = fs::read_to_string(self.data().join("admin.token")).expect("it made a token");
        let http = Http::new(address.parse().expect("an address"), token.trim());
        Program { child, http, url: format!("http://{address}") }
    }

    /// Starts a monitor that is expected to refuse, and gives what it said.
    pub(crate) fn refused(&self) -> String {
        said(&self.serve().output().expect("it can be started"))
    }

    /// What the doctor says of one thing.
    pub(crate) fn doctor(&self, name: &str) -> Value {
        self.doctor_of(name, &[])
    }

    /// The same of a monitor whose address is known: the file that says it may not be there.
    pub(crate) fn doctor_of(&self, name: &str, address: &[&str]) -> Value {
        let mut command = self.verger();
        command.args(["doctor", "--json", "--data-dir"]).arg(self.named()).args(address);
        let output = command.output();
        let output = output.expect("it can be run");
        let found: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let checks = found["checks"].as_array().cloned().unwrap_or_default();
        let check = checks.into_iter().find(|check| check["name"] == name);
        check.unwrap_or_else(|| panic!("nothing of {name} in {found}"))
    }
}

/// What a program that refused said, which ended with the code of a failure.
pub(crate) fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

/// The running program.
pub(crate) struct Program {
    child: Child,
    http: Http,
    pub(crate) url: String,
}

impl Program {
    pub(crate) fn http(&self) -> &Http {
        &self.http
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What `/ready` says of the store, once it says something in which these words are.
    pub(crate) fn unready(&self, words: &str) -> Value {
        until(words, || self.unready_now(words))
    }

    /// What `/ready` says of the store, if these words are in it.
    pub(crate) fn unready_now(&self, words: &str) -> Option<Value> {
        let answer = self.http.get("/ready").expect("it answers, whatever its disk does");
        let missing = answer.body["missing"].as_array().cloned().unwrap_or_default();
        let store = missing.into_iter().find(|part| part["part"] == "store")?;
        let is_it = answer.status == 503 && store["text"].as_str()?.contains(words);
        is_it.then_some(store)
    }

    /// Waits until it does its work.
    pub(crate) fn ready(&self) {
        until("it is ready", || (self.http.get("/ready").ok()?.status == 200).then_some(()));
    }

    /// `kill -9`.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Asks it to end, as a service manager does.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.ask_to_end();
        self.child.wait().expect("it ends")
    }

    pub(crate) fn ask_to_end(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it is ours");
    }
}

/// Nothing is left behind, also by a test that fails.
impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
