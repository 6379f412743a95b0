//! Agents that do nothing wrong: each of their heartbeats must be taken, whatever others do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::program::Program;
use crate::raw::{Answer, Kept, open, request};

const AGENTS: usize = 8;
const EVERY: Duration = Duration::from_millis(25);

/// Agents at work.
pub(crate) struct Good {
    is_over: Arc<AtomicBool>,
    agents: Vec<JoinHandle<Vec<Duration>>>,
}

impl Good {
    /// Half of them keep a connection, as a supervisor does, and half open one each time, as a script does. All are known
    /// when this returns.
    pub(crate) fn start(program: &Program) -> Self {
        let is_over = Arc::<AtomicBool>::default();
        let agents = (0..AGENTS).map(|agent| {
            let (address, is_over) = (program.address.clone(), Arc::clone(&is_over));
            let beat = request("POST /v1/heartbeats", "", &format!(r#"{{"agentId":"good-{agent}"}}"#));
            taken(&Kept::new(open(&address)).ask(&beat).expect("it answers"));
            std::thread::spawn(move || {
                let (mut waited, mut kept) = (Vec::new(), None);
                let (_nobody, says) = mpsc::channel::<()>();
                while !is_over.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    if agent % 2 == 1 {
                        kept = None;
                    }
                    let connection = kept.get_or_insert_with(|| Kept::new(open(&address)));
                    taken(&connection.ask(&beat).expect("it answers"));
                    waited.push(began.elapsed());
                    let _ = says.recv_timeout(EVERY);
                }
                waited
            })
        });
        Self { agents: agents.collect(), is_over }
    }

    /// How long they waited for their answers. All of these said that the heartbeat was taken.
    pub(crate) fn end(self) -> String {
        self.is_over.store(true, Ordering::Relaxed);
        let waited = self.agents.into_iter().flat_map(|agent| agent.join().expect("every beat was taken"));
        let mut waited: Vec<_> = waited.collect();
        waited.sort_unstable();
        let at = |percent: usize| waited[(waited.len() - 1) * percent / 100].as_secs_f64() * 1_000.0;
        let (beats, p50, p99, most) = (waited.len(), at(50), at(99), at(100));
        format!("{beats} good heartbeats, all taken: p50 {p50:.1} ms, p99 {p99:.1} ms, at most {most:.1} ms")
    }
}

fn taken(answer: &Answer) {
    assert!(answer.status == 202 && answer.body.contains(r#""accepted":1"#), "{answer:?}");
}
