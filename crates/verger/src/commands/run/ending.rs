//! Ends as the program ended, so that whoever started the wrapper cannot tell the difference.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use verger_act::process::End;

use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};

/// The name of the word that has this program end itself by a signal.
pub(super) const END_BY: &str = "__end-by";

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this code.
    Code(i32),
    /// By the signal of this number.
    Signal(i32),
}

impl From<Ending> for End {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Code(code) => Self::Code { code },
            Ending::Signal(signal) => Self::Signal { signal, core_dumped: false },
        }
    }
}

impl Ending {
    /// Whether it ended by itself and said that all went well.
    pub(super) fn is_clean(self) -> bool {
        self == Self::Code(0)
    }

    /// The exit code, if no signal ended it.
    pub(super) fn code(self) -> Option<i32> {
        if let Self::Code(code) = self { Some(code) } else { None }
    }

    /// The signal that ended it.
    pub(super) fn signal(self) -> Option<i32> {
        if let Self::Signal(signal) = self { Some(signal) } else { None }
    }

    /// Ends this process in the same way. Nothing of it runs after this.
    pub(super) fn follow(self) -> ! {
        let signal = match self {
            Self::Code(code) => std::process::exit(code),
            Self::Signal(signal) => signal,
        };
        // Handlers of ours are in the way. A program that is executed anew has none, and is the same process.
        let program = super::own_program();
        let _ = Command::new(program).arg(END_BY).arg(signal.to_string()).exec();
        end_by(signal)
    }
}

/// What this program does when it is called to end itself by a signal.
pub(super) fn ended_by(arguments: &[OsString]) -> ! {
    let signal = arguments.first().and_then(|signal| signal.to_str()?.parse().ok());
    end_by(signal.unwrap_or_default())
}

/// By the signal; where that does not end a process, with the code that shells make of it.
fn end_by(signal: i32) -> ! {
    if let Some(named) = Signal::from_named_raw(signal) {
        // One core is enough, and the program's own is the one that tells something.
        let limit = Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum };
        let _ = setrlimit(Resource::Core, limit);
        let _ = kill_process(getpid(), named);
    }
    std::process::exit(128_i32.saturating_add(signal))
}
