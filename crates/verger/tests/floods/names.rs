//! Names that are made up by the hundred thousand, and one agent that sends without end.

use std::fmt::Write as _;
use std::time::Instant;

use crate::good::Good;
use crate::memory::Brought;
use crate::program::{Place, Program, until};
use crate::raw::{Kept, open, request};
use crate::{say, scaled};

const BATCH: usize = 1_000;
const FLOODING: usize = 4;

/// Heartbeats of so many names nobody has heard of; how many of them were taken, and how often nothing was.
fn make_up(program: &Program, from: usize, names: usize) -> (usize, usize) {
    let (mut connection, mut taken, mut refused) = (Kept::new(open(&program.address)), 0, 0);
    for first in (from..from + names).step_by(BATCH) {
        let mut body = String::new();
        for name in first..first + BATCH {
            let _ = writeln!(body, r#"{{"agentId":"made-up-{name}"}}"#);
        }
        let answer = connection.ask(&request("POST /v1/heartbeats", "", &body)).expect("it answers");
        if answer.status == 202 {
            let accepted =
                answer.body.split_once(r#""accepted":"#).and_then(|(_, rest)| rest.split_once(','));
            taken += accepted.and_then(|(count, _)| count.parse::<usize>().ok()).expect("a count");
        } else {
            assert!(answer.is_refusal(429, "VG0108"), "{answer:?}");
            refused += 1;
        }
    }
    (taken, refused)
}

#[test]
fn x13_a_flood_of_made_up_names_fills_neither_memory_nor_fleet_and_the_known_go_on() {
    let place = Place::new();
    let most = scaled(10_000, 5_000);
    place.configure(&format!("cardinality: {{strangers_max: {}}}", most + 8));
    let program = place.start();
    let (good, names, began) = (Good::start(&program), scaled(1_000_000, 60_000), Instant::now());
    let each = names / FLOODING;
    let flood = std::thread::scope(|scope| {
        let flooding: Vec<_> = (0..FLOODING)
            .map(|n| {
                let program = &program;
                scope.spawn(move || make_up(program, n * each, each))
            })
            .collect();
        flooding.into_iter().map(|one| one.join().expect("it has no reason to panic")).collect::<Vec<_>>()
    });
    let took = began.elapsed().as_secs_f64();
    let (taken, refused) = flood.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert_eq!(taken, most, "so many strangers are let in and no more");
    assert!(refused > (names - most) / BATCH / 2, "{refused} bodies were refused as a whole");
    let metrics = program.text("/metrics");
    let known: usize = metrics.lines().filter(|line| line.starts_with("verger_agents{")).map(count).sum();
    assert_eq!(known, most + 8);
    let vouched = program.as_admin("POST /v1/heartbeats", r#"{"agentId":"vouched-for"}"#);
    assert_eq!(vouched.status, 202, "a token lets an agent in: {}", vouched.body);
    let waits = good.end();
    let memory = Brought { agents: known, connections: 16, bodies: FLOODING << 20 }.check(&program);
    say(&format!("{names} made-up names in {took:.1} s, {taken} let in: {memory}; {waits}"));
}

fn count(line: &str) -> usize {
    line.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[test]
fn x13_an_agent_that_sends_without_end_is_held_back_and_starves_nobody() {
    let place = Place::new();
    place.configure("traffic: {agent_rate: 10, agent_burst: 2000}");
    let program = place.start();
    let token = program.token_of("noisy");
    let good = Good::start(&program);
    let body = r#"{"kind":"activity","agentId":"noisy"}"#.to_owned() + "\n";
    let flood = request("POST /v1/signals", &token, &body.repeat(BATCH));
    let mut connection = Kept::new(open(&program.address));
    let refused = until("it is held back", || {
        let answer = connection.ask(&flood).expect("it answers");
        (answer.status != 202).then_some(answer)
    });
    assert!(refused.is_refusal(429, "VG0421"), "{refused:?}");
    let stranger = program.as_nobody("POST /v1/signals", r#"{"kind":"activity","agentId":"noisy"}"#);
    assert_eq!(stranger.status, 202, "another's word is counted apart: {}", stranger.body);
    let order = program.as_admin("POST /v1/agents/noisy/nudge", r#"{"message":"calm down"}"#);
    assert_eq!(order.status, 202, "people are never held back: {}", order.body);
    assert!(program.text("/metrics").contains("verger_refusals_total{limit=\"rate\"} "));
    say(&format!("one noisy agent: {}", good.end()));
}
