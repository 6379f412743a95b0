//! Bodies and heads that nobody should send.

use std::io::Write;

use crate::good::Good;
use crate::memory::Brought;
use crate::program::{Place, Program};
use crate::raw::{Answer, Kept, open, request};
use crate::{say, scaled};

const GIGABYTE: usize = 1 << 30;
const PIECE: usize = 64 << 10;

/// Sends a body without saying how long it is, until the program has had enough; also how much it took.
fn chunked(program: &Program) -> (Answer, usize) {
    let mut stream = open(&program.address);
    let head = "POST /v1/signals HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("it listens");
    let piece = format!("{PIECE:x}\r\n{}\r\n", "x".repeat(PIECE));
    let mut sent = 0;
    while sent < GIGABYTE && stream.write_all(piece.as_bytes()).is_ok() {
        sent += PIECE;
    }
    (Kept::new(stream).answer().expect("it says why"), sent)
}

/// Says that a gigabyte comes.
fn announced(program: &Program) -> Answer {
    let head =
        format!("POST /v1/heartbeats HTTP/1.1\r\nHost: localhost\r\nContent-Length: {GIGABYTE}\r\n\r\n");
    Kept::new(open(&program.address)).ask(&head).expect("it says why")
}

#[test]
fn x13_bodies_of_a_gigabyte_are_refused_before_they_are_read() {
    let (place, senders) = (Place::new(), scaled(16, 4));
    let program = place.start();
    let good = Good::start(&program);
    for _ in 0..senders {
        assert!(announced(&program).is_refusal(413, "VG0405"));
    }
    let sent: usize = std::thread::scope(|scope| {
        let sending: Vec<_> = (0..senders).map(|_| scope.spawn(|| chunked(&program))).collect();
        let answered = sending.into_iter().map(|one| one.join().expect("it has no reason to panic"));
        let check = |(answer, sent): (Answer, usize)| {
            // Many at once are together too much before one of them is.
            let is_refused = answer.is_refusal(413, "VG0405") || answer.is_refusal(503, "VG0422");
            assert!(is_refused, "{answer:?}");
            sent
        };
        answered.map(check).sum()
    });
    let memory = Brought { agents: 8, connections: 32, bodies: 128 << 20 }.check(&program);
    let mib = sent >> 20;
    say(&format!("{senders} bodies of 1 GiB, {mib} MiB sent in vain: {memory}; {}", good.end()));
}

#[test]
fn x13_large_bodies_share_one_measure_and_small_ones_pass() {
    let place = Place::new();
    place.configure("traffic: {body: 4MiB, bodies: 16MiB}");
    let program = place.start();
    let good = Good::start(&program);
    let size = 4 << 20;
    let head = format!("POST /v1/signals HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n");
    // All but the end of each: they are kept until they are complete.
    let mut kept: Vec<_> = (0..4).map(|_| open(&program.address)).collect();
    for stream in &mut kept {
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(&vec![b' '; size - 1]))
            .expect("it reads");
    }
    let refused = crate::program::until("there is no more room", || {
        let answer = Kept::new(open(&program.address)).ask(&head).expect("it answers");
        answer.is_refusal(503, "VG0422").then_some(answer)
    });
    assert!(refused.body.contains("16777216"), "{refused:?}");
    for mut stream in kept {
        stream.write_all(b"\n").expect("it reads");
        assert_eq!(Kept::new(stream).answer().expect("it answers").status, 422, "nothing is in it");
    }
    let answer = Kept::new(open(&program.address)).ask(&format!("{head}{}", " ".repeat(size)));
    assert_eq!(answer.expect("it answers").status, 422, "there is room again");
    say(&format!("bodies that share 16 MiB: {}", good.end()));
}

#[test]
fn x13_heads_and_batches_beyond_their_limits_are_refused_in_words() {
    let place = Place::new();
    place.configure("traffic: {batch: 3}");
    let program = place.start();
    let long = format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "x".repeat(40_000));
    let many = format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X-Many: 1\r\n".repeat(80));
    for head in [long, many] {
        let answer = Kept::new(open(&program.address)).ask(&head).expect("it answers");
        assert!(answer.is_refusal(431, "VG0409"), "{answer:?}");
    }
    let huge = format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Huge: {}\r\n\r\n", "x".repeat(400_000));
    let mut stream = open(&program.address);
    // It may hang up before it has read all of it.
    let _ = stream.write_all(huge.as_bytes());
    assert_eq!(Kept::new(stream).answer().map_or(431, |answer| answer.status), 431);
    let body = r#"[{"agentId":"a"},{"agentId":"b"},{"agentId":"c"},{"agentId":"d"},{"agentId":"e"}]"#;
    let answer = Kept::new(open(&program.address)).ask(&request("POST /v1/heartbeats", "", body));
    let answer = answer.expect("it answers");
    assert!(answer.status == 202 && answer.body.contains(r#""accepted":3"#), "{answer:?}");
    let metrics = program.text("/metrics");
    assert!(metrics.contains("verger_refusals_total{limit=\"head\"} 2"), "{metrics}");
}
