//! Who is at the other end of the socket, as the kernel says.

use tokio::net::UnixStream;

/// A process that connected. Its credentials are those of the moment at which it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalPeer {
    /// Its user; nobody if the kernel did not say.
    pub uid: Option<u32>,
    /// Its number; none if it cannot be seen from here.
    pub pid: Option<u32>,
}

impl LocalPeer {
    /// Who is at the other end of this.
    pub fn of(stream: &UnixStream) -> Self {
        let Ok(credentials) = stream.peer_cred() else { return Self { uid: None, pid: None } };
        // A process of another namespace has number 0 here.
        let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
        Self { uid: Some(credentials.uid()), pid }
    }

    /// Whether it may use the socket at all: the monitor's own user may, and the one who may do everything anyway.
    pub fn is_owner(self) -> bool {
        self.uid.is_some_and(|uid| uid == 0 || uid == rustix::process::geteuid().as_raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_is_for_its_own_user() {
        let own = rustix::process::geteuid().as_raw();
        let may = |uid| LocalPeer { uid, pid: Some(1) }.is_owner();
        assert!(may(Some(own)) && may(Some(0)));
        assert!(!may(Some(own + 1)) && !may(None));
    }
}
