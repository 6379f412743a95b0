//! OTLP: the messages of `opentelemetry/proto/collector/trace/v1`, as far as they are sent.

use prost::Message;

use super::span::{End, Span as Done, Value as Said};

/// What sends them.
pub(super) const SCOPE: &str = "verger";

/// A batch, as a receiver takes it.
pub(super) fn encode(spans: Vec<Done>, version: &str) -> Vec<u8> {
    let resource =
        Resource { attributes: vec![text("service.name", SCOPE), text("service.version", version)] };
    let scope = Scope { name: SCOPE.to_owned(), version: version.to_owned() };
    let spans = spans.into_iter().map(span).collect();
    let scoped = ScopeSpans { scope: Some(scope), spans };
    let request = Request {
        resource_spans: vec![ResourceSpans { resource: Some(resource), scope_spans: vec![scoped] }],
    };
    request.encode_to_vec()
}

fn span(done: Done) -> Span {
    let nanos = |millis: i64| u64::try_from(millis).unwrap_or(0).saturating_mul(1_000_000);
    let status = match done.end {
        End::Unset => None,
        End::Well => Some(Status { message: String::new(), code: 1 }),
        End::Badly(message) => Some(Status { message, code: 2 }),
    };
    Span {
        trace_id: done.context.trace.to_vec(),
        own_id: done.context.span.to_vec(),
        trace_state: done.context.state.as_deref().unwrap_or_default().to_owned(),
        parent_id: done.parent.map(Vec::from).unwrap_or_default(),
        name: done.name,
        kind: done.kind as i32,
        start_time_unix_nano: nanos(done.from),
        end_time_unix_nano: nanos(done.until),
        attributes: done.said.into_iter().map(attribute).collect(),
        status,
        // Sampled, as every span is that is sent.
        flags: 1,
    }
}

fn attribute((name, said): (&'static str, Said)) -> KeyValue {
    match said {
        Said::Text(value) => text(name, &value),
        Said::Number(number) => {
            KeyValue { key: name.to_owned(), value: Some(AnyValue { value: Some(Any::Int(number)) }) }
        }
    }
}

fn text(name: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(Any::Text(value.to_owned())) };
    KeyValue { key: name.to_owned(), value: Some(value) }
}

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    own_id: Vec<u8>,
    #[prost(string, tag = "3")]
    trace_state: String,
    #[prost(bytes = "vec", tag = "4")]
    parent_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
    #[prost(fixed32, tag = "16")]
    flags: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Any", tags = "1, 3")]
    value: Option<Any>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Any {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Int(i64),
}
