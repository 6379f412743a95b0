//! A client that is a process of its own: this very program, started once more with something to do.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;
use verger_server::unix::AGENT_ID;

use crate::served::Served;

const ROLE: &str = "VERGER_TEST_ROLE";
const SOCKET: &str = "VERGER_TEST_SOCKET";
const TOKEN: &str = "VERGER_TEST_TOKEN";

/// A process that was started, and what it says.
pub(crate) struct Client {
    pub(crate) process: Child,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts this program as somebody who does `role`, inside the process tree of `agent` if there is one.
    pub(crate) fn start(served: &Served, role: &str, token: &str, agent: Option<&str>) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "client::a_client", "--nocapture"]).env_remove(AGENT_ID);
        command.env(ROLE, role).env(SOCKET, served.socket()).env(TOKEN, token).stdout(Stdio::piped());
        if let Some(agent) = agent {
            command.env(AGENT_ID, agent);
        }
        let mut process = command.spawn().expect("it can be started");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        Self { process, output }
    }

    /// Waits for a line that begins so; gives its rest.
    pub(crate) fn says(&mut self, word: &str) -> String {
        let mut line = String::new();
        while self.output.read_line(&mut line).expect("it can be read") > 0 {
            // The harness may have begun the line.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
            line.clear();
        }
        panic!("it ended without `{word}`");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What such a process does. Without a role there is nothing to do.
#[test]
fn a_client() {
    let told = |name| std::env::var(name).unwrap_or_default();
    let (socket, token) = (told(SOCKET), told(TOKEN));
    match told(ROLE).as_str() {
        "order" => {
            let answer = send(&socket, &token, "POST /v1/agents/a/escalate", r#"{"reason":"me"}"#);
            println!("answer: {}", answer.replace("\r\n", " "));
        }
        "look" => {
            let answer = send(&socket, &token, "GET /v1/agents/a", "");
            println!("answer: {}", answer.replace("\r\n", " "));
        }
        "listen" => listen(&socket, &token),
        _ => {}
    }
}

fn send(socket: &str, token: &str, request: &str, body: &str) -> String {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// Answers pings as long as there are any.
#[expect(clippy::print_stdout, reason = "its output is how it speaks to the test that started it")]
fn listen(socket: &str, token: &str) {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    write!(
        stream,
        "GET /v1/agents/a/inbox HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\n\r\n"
    )
    .expect("it reads");
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let Some(item) =
            line.strip_prefix("data: ").and_then(|text| serde_json::from_str::<Value>(text).ok())
        else {
            continue;
        };
        println!("got: {}", item["kind"].as_str().unwrap_or("?"));
        if item["kind"] == "ping" {
            let pong = format!(r#"{{"kind":"pong","agentId":"a","seq":{}}}"#, item["seq"]);
            send(socket, token, "POST /v1/signals", &pong);
            println!("pong: {}", item["seq"]);
        }
    }
}
