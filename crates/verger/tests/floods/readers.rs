//! Readers of events that do not read.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::good::Good;
use crate::memory::Brought;
use crate::program::{Place, Program, until};
use crate::raw::{Kept, narrow, open, request};
use crate::{say, scaled};

/// Events that fill what the system keeps for who does not read, several times over.
const EVENTS: usize = 300;

fn follow(program: &Program, after: &str) -> TcpStream {
    let mut stream = narrow(&program.address);
    let head = format!(
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{after}\r\n",
        program.token
    );
    stream.write_all(head.as_bytes()).expect("it listens");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 200");
    stream
}

/// Has something happen: agents come, each with an event at least.
fn happen(program: &Program, from: usize) {
    let mut body = String::new();
    for agent in from..from + EVENTS {
        let _ = writeln!(body, r#"{{"agentId":"agent-{agent}"}}"#);
    }
    let answer =
        Kept::new(open(&program.address)).ask(&request("POST /v1/heartbeats", &program.token, &body));
    assert_eq!(answer.expect("it answers").status, 202);
}

/// The numbers of the events that a stream has, up to this one or to its end.
fn numbers(mut stream: TcpStream, last: Option<i64>) -> Vec<i64> {
    let (mut numbers, mut rest, mut buffer) = (Vec::new(), String::new(), vec![0; 65_536]);
    while last.is_none() || numbers.last().copied() < last {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(some) => rest.push_str(&String::from_utf8_lossy(&buffer[..some])),
        }
        let whole = rest.rfind('\n').map_or(0, |end| end + 1);
        let lines: String = rest.drain(..whole).collect();
        numbers.extend(lines.lines().filter_map(|line| line.strip_prefix("id: ")?.parse::<i64>().ok()));
    }
    numbers
}

fn newest(program: &Program) -> i64 {
    let events = program.get(&format!("/v1/agents/agent-{}/events", EVENTS * 2 - 1));
    events["items"][0]["id"].as_str().and_then(|id| id.parse().ok()).expect("a number")
}

fn metric(program: &Program, name: &str) -> usize {
    let metrics = program.text("/metrics");
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[test]
fn x13_readers_that_do_not_read_are_cut_off_and_resume_where_they_were() {
    let place = Place::new();
    place.configure("traffic: {answer_timeout: 3s}");
    let program = place.start();
    let (good, count) = (Good::start(&program), scaled(10_000, 500));
    let mut slow: Vec<_> = (0..count).map(|_| follow(&program, "")).collect();
    assert_eq!(metric(&program, "verger_streams"), count);
    happen(&program, 0);
    happen(&program, EVENTS);
    let cut = r#"verger_connections_cut_total{reason="slow"}"#;
    until("all are cut off", || (metric(&program, cut) == count).then_some(()));
    assert_eq!(metric(&program, "verger_streams"), 0);
    let memory = Brought { agents: 2 * EVENTS + 8, connections: count + 16, bodies: 1 << 20 }.check(&program);
    // What was on its way is still there; the rest is had by asking for what comes after it.
    let mut all = numbers(slow.pop().expect("one of them"), None);
    let seen = *all.last().expect("it got some");
    let last = newest(&program);
    assert!(seen < last, "it was cut off before the end");
    all.extend(numbers(follow(&program, &format!("Last-Event-ID: {seen}\r\n")), Some(last)));
    assert!(all.windows(2).all(|pair| pair[0] + 1 == pair[1]), "nothing is missing, nothing comes twice");
    say(&format!("{count} readers that do not read, {} events: {memory}; {}", all.len(), good.end()));
}

#[test]
fn x13_there_are_so_many_streams_and_no_more() {
    let place = Place::new();
    place.configure("traffic: {streams: 3}");
    let program = place.start();
    let streams: Vec<_> = (0..3).map(|_| follow(&program, "")).collect();
    let mut connection = Kept::new(open(&program.address));
    let refused = connection.ask(&request("GET /v1/events", &program.token, "")).expect("it answers");
    assert!(refused.is_refusal(503, "VG0426"), "{refused:?}");
    drop(streams);
    until("there is room again", || (metric(&program, "verger_streams") == 0).then_some(()));
    drop(follow(&program, ""));
}
