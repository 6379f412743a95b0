//! The person's terminal, and the one that is made for the program.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use rustix::process::getpgrp;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{
    OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, tcsetwinsize,
};

/// Both ends of a new terminal.
pub(super) struct Pair {
    /// What the person sees and types goes here.
    pub(super) outer: OwnedFd,
    /// What the program has for its terminal.
    pub(super) inner: OwnedFd,
}

/// Whether somebody sits at a terminal that is this process's now.
pub(super) fn is_used() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && is_foreground()
}

/// Whether this process belongs to a terminal at all.
pub(super) fn is_there() -> bool {
    File::open("/dev/tty").is_ok()
}

/// Whether the terminal is this process's now, and not the shell's that sent it to the background.
pub(super) fn is_foreground() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}

impl Pair {
    /// A terminal as the person's: as large, and with the same keys.
    pub(super) fn like_the_persons() -> io::Result<Self> {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&outer)?;
        unlockpt(&outer)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let inner = ioctl_tiocgptpeer(&outer, flags)?;
        tcsetattr(&inner, OptionalActions::Now, &tcgetattr(stdin())?)?;
        resize(&outer);
        Ok(Self { outer, inner })
    }
}

/// The program's terminal gets the size of the person's.
pub(super) fn resize(outer: impl AsFd) {
    // A size that cannot be told stays as it was.
    let _ = tcgetwinsize(stdout()).and_then(|size| tcsetwinsize(&outer, size));
}

/// The person's terminal, whose every key goes to the program. Dropped, it is as it was.
pub(super) struct Raw {
    before: Termios,
    is_raw: Mutex<bool>,
}

impl Raw {
    pub(super) fn enter() -> io::Result<Self> {
        let raw = Self { before: tcgetattr(stdin())?, is_raw: Mutex::new(false) };
        raw.resume();
        Ok(raw)
    }

    /// As the program needs it, unless the terminal is another's now.
    pub(super) fn resume(&self) {
        if !is_foreground() {
            return;
        }
        let mut raw = self.before.clone();
        raw.make_raw();
        let mut is_raw = self.is_raw.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *is_raw = tcsetattr(stdin(), OptionalActions::Now, &raw).is_ok();
    }

    /// As it was before.
    pub(super) fn pause(&self) {
        let mut is_raw = self.is_raw.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *is_raw && is_foreground() {
            let _ = tcsetattr(stdin(), OptionalActions::Drain, &self.before);
        }
        *is_raw = false;
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.pause();
    }
}
