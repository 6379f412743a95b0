//! `verger serve` as a child that can be killed at any moment.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::hooks::Calls;
use super::http::Http;

/// Everything that outlives one run of the program.
pub(crate) struct Place {
    data: PathBuf,
    config: PathBuf,
    notified: PathBuf,
    spawned: PathBuf,
    calls: Calls,
}

impl Place {
    /// A configuration under which people are told, and work is started again, by programs that write down that they
    /// ran; agents are ended, and their orchestrator asked, by webhooks. That many agents die at once is the load's
    /// doing, and must not be taken for one incident: nothing would be started.
    pub(crate) fn new(folder: &Path) -> Self {
        let place = Self {
            data: folder.join("data"),
            config: folder.join("verger.yaml"),
            notified: folder.join("notified"),
            spawned: folder.join("spawned"),
            calls: Calls::default(),
        };
        let writes =
            |file: &Path| format!("line=$(tr -d '\\n'); printf '%s\\n' \"$line\" >> '{}'", file.display());
        let yaml = format!(
            "notify:\n  command: [/bin/sh, -c, {notify:?}]\nspawn:\n  command: [/bin/sh, -c, {spawn:?}]\n\
             termination:\n  webhook: {{url: 'http://127.0.0.1:{port}/end'}}\n\
             orchestrator:\n  webhook: {{url: 'http://127.0.0.1:{port}/ask'}}\n\
             roles:\n  default:\n    restart: recover\n\
             recovery:\n  fleet_limit: 60000 in 1h\n  burst_limit: 60000 in 1m\n  tasks_max: 60000\n  backoff: [1s]\n\
             breakers:\n  api: {{failure_threshold: 1, open_for: 1h, open_for_max: 1h}}\n\
             correlation:\n  affected_min: 100000\n  look_around: 0\n  stops_max: 60000\n  stops_share: 100%\n",
            notify = writes(&place.notified),
            spawn = writes(&place.spawned),
            port = place.calls.listen(),
        );
        fs::write(&place.config, yaml).expect("a place to write");
        place
    }

    /// What people were told, a JSON document in each line.
    pub(crate) fn notified(&self) -> Vec<serde_json::Value> {
        lines(&self.notified)
    }

    /// Which starts were carried out.
    pub(crate) fn spawned(&self) -> Vec<serde_json::Value> {
        lines(&self.spawned)
    }

    /// Which webhooks were called, each with its name.
    pub(crate) fn called(&self) -> Vec<(String, serde_json::Value)> {
        self.calls.all()
    }
}

/// A line that is being written when the machine is looked at is not there yet.
fn lines(file: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The running program.
pub(crate) struct Program {
    child: Child,
    address: SocketAddr,
    token: String,
    _output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it and waits until it says where it listens.
    pub(crate) fn start(place: &Place) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_verger"))
            .arg("serve")
            .arg("--config")
            .arg(&place.config)
            .arg("--data-dir")
            .arg(&place.data)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let address = listens_at(&mut output);
        let token = fs::read_to_string(place.data.join("admin.token")).expect("it made a token");
        Self { child, address, token: token.trim().to_owned(), _output: output }
    }

    pub(crate) fn http(&self) -> Http {
        Http::new(self.address, &self.token)
    }

    /// `kill -9`.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Asks it to end, as a service manager does.
    pub(crate) fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is ours");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "it ended with {status}");
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

fn listens_at(output: &mut BufReader<ChildStdout>) -> SocketAddr {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(output.read_line(&mut line).expect("it says something"), 0, "it ended at once");
        if let Some((_, address)) = line.split_once("http://") {
            return address.trim().parse().expect("an address");
        }
    }
}
