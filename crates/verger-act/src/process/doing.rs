//! What a process waits in, as far as it may be looked at: a hint, never a proof.
//!
//! The kernel tells the number of the call that a process is in, and its arguments, to its own user. Numbers differ
//! between machines; where they are not known, or may not be seen, the answer is [`Doing::Unknown`].

use std::fs;

use super::identity::Identity;
use super::proc::{self, State};

/// What a process waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It is on a processor.
    Working,
    /// It reads from a terminal: it waits for a person.
    ReadingTerminal,
    /// It reads from a pipe, a socket or a file.
    Reading,
    /// It waits until one of several things happens, as programs with an event loop do, also at a prompt.
    Polling,
    /// It waits for a signal, as some shells do for their children.
    AwaitingSignal,
    /// It waits for a child.
    WaitingForChild,
    /// It sleeps for a time.
    Sleeping,
    /// It waits for another thread.
    Lock,
    /// It cannot be told.
    Unknown,
}

/// What the first thread of a process waits in; `None` if the process is gone.
pub fn doing(process: &Identity) -> Option<Doing> {
    let stat = proc::stat(process.pid).filter(|stat| process.is_meant_by(stat) && stat.is_alive())?;
    if stat.state == State::Running {
        return Some(Doing::Working);
    }
    let text = proc::read(process.pid, "syscall").unwrap_or_default();
    Some(of_call(&String::from_utf8_lossy(&text), |file| is_terminal(process.pid, file)))
}

/// `230 0x0 0x1 …`: the number of the call and its arguments.
fn of_call(line: &str, is_terminal: impl FnOnce(u64) -> bool) -> Doing {
    let mut words = line.split_ascii_whitespace();
    let Some(call) = words.next().and_then(|word| word.parse().ok()).and_then(Call::of) else {
        return if line.starts_with("running") { Doing::Working } else { Doing::Unknown };
    };
    let first = words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    match call {
        Call::Read if first.is_some_and(is_terminal) => Doing::ReadingTerminal,
        Call::Read | Call::Receive => Doing::Reading,
        Call::Poll => Doing::Polling,
        Call::Signal => Doing::AwaitingSignal,
        Call::Wait => Doing::WaitingForChild,
        Call::Sleep => Doing::Sleeping,
        Call::Lock => Doing::Lock,
    }
}

#[derive(Clone, Copy)]
enum Call {
    Read,
    Receive,
    Poll,
    Signal,
    Wait,
    Sleep,
    Lock,
}

impl Call {
    #[cfg(target_arch = "x86_64")]
    fn of(number: i64) -> Option<Self> {
        Some(match number {
            0 | 17 | 19 => Self::Read,
            45 | 47 | 43 | 288 | 299 => Self::Receive,
            7 | 23 | 232 | 270 | 271 | 281 | 441 => Self::Poll,
            34 | 128 | 130 => Self::Signal,
            61 | 247 => Self::Wait,
            35 | 230 => Self::Sleep,
            202 | 449 | 454 | 455 => Self::Lock,
            _ => return None,
        })
    }

    #[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
    fn of(number: i64) -> Option<Self> {
        Some(match number {
            63 | 65 | 67 => Self::Read,
            202 | 207 | 212 | 242 | 243 => Self::Receive,
            22 | 72 | 73 | 441 => Self::Poll,
            133 | 137 => Self::Signal,
            95 | 260 => Self::Wait,
            101 | 115 => Self::Sleep,
            98 | 449 | 454 | 455 => Self::Lock,
            _ => return None,
        })
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
    fn of(_: i64) -> Option<Self> {
        None
    }
}

fn is_terminal(pid: u32, file: u64) -> bool {
    let target = fs::read_link(proc::path(pid, &format!("fd/{file}"))).unwrap_or_default();
    let target = target.to_string_lossy();
    target.starts_with("/dev/pts/") || target.starts_with("/dev/tty") || target == "/dev/console"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_call_tells_what_is_waited_for() {
        let told = |line| of_call(line, |file| file == 3);
        assert_eq!(told("0 0x3 0x7f 0x1"), Doing::ReadingTerminal);
        assert_eq!(told("0 0x4 0x7f 0x1"), Doing::Reading);
        assert_eq!(told("230 0x0 0x0"), Doing::Sleeping);
        assert_eq!(told("61 0xffffffff"), Doing::WaitingForChild);
        assert_eq!(told("232 0x4"), Doing::Polling);
        assert_eq!(told("running"), Doing::Working);
        for strange in ["", "-1 0x7ff 0x7ff", "99999 0x1", "0"] {
            assert!(matches!(told(strange), Doing::Unknown | Doing::Reading), "{strange}");
        }
    }
}
