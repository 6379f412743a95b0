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

mod http;
mod ledger;
mod load;
mod program;

use std::sync::mpsc;
use std::time::Duration;

use ledger::Ledger;
use program::Program;

/// How long the program works between two kills, at most.
const WORKS_MAX_MS: u64 = 400;

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
    let seed = setting("CRASH_SEED", u64::from(std::process::id()));
    let folder = tempfile::tempdir().expect("a folder");
    let place = program::Place::new(folder.path());
    let mut ledger = Ledger::default();
    for crash in 0..setting("CRASHES", 20) {
        let program = Program::start(&place);
        ledger
            .check(&program.http())
            .unwrap_or_else(|lost| panic!("CRASH_SEED={seed}, crash {crash}: {lost}"));
        let works = Duration::from_millis(drawn(seed, crash) % WORKS_MAX_MS);
        let acknowledged = load::until(&program.http(), crash, || {
            // The moment is the point: nothing is waited for.
            pass(works);
            program.kill();
        });
        ledger.take(acknowledged);
    }
    let program = Program::start(&place);
    ledger.check(&program.http()).unwrap_or_else(|lost| panic!("CRASH_SEED={seed}, at last: {lost}"));
    ledger.await_effects(&place).unwrap_or_else(|wrong| panic!("CRASH_SEED={seed}: {wrong}"));
    assert!(ledger.is_worth_something(), "the load was not acknowledged: {ledger:?}");
    program.end();
    ledger::check_repeats(&place).unwrap_or_else(|wrong| panic!("CRASH_SEED={seed}: {wrong}"));
}
