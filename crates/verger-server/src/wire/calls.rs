//! Calls that are under way, by what was called.
//!
//! An agent's program tells the arguments of a call when it begins, and often not again when it ends. Two calls of one
//! tool are the same only if their arguments are, so what began is remembered until it ends: otherwise every edit of
//! every file would look like one call, again and again. So are the arguments themselves, of which the step's fingerprint
//! is made when its result is known.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use verger_core::fingerprint::CallPrint;
use verger_core::id::AgentId;
use verger_core::signal::Trust;
use verger_core::time::AgentTime;

/// Calls that are remembered; one more makes the oldest forgotten. At fifty under way each they are of a thousand agents.
const REMEMBERED: usize = 65_536;
/// Bytes of arguments that are remembered, all calls together; more make the oldest call forgotten.
const ARGUMENTS_MAX: usize = 64 * 1024 * 1024;

/// A call that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) print: CallPrint,
    /// Without credentials.
    pub(super) args: String,
    /// When, by the agent's clock.
    pub(super) at: Option<AgentTime>,
}

/// Calls that are under way.
#[derive(Debug, Default)]
pub struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    calls: HashMap<Key, (u64, Begun)>,
    /// Bytes of their arguments.
    bytes: usize,
    /// In the order of their beginning, those that have ended among them.
    begun: VecDeque<(u64, Key)>,
    next: u64,
}

/// Whose call, whether who told of it proved to be that, and which.
type Key = (AgentId, bool, u64);

impl Calls {
    /// A call begins.
    pub(super) fn begin(&self, agent: &AgentId, trust: Trust, call: u64, begun: Begun) {
        let (key, mut inner) = (key(agent, trust, call), self.lock());
        let number = inner.next;
        inner.next += 1;
        inner.bytes += begun.args.len();
        if let Some((_, before)) = inner.calls.insert(key.clone(), (number, begun)) {
            inner.bytes -= before.args.len();
        }
        inner.begun.push_back((number, key));
        while inner.begun.len() > REMEMBERED || inner.bytes > ARGUMENTS_MAX {
            let Some((number, oldest)) = inner.begun.pop_front() else { return };
            if inner.calls.get(&oldest).is_some_and(|(of, _)| *of == number) {
                inner.remove(&oldest);
            }
        }
    }

    /// A call that is said to have ended: what was called, if its beginning is remembered. It stays so until the end was
    /// [taken](Self::forget): what is refused now is said again, and its arguments are not.
    pub(super) fn begun(&self, agent: &AgentId, trust: Trust, call: u64) -> Option<Begun> {
        self.lock().calls.get(&key(agent, trust, call)).map(|(_, begun)| begun.clone())
    }

    /// The end of a call was taken.
    pub(crate) fn forget(&self, agent: &AgentId, trust: Trust, call: u64) {
        self.lock().remove(&key(agent, trust, call));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn remove(&mut self, key: &Key) {
        if let Some((_, begun)) = self.calls.remove(key) {
            self.bytes -= begun.args.len();
        }
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
        let begun = |call: u64| {
            let args = call.to_string();
            Begun { print: CallPrint::of("bash", &args), args, at: None }
        };
        let most = REMEMBERED as u64;
        for call in 0..most + 10 {
            calls.begin(&agent, Trust::Verified, call, begun(call));
        }
        assert_eq!(calls.lock().calls.len(), REMEMBERED);
        assert_eq!(calls.begun(&agent, Trust::Verified, 9), None);
        assert_eq!(calls.begun(&agent, Trust::Verified, most), Some(begun(most)));
        assert_eq!(calls.begun(&agent, Trust::Verified, most), Some(begun(most)), "its end was not taken");
        calls.forget(&agent, Trust::Verified, most);
        assert_eq!(calls.begun(&agent, Trust::Verified, most), None, "it ends once");
        assert_eq!(calls.begun(&agent, Trust::Unverified, most + 1), None, "another might have said so");
    }

    #[test]
    fn x20_large_arguments_of_calls_that_never_end_do_not_fill_the_memory() {
        let (calls, agent) = (Calls::default(), AgentId::from("a"));
        let large = "x".repeat(1024 * 1024);
        for call in 0..100 {
            let begun = Begun { print: CallPrint::of("bash", ""), args: large.clone(), at: None };
            calls.begin(&agent, Trust::Verified, call, begun);
        }
        assert_eq!(calls.lock().bytes, ARGUMENTS_MAX);
        assert_eq!(calls.lock().calls.len(), 64);
        assert!(
            calls.begun(&agent, Trust::Verified, 99).is_some()
                && calls.begun(&agent, Trust::Verified, 35).is_none()
        );
        calls.forget(&agent, Trust::Verified, 99);
        assert_eq!(calls.lock().bytes, ARGUMENTS_MAX - large.len());
    }
}
