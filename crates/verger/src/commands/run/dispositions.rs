//! Which signals this process was started to ignore. What nobody handles stays ignored, by the program too.

use std::fs;

/// Whether the signal of this number is ignored.
pub(super) fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    is_in(&status, signal)
}

fn is_in(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (1..=64).contains(&signal) && (mask >> (signal - 1)) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_tells_which_are_ignored() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tffff\n";
        assert!(is_in(status, 1) && is_in(status, 13));
        assert!(!is_in(status, 2) && !is_in(status, 0) && !is_in("", 1));
    }
}
