//! Why a request came to nothing.

use verger_api::Problem;

use crate::access::Withheld;
use crate::address::AddressError;

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nobody to ask, or no answer came.
    #[error("the monitor at {at} can't be reached: {why}")]
    Unreachable {
        /// Where it was looked for.
        at: String,
        /// What the attempt ended with.
        why: String,
    },
    /// The monitor turned the request down, and said why.
    #[error("{problem}{}", withheld.as_ref().map_or_else(String::new, |why| format!("; {why}")))]
    Refused {
        /// All that it said.
        problem: Box<Problem>,
        /// Why no token went with the request, where one was needed.
        withheld: Option<Withheld>,
    },
    /// Something answers, and not as a monitor does.
    #[error(
        "what answers at {at} does not speak as a monitor does ({what}); is it another program, or version?"
    )]
    Foreign {
        /// Where.
        at: String,
        /// What it answered.
        what: String,
    },
    /// The address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A name that cannot stand in an address.
    #[error("`{0}` cannot be the name of anything")]
    Name(String),
    /// The means to make requests cannot be had.
    #[error("the HTTP client could not be set up: {0}")]
    Client(String),
}

impl Error {
    /// What the monitor said, if it turned the request down.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused { problem, .. } => Some(problem),
            _ => None,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Foreign { .. } => true,
            Self::Refused { problem, .. } => matches!(problem.status, 408 | 429 | 500..),
            Self::Address(_) | Self::Name(_) | Self::Client(_) => false,
        }
    }
}

/// What lies at the bottom of an error: the rest repeats the address.
pub(crate) fn root(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
