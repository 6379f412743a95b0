//! The real program is killed with `kill -9` at random moments while it is at work, and started again.
//!
//! ```text
//! load ──requests──► verger serve ──► kill -9 ──► verger serve ──► is everything that was acknowledged there?
//!   └── ledger of what was acknowledged ─────────────────────────────►┘
//! ```
//!
//! What it must never do: lose what it acknowledged, carry an effect out beyond the one repeat that it is allowed, or go
//! back to an earlier state. `CRASHES` says how often it is killed (20 without it, 1,000 in `make soak`), `CRASH_SEED`
//! when: a failure names both.

mod hooks;
mod http;
mod journal;
mod ledger;
mod load;
mod program;

use std::sync::mpsc;
use std::time::Duration;

use journal::Journal;
use ledger::Ledger;
use program::Program;

/// How long the program works between two kills, at most.
const WORKS_MAX_MS: u64 = 1_000;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A number that depends on the seed and on nothing else (splitmix64).
fn drawn(seed: u64, nth: u64) -> u64 {
    let mut mixed = seed.wrapping_add((nth + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Lets this time pass. To park would not do: whoever was woken before is not parked again.
fn pass(time: Duration) {
    let (_nobody, says) = mpsc::channel::<()>();
    let _ = says.recv_timeout(time);
}

#[test]
fn l42_killed_at_any_moment_it_loses_nothing_that_it_acknowledged() {
    let (seed, crashes) = (setting("CRASH_SEED", u64::from(std::process::id())), setting("CRASHES", 20));
    let folder = tempfile::tempdir().expect("a folder");
    let place = program::Place::new(folder.path());
    let (mut ledger, mut journal) = (Ledger::default(), Journal::default());
    let mut check = |ledger: &mut Ledger, program: &Program, crash: &str| {
        let found =
            ledger.check(&program.http()).and_then(|()| journal.check(&program.http(), ledger.shown()));
        found.unwrap_or_else(|wrong| panic!("CRASH_SEED={seed}, crash {crash}: {wrong}"));
    };
    for crash in 0..crashes {
        let program = Program::start(&place);
        check(&mut ledger, &program, &crash.to_string());
        let works = Duration::from_millis(drawn(seed, crash) % WORKS_MAX_MS);
        let acknowledged = load::until(&program.http(), crash, || {
            // The moment is the point: nothing is waited for.
            pass(works);
            program.kill();
        });
        ledger.take(acknowledged);
    }
    let program = Program::start(&place);
    check(&mut ledger, &program, "the last");
    ledger
        .await_effects(&program.http(), &place)
        .unwrap_or_else(|wrong| panic!("CRASH_SEED={seed}: {wrong}"));
    assert!(ledger.is_worth_something(), "not all of the load was acknowledged: {}", ledger.tally());
    program.end();
    let carried = ledger::check_repeats(&place).unwrap_or_else(|wrong| panic!("CRASH_SEED={seed}: {wrong}"));
    eprintln!("{crashes} crashes with CRASH_SEED={seed}: {}; {}; {carried}", ledger.tally(), journal.tally());
}
