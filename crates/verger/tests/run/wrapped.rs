//! A program under `verger run`, and what becomes of its processes.

use std::fs;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Place, Program, until};

/// Whoever runs these tests may use Verger.
const OWN_VARIABLES: [&str; 8] = [
    "VERGER_CONFIG",
    "VERGER_DATA_DIR",
    "VERGER_LISTEN",
    "VERGER_URL",
    "VERGER_TOKEN",
    "VERGER_AGENT_ID",
    "VERGER_RUN",
    "NOTIFY_SOCKET",
];

/// The words that run something under Verger, on this place's data.
pub(crate) fn wrapping(place: &Place, options: &[&str], words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_verger"));
    command.arg("run").arg("--data-dir").arg(place.data()).args(options).arg("--").args(words);
    for name in OWN_VARIABLES {
        command.env_remove(name);
    }
    command
}

/// Runs it to its end, with nothing to read.
pub(crate) fn run(place: &Place, words: &[&str]) -> Output {
    wrapping(place, &[], words).stdin(Stdio::null()).output().expect("it can be run")
}

/// A program under Verger that runs as this agent.
pub(crate) struct Wrapped {
    pub(crate) agent: String,
    child: Child,
}

impl Wrapped {
    /// Starts it, and waits until the monitor knows.
    pub(crate) fn start(place: &Place, monitor: &Program, agent: &str, words: &[&str]) -> Self {
        Self::start_with(place, monitor, agent, &[], words)
    }

    pub(crate) fn start_with(
        place: &Place,
        monitor: &Program,
        agent: &str,
        options: &[&str],
        words: &[&str],
    ) -> Self {
        let options = [&["--agent", agent], options].concat();
        let mut command = wrapping(place, &options, words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it can be run");
        let wrapped = Self { agent: agent.to_owned(), child };
        until("the agent answers", || (monitor_sees(monitor, agent)["state"] == "HEALTHY").then_some(()));
        wrapped
    }

    pub(crate) fn wrapper(&self) -> u32 {
        self.child.id()
    }

    /// The process of the program itself, and its keeper's.
    pub(crate) fn processes(&self, place: &Place) -> (u32, u32) {
        until("the record of the run", || {
            let record = record(place, &self.agent)?;
            let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
            Some((number(&record["tree"]["root"]["pid"])?, number(&record["keeper"]["pid"])?))
        })
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("it is ours")
    }
}

impl Drop for Wrapped {
    fn drop(&mut self) {
        // The keeper ends what is left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the monitor says of an agent.
pub(crate) fn monitor_sees(monitor: &Program, agent: &str) -> Value {
    monitor.as_admin(&format!("GET /v1/agents/{agent}"), "").body
}

/// What a run left for the monitor.
pub(crate) fn record(place: &Place, agent: &str) -> Option<Value> {
    let files = fs::read_dir(place.data().join("run")).ok()?.flatten();
    let records = files.filter_map(|file| serde_json::from_slice(&fs::read(file.path()).ok()?).ok());
    records.into_iter().find(|record: &Value| record["agentId"] == agent)
}

/// Living processes that have this in their environment or their words, whoever their parents are.
pub(crate) fn bearing(what: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    let bears = |pid: &u32| {
        let of = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let has = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains(what);
        *pid != std::process::id() && (has(of("environ")) || has(of("cmdline"))) && is_alive(*pid)
    };
    numbers.filter(bears).collect()
}

pub(crate) fn state_of(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

pub(crate) fn is_alive(pid: u32) -> bool {
    state_of(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a number of a process");
    kill_process(pid, signal).expect("it is ours");
}
