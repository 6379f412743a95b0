//! Why a monitor could not be started, in words for the person who has to mend it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use verger_engine::OpenError;

use crate::access::SecretError;
use crate::monitor::StartError;

/// Why a monitor could not be started, or did not end as it was told to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The data directory cannot be used; perhaps another monitor works there.
    #[error(transparent)]
    Store(#[from] verger_store::Error),
    /// The admin's token cannot be had.
    #[error(transparent)]
    Token(#[from] SecretError),
    /// Somebody else listens there, or nobody may.
    #[error("could not listen at {address}; another address is given by `--listen`")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There is no socket for local clients.
    #[error(transparent)]
    Socket(#[from] crate::unix::BindError),
    /// The address is open to others, and nothing protects it.
    #[error(
        "listening at {0}, beyond this machine, needs `access.tls`; `--insecure` does without, where others may listen in"
    )]
    Exposed(SocketAddr),
    /// A certificate or its key is not what it should be.
    #[error("could not use the certificate or key in {path}: {why}")]
    Certificate {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The secret that is shared with another program cannot be had.
    #[error(transparent)]
    Secret(#[from] verger_act::SecretError),
    /// An address that is to be called is none.
    #[error("`{place}` of the configuration: {source}")]
    Target {
        /// Where it is configured.
        place: &'static str,
        /// What is wrong with it.
        #[source]
        source: verger_act::TargetError,
    },
    /// A header that is to be sent is none.
    #[error("`{place}` of the configuration: {why}")]
    Header {
        /// Where it is configured.
        place: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The means to call other programs cannot be had.
    #[error(transparent)]
    Client(#[from] verger_act::ClientError),
    /// What is remembered cannot be used.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A file in the data directory cannot be written.
    #[error("could not write {path}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The operating system gives no random numbers.
    #[error("no random numbers can be had")]
    Random(#[source] io::Error),
    /// It was told to end while its disk could not be written.
    #[error(
        "it has ended; what was acknowledged is on disk, what was judged lately could not be written: {0}"
    )]
    Unwritten(String),
    /// The loop ended by itself, which it never should.
    #[error("the monitor's loop has ended by itself; what was acknowledged is on disk")]
    LoopEnded,
    /// A part beside the loop ended by itself, which none should: effects, samples or events would stay undone.
    #[error("a part of the monitor has broken; what was acknowledged is on disk, start it again")]
    PartEnded,
}

impl ServeError {
    /// What is wrong with the data, if that is the reason.
    pub fn of_data(&self) -> Option<&verger_store::Error> {
        match self {
            Self::Store(error) | Self::Start(StartError::Store(error)) => Some(error),
            Self::Start(StartError::Open(OpenError::Store(error))) => error.cause.downcast_ref(),
            _ => None,
        }
    }
}
