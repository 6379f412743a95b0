//! What happens, as it happens. A stream that breaks off is taken up again where it broke.

use std::time::Duration;

use reqwest::{Method, Response};
use serde::Deserialize;
use serde_json::Value;
use verger_api::Time;

use super::sse::{Message, Parser};
use crate::backoff::Backoff;
use crate::error::Error;
use crate::transport::Transport;

/// A monitor says every 15 seconds that it is there; one that does not is gone, whatever the connection says.
const SILENCE_MAX: Duration = Duration::from_secs(50);
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LONGEST: Duration = Duration::from_secs(15);

/// One event. Those of a newer monitor may be of types that this version does not know: they are kept as they came.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number in the journal.
    pub id: String,
    /// Its type, as in `HEALTH_STATE_CHANGED`.
    pub kind: String,
    /// When it happened.
    pub time: Time,
    /// Whom it is about.
    pub subject: Option<String>,
    /// What happened.
    pub data: Value,
    /// The whole event, as it came.
    pub json: String,
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    time: Time,
    subject: Option<String>,
    #[serde(default)]
    data: Value,
}

impl Event {
    /// Reads one.
    pub fn read(json: &str) -> Result<Self, serde_json::Error> {
        let Envelope { id, kind, time, subject, data } = serde_json::from_str(json)?;
        Ok(Self { id, kind, time, subject, data, json: json.to_owned() })
    }
}

/// What comes out of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Streamed {
    /// Something happened.
    Event(Box<Event>),
    /// What happened since the last event is no longer all there; it goes on with this one.
    Reset {
        /// The number of the first event that is still there.
        from: String,
    },
}

/// What happens, as it happens.
#[derive(Debug)]
pub struct EventStream {
    transport: Transport,
    response: Option<Response>,
    parser: Parser,
    last: Option<String>,
    backoff: Backoff,
}

impl EventStream {
    pub(super) async fn open(transport: Transport, last: Option<String>) -> Result<Self, Error> {
        let backoff = Backoff::new(RETRY_FIRST, RETRY_LONGEST);
        let mut stream = Self { transport, response: None, parser: Parser::default(), last, backoff };
        stream.connect().await?;
        Ok(stream)
    }

    /// The number of the last event that came out.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// The next event. After an error the stream may be asked again: it waits a little, connects, and resumes.
    pub async fn next(&mut self) -> Result<Streamed, Error> {
        loop {
            if let Some(message) = self.parser.next() {
                return self.on_message(message);
            }
            match &mut self.response {
                None => self.connect_again().await?,
                Some(response) => {
                    let chunk = tokio::time::timeout(SILENCE_MAX, response.chunk()).await;
                    match chunk {
                        Ok(Ok(Some(bytes))) if self.parser.feed(&bytes).is_ok() => self.backoff.reset(),
                        // It ended, broke, fell silent, or is no stream of events.
                        _ => self.response = None,
                    }
                }
            }
        }
    }

    fn on_message(&mut self, message: Message) -> Result<Streamed, Error> {
        if message.event == "reset" {
            let from: Value = serde_json::from_str(&message.data).unwrap_or_default();
            let from = from["from"].as_str().unwrap_or_default().to_owned();
            return Ok(Streamed::Reset { from });
        }
        let event = Event::read(&message.data).map_err(|error| self.transport.foreign(error.to_string()))?;
        // Events that are not kept have no number to resume from.
        if let Some(id) = message.id {
            self.last = Some(id);
        }
        Ok(Streamed::Event(Box::new(event)))
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        tokio::time::sleep(self.backoff.next(None)).await;
        self.connect().await
    }

    async fn connect(&mut self) -> Result<(), Error> {
        self.parser = Parser::default();
        let mut asked = self.transport.ask(Method::GET, &["v1", "events"], &[])?;
        if let Some(last) = &self.last {
            asked = asked.header("last-event-id", last);
        }
        self.response = Some(asked.open().await?);
        Ok(())
    }
}
