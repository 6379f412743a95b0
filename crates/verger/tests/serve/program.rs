//! A monitor that was started as a user starts it, and a client as plain as `curl`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Long enough for a machine that does much else. What holds is seen within milliseconds.
const PATIENCE: Duration = Duration::from_mins(2);

/// A place to work in: a configuration, data, and whatever programs leave.
pub(crate) struct Place {
    directory: TempDir,
}

/// A monitor that runs.
pub(crate) struct Program {
    child: Child,
    /// `127.0.0.1:…`.
    pub(crate) address: String,
    pub(crate) token: String,
    /// What it said when it was started.
    pub(crate) welcome: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().expect("a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// `{here}` in a configuration is this place.
    pub(crate) fn configure(&self, yaml: &str) -> &Self {
        let here = self.directory.path().display().to_string();
        fs::write(self.path("verger.yaml"), yaml.replace("{here}", &here)).expect("it is ours");
        self
    }

    /// A secret that nobody else may read.
    pub(crate) fn secret(&self, name: &str, text: &str) {
        use std::os::unix::fs::OpenOptionsExt;
        let file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(self.path(name));
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("it is ours");
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_verger"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(self.data());
        if self.path("verger.yaml").exists() {
            command.arg("--config").arg(self.path("verger.yaml"));
        }
        for name in ["VERGER_CONFIG", "VERGER_DATA_DIR", "VERGER_LISTEN", "VERGER_URL", "VERGER_TOKEN"] {
            command.env_remove(name);
        }
        command
    }

    /// Starts a monitor that is expected to run.
    pub(crate) fn start(&self) -> Program {
        let log =
            fs::OpenOptions::new().create(true).append(true).open(self.path("log")).expect("it is ours");
        let mut child = self.command().stdout(Stdio::piped()).stderr(log).spawn().expect("it can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut welcome = String::new();
        let mut address = None;
        for line in lines.by_ref().map_while(Result::ok) {
            welcome.extend([line.as_str(), "\n"]);
            address =
                address.or_else(|| line.trim().strip_prefix("address").map(|url| url.trim().to_owned()));
            if line.starts_with("Ctrl-C") {
                break;
            }
        }
        let address = address.unwrap_or_else(|| panic!("it says where it is: {welcome}{}", self.log()));
        let address = address.strip_prefix("http://").expect("it is not encrypted").to_owned();
        let token = fs::read_to_string(self.data().join("admin.token")).expect("it was made");
        Program { child, address, token: token.trim().to_owned(), welcome }
    }

    /// Starts a monitor that is expected to refuse.
    pub(crate) fn refused(&self) -> Output {
        self.command().output().expect("it can be started")
    }

    /// What monitors said to their operator.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The content of a file, once it is there.
    pub(crate) fn file(&self, name: &str) -> String {
        until(name, || fs::read_to_string(self.path(name)).ok().filter(|text| !text.is_empty()))
    }
}

impl Program {
    pub(crate) fn send(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Got {
        send(&self.address, request, headers, body)
    }

    pub(crate) fn as_admin(&self, request: &str, body: &str) -> Got {
        let token = format!("Bearer {}", self.token);
        self.send(request, &[("Authorization", &token)], body)
    }

    pub(crate) fn as_nobody(&self, request: &str, body: &str) -> Got {
        self.send(request, &[], body)
    }

    /// The agent makes the same call over and over, until people are asked.
    pub(crate) fn loop_agent(&self, agent: &str) {
        for call in 0..12 {
            for phase in ["started", "finished"] {
                let body = format!(
                    r#"{{"kind":"toolCall","agentId":"{agent}","callId":"c{call}","tool":"grep","phase":"{phase}","args":{{"pattern":"x"}},"result":"nothing"}}"#
                );
                assert_eq!(self.as_admin("POST /v1/signals", &body).status, 202);
            }
        }
    }

    /// The newest event of this kind about an agent, once there is one.
    pub(crate) fn event(&self, agent: &str, kind: &str) -> Value {
        let request = format!("GET /v1/agents/{agent}/events?type={kind}");
        until(kind, || {
            let found = self.as_admin(&request, "");
            let events = found.body["items"].as_array().cloned().unwrap_or_default();
            events.into_iter().find(|event| event["type"] == kind)
        })
    }

    /// Ends it without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn end(mut self, signal: Signal) -> ExitStatus {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("it runs");
        kill_process(pid, signal).expect("it is ours");
        self.child.wait().expect("it is ours")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn send(address: &str, request: &str, headers: &[(&str, &str)], body: &str) -> Got {
    let mut text = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.extend(["Content-Length: ", &body.len().to_string(), "\r\n\r\n"]);
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(text.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    Got { status, body: serde_json::from_str(body).unwrap_or(Value::Null) }
}

/// Waits for something that will be.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "this never came: {what}");
        std::thread::park_timeout(Duration::from_millis(30));
    }
}

/// Whether a file of this name is nowhere below a folder, which may itself not be there.
pub(crate) fn is_absent(path: &Path) -> bool {
    !path.exists()
}
