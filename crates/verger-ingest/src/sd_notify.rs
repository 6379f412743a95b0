//! What a program says of itself in systemd's words: a datagram of lines like `READY=1`, to `NOTIFY_SOCKET`.
//!
//! Any program that can be a systemd service can be watched so, without knowing of Verger. Rules are those of systemd
//! where it has some: a datagram of more than 4096 bytes or with a NUL inside is not read at all, of a word that comes
//! twice the first counts, and words that are not known are passed over. Anybody in the tree can send anything, so
//! nothing here grows, and no text reaches a terminal with control characters in it.

use std::time::Duration;

/// The longest datagram that is read; systemd's own limit.
pub const DATAGRAM_MAX: usize = 4096;
/// Characters of a status that are kept.
pub const STATUS_MAX: usize = 256;

/// What one datagram says. Words that it does not hold are `None` or `false`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notification {
    /// `READY=1`: it has started, or has loaded its configuration again.
    pub ready: bool,
    /// `RELOADING=1`: it loads its configuration.
    pub reloading: bool,
    /// `STOPPING=1`: it ends, because it wants to.
    pub stopping: bool,
    /// `STATUS=`: what it does, for people. One line, at most 256 characters; empty takes back the last.
    pub status: Option<String>,
    /// `WATCHDOG=`: that it is alive, or that it knows it is not.
    pub watchdog: Option<Watchdog>,
    /// `WATCHDOG_USEC=`: how often it will say so from now on; zero is never.
    pub watchdog_every: Option<Duration>,
    /// `EXTEND_TIMEOUT_USEC=`: how long from now it needs for what it does, before it is to be judged.
    pub extend: Option<Duration>,
    /// `MAINPID=`: which process is the one to be watched. A claim, to be checked against the tree.
    pub main_pid: Option<u32>,
    /// `ERRNO=`: why it failed.
    pub errno: Option<u32>,
    /// How many lines were none of these, or had a value that means nothing.
    pub passed_over: usize,
}

/// What `WATCHDOG=` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watchdog {
    /// `1`: it is alive.
    Alive,
    /// `trigger`: it has seen that it hangs, and wants to be treated so.
    Hangs,
}

/// Why a datagram was not read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotificationError {
    /// It is longer than systemd would read.
    #[error("a notification of more than {DATAGRAM_MAX} bytes")]
    TooLong,
    /// There is a NUL inside.
    #[error("a notification with a NUL inside")]
    Nul,
}

impl Notification {
    /// Reads one datagram. Receive it into a buffer longer than [`DATAGRAM_MAX`], so that one too long is seen to be.
    pub fn parse(datagram: &[u8]) -> Result<Self, NotificationError> {
        if datagram.len() > DATAGRAM_MAX {
            return Err(NotificationError::TooLong);
        }
        // Some programs send the end of their string with it.
        let text = datagram.strip_suffix(b"\0").unwrap_or(datagram);
        if text.contains(&0) {
            return Err(NotificationError::Nul);
        }
        let mut notification = Self::default();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if notification.take(line).is_none() {
                notification.passed_over += 1;
            }
        }
        Ok(notification)
    }

    /// Whether it says nothing that is understood.
    pub fn is_empty(&self) -> bool {
        *self == Self { passed_over: self.passed_over, ..Self::default() }
    }

    /// `None` if the line says nothing.
    fn take(&mut self, line: &[u8]) -> Option<()> {
        let equals = line.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&line[..equals], &line[equals + 1..]);
        let text = || std::str::from_utf8(value).ok();
        let micros = || text()?.parse().ok().map(Duration::from_micros);
        match name {
            b"READY" => self.ready |= is_one(value)?,
            b"RELOADING" => self.reloading |= is_one(value)?,
            b"STOPPING" => self.stopping |= is_one(value)?,
            b"STATUS" => keep(&mut self.status, one_line(value)),
            b"WATCHDOG" => keep(&mut self.watchdog, Watchdog::of(value)?),
            b"WATCHDOG_USEC" => keep(&mut self.watchdog_every, micros()?),
            b"EXTEND_TIMEOUT_USEC" => keep(&mut self.extend, micros()?),
            b"MAINPID" => keep(&mut self.main_pid, text()?.parse().ok().filter(is_pid)?),
            b"ERRNO" => keep(&mut self.errno, text()?.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

impl Watchdog {
    fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"1" => Some(Self::Alive),
            b"trigger" => Some(Self::Hangs),
            _ => None,
        }
    }
}

/// The first that is said counts.
fn keep<T>(place: &mut Option<T>, value: T) {
    place.get_or_insert(value);
}

fn is_one(value: &[u8]) -> Option<bool> {
    (value == b"1").then_some(true)
}

fn is_pid(pid: &u32) -> bool {
    i32::try_from(*pid).is_ok_and(|pid| pid > 0)
}

/// Text for people: what is not UTF-8 is replaced, and what would move a cursor is a space.
fn one_line(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let safe = text.chars().map(|letter| if is_unsafe(letter) { ' ' } else { letter });
    safe.take(STATUS_MAX).collect::<String>().trim().to_owned()
}

/// Control characters, and those that change the direction of what follows.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Notification {
        Notification::parse(text.as_bytes()).expect("it can be read")
    }

    #[test]
    fn each_word_is_understood() {
        let all = read(
            "READY=1\nRELOADING=1\nSTOPPING=1\nSTATUS=step 3 of 9\nWATCHDOG=1\nWATCHDOG_USEC=2000000\n\
             EXTEND_TIMEOUT_USEC=60000000\nMAINPID=4711\nERRNO=2\n",
        );
        let expected = Notification {
            ready: true,
            reloading: true,
            stopping: true,
            status: Some("step 3 of 9".to_owned()),
            watchdog: Some(Watchdog::Alive),
            watchdog_every: Some(Duration::from_secs(2)),
            extend: Some(Duration::from_mins(1)),
            main_pid: Some(4711),
            errno: Some(2),
            passed_over: 0,
        };
        assert_eq!(all, expected);
        assert_eq!(read("WATCHDOG=trigger").watchdog, Some(Watchdog::Hangs));
        assert_eq!(read("WATCHDOG=1\0").watchdog, Some(Watchdog::Alive), "the end of a string in C");
        assert_eq!(read("STATUS=").status.as_deref(), Some(""), "an empty one takes back the last");
        assert!(read("").is_empty());
    }

    #[test]
    fn what_means_nothing_is_passed_over_and_spoils_nothing() {
        let strange = "READY=2\nready=1\nFDSTORE=1\nMAINPID=0\nMAINPID=-1\nMAINPID=4294967295\nWATCHDOG=yes\n\
                       WATCHDOG_USEC=soon\nEXTEND_TIMEOUT_USEC=-1\nEXTEND_TIMEOUT_USEC=99999999999999999999\n\
                       no word\n=\nSTOPPING=1";
        let read = read(strange);
        assert_eq!(read, Notification { stopping: true, passed_over: 12, ..Notification::default() });
    }

    #[test]
    fn of_a_word_that_comes_twice_the_first_counts() {
        assert_eq!(read("STATUS=a\nSTATUS=b\nMAINPID=1\nMAINPID=2").status.as_deref(), Some("a"));
        assert_eq!(read("MAINPID=0\nMAINPID=2").main_pid, Some(2), "one that means nothing does not count");
    }

    #[test]
    fn what_systemd_would_not_read_is_not_read() {
        let long = [b'x'; DATAGRAM_MAX + 1];
        assert_eq!(Notification::parse(&long), Err(NotificationError::TooLong));
        assert!(Notification::parse(&long[1..]).is_ok());
        assert_eq!(Notification::parse(b"READY=1\0STOPPING=1"), Err(NotificationError::Nul));
    }

    #[test]
    fn a_status_is_one_harmless_line() {
        let status = |value: &[u8]| {
            let datagram = [b"STATUS=", value].concat();
            Notification::parse(&datagram).expect("it can be read").status.expect("a status")
        };
        assert_eq!(status(b"\x1b[2Jgone\rhere\t"), "[2Jgone here");
        assert_eq!(status(b"\xff ok"), "\u{fffd} ok");
        assert_eq!(status("a\u{202e}b".as_bytes()), "a b");
        assert_eq!(status(&[b'x'; 4000]).chars().count(), STATUS_MAX);
    }

    proptest! {
        #[test]
        fn no_datagram_is_too_strange_to_be_read(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
            if let Ok(read) = Notification::parse(&bytes) {
                let status = read.status.unwrap_or_default();
                prop_assert!(status.chars().count() <= STATUS_MAX && !status.chars().any(char::is_control));
            }
        }

        #[test]
        fn words_among_rubbish_are_found(before in "[a-zA-Z=0-9 ]{0,40}", after in "[^\0]{0,40}") {
            let text = format!("X{before}\nWATCHDOG=1\n{after}");
            prop_assert!(read(&text).watchdog.is_some());
        }
    }
}
