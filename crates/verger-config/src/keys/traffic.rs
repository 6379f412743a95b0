//! How much the monitor takes from whom (X13): sizes, rates, connections, and how long each may take.

use verger_core::time::Span;

use super::{nested, thresholds};
use crate::kind::{Kind, MANY, at_least, count};
use crate::settings::Traffic;
use crate::shape::{Entry, section};

const RATE: Kind = count(1, MANY);

thresholds! {
    /// The keys, in the order in which a request meets them.
    TRAFFIC: Traffic;
    "connections", |it| it.connections, count(16, 1_000_000),
        "Connections at one time, where the system allows for as many open files. Beyond it whoever says nothing is let go, else newcomers get 503.";
    "connections_per_address", |it| it.connections_per_address, count(1, MANY),
        "Of these from one address; addresses of this machine are not limited by it.";
    "head_timeout", |it| it.head_timeout, at_least(Span::millis(100)),
        "How long a connection may be silent before a request, and how long the head of one may take.";
    "head", |it| it.head, Kind::Size,
        "The most that the head of a request may hold, its address and all headers. Larger ones get 431.";
    "headers", |it| it.headers, count(8, 100),
        "Headers of one request. More get 431.";
    "body", |it| it.body, Kind::Size,
        "The largest body that is read. Larger ones get 413.";
    "bodies", |it| it.bodies, Kind::Size,
        "The most that all bodies together may hold that are being read and taken in. Beyond it large ones get 503.";
    "body_timeout", |it| it.body_timeout, at_least(Span::millis(100)),
        "How long all of a body may take.";
    "batch", |it| it.batch, count(1, 1_000_000),
        "Heartbeats or signals in one body. What follows is rejected.";
    "agent_rate", |it| it.agent_rate, Kind::Optional(&RATE),
        "Heartbeats and signals of one agent in a second, over time. Beyond it they get 429.";
    "agent_burst", |it| it.agent_burst, RATE,
        "So many more at once, as after an outage.";
    "reader_rate", |it| it.reader_rate, Kind::Optional(&RATE),
        "Requests by one token that may only read, in a second, over time. Beyond it they get 429.";
    "reader_burst", |it| it.reader_burst, RATE,
        "So many more at once.";
    "streams", |it| it.streams, count(1, 1_000_000),
        "Answers that do not end, at one time: events, inboxes, watched health. More get 503.";
    "answer_timeout", |it| it.answer_timeout, at_least(Span::millis(100)),
        "Who takes next to nothing of its answer for so long is cut off; a stream can be resumed.";
}

/// `traffic:`.
pub(crate) fn entry() -> Entry {
    let rows = nested(TRAFFIC.iter().map(|row| (row.name, row.kind, row.meaning)));
    section("traffic", rows, "How much is taken from whom.")
}
