//! How long a line of checkpoints waits after a failure.

use super::name::BreakerName;
use super::policy::WritesPolicy;
use crate::time::Span;

/// However it is configured, no line that fails is tried more often: the monitor would do nothing else.
pub(super) const PAUSE_MIN: Span = Span::secs(1);

/// How long the line waits after one failure more than `failures`: twice as long each time, and up to a quarter more,
/// by name, so that lines which failed together do not come back together.
pub(super) fn pause_after(failures: u32, breaker: &BreakerName, policy: &WritesPolicy) -> Span {
    let longest = policy.pause_max.max(PAUSE_MIN);
    let doubled = policy.pause.max(PAUSE_MIN).times(1 << failures.min(32)).min(longest);
    let hash = breaker
        .as_str()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let share = u64::from(hash >> 24);
    doubled + Span::millis(doubled.as_millis() / 4 / 256 * share)
}

/// No line waits longer.
pub(super) fn longest_pause(policy: &WritesPolicy) -> Span {
    let longest = policy.pause_max.max(PAUSE_MIN);
    longest + Span::millis(longest.as_millis() / 4)
}
