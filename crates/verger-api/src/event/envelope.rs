//! The envelope of an event, written straight into bytes and read back by its type.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::kinds::{EventData, EventType};
use crate::Time;

/// One event in its envelope.
#[derive(Clone, Debug, PartialEq)]
pub struct CloudEvent<'a> {
    /// Its number in the journal.
    pub id: Cow<'a, str>,
    /// Which monitor recorded it, as a path or an address.
    pub source: Cow<'a, str>,
    /// Whom it is about: an agent, a task, a breaker; nobody if the fleet.
    pub subject: Option<Cow<'a, str>>,
    /// When it happened.
    pub time: Time,
    /// Which life of its agent.
    pub incarnation: Option<u32>,
    /// Which task it is about.
    pub task_id: Option<Cow<'a, str>>,
    /// The trace that it belongs to, as W3C writes it.
    pub traceparent: Option<Cow<'a, str>>,
    /// What happened.
    pub data: EventData,
}

impl CloudEvent<'_> {
    /// The media type of one event.
    pub const CONTENT_TYPE: &'static str = "application/cloudevents+json";

    /// Appends the event as JSON, on one line.
    pub fn encode(&self, into: &mut Vec<u8>) {
        serde_json::to_writer(into, self)
            .expect("a list of bytes takes everything, and all names are strings");
    }

    /// The event as JSON, on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("all names are strings")
    }

    /// Reads an event. One of a newer monitor may have a type that is not known here.
    pub fn decode(json: &[u8]) -> Result<CloudEvent<'static>, DecodeError> {
        let Wire { specversion, id, source, kind, subject, time, incarnation, taskid, traceparent, data } =
            serde_json::from_slice(json).map_err(DecodeError::Unreadable)?;
        if specversion != "1.0" {
            return Err(DecodeError::Version(specversion.into_owned()));
        }
        let kind: EventType =
            kind.parse().map_err(|_| DecodeError::UnknownType(kind.clone().into_owned()))?;
        Ok(CloudEvent {
            id: id.into_owned().into(),
            source: source.into_owned().into(),
            subject: subject.map(Into::into),
            time,
            incarnation,
            task_id: taskid.map(Into::into),
            traceparent: traceparent.map(Into::into),
            data: EventData::read(kind, data.get()).map_err(DecodeError::Unreadable)?,
        })
    }
}

/// Why an event could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It is no event.
    #[error("not a CloudEvent")]
    Unreadable(#[source] serde_json::Error),
    /// It is of another version of `CloudEvents`.
    #[error("CloudEvents {0} is not read here")]
    Version(String),
    /// It is of a type that this version does not know.
    #[error("events of type `{0}` are not known to this version")]
    UnknownType(String),
}

/// The envelope as it is read.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    specversion: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    subject: Option<String>,
    time: Time,
    incarnation: Option<u32>,
    taskid: Option<String>,
    traceparent: Option<String>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl Serialize for CloudEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_struct("CloudEvent", 11)?;
        event.serialize_field("specversion", "1.0")?;
        event.serialize_field("id", &self.id)?;
        event.serialize_field("source", &self.source)?;
        event.serialize_field("type", self.data.kind().as_str())?;
        if let Some(subject) = &self.subject {
            event.serialize_field("subject", subject)?;
        }
        event.serialize_field("time", &self.time)?;
        event.serialize_field("datacontenttype", "application/json")?;
        if let Some(incarnation) = self.incarnation {
            event.serialize_field("incarnation", &incarnation)?;
        }
        if let Some(task) = &self.task_id {
            event.serialize_field("taskid", task)?;
        }
        if let Some(traceparent) = &self.traceparent {
            event.serialize_field("traceparent", traceparent)?;
        }
        event.serialize_field("data", &self.data)?;
        event.end()
    }
}

impl<'de> Deserialize<'de> for CloudEvent<'static> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        CloudEvent::decode(text.get().as_bytes()).map_err(D::Error::custom)
    }
}

impl PartialSchema for CloudEvent<'_> {
    fn schema() -> RefOr<Schema> {
        let text =
            |about: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(about)).build();
        let time = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("When it happened."));
        let incarnation =
            ObjectBuilder::new().schema_type(Type::Integer).description(Some("Which life of its agent."));
        let properties = ["specversion", "id", "source", "type", "time", "datacontenttype", "data"];
        let object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("One event, as CloudEvents 1.0 has it."))
            .property("specversion", text("Always `1.0`."))
            .property("id", text("Its number in the journal; a stream resumes from it."))
            .property("source", text("Which monitor recorded it."))
            .property("type", Ref::from_schema_name("EventType"))
            .property("subject", text("Whom it is about; nobody if the fleet."))
            .property("time", time)
            .property("datacontenttype", text("Always `application/json`."))
            .property("incarnation", incarnation)
            .property("taskid", text("Which task it is about."))
            .property("traceparent", text("The trace that it belongs to."))
            .property("data", Ref::from_schema_name("EventData"));
        properties.iter().fold(object, |object, name| object.required(*name)).into()
    }
}

impl ToSchema for CloudEvent<'_> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("CloudEvent")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("EventType".to_owned(), EventType::schema()));
        schemas.push(("EventData".to_owned(), EventData::schema()));
        EventData::schemas(schemas);
    }
}
