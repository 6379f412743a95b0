//! An agent whose monitor is there, gone, slow, or something else altogether, over real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;
use verger_api::signal::{Message, Reason};

use super::*;
use crate::Address;

/// Longer than anything here takes; a test that waits in vain ends.
const PATIENCE: Duration = Duration::from_mins(1);
const TAKEN: &str = r#"{"accepted":1,"rejected":[],"pending":[]}"#;

/// What answers at the other end: each request goes out by a channel, and is answered as the test says.
struct Stand {
    path: PathBuf,
    requests: Receiver<(String, String)>,
}

type Reply = Box<dyn FnMut(&str, &str) -> Vec<u8> + Send>;

impl Stand {
    /// Answers at this place from now on.
    fn open(path: &Path, mut reply: Reply) -> Self {
        Self::open_heads(
            path,
            Box::new(move |head, body| reply(head.lines().next().unwrap_or_default(), body)),
        )
    }

    /// The same for who wants to see whole heads, in small letters but for the first line.
    fn open_heads(path: &Path, reply: Reply) -> Self {
        let listener = UnixListener::bind(path).expect("a socket");
        let (heard, requests) = channel();
        let reply = Arc::new(Mutex::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (heard, reply) = (heard.clone(), Arc::clone(&reply));
                thread::spawn(move || serve(stream.expect("a caller"), &heard, &reply));
            }
        });
        Self { path: path.to_owned(), requests }
    }

    fn agent(&self) -> AgentOptions {
        options(&self.path)
    }

    /// The body of the next request to this address.
    fn next(&self, address: &str) -> String {
        loop {
            let (asked, body) = self.requests.recv_timeout(PATIENCE).expect("another request");
            if asked.starts_with(address) {
                return body;
            }
        }
    }

    /// The texts of the next messages that were told, until there are so many.
    fn texts(&self, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        while texts.len() < count {
            let body = self.next("POST /v1/signals");
            let read = |line: &str| {
                serde_json::from_str::<Value>(line).expect("JSON")["text"].as_str().map(ToOwned::to_owned)
            };
            texts.extend(body.lines().filter_map(read));
        }
        texts
    }
}

fn serve(mut stream: UnixStream, heard: &Sender<(String, String)>, reply: &Mutex<Reply>) {
    let mut reader = BufReader::new(stream.try_clone().expect("another end"));
    let (mut lines, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let body = String::from_utf8(body).expect("text");
    let asked = lines.lines().next().unwrap_or_default().to_owned();
    let fields = lines.replacen(&asked, "", 1).to_ascii_lowercase().replace('\r', "");
    let answer = (reply.lock().expect("nobody panics"))(&format!("{asked}{fields}"), &body);
    // The test may be over.
    let _ = heard.send((asked, body));
    let _ = stream.write_all(&answer);
}

fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn takes_everything() -> Reply {
    Box::new(|_, _| answer("202 Accepted", TAKEN))
}

fn options(path: &Path) -> AgentOptions {
    let access = Access::new(Address::socket(path), None);
    AgentOptions { every: Duration::from_millis(100), ..AgentOptions::new("a", access) }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("verger.sock");
    (folder, path)
}

fn said(text: impl Into<String>) -> SignalBody<'static> {
    SignalBody::Message(Message { role: "assistant".into(), text: text.into().into() })
}

fn item(id: &str, kind: &str) -> Value {
    let seq = (kind == "ping").then_some(7);
    json!({"id": id, "kind": kind, "message": "m", "attempt": 1, "createdAt": "2026-01-31T12:00:00Z", "seq": seq})
}

/// Answers the first beat with these items, and everything else with none.
fn hands_over(items: Vec<Value>) -> Reply {
    let mut items = Some(items);
    Box::new(move |asked, _| {
        let pending =
            if asked.contains("heartbeats") { items.take().unwrap_or_default() } else { Vec::new() };
        answer("202 Accepted", &json!({"accepted": 1, "rejected": [], "pending": pending}).to_string())
    })
}

#[test]
fn l55_it_beats_by_timer_and_tells_what_was_collected_since() {
    let (_folder, path) = place();
    let stand = Stand::open(&path, takes_everything());
    let agent = Agent::start(AgentOptions { role: Some("coder".to_owned()), ..stand.agent() });
    agent.works_on(Some("t".to_owned()));
    agent.set(Vitals { phase: Some("testing".into()), ..Vitals::default() });
    agent.used(70, 0.5);
    agent.used(7, 0.25);
    let told = |body: &str| {
        let beat: Value = serde_json::from_str(body).expect("JSON");
        (beat["tokenCount"].clone(), beat["costUsd"].clone(), beat["phase"].clone(), beat["taskId"].clone())
    };
    let expected = (json!(77), json!(0.75), json!("testing"), json!("t"));
    // The first beat may be on its way before anything was told.
    let mut beats = std::iter::from_fn(|| Some(stand.next("POST /v1/heartbeats")));
    assert!(beats.by_ref().take(100).any(|body| told(&body) == expected));
    let next: Value = serde_json::from_str(&beats.next().expect("they go on")).expect("JSON");
    assert_eq!(
        (&next["agentId"], &next["role"], told(&next.to_string())),
        (&json!("a"), &json!("coder"), expected)
    );
}

#[test]
fn l43_calls_return_while_the_monitor_holds_every_request() {
    let (_folder, path) = place();
    let (release, held) = channel::<()>();
    // Until the other end of the channel is gone nobody gets an answer.
    let stand = Stand::open(
        &path,
        Box::new(move |_, _| {
            let _ = held.recv();
            answer("202 Accepted", TAKEN)
        }),
    );
    let agent = Agent::start(AgentOptions { signals_max: 100, ..stand.agent() });
    for number in 0..10_000 {
        agent.tell(said(number.to_string()));
        agent.used(1, 0.0);
    }
    let tally = agent.tally();
    assert_eq!((tally.sent, tally.beats), (0, 0), "no call waited for an answer: {tally:?}");
    assert_eq!((tally.waiting, tally.dropped), (100, 9_900), "{tally:?}");
    drop(release);
}

#[test]
fn l43_what_was_told_while_the_monitor_was_gone_arrives_in_order_when_it_is_back() {
    let (_folder, path) = place();
    let agent = Agent::start(options(&path));
    for number in 0..600 {
        agent.tell(said(number.to_string()));
    }
    while agent.tally().trouble.is_none() {
        thread::yield_now();
    }
    assert!(agent.tally().trouble.is_some_and(|why| why.contains("can't be reached")));
    let stand = Stand::open(&path, takes_everything());
    assert_eq!(stand.texts(600), (0..600).map(|number| number.to_string()).collect::<Vec<_>>());
    assert!(agent.finish(PATIENCE));
}

#[test]
fn l43_what_may_have_arrived_is_sent_again_as_it_was_and_under_the_same_name() {
    let (_folder, path) = place();
    let (told, requests) = channel();
    let mut answered = 0;
    let stand = Stand::open_heads(
        &path,
        Box::new(move |head, body| {
            if !head.starts_with("POST /v1/signals") {
                return answer("202 Accepted", TAKEN);
            }
            let name = head.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
            let _ = told.send((name.map(ToOwned::to_owned), body.to_owned()));
            answered += 1;
            // It hangs up instead of answering, twice.
            if answered < 3 { Vec::new() } else { answer("202 Accepted", TAKEN) }
        }),
    );
    let agent = Agent::start(stand.agent());
    agent.tell(said("1"));
    let next = || requests.recv_timeout(PATIENCE).expect("another request");
    let first = next();
    agent.tell(said("2"));
    assert!(first.0.as_ref().is_some_and(|name| name.len() > 32), "{first:?}");
    assert_eq!([next(), next()], [first.clone(), first.clone()], "nothing is added to it meanwhile");
    let second = next();
    assert!(second.0.is_some() && second.0 != first.0, "{second:?}");
    assert!(second.1.contains(r#""text":"2""#) && !second.1.contains(r#""text":"1""#), "{second:?}");
}

#[test]
fn l43_whatever_answers_instead_of_a_monitor_harms_nobody_and_loses_nothing() {
    let (_folder, path) = place();
    let mut nonsense = vec![
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        Vec::new(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\ncut off".to_vec(),
        answer("200 OK", "<html>another program</html>"),
        answer("200 OK", "{\"accepted\":-1}"),
        answer("500 Internal Server Error", "\u{7}\u{1b}[31m"),
        answer("302 Found", ""),
        answer(
            "503 Service Unavailable",
            r#"{"type":"t","title":"t","status":503,"detail":"busy","code":"VG0422"}"#,
        ),
    ];
    let stand = Stand::open(
        &path,
        Box::new(move |_, _| nonsense.pop().unwrap_or_else(|| answer("202 Accepted", TAKEN))),
    );
    let agent = Agent::start(stand.agent());
    for text in ["1", "2", "3"] {
        agent.tell(said(text));
    }
    assert_eq!(stand.texts(3), ["1", "2", "3"]);
    assert_eq!(agent.tally().dropped, 0);
}

#[test]
fn what_the_monitor_turns_down_for_good_is_not_sent_again() {
    let (_folder, path) = place();
    let problem =
        r#"{"type":"t","title":"t","status":401,"detail":"this token is not known","code":"VG0412"}"#;
    let stand = Stand::open(
        &path,
        Box::new(move |asked, body| {
            let refused = asked.contains("signals") && body.contains("first");
            if refused { answer("401 Unauthorized", problem) } else { answer("202 Accepted", TAKEN) }
        }),
    );
    let agent = Agent::start(stand.agent());
    agent.tell(said("first"));
    assert_eq!(stand.texts(1), ["first"]);
    agent.tell(said("second"));
    assert_eq!(stand.texts(1), ["second"]);
    while agent.tally().sent == 0 {
        thread::yield_now();
    }
    assert_eq!((agent.tally().rejected, agent.tally().waiting), (1, 0));
}

#[test]
fn a_ping_is_answered_by_itself_and_a_reminder_is_handed_over_once() {
    let (_folder, path) = place();
    let items = vec![item("1", "nudge"), item("p", "ping"), item("1", "nudge"), item("2", "cancel")];
    let stand = Stand::open(&path, hands_over(items));
    let agent = Agent::start(stand.agent());
    let pong: Value = serde_json::from_str(&stand.next("POST /v1/signals")).expect("JSON");
    assert_eq!((&pong["kind"], &pong["seq"], &pong["agentId"]), (&json!("pong"), &json!(7), &json!("a")));
    let kinds: Vec<_> =
        (0..2).filter_map(|_| agent.wait_item(PATIENCE)).map(|item| item.kind.as_str()).collect();
    assert_eq!(kinds, ["nudge", "cancel"]);
    assert_eq!(agent.next_item(), None);
}

#[test]
fn an_agent_that_answers_pings_itself_gets_them() {
    let (_folder, path) = place();
    let stand = Stand::open(&path, hands_over(vec![item("p", "ping")]));
    let agent = Agent::start(AgentOptions { answers_pings: false, ..stand.agent() });
    let ping = agent.wait_item(PATIENCE).expect("a ping");
    agent.pong(ping.seq.expect("its number"));
    let answered: Value = serde_json::from_str(stand.next("POST /v1/signals").trim()).expect("JSON");
    assert_eq!((&answered["kind"], &answered["seq"]), (&json!("pong"), &json!(7)));
}

#[test]
fn a_life_that_was_superseded_is_told_so_and_falls_silent() {
    let (_folder, path) = place();
    let stand = Stand::open(&path, hands_over(vec![item("s", "superseded")]));
    let agent = Agent::start(stand.agent());
    let told = agent.wait_item(PATIENCE).map(|item| item.kind.as_str());
    assert_eq!((told, agent.is_superseded()), (Some("superseded"), true));
    agent.tell(said("too late"));
    agent.finish(PATIENCE);
    let after: Vec<_> = stand.requests.try_iter().filter(|(asked, _)| asked.contains("signals")).collect();
    assert_eq!(after, []);
}

#[test]
fn the_end_sends_what_still_waits_and_says_whether_it_went_out() {
    let (_folder, path) = place();
    let stand = Stand::open(&path, takes_everything());
    let agent = Agent::start(AgentOptions { every: Duration::from_hours(1), ..stand.agent() });
    agent.tell(SignalBody::Blocker(Reason { reason: "the last word".into() }));
    assert!(agent.finish(PATIENCE));
    assert!(stand.next("POST /v1/signals").contains("the last word"));
    let (_other, nowhere) = place();
    let agent = Agent::start(options(&nowhere));
    agent.tell(said("lost"));
    assert!(!agent.finish(PATIENCE));
}

#[test]
fn where_nobody_watches_nothing_is_kept_and_nothing_waits() {
    let agent = Agent::silent("VERGER_AGENT_ID is not set".to_owned());
    agent.tell(said("to nobody"));
    assert_eq!(agent.wait_item(PATIENCE), None);
    assert_eq!((agent.tally().waiting, agent.tally().trouble.is_some()), (0, true));
    assert!(agent.finish(PATIENCE));
}
