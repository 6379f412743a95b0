//! What a program says by `sd_notify`, told to the monitor; and whether its own watchdog is overdue.

use std::time::{Duration, Instant, SystemTime};

use verger_api::{AgentStatus, Time};
use verger_ingest::sd_notify::{Notification, Watchdog as Word};

use super::reporter::Reporter;

/// What the program promised about its signs of life.
pub(super) struct Watchdog {
    every: Option<Duration>,
    due: Instant,
    hangs: bool,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        Self { every: None, due: Instant::now(), hangs: false }
    }

    /// Whether it is silent for longer than it said it would be, or said itself that it hangs.
    pub(super) fn is_overdue(&self) -> bool {
        self.hangs || (self.every.is_some() && self.due < Instant::now())
    }

    fn on_word(&mut self, said: &Notification) {
        if let Some(every) = said.watchdog_every {
            self.every = Some(every).filter(|every| !every.is_zero());
        }
        match said.watchdog {
            Some(Word::Alive) => self.hangs = false,
            Some(Word::Hangs) => self.hangs = true,
            None => {}
        }
        let next = self.every.filter(|_| said.watchdog.is_some() || said.watchdog_every.is_some());
        // Whoever asks for more time has it.
        if let Some(span) = next.into_iter().chain(said.extend).max() {
            self.due = self.due.max(Instant::now() + span);
        }
    }
}

/// Takes one datagram in. What is none is passed over.
pub(super) fn take(datagram: &[u8], watchdog: &mut Watchdog, reporter: &mut Reporter) {
    let Ok(said) = Notification::parse(datagram) else { return };
    watchdog.on_word(&said);
    let status = said.status.clone().filter(|status| !status.is_empty());
    if let Some(span) = said.extend {
        reporter.say(AgentStatus::Busy, Some(after(span)), status);
    } else if said.stopping {
        reporter.say(AgentStatus::Busy, None, status.or_else(|| Some("it is stopping".to_owned())));
    } else if said.reloading {
        reporter.say(
            AgentStatus::Busy,
            None,
            status.or_else(|| Some("it loads its configuration".to_owned())),
        );
    } else if said.ready || status.is_some() {
        reporter.say(AgentStatus::Healthy, None, status);
    } else if said.watchdog == Some(Word::Alive) {
        reporter.active();
    }
}

fn after(span: Duration) -> Time {
    let at =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().saturating_add(span);
    Time::from_millis(i64::try_from(at.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Notification {
        Notification::parse(text.as_bytes()).expect("a notification")
    }

    #[test]
    fn h02_a_watchdog_is_overdue_only_where_one_was_promised() {
        let mut watchdog = Watchdog::new();
        watchdog.on_word(&said("WATCHDOG=1"));
        assert!(!watchdog.is_overdue(), "nobody said how often");
        watchdog.on_word(&said("WATCHDOG_USEC=60000000\nWATCHDOG=1"));
        assert!(!watchdog.is_overdue());
        watchdog.due = Instant::now();
        assert!(watchdog.is_overdue());
        watchdog.on_word(&said("EXTEND_TIMEOUT_USEC=60000000"));
        assert!(!watchdog.is_overdue(), "it asked for more time");
        watchdog.on_word(&said("WATCHDOG=trigger"));
        assert!(watchdog.is_overdue());
        watchdog.on_word(&said("WATCHDOG=1"));
        assert!(!watchdog.is_overdue());
        watchdog.on_word(&said("WATCHDOG_USEC=0"));
        watchdog.due = Instant::now();
        assert!(!watchdog.is_overdue(), "it was taken back");
    }
}
