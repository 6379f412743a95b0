//! How a process ended: by itself, by a signal, or for want of memory.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::WaitIdStatus;
use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum End {
    /// By itself, with this code; 0 is success.
    Code {
        /// What it returned.
        code: i32,
    },
    /// By a signal.
    Signal {
        /// Its number.
        signal: i32,
        /// Whether the system wrote down its memory.
        core_dumped: bool,
    },
    /// The system took it because memory ran out. [`MemoryWatch::explain`](super::MemoryWatch::explain) tells.
    OutOfMemory {
        /// Whether the control group of this very tree says so; the machine's own count may speak of another.
        certain: bool,
    },
}

impl End {
    pub(super) fn of(status: &WaitIdStatus) -> Option<Self> {
        if let Some(code) = status.exit_status() {
            return Some(Self::Code { code });
        }
        let signal = status.terminating_signal()?;
        Some(Self::Signal { signal, core_dumped: status.dumped() })
    }

    /// Whether it ended by itself and well.
    pub fn is_clean(self) -> bool {
        self == Self::Code { code: 0 }
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code { code },
            (None, signal) => {
                Self::Signal { signal: signal.unwrap_or_default(), core_dumped: status.core_dumped() }
            }
        }
    }
}

impl fmt::Display for End {
    /// The rest of a sentence: `it …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { code: 0 } => write!(f, "ended cleanly"),
            Self::Code { code } => write!(f, "ended with code {code}"),
            Self::Signal { signal, core_dumped } => {
                match name_of(*signal) {
                    Some(name) => write!(f, "was ended by {name}"),
                    None => write!(f, "was ended by signal {signal}"),
                }?;
                if *core_dumped { write!(f, " and dumped core") } else { Ok(()) }
            }
            Self::OutOfMemory { certain: true } => write!(f, "was ended because memory ran out"),
            Self::OutOfMemory { certain: false } => write!(f, "was probably ended because memory ran out"),
        }
    }
}

/// Names of the signals that end programs, by the numbers that nearly all Linux machines share.
fn name_of(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_a_sentence() {
        let told = |end: End| format!("it {end}");
        assert_eq!(told(End::Code { code: 0 }), "it ended cleanly");
        assert_eq!(told(End::Code { code: 3 }), "it ended with code 3");
        assert_eq!(told(End::Signal { signal: 9, core_dumped: false }), "it was ended by SIGKILL");
        assert_eq!(
            told(End::Signal { signal: 11, core_dumped: true }),
            "it was ended by SIGSEGV and dumped core"
        );
        assert_eq!(told(End::Signal { signal: 60, core_dumped: false }), "it was ended by signal 60");
        assert_eq!(told(End::OutOfMemory { certain: false }), "it was probably ended because memory ran out");
    }
}
