//! Calls that are under way, by what was called.
//!
//! An agent's program tells the arguments of a call when it begins, and often not again when it ends. Two calls of one
//! tool are the same only if their arguments are, so what began is remembered until it ends: otherwise every edit of
//! every file would look like one call, again and again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use verger_core::fingerprint::CallPrint;
use verger_core::id::AgentId;
use verger_core::signal::Trust;

/// Calls that are remembered; one more makes the oldest forgotten. At fifty under way each they are of a thousand agents.
const REMEMBERED: usize = 65_536;

/// Calls that are under way.
#[derive(Debug, Default)]
pub struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    prints: HashMap<Key, (u64, CallPrint)>,
    /// In the order of their beginning, those that have ended among them.
    begun: VecDeque<(u64, Key)>,
    next: u64,
}

/// Whose call, whether who told of it proved to be that, and which.
type Key = (AgentId, bool, u64);

impl Calls {
    /// A call begins.
    pub(super) fn begin(&self, agent: &AgentId, trust: Trust, call: u64, print: CallPrint) {
        let (key, mut inner) = (key(agent, trust, call), self.lock());
        let number = inner.next;
        inner.next += 1;
        inner.prints.insert(key.clone(), (number, print));
        inner.begun.push_back((number, key));
        while inner.begun.len() > REMEMBERED {
            let Some((number, oldest)) = inner.begun.pop_front() else { return };
            if inner.prints.get(&oldest).is_some_and(|(of, _)| *of == number) {
                inner.prints.remove(&oldest);
            }
        }
    }

    /// A call ended: what was called, if its beginning is remembered.
    pub(super) fn end(&self, agent: &AgentId, trust: Trust, call: u64) -> Option<CallPrint> {
        self.lock().prints.remove(&key(agent, trust, call)).map(|(_, print)| print)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(agent: &AgentId, trust: Trust, call: u64) -> Key {
    (agent.clone(), trust == Trust::Verified, call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l06_calls_that_never_end_do_not_fill_the_memory_and_the_newest_are_remembered() {
        let (calls, agent) = (Calls::default(), AgentId::from("a"));
        let print = |call: u64| CallPrint::of("bash", &call.to_string());
        let most = REMEMBERED as u64;
        for call in 0..most + 10 {
            calls.begin(&agent, Trust::Verified, call, print(call));
        }
        assert_eq!(calls.lock().prints.len(), REMEMBERED);
        assert_eq!(calls.end(&agent, Trust::Verified, 9), None);
        assert_eq!(calls.end(&agent, Trust::Verified, most), Some(print(most)));
        assert_eq!(calls.end(&agent, Trust::Verified, most), None, "it ends once");
        assert_eq!(calls.end(&agent, Trust::Unverified, most + 1), None, "another might have said so");
    }
}
