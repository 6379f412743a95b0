//! A monitor that was started as a user starts it, and a client as plain as `curl`.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Long enough for a machine that does much else. What holds is seen within milliseconds.
const PATIENCE: Duration = Duration::from_mins(2);

/// A port that the system picks.
pub(crate) const ANY_PORT: &str = "127.0.0.1:0";
/// Whoever runs these tests may use Verger.
const OWN_VARIABLES: [&str; 6] =
    ["VERGER_CONFIG", "VERGER_DATA_DIR", "VERGER_LISTEN", "VERGER_URL", "VERGER_TOKEN", "VERGER_AGENT_ID"];

/// A place to work in: a configuration, data, and whatever programs leave.
pub(crate) struct Place {
    directory: TempDir,
}

/// A monitor that runs.
pub(crate) struct Program {
    pub(crate) child: Child,
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
    /// In small letters.
    pub(crate) head: String,
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

    fn command(&self, listen: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_verger"));
        command.args(["serve", "--listen", listen, "--data-dir"]).arg(self.data());
        if self.path("verger.yaml").exists() {
            command.arg("--config").arg(self.path("verger.yaml"));
        }
        for name in OWN_VARIABLES {
            command.env_remove(name);
        }
        command
    }

    /// Starts a monitor that is expected to run.
    pub(crate) fn start(&self) -> Program {
        self.start_with(ANY_PORT, &[])
    }

    /// The same, at this address and with these variables around it.
    pub(crate) fn start_with(&self, listen: &str, variables: &[(&str, &Path)]) -> Program {
        let log =
            fs::OpenOptions::new().create(true).append(true).open(self.path("log")).expect("it is ours");
        let mut command = self.command(listen);
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("it can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut welcome = String::new();
        let mut address = None;
        for line in lines.by_ref().map_while(Result::ok) {
            let _ = writeln!(welcome, "{line}");
            address =
                address.or_else(|| line.trim().strip_prefix("address").map(|url| url.trim().to_owned()));
            if line.starts_with("Ctrl-C") {
                break;
            }
        }
        let address = address.unwrap_or_else(|| panic!("it says where it is: {welcome}{}", self.log()));
        let address = address.split_once("://").expect("an address").1.to_owned();
        let token = fs::read_to_string(self.data().join("admin.token")).expect("it was made");
        Program { child, address, token: token.trim().to_owned(), welcome }
    }

    /// Runs a command of the program on this place's monitor, with these variables around it.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_verger"));
        for name in OWN_VARIABLES {
            command.env_remove(name);
        }
        command.args(arguments).env("VERGER_DATA_DIR", self.data()).envs(variables.iter().copied());
        command.stdin(Stdio::null()).output().expect("it can be run")
    }

    /// Starts a monitor that is expected to refuse.
    pub(crate) fn refused(&self) -> Output {
        self.command(ANY_PORT).output().expect("it can be started")
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
        let stream = TcpStream::connect(&self.address).expect("it listens");
        exchange(stream, &self.address, request, headers, body).expect("it answers")
    }

    pub(crate) fn as_admin(&self, request: &str, body: &str) -> Got {
        self.bearing(&self.token, request, body)
    }

    pub(crate) fn as_nobody(&self, request: &str, body: &str) -> Got {
        self.send(request, &[], body)
    }

    pub(crate) fn bearing(&self, token: &str, request: &str, body: &str) -> Got {
        self.send(request, &[("Authorization", &format!("Bearer {token}"))], body)
    }

    /// What the admin gets at this address, which must be there.
    pub(crate) fn get(&self, path: &str) -> Value {
        let got = self.as_admin(&format!("GET {path}"), "");
        assert_eq!(got.status, 200, "{path}: {}", got.body);
        got.body
    }

    /// The same where the answer is no JSON.
    pub(crate) fn text(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        let request = format!("{head}Authorization: Bearer {}\r\n\r\n", self.token);
        let mut answer = String::new();
        stream
            .write_all(request.as_bytes())
            .and_then(|()| stream.read_to_string(&mut answer))
            .expect("it answers");
        answer
    }

    /// The value of a metric, with its labels.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.text("/metrics");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().expect("a number")
    }

    /// A token by which this agent is known.
    pub(crate) fn token_of(&self, agent: &str) -> String {
        let made = self.as_admin(
            "POST /v1/tokens",
            &serde_json::json!({"scope": "agent", "agentId": agent}).to_string(),
        );
        made.body["secret"].as_str().unwrap_or_else(|| panic!("{}", made.body)).to_owned()
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
        self.signal(signal);
        self.child.wait().expect("it is ours")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is ours");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request as `curl` would, and reads the whole answer.
pub(crate) fn exchange(
    mut stream: impl Read + Write,
    host: &str,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Got> {
    let mut text = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        let _ = write!(text, "Host: {host}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let whole = answer.split_once("\r\n\r\n").and_then(|(head, body)| {
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        Some(Got { status, head: head.to_ascii_lowercase(), body })
    });
    whole.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
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
