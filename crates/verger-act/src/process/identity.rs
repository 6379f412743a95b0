//! Which process is meant, beyond doubt (X10).
//!
//! A number alone is not enough: numbers are given again. A process is its number, the time at which it was started
//! and the boot in which that was. Numbers mean something in one pid namespace, so that is named too. Since Linux 6.9
//! each process has a serial number that is never given again before the next boot; where it is known it decides,
//! because start times are told in hundredths of a second and a number can come back sooner, if somebody forces it.

use std::fmt;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

use rustix::fs::{fstat, fstatfs};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use super::handle::{self, Handle, OpenError};
use super::proc::{self, Stat};

/// The file system of pidfds, since Linux 6.9: the number of a file there is the serial number of its process.
const PIDFS_MAGIC: i128 = 0x5049_4446;

/// One process, also after it has ended and its number has become another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// Its number.
    pub pid: u32,
    /// When it was started, in hundredths of a second since the boot.
    pub started: u64,
    /// The boot in which that was.
    pub boot: Boot,
    /// The pid namespace in which the number holds.
    pub space: u64,
    /// Its serial number, where the kernel has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
}

/// One boot of one machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Boot(u128);

impl Identity {
    /// The process that has this number now, running or not yet reaped.
    pub fn of(pid: u32) -> Option<Self> {
        // The pidfd first: if the process behind it has not ended once the line was read, the line is its own.
        let pidfd = raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let stat = proc::stat(pid)?;
        let serial = pidfd.filter(|pidfd| !handle::has_ended(pidfd)).and_then(|pidfd| serial_of(&pidfd));
        Some(Self { serial, ..Self::by_line(&stat) })
    }

    /// This process itself.
    pub fn own() -> Self {
        Self::of(std::process::id()).expect("a process that runs can be seen in /proc")
    }

    /// Whether this process is still there, running or not yet reaped. Its number alone may be another's.
    pub fn is_same(&self) -> bool {
        proc::stat(self.pid).is_some_and(|stat| self.is_meant_by(&stat)) && self.open().is_ok()
    }

    /// Whether this process still runs.
    pub fn is_alive(&self) -> bool {
        proc::stat(self.pid).is_some_and(|stat| self.is_meant_by(&stat) && stat.is_alive())
            && self.open().is_ok()
    }

    /// Takes hold of the process, so that it can be waited for and signalled. A process that has the same number by
    /// chance is never taken: what was opened is compared with what is meant, and can then no longer change.
    pub fn open(&self) -> Result<Handle, OpenError> {
        let pid = raw(self.pid).filter(|_| self.is_here()).ok_or(OpenError::Gone)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(OpenError::of)?;
        let is_it = match (self.serial, serial_of(&pidfd)) {
            (Some(meant), Some(found)) => meant == found,
            // It was started before it was opened; so if it has the number now, it had it then.
            _ => proc::stat(self.pid).is_some_and(|stat| self.is_meant_by(&stat)),
        };
        if is_it { Ok(Handle::new(*self, pidfd)) } else { Err(OpenError::Gone) }
    }

    /// By the line in `/proc` alone.
    pub(super) fn by_line(stat: &Stat) -> Self {
        Self { pid: stat.pid, started: stat.started, boot: Boot::current(), space: space(), serial: None }
    }

    /// Whether this line of `/proc` can be that of the process.
    pub(super) fn is_meant_by(&self, stat: &Stat) -> bool {
        self.is_here() && (self.pid, self.started) == (stat.pid, stat.started)
    }

    fn is_here(&self) -> bool {
        self.boot == Boot::current() && self.space == space()
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

impl Boot {
    /// The boot of this machine; 0 where it cannot be told, as in a container without that file.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Boot> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
            Self::try_from(text.trim().to_owned()).unwrap_or(Self(0))
        })
    }
}

impl TryFrom<String> for Boot {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text.replace('-', ""), 16).map(Self)
    }
}

impl From<Boot> for String {
    fn from(boot: Boot) -> Self {
        format!("{:032x}", boot.0)
    }
}

impl fmt::Debug for Boot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from(*self))
    }
}

/// A number as the system calls want it.
pub(super) fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// The pid namespace of this process; 0 where that cannot be told.
fn space() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    *OWN.get_or_init(|| fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino()))
}

fn serial_of(pidfd: impl AsFd) -> Option<u64> {
    let is_pidfs = fstatfs(&pidfd).is_ok_and(|system| i128::from(system.f_type) == PIDFS_MAGIC);
    is_pidfs.then(|| fstat(&pidfd).ok().map(|status| status.st_ino))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_itself_and_nobody_else() {
        let own = Identity::own();
        assert!(own.is_same() && own.is_alive() && own.open().is_ok());
        let others = [
            Identity { started: own.started + 1, serial: None, ..own },
            Identity { boot: Boot(1), ..own },
            Identity { space: own.space + 1, ..own },
            Identity { serial: own.serial.map(|serial| serial + 1), ..own },
            Identity { pid: own.pid + 1, ..own },
            Identity { pid: 0, ..own },
            Identity { pid: u32::MAX, ..own },
        ];
        for other in others {
            // A kernel without serial numbers makes one of them equal to itself.
            assert!(
                other == own || (!other.is_same() && matches!(other.open(), Err(OpenError::Gone))),
                "{other:?}"
            );
        }
    }

    #[test]
    fn an_identity_is_written_and_read_as_json() {
        let own = Identity::own();
        let text = serde_json::to_string(&own).expect("JSON");
        assert_eq!(serde_json::from_str::<Identity>(&text).expect("an identity"), own, "{text}");
        let strange = text.replace(&String::from(own.boot), "no boot");
        assert!(serde_json::from_str::<Identity>(&strange).is_err());
    }
}
