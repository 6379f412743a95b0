//! The real program on disks that go wrong while agents, an orchestrator and a person use it.
//!
//! ```text
//! load ──requests──► verger serve ──► a disk that is full, read-only, frozen or damaged … and is mended
//!   └── ledger of what was acknowledged ─► is all of it there? said what is wrong? back without a hand?
//! ```
//!
//! Each disk is one of its own, in a mount namespace that ends with the test: nothing is left mounted. What only root
//! or a tracer may do is tried first; where it may not be done the test says that it was left out.

mod damage;
mod disk;
mod ending;
#[expect(dead_code, reason = "the test of crashes uses all of it")]
#[path = "../crash/http.rs"]
mod http;
mod load;
mod opening;
mod program;
mod upgrade;
mod writing;

use std::io::Write;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Long enough for a machine that does much else. What holds is seen within seconds.
const PATIENCE: Duration = Duration::from_mins(3);

/// Lets this time pass.
fn pass(time: Duration) {
    let (_nobody, says) = mpsc::channel::<()>();
    let _ = says.recv_timeout(time);
}

/// Waits for something that will be.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "this never came: {what}");
        pass(Duration::from_millis(30));
    }
}

/// Says that something could not be tried here, where it is seen.
fn leave_out(what: &str, why: &str) {
    say(&format!("LEFT OUT: {what}: {why}"));
}

/// A line for whoever runs the tests. Nothing is left to be done if it cannot be written.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
