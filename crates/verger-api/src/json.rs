//! JSON that is passed on without being looked into.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Any JSON, as the text that it came as.
///
/// Arguments, results and saved states can be large and are nobody's business here. So they are borrowed from the
/// body that they came in, and only known to be well formed.
#[derive(Clone)]
pub struct AnyJson<'a>(Cow<'a, RawValue>);

impl<'a> AnyJson<'a> {
    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Checks that a text is JSON, and keeps it.
    pub fn from_text(text: String) -> Result<AnyJson<'static>, serde_json::Error> {
        Ok(AnyJson(Cow::Owned(RawValue::from_string(text)?)))
    }

    /// Writes anything down as JSON.
    pub fn of(value: &impl Serialize) -> Result<AnyJson<'static>, serde_json::Error> {
        Ok(AnyJson(Cow::Owned(serde_json::value::to_raw_value(value)?)))
    }

    /// The same, independent of the body that it came in.
    pub fn into_owned(self) -> AnyJson<'static> {
        AnyJson(Cow::Owned(self.0.into_owned()))
    }

    pub(crate) fn borrowed(raw: &'a RawValue) -> Self {
        Self(Cow::Borrowed(raw))
    }
}

impl PartialEq for AnyJson<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for AnyJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for AnyJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for AnyJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Self::borrowed)
    }
}

impl PartialSchema for AnyJson<'_> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("Any JSON.")).into()
    }
}

impl ToSchema for AnyJson<'_> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("AnyJson")
    }
}
