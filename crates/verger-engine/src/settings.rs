//! How the loop is paced.

use verger_core::time::Span;

/// How the loop is paced. The defaults are the product's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Lateness that is still ordinary scheduling. Longer gaps are blindness. Default: 1 s.
    pub tolerance: Span,
    /// Vital signs are on disk within this time; more of them cost a commit each. Default: 1 s.
    pub vitals_every: Span,
    /// Longest sleep, and longest time without a durable mark: a crash loses at most this much observed
    /// time. Default: 10 s.
    pub mark_every: Span,
    /// Inputs taken in one turn. Bounds a batch, and with it the time of one commit. Default: 4096.
    pub inputs_max: usize,
    /// Changed state rows that are written at once, without waiting for `vitals_every`. Bounds the memory of a batch and
    /// the time of its commit, in which nothing is seen, also where a million agents beat. Default: 16384.
    pub rows_max: usize,
    /// Wait before the first retry of a failed commit; it doubles up to `vitals_every`. Default: 50 ms.
    pub retry_after: Span,
    /// Events, effects and answers that may wait behind a batch that cannot be written. Beyond it nothing is taken, and
    /// that time counts as blindness: it bounds the memory of a monitor whose disk is full for days. Default: 65536.
    pub unwritten_max: usize,
    /// An effect that could not leave for this long after it was decided is not carried out: the core hears
    /// that it failed and decides again on what it knows by then. Default: 60 s.
    pub stale_after: Span,
    /// Blindness this long may have cost connections and signals, as a restart does. Default: 30 s.
    pub forgive_after: Span,
    /// After a restart nobody is blamed for silence this long: agents have to connect again. Default: 60 s.
    pub restart_grace: Span,
    /// Vital signs and pings wait for the disk too. Default: no.
    pub strict: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: Span::secs(1),
            vitals_every: Span::secs(1),
            mark_every: Span::secs(10),
            inputs_max: 4_096,
            rows_max: 16_384,
            retry_after: Span::millis(50),
            unwritten_max: 65_536,
            stale_after: Span::secs(60),
            forgive_after: Span::secs(30),
            restart_grace: Span::secs(60),
            strict: false,
        }
    }
}
