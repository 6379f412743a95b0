//! How long an attempt waits: 60, 120, 240 s, each prolonged at random.
//!
//! The random number is an argument. It is mixed with the task's name, so that tasks which fail in the same
//! step, and are given the same number, do not come back in the same second. A wait is only ever prolonged:
//! the configured one is what people expect at least.

use super::Policy;
use crate::id::TaskId;
use crate::time::Span;

/// The wait before this attempt, counted from one.
pub(crate) fn delay(attempt: u8, task: &TaskId, random: u64, policy: &Policy) -> Span {
    let index = usize::from(attempt.max(1)) - 1;
    let base = policy.backoff.get(index).or(policy.backoff.last()).copied().unwrap_or(Span::ZERO);
    base + jitter(base, mixed(random, task, attempt), policy)
}

/// A random part of the first wait alone: spreads what waited for the same thing.
pub(crate) fn spread(task: &TaskId, random: u64, policy: &Policy) -> Span {
    let base = policy.backoff.first().copied().unwrap_or(Span::ZERO);
    jitter(base, mixed(random, task, 0), policy)
}

fn jitter(base: Span, random: u64, policy: &Policy) -> Span {
    let most = base.as_millis().saturating_mul(u64::from(policy.jitter_percent)) / 100;
    Span::millis(random % most.saturating_add(1).max(1))
}

/// FNV-1a over the name, then the finalizer of `SplitMix64`.
fn mixed(random: u64, task: &TaskId, attempt: u8) -> u64 {
    let bytes = task.as_str().bytes().chain([attempt]);
    let named = bytes.fold(random ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let once = (named ^ (named >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let twice = (once ^ (once >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    twice ^ (twice >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn x14_what_waited_for_the_same_thing_does_not_come_back_at_once() {
        let policy = Policy { jitter_percent: 50, ..Policy::default() };
        let tasks = (0..20).map(|number| TaskId::from(format!("t{number}")));
        let spreads: BTreeSet<Span> = tasks.map(|task| spread(&task, 7, &policy)).collect();
        assert!(spreads.len() > 15, "{spreads:?}");
        assert!(spreads.iter().all(|span| *span <= policy.backoff[0].half()), "{spreads:?}");
    }
}
