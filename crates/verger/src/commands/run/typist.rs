//! Types reminders into the program's terminal, when it reads and nobody else types.
//!
//! A reminder in the middle of what a person types would spoil both. So it waits: until the last line that was typed is
//! finished, nothing has been typed or printed for a moment, and whoever has the terminal waits for something to read.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::termios::tcgetpgrp;
use verger_act::process::{Doing, Identity, doing};

use super::relay::{Flow, write_all};

/// More than this wait for nobody: the oldest are given up.
const WAITING_MAX: usize = 8;
/// A person who has typed nothing for so long is not typing.
const UNTYPED: Duration = Duration::from_secs(2);
/// A program that has printed nothing for so long has finished its prompt.
const UNPRINTED: Duration = Duration::from_millis(300);
/// No reminder is longer.
const TEXT_MAX: usize = 4_000;

/// Reminders that are still to be typed.
#[derive(Debug, Default)]
pub(super) struct Typist {
    waiting: VecDeque<String>,
}

impl Typist {
    /// Takes a reminder, as one line.
    pub(super) fn take(&mut self, text: &str) {
        let line: String =
            text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let line: String = line.trim().chars().take(TEXT_MAX).collect();
        if line.is_empty() {
            return;
        }
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(line);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Types the next one if this is the moment for it.
    pub(super) fn try_to_type(&mut self, terminal: &OwnedFd, flow: &Flow) {
        let is_quiet = UNTYPED <= flow.untyped_for() && UNPRINTED <= flow.silent_for();
        if flow.is_line_open() || !is_quiet || !is_read(terminal) {
            return;
        }
        if let Some(line) = self.waiting.pop_front() {
            // A terminal that is gone is seen elsewhere.
            let _ = write_all(terminal, format!("{line}\r").as_bytes());
        }
    }
}

/// Whether whoever has the terminal waits for something to read there.
fn is_read(terminal: &OwnedFd) -> bool {
    let group = tcgetpgrp(terminal).ok().map(|group| group.as_raw_nonzero().get().unsigned_abs());
    let reader = group.and_then(Identity::of).and_then(|leader| doing(&leader));
    matches!(reader, Some(Doing::ReadingTerminal | Doing::Polling))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_is_one_line_and_few_wait() {
        let mut typist = Typist::default();
        typist.take("stop\nand \x1b[2Jthink");
        assert_eq!(typist.waiting, ["stop and  [2Jthink"]);
        typist.take(" \r\n");
        for number in 0..20 {
            typist.take(&number.to_string());
        }
        assert_eq!((typist.waiting.len(), typist.waiting[0].as_str()), (WAITING_MAX, "12"));
    }
}
