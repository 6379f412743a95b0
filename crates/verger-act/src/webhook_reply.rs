//! What a receiver made of a request: whether it is done, worth another try, or in vain.

use std::error::Error;
use std::fmt;
use std::io;
use std::iter::successors;
use std::time::Duration;

/// What became of a request. Shows itself as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Where it went: the host, and its port.
    pub host: String,
    /// What came back.
    pub reply: Reply,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The receiver has it.
    Accepted(Answer),
    /// The receiver does not want it; trying again does not help.
    Refused(Answer),
    /// The receiver could not take it now; trying again may help.
    Failed(Answer),
    /// No complete answer came. The receiver may have it nevertheless; trying again may help.
    Unreachable(Unreachable),
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its HTTP status.
    pub status: u16,
    /// Its text, up to 64 KiB.
    pub body: String,
    /// How long the receiver asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why no complete answer came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// The host's name leads nowhere.
    #[error("no address is known for its name")]
    NoAddress,
    /// The host is there, and its port is closed.
    #[error("nobody listens there")]
    NobodyListens,
    /// The time was up.
    #[error("it did not answer in time")]
    TooSlow,
    /// It is not who it should be, or does not speak TLS.
    #[error("no trusted connection could be made: {0}")]
    Untrusted(String),
    /// It cannot be connected to, for another reason.
    #[error("no connection could be made")]
    NoConnection,
    /// It closed the connection before its answer was complete, or answered something else than HTTP.
    #[error("the connection broke before there was an answer")]
    BrokenOff,
}

impl From<Answer> for Reply {
    /// Redirects count as refused: they are not followed, so trying again leads to the same one.
    fn from(answer: Answer) -> Self {
        match answer.status {
            200..300 => Self::Accepted(answer),
            408 | 425 | 429 | 500.. => Self::Failed(answer),
            _ => Self::Refused(answer),
        }
    }
}

impl From<&reqwest::Error> for Unreachable {
    fn from(error: &reqwest::Error) -> Self {
        let causes = || successors(error.source(), |cause| beneath(*cause));
        if error.is_timeout() {
            Self::TooSlow
        } else if error.is_dns() {
            Self::NoAddress
        } else if let Some(error) = causes().find_map(<dyn Error>::downcast_ref::<rustls::Error>) {
            Self::Untrusted(error.to_string())
        } else if causes().any(is_refused) {
            Self::NobodyListens
        } else if error.is_connect() {
            Self::NoConnection
        } else {
            Self::BrokenOff
        }
    }
}

/// What lies beneath an error. One of I/O does not name what it wraps as its source.
fn beneath<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map(|within| within as &(dyn Error + 'static)).or_else(|| error.source())
}

fn is_refused(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match &self.reply {
            Reply::Accepted(answer) => write!(f, "{host} accepted it ({})", answer.status),
            Reply::Refused(Answer { status: status @ 300..400, .. }) => {
                write!(f, "{host} sent it elsewhere ({status}), and redirects are not followed")
            }
            Reply::Refused(answer) => write!(f, "{host} refused it ({})", answer.status),
            Reply::Failed(Answer { status, retry_after: Some(wait), .. }) => {
                write!(f, "{host} could not take it ({status}) and asks to wait {} s", wait.as_secs())
            }
            Reply::Failed(answer) => write!(f, "{host} could not take it ({})", answer.status),
            Reply::Unreachable(why) => write!(f, "{host} was not reached: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_says_whether_another_try_may_help() {
        let reply = |status| Reply::from(Answer { status, body: String::new(), retry_after: None });
        for status in [200, 201, 202, 204, 299] {
            assert!(matches!(reply(status), Reply::Accepted(_)), "{status}");
        }
        for status in [301, 307, 400, 401, 403, 404, 410, 422] {
            assert!(matches!(reply(status), Reply::Refused(_)), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 599] {
            assert!(matches!(reply(status), Reply::Failed(_)), "{status}");
        }
    }
}
