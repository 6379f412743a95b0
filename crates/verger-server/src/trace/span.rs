//! One thing that was done, from when until when, and how it ended.

use super::context::Context;

/// What kind of thing it is, by the words of `OpenTelemetry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Within the monitor.
    Internal = 1,
    /// Somebody asked the monitor.
    Server = 2,
    /// The monitor asks somebody.
    Client = 3,
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// There is nothing to say about it.
    #[default]
    Unset,
    Well,
    Badly(String),
}

/// A value that says something of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
}

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) context: Context,
    /// The span that it hangs below, unless the trace begins with it.
    pub(super) parent: Option<[u8; 8]>,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// In milliseconds, by the wall clock.
    pub(super) from: i64,
    pub(super) until: i64,
    pub(super) said: Vec<(&'static str, Value)>,
    pub(super) end: End,
}

impl Span {
    pub(super) fn says(&mut self, name: &'static str, value: impl Into<String>) {
        self.said.push((name, Value::Text(value.into())));
    }

    pub(super) fn counts(&mut self, name: &'static str, value: impl Into<i64>) {
        self.said.push((name, Value::Number(value.into())));
    }
}
