//! Where the reader of a stream goes on, who saw some of it before.
//!
//! Events have numbers without gaps. A reader that comes back names the last one that it saw (`Last-Event-ID`), gets
//! everything after it, and is told by a `reset` when that is not all there any more.

/// A header that is no number of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Last-Event-ID must be a number")]
pub struct LastEventIdError;

/// Reads `Last-Event-ID`. It may be any number, also one that no event has.
pub fn last_event_id(header: &[u8]) -> Result<i64, LastEventIdError> {
    let text = str::from_utf8(header).map_err(|_| LastEventIdError)?;
    text.trim().parse().map_err(|_| LastEventIdError)
}

/// Where a stream goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Behind this event.
    pub after: i64,
    /// Its reader missed something, and is to be told.
    pub reset: bool,
}

impl Resume {
    /// Behind the event that was seen last; without one, behind the newest. A journal that is empty has no oldest
    /// event, and yet a newest number if it had events once.
    pub fn of(seen: Option<i64>, oldest: Option<i64>, newest: i64) -> Self {
        let before_oldest = oldest.map_or(newest, |oldest| oldest.saturating_sub(1));
        let wanted = seen.unwrap_or(newest);
        // A number that was never given comes from another journal.
        let reset = wanted < before_oldest || newest < wanted;
        Self { after: if reset { before_oldest } else { wanted }, reset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l49_a_reader_goes_on_behind_what_it_saw_or_is_told_that_it_missed_something() {
        let of = |seen, oldest, newest| {
            let Resume { after, reset } = Resume::of(seen, oldest, newest);
            (after, reset)
        };
        assert_eq!(of(None, Some(3), 9), (9, false), "who saw nothing begins with what comes");
        assert_eq!(of(Some(5), Some(3), 9), (5, false));
        assert_eq!(of(Some(2), Some(3), 9), (2, false), "nothing lies between");
        assert_eq!(of(Some(1), Some(3), 9), (2, true), "event 2 is forgotten");
        assert_eq!(of(Some(10), Some(3), 9), (2, true), "of another journal");
        assert_eq!(of(Some(9), None, 9), (9, false), "all are forgotten, and all were seen");
        assert_eq!(of(Some(8), None, 9), (9, true));
        assert_eq!(of(Some(i64::MAX), Some(i64::MIN), 0), (i64::MIN, true));
        assert_eq!(of(Some(i64::MIN), Some(1), 0), (0, true));
    }

    #[test]
    fn l49_a_header_that_is_no_number_is_refused() {
        assert_eq!(last_event_id(b" 12 "), Ok(12));
        for none in ["", "x", "1.0", "99999999999999999999", "1 2", "\u{661}"] {
            assert_eq!(last_event_id(none.as_bytes()), Err(LastEventIdError), "{none:?}");
        }
        assert_eq!(last_event_id(b"\xff"), Err(LastEventIdError));
    }
}
