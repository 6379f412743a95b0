//! Every code that a problem document may carry: what it is called, and its HTTP status.
//!
//! The core gives out VG01 to VG03; those that begin with VG04 are added by HTTP. Titles are the headings of the
//! pages in `docs/src/errors/`, and a test holds them together.

/// One code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// As in `VG0101`.
    pub code: &'static str,
    /// The status of an answer that carries it.
    pub status: u16,
    /// What it is called.
    pub title: &'static str,
}

/// What is known of a code.
pub fn find(code: &str) -> Option<&'static Code> {
    // The table is in order.
    CODES.binary_search_by(|known| known.code.cmp(code)).ok().map(|at| &CODES[at])
}

const fn code(code: &'static str, status: u16, title: &'static str) -> Code {
    Code { code, status, title }
}

/// All codes, in order.
pub const CODES: &[Code] = &[
    code("VG0101", 404, "unknown agent"),
    code("VG0102", 409, "superseded incarnation"),
    code("VG0103", 409, "nothing to decide"),
    code("VG0104", 409, "the agent has ended"),
    code("VG0105", 409, "the agent is being stopped already"),
    code("VG0106", 429, "the agent's budget is used up"),
    code("VG0107", 422, "unknown role"),
    code("VG0108", 429, "no room for more agents"),
    code("VG0201", 500, "a state row is damaged"),
    code("VG0202", 500, "a state row is newer than this version"),
    code("VG0203", 500, "the database is damaged"),
    code("VG0204", 500, "the database was written by a newer version"),
    code("VG0205", 500, "another monitor uses the data"),
    code("VG0206", 500, "the data directory cannot be used"),
    code("VG0301", 404, "no such incident"),
    code("VG0302", 404, "no such event"),
    code("VG0303", 409, "the event is no alarm"),
    code("VG0311", 404, "nothing to recover"),
    code("VG0312", 409, "the task is over"),
    code("VG0313", 409, "it runs already"),
    code("VG0314", 409, "the agent works on something else"),
    code("VG0315", 404, "no such checkpoint"),
    code("VG0316", 409, "nothing to settle"),
    code("VG0317", 503, "no room for more recoveries"),
    code("VG0321", 404, "no such task"),
    code("VG0322", 409, "the task is over"),
    code("VG0323", 409, "somebody else's task"),
    code("VG0324", 503, "no room for more tasks"),
    code("VG0325", 422, "a name is too long"),
    code("VG0326", 403, "proof needed"),
    code("VG0331", 404, "no such receiver"),
    code("VG0332", 409, "the name of the message is taken"),
    code("VG0333", 503, "no room for more messages"),
    code("VG0334", 404, "no such message"),
    code("VG0335", 403, "somebody else's message"),
    code("VG0341", 503, "the breaker refuses the call"),
    code("VG0342", 404, "no such breaker"),
    code("VG0343", 503, "too many checkpoints wait"),
    code("VG0344", 404, "no such checkpoint waits"),
    code("VG0351", 422, "the ticket is not complete"),
    code("VG0352", 409, "a ticket of this name exists"),
    code("VG0353", 503, "no room for another ticket"),
    code("VG0354", 404, "no such ticket"),
    code("VG0355", 409, "nothing to decide about this ticket"),
    code("VG0356", 404, "the session is not followed"),
    code("VG0357", 503, "too many workers are followed"),
    code("VG0361", 422, "the probes are refused"),
    code("VG0362", 409, "the result of a probe is not awaited"),
    code("VG0401", 400, "the body cannot be read"),
    code("VG0402", 422, "a field is missing or wrong"),
    code("VG0403", 400, "a parameter is wrong"),
    code("VG0404", 400, "the cursor is not valid"),
    code("VG0405", 413, "the body is too large"),
    code("VG0406", 415, "the format is not supported"),
    code("VG0407", 404, "no such address"),
    code("VG0408", 405, "the method is not allowed"),
    code("VG0409", 431, "the head is too large"),
    code("VG0411", 401, "a token is needed"),
    code("VG0412", 401, "the token is not valid"),
    code("VG0413", 403, "this token may not do that"),
    code("VG0414", 403, "the request comes from elsewhere"),
    code("VG0415", 403, "an agent must not decide about itself"),
    code("VG0416", 410, "the sign-in link is used up"),
    code("VG0417", 404, "no such token"),
    code("VG0421", 429, "too many requests"),
    code("VG0422", 503, "the monitor cannot keep up"),
    code("VG0423", 503, "the monitor is not ready"),
    code("VG0424", 503, "the store failed"),
    code("VG0425", 500, "internal error"),
    code("VG0426", 503, "too many connections"),
    code("VG0431", 409, "the checkpoint does not fit"),
    code("VG0432", 500, "the checkpoint is damaged"),
    code("VG0433", 409, "the file is there already"),
];

/// What HTTP adds to the refusals of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpError {
    /// The body is not the JSON that is expected.
    UnreadableBody,
    /// The body is JSON, and a field of it is not what it should be.
    WrongField,
    /// A parameter of the query is not what it should be.
    WrongQuery,
    /// A cursor was changed or belongs to another list.
    WrongCursor,
    /// The body is larger than anything that is taken.
    TooLarge,
    /// The body is of a kind that is not read here.
    UnsupportedMedia,
    /// Nothing is served at this address.
    NoSuchAddress,
    /// The address is served, and not by this method.
    WrongMethod,
    /// Address and headers are more than is read.
    HeadTooLarge,
    /// Nobody said who asks.
    NoToken,
    /// A token that opens nothing, or no longer.
    BadToken,
    /// The token is valid, and does not reach so far.
    NotAllowed,
    /// A web page or a rebound name tries to reach a local monitor.
    WrongOrigin,
    /// The request comes from inside a watched process tree.
    WatchedTree,
    /// A link that signs a browser in works once, for a minute.
    SignInLink,
    /// No token has this name, or it was revoked already.
    NoSuchToken,
    /// Whoever asks, asks too often.
    TooManyRequests,
    /// More comes in than can be taken.
    Overloaded,
    /// It is starting or stopping.
    NotReady,
    /// What was to be kept could not be.
    Storage,
    /// A fault of the monitor.
    Internal,
    /// There are as many connections, or streams, as may be.
    TooManyConnections,
    /// Its parent or its name stands against it.
    CheckpointConflict,
    /// What is on disk is not what was saved.
    CheckpointDamaged,
    /// No event of this number is kept.
    NoSuchEvent,
    /// Nobody was alarmed by this event, so it cannot have been a false alarm.
    NoAlarm,
    /// A file that was to be made is there.
    FileExists,
}

impl HttpError {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::UnreadableBody,
        Self::WrongField,
        Self::WrongQuery,
        Self::WrongCursor,
        Self::TooLarge,
        Self::UnsupportedMedia,
        Self::NoSuchAddress,
        Self::WrongMethod,
        Self::HeadTooLarge,
        Self::NoToken,
        Self::BadToken,
        Self::NotAllowed,
        Self::WrongOrigin,
        Self::WatchedTree,
        Self::SignInLink,
        Self::NoSuchToken,
        Self::TooManyRequests,
        Self::Overloaded,
        Self::NotReady,
        Self::Storage,
        Self::Internal,
        Self::TooManyConnections,
        Self::CheckpointConflict,
        Self::CheckpointDamaged,
        Self::NoSuchEvent,
        Self::NoAlarm,
        Self::FileExists,
    ];

    /// Stable code; `docs/src/errors/<code>.md` tells the operator what to do.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnreadableBody => "VG0401",
            Self::WrongField => "VG0402",
            Self::WrongQuery => "VG0403",
            Self::WrongCursor => "VG0404",
            Self::TooLarge => "VG0405",
            Self::UnsupportedMedia => "VG0406",
            Self::NoSuchAddress => "VG0407",
            Self::WrongMethod => "VG0408",
            Self::HeadTooLarge => "VG0409",
            Self::NoToken => "VG0411",
            Self::BadToken => "VG0412",
            Self::NotAllowed => "VG0413",
            Self::WrongOrigin => "VG0414",
            Self::WatchedTree => "VG0415",
            Self::SignInLink => "VG0416",
            Self::NoSuchToken => "VG0417",
            Self::TooManyRequests => "VG0421",
            Self::Overloaded => "VG0422",
            Self::NotReady => "VG0423",
            Self::Storage => "VG0424",
            Self::Internal => "VG0425",
            Self::TooManyConnections => "VG0426",
            Self::CheckpointConflict => "VG0431",
            Self::CheckpointDamaged => "VG0432",
            Self::NoSuchEvent => "VG0302",
            Self::NoAlarm => "VG0303",
            Self::FileExists => "VG0433",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// The pages of the book, as code and heading.
    fn pages() -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/errors");
        let mut pages: Vec<_> = fs::read_dir(folder)
            .expect("the book's errors")
            .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("a page"))
            .filter_map(|page| {
                let (code, title) = page.lines().next()?.strip_prefix("# ")?.split_once(": ")?;
                Some((code.to_owned(), title.to_owned()))
            })
            .collect();
        pages.sort();
        pages
    }

    #[test]
    fn every_code_is_called_what_its_page_is_called() {
        let codes: Vec<_> =
            CODES.iter().map(|known| (known.code.to_owned(), known.title.to_owned())).collect();
        assert_eq!(codes, pages());
    }

    #[test]
    fn every_code_that_http_adds_is_found_with_its_status() {
        for error in HttpError::ALL {
            let known = find(error.code()).expect("a known code");
            assert!((400..600).contains(&known.status), "{known:?}");
        }
        assert_eq!(find("VG9"), None);
    }
}
