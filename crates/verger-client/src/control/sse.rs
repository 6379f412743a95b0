//! Reads server-sent events out of bytes, however they are cut.
//!
//! As the HTML standard has it, less what no monitor sends: no carriage returns alone, no `retry`. A line may be cut
//! anywhere, also within a letter, so lines are put together as bytes.

use std::collections::VecDeque;

/// A line longer than this is no event of a monitor.
const LINE_MAX: usize = 16 << 20;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    /// The event's number, to resume from.
    pub(super) id: Option<String>,
    /// Its name.
    pub(super) event: String,
    /// What it holds.
    pub(super) data: String,
}

/// What streams past is not a stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Puts events together.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    message: Message,
    has_data: bool,
    ready: VecDeque<Message>,
}

impl Parser {
    /// Takes the next bytes in.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if LINE_MAX < self.line.len() + piece.len() + self.message.data.len() {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.on_line(&String::from_utf8_lossy(&line));
            }
        }
        Ok(())
    }

    /// The next event that is whole.
    pub(super) fn next(&mut self) -> Option<Message> {
        self.ready.pop_front()
    }

    fn on_line(&mut self, line: &str) {
        let line = line.trim_end_matches('\n').trim_end_matches('\r');
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            if std::mem::take(&mut self.has_data) {
                self.ready.push_back(message);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.message.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.message.event),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
            }
            // A comment keeps the connection alive; what is not known is ignored.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Message> {
        let mut parser = Parser::default();
        for piece in pieces {
            parser.feed(piece).expect("short lines");
        }
        std::iter::from_fn(|| parser.next()).collect()
    }

    fn message(id: Option<&str>, event: &str, data: &str) -> Message {
        Message { id: id.map(ToOwned::to_owned), event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn events_are_read_between_comments_and_what_is_not_known() {
        let text = ":\n\nid: 7\r\nevent: NUDGE_SENT\r\ndata: {\"a\":\ndata:  1}\nretry: 3\n\nevent: reset\ndata:x\n\nid: 9\n";
        assert_eq!(
            read(&[text.as_bytes()]),
            [message(Some("7"), "NUDGE_SENT", "{\"a\":\n 1}"), message(None, "reset", "x")]
        );
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        let fed: Result<Vec<()>, TooLong> = (0..64).map(|_| parser.feed(&piece)).collect();
        assert_eq!(fed, Err(TooLong));
    }

    proptest! {
        #[test]
        fn however_a_stream_is_cut_the_same_is_read(
            events in prop::collection::vec(("[0-9]{1,5}", "[A-Z_]{1,10}", "[^\n\r]{0,20}"), 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let written = |(id, event, data): &(String, String, String)| format!("id: {id}\nevent: {event}\ndata: {data}\n\n");
            let text = events.iter().map(written).collect::<Vec<_>>().concat();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.push(text.len());
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for to in at {
                pieces.push(&text.as_bytes()[from..to]);
                from = to;
            }
            let expected: Vec<_> = events.iter().map(|(id, event, data)| message(Some(id), event, data)).collect();
            prop_assert_eq!(read(&pieces), expected);
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read(&[&bytes]);
        }
    }
}
