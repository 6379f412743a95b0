//! What the exit code says, so that scripts can tell a failure from a wrong call.

use std::fmt::Write;
use std::process::ExitCode;

use verger_client::Error;

/// How a command ended. The numbers are part of the public interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done = 0,
    /// It tried and failed.
    Failed = 1,
    /// It was called wrongly, and did nothing.
    Usage = 2,
    /// What it was asked about does not exist.
    NotFound = 3,
    /// Access or policy forbids it.
    Refused = 4,
    /// There is no monitor to ask.
    Unreachable = 5,
}

impl Exit {
    const ALL: [(Self, &str); 6] = [
        (Self::Done, "done"),
        (Self::Failed, "failed"),
        (Self::Usage, "wrong usage"),
        (Self::NotFound, "not found"),
        (Self::Refused, "refused by access or policy"),
        (Self::Unreachable, "the monitor can't be reached"),
    ];

    /// How a request to the monitor ended that came to nothing.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Unreachable { .. } => Self::Unreachable,
            Error::Refused { problem, .. } => match problem.status {
                400 | 422 => Self::Usage,
                404 => Self::NotFound,
                401 | 403 | 409 | 410 | 429 => Self::Refused,
                _ => Self::Failed,
            },
            Error::Address(_) | Error::Name(_) => Self::Usage,
            _ => Self::Failed,
        }
    }

    /// The table for `--help`.
    pub(crate) fn help() -> String {
        let mut help = String::from("Exit codes:\n");
        for (exit, meaning) in Self::ALL {
            writeln!(help, "  {}  {meaning}", exit as u8).expect("a String takes everything");
        }
        help
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
