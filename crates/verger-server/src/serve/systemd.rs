//! What systemd is told (X08): that the monitor is ready, loads its configuration, ends, and that its loop turns.
//!
//! One datagram for each word, to the socket that `NOTIFY_SOCKET` names; by hand, because that is all of it. Where
//! nobody asked, nothing is sent. A watchdog is fed only when the loop has just turned: it is asked to each time, so a
//! monitor whose loop hangs is started again, however well it answers.

use std::env;
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

use crate::monitor::Monitor;

/// The way to systemd, if there is one.
#[derive(Debug, Default)]
pub struct Systemd {
    way: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Systemd {
    /// As the environment says.
    pub fn of_environment() -> Self {
        let watchdog = env::var("WATCHDOG_USEC").ok();
        let pid = env::var("WATCHDOG_PID").ok();
        Self::new(env::var_os("NOTIFY_SOCKET").as_deref(), watchdog.as_deref(), pid.as_deref())
    }

    fn new(socket: Option<&OsStr>, watchdog: Option<&str>, pid: Option<&str>) -> Self {
        let way = socket.and_then(address).and_then(|address| {
            let socket = UnixDatagram::unbound().ok()?;
            // A supervisor that does not read holds nobody up.
            socket.set_nonblocking(true).ok()?;
            Some((socket, address))
        });
        // It may be meant for another process that was started by the same unit.
        let is_ours = pid.is_none_or(|pid| pid.parse() == Ok(std::process::id()));
        let micros = watchdog.and_then(|micros| micros.parse().ok()).filter(|micros| *micros > 0);
        let watchdog = micros.filter(|_| is_ours && way.is_some()).map(Duration::from_micros);
        Self { way, watchdog }
    }

    /// Everything is served.
    pub(super) fn ready(&self, url: &str) {
        self.send(&format!("READY=1\nSTATUS=watching, at {url}"));
    }

    /// The configuration is about to be loaded.
    pub(super) fn reloads(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000);
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// It was, or was refused: either way the monitor goes on.
    pub(super) fn reloaded(&self) {
        self.send("READY=1");
    }

    /// It ends, in good order.
    pub(super) fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=writing down what is known");
    }

    /// Feeds the watchdog for as long as the loop turns, twice in its time. Never ends.
    pub(super) async fn feed(&self, monitor: &Monitor) {
        let Some(watchdog) = self.watchdog else { return std::future::pending().await };
        let half = watchdog / 2;
        loop {
            let ((), turns) = tokio::join!(tokio::time::sleep(half), monitor.turns_within(half));
            if turns {
                self.send("WATCHDOG=1");
            }
        }
    }

    fn send(&self, words: &str) {
        if let Some((socket, address)) = &self.way {
            // One that is gone is nobody's fault here.
            let _ = socket.send_to_addr(words.as_bytes(), address);
        }
    }
}

/// A path, or a name that is not in the file system: that begins with `@`.
fn address(name: &OsStr) -> Option<SocketAddr> {
    match name.as_bytes() {
        [b'@', abstract_name @ ..] => SocketAddr::from_abstract_name(abstract_name).ok(),
        [b'/', ..] => SocketAddr::from_pathname(Path::new(name)).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x08_what_is_not_meant_for_this_process_is_left_alone() {
        let socket = Some(OsStr::new("/run/x"));
        let own = std::process::id().to_string();
        let fed = |socket, micros, pid| Systemd::new(socket, micros, pid).watchdog;
        assert_eq!(fed(socket, Some("3000000"), None), Some(Duration::from_secs(3)));
        assert_eq!(fed(socket, Some("3000000"), Some(own.as_str())), Some(Duration::from_secs(3)));
        assert_eq!(fed(socket, Some("3000000"), Some("1")), None);
        for nothing in [Some("0"), Some("-1"), Some("soon"), None] {
            assert_eq!(fed(socket, nothing, None), None, "{nothing:?}");
        }
        assert_eq!(fed(None, Some("3000000"), None), None);
        assert!(Systemd::new(Some(OsStr::new("relative")), None, None).way.is_none());
    }
}
