//! What a call of the agent's side costs its caller (L43), with a monitor that is gone and with one that never answers.
//!
//! `cargo run --release -p verger-client --example calls`

use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use verger_api::SignalBody;
use verger_api::signal::Message;
use verger_client::{Access, Address, Agent, AgentOptions};

const CALLS: usize = 200_000;

fn main() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let gone = folder.path().join("gone.sock");
    let silent = folder.path().join("silent.sock");
    // It takes connections in, and never answers.
    let _listener = UnixListener::bind(&silent)?;
    for (name, path) in [("gone", gone), ("silent", silent)] {
        let access = Access::new(Address::socket(path), None);
        let every = Duration::from_millis(100);
        let agent = Agent::start(AgentOptions { every, ..AgentOptions::new("bench", access) });
        let mut took: Vec<Duration> = (0..CALLS).map(|_| call(&agent)).collect();
        took.sort_unstable();
        let at = |share: usize| took[(CALLS * share / 10_000).min(CALLS - 1)].as_nanos();
        let line = format!(
            "monitor {name}: tell() p50 {} ns, p99 {} ns, p99.99 {} ns, max {} ns (aim: 1,000,000 ns)",
            at(5_000),
            at(9_900),
            at(9_999),
            at(10_000)
        );
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

fn call(agent: &Agent) -> Duration {
    let said = SignalBody::Message(Message { role: "assistant".into(), text: "a line of thought".into() });
    let begun = Instant::now();
    agent.tell(said);
    begun.elapsed()
}
