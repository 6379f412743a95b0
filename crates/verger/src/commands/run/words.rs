//! What wrapper and keeper say to each other: a line each, over a socket that only the two know.

use std::fmt;

/// What the keeper tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The program runs as this process: its number, when it was started, and its serial number, if it has one.
    Started(u32, u64, Option<u64>),
    /// It could not be started: the system's number of the error.
    NotStarted(i32),
    /// A signal of this number stopped it.
    Stopped(i32),
    /// It goes on.
    Continued,
    /// It ended by itself, with this code.
    Exited(i32),
    /// A signal of this number ended it.
    Killed(i32),
}

/// What the wrapper wants of the keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The program, which a person stopped, goes on.
    Continue,
    /// A signal of this number, for the program.
    Signal(i32),
    /// The program has ended; what it left behind stays.
    Leave,
    /// All that is left of the tree ends.
    End,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid, at, Some(serial)) => write!(f, "started {pid} {at} {serial}"),
            Self::Started(pid, at, None) => write!(f, "started {pid} {at}"),
            Self::NotStarted(errno) => write!(f, "not-started {errno}"),
            Self::Stopped(signal) => write!(f, "stopped {signal}"),
            Self::Continued => f.write_str("continued"),
            Self::Exited(code) => write!(f, "exited {code}"),
            Self::Killed(signal) => write!(f, "killed {signal}"),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continue => f.write_str("continue"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Leave => f.write_str("leave"),
            Self::End => f.write_str("end"),
        }
    }
}

impl Told {
    pub(super) fn read(line: &str) -> Option<Self> {
        let (word, value) = parts(line);
        Some(match (word, value) {
            ("started", Some(pid)) => {
                let mut rest = line.split_ascii_whitespace().skip(2).map(str::parse);
                let at = rest.next()?.ok()?;
                Self::Started(u32::try_from(pid).ok()?, at, rest.next().transpose().ok()?)
            }
            ("not-started", Some(errno)) => Self::NotStarted(errno),
            ("stopped", Some(signal)) => Self::Stopped(signal),
            ("continued", None) => Self::Continued,
            ("exited", Some(code)) => Self::Exited(code),
            ("killed", Some(signal)) => Self::Killed(signal),
            _ => return None,
        })
    }
}

impl Wanted {
    pub(super) fn read(line: &str) -> Option<Self> {
        Some(match parts(line) {
            ("continue", None) => Self::Continue,
            ("signal", Some(signal)) => Self::Signal(signal),
            ("leave", None) => Self::Leave,
            ("end", None) => Self::End,
            _ => return None,
        })
    }
}

fn parts(line: &str) -> (&str, Option<i32>) {
    let mut words = line.split_ascii_whitespace();
    (words.next().unwrap_or_default(), words.next().and_then(|value| value.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let told = [
            Told::Started(7, 8, None),
            Told::Started(7, 8, Some(u64::MAX)),
            Told::NotStarted(2),
            Told::Stopped(19),
            Told::Continued,
            Told::Exited(0),
            Told::Killed(9),
        ];
        for word in told {
            assert_eq!(Told::read(&word.to_string()), Some(word));
        }
        for word in [Wanted::Continue, Wanted::Signal(15), Wanted::Leave, Wanted::End] {
            assert_eq!(Wanted::read(&word.to_string()), Some(word));
        }
        assert_eq!((Told::read("exited"), Wanted::read("dance")), (None, None));
    }
}
