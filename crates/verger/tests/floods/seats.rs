//! Connections that say nothing, or say it slowly, and more of them than there is room for.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use std::os::unix::net::UnixStream;

use crate::good::Good;
use crate::memory::Brought;
use crate::program::{Place, until};
use crate::raw::{Kept, open, request};
use crate::{say, scaled};

#[test]
fn x13_silent_and_slow_connections_make_room_for_those_that_have_something_to_say() {
    let (place, seats, floods) = (Place::new(), scaled(4_000, 200), scaled(16_000, 1_500));
    place.configure(&format!("traffic: {{connections: {seats}}}"));
    let program = place.start();
    let good = Good::start(&program);
    let mut held: Vec<TcpStream> = Vec::new();
    for number in 0..floods {
        let mut stream = open(&program.address);
        // Some say nothing, some begin like HTTP/2 and some with a head that never ends.
        let says: &[u8] = [&b""[..], b"PR", b"POST /v1/heartbeats HTTP/1.1\r\nHost: loc"][number % 3];
        stream.write_all(says).expect("it is taken in");
        held.push(stream);
        if number % 3 == 2 {
            // One byte more of a head that was begun before. It may be cut off by now.
            let _ = held[number / 2].write_all(b"a");
        }
    }
    let waits = good.end();
    let metrics = program.text("/metrics");
    let counted = |name: &str| -> usize {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|count| count.parse().ok()).expect("it is counted")
    };
    let (cut, refused) = (
        counted(r#"verger_connections_cut_total{reason="idle"}"#),
        counted(r#"verger_refusals_total{limit="connections"}"#),
    );
    assert!(cut + refused >= floods - seats && cut > refused, "{cut} made room, {refused} were refused");
    let memory = Brought { agents: 8, connections: seats, bodies: 0 }.check(&program);
    say(&format!("{floods} silent and slow connections for {seats} places: {memory}; {waits}"));
}

#[test]
fn x13_when_everybody_is_at_work_who_comes_is_told_to_come_back() {
    let place = Place::new();
    place.configure("traffic: {connections: 16}");
    let program = place.start();
    let stream = request("GET /v1/events", &program.token, "");
    let mut readers: Vec<_> = (0..16).map(|_| open(&program.address)).collect();
    for reader in &mut readers {
        reader.write_all(stream.as_bytes()).expect("it listens");
        reader.read_exact(&mut [0; 12]).expect("it answers");
    }
    let refused = Kept::new(open(&program.address)).answer().expect("it says why");
    assert!(refused.is_refusal(503, "VG0426"), "{refused:?}");
    readers.pop();
    until("there is room again", || {
        let answer = Kept::new(open(&program.address)).ask(&request("GET /health", "", "")).ok()?;
        (answer.status == 200).then_some(())
    });
}

#[test]
fn x13_a_head_that_takes_too_long_ends_its_connection() {
    let place = Place::new();
    place.configure("traffic: {head_timeout: 500ms, body_timeout: 500ms}");
    let program = place.start();
    let greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for begun in ["", "P", "PRI", greeting, "GET /health HTTP/1.1\r\nHost: loc"] {
        let mut stream = open(&program.address);
        stream.write_all(begun.as_bytes()).expect("it listens");
        // What it has not read of it is no answer: it hangs up with or without a word.
        let ended = stream.read_to_end(&mut Vec::new());
        assert!(
            ended.as_ref().map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true),
            "{ended:?}"
        );
    }
    let head = "POST /v1/heartbeats HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    let late = Kept::new(open(&program.address)).ask(head).expect("it says why");
    assert!(late.is_refusal(400, "VG0401") && late.body.contains("0.5 s"), "{late:?}");
}

#[test]
fn x13_local_clients_are_held_to_the_same_limits_and_have_a_few_places_of_their_own() {
    let (place, seats) = (Place::new(), 200);
    place.configure(&format!("traffic: {{connections: {seats}, head_timeout: 3s}}"));
    let program = place.start();
    let socket = place.data().join("verger.sock");
    let local = || UnixStream::connect(&socket).expect("it listens");
    // Streams take every seat there is.
    let stream = request("GET /v1/events", &program.token, "");
    let follow = |_| {
        let mut reader = open(&program.address);
        reader.write_all(stream.as_bytes()).expect("it listens");
        reader.read_exact(&mut [0; 12]).expect("it answers");
        reader
    };
    let _readers: Vec<_> = (0..seats).map(follow).collect();
    let refused = Kept::new(open(&program.address)).answer().expect("it says why");
    assert!(refused.is_refusal(503, "VG0426"), "{refused:?}");
    let commands = place.run(&["agents"], &[]);
    assert!(commands.status.success(), "{}", String::from_utf8_lossy(&commands.stderr));
    // Those who say nothing make room for each other, and go in time.
    let silent: Vec<_> = (0..seats * 5).map(|_| local()).collect();
    let commands = place.run(&["agents"], &[]);
    assert!(commands.status.success(), "{}", String::from_utf8_lossy(&commands.stderr));
    for mut connection in silent {
        let ended = connection.read_to_end(&mut Vec::new());
        assert!(ended.is_ok_and(|bytes| bytes == 0), "it is let go");
    }
    let memory = Brought { agents: 0, connections: seats * 2, bodies: 0 }.check(&program);
    say(&format!("{} silent local connections beside {seats} streams: {memory}", seats * 5));
}
