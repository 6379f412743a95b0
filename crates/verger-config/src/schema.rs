//! The JSON Schema of `verger.yaml`, from the same list of keys, for editors and other programs.
//!
//! It allows what the loader allows of names, types and ranges. Combinations are the loader's alone: no schema could
//! say them with the words that a person needs.

use serde_json::{Map, Value, json};

use crate::keys;
use crate::kind::{ITEMS_MAX, Kind};
use crate::shape::{Entry, Shape};

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let mut schema = section(keys::root());
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("verger.yaml");
    schema["description"] = json!("The configuration of Verger.");
    schema
}

fn section(entries: &[Entry]) -> Value {
    let properties: Map<_, _> =
        entries.iter().map(|entry| (entry.name.to_owned(), property(entry))).collect();
    json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false })
}

fn property(entry: &Entry) -> Value {
    let mut schema = match &entry.shape {
        Shape::Value(kind) => of_kind(*kind),
        Shape::Section(entries) => section(entries),
        Shape::Named(entries) => json!({
            "type": ["object", "null"],
            "additionalProperties": section(entries),
            "propertyNames": { "minLength": 1, "maxLength": 256 },
            "maxProperties": ITEMS_MAX,
        }),
    };
    schema["description"] = json!(entry.meaning);
    schema
}

fn of_kind(kind: Kind) -> Value {
    const DURATION: &str = r"^\s*([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(ms|s|m|h|d)(\s*([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(ms|s|m|h|d))*\s*$";
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    match kind {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Duration { min, max } => json!({ "anyOf": [
            { "type": "number", "minimum": min.as_millis() as f64 / 1e3, "maximum": max.as_secs() },
            { "type": "string", "pattern": DURATION },
        ] }),
        Kind::Durations => {
            json!({ "type": "array", "items": of_kind(crate::kind::span()), "minItems": 1, "maxItems": ITEMS_MAX })
        }
        Kind::Share { whole, min, max } => json!({ "anyOf": [
            { "type": "number", "minimum": percent(min, whole), "maximum": percent(max, whole) },
            { "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*%\s*$" },
        ] }),
        Kind::Size => json!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*([kKmMgGtT][iI]?)?[bB]\s*$" },
        ] }),
        Kind::Money => json!({ "type": "number", "minimum": 1e-6, "maximum": 1e9 }),
        Kind::Limit => json!({ "type": "string", "pattern": r"^\s*[0-9]+\s+in\s+\S.*$" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Choices(words) => json!({ "type": "array", "items": { "enum": words } }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Path => json!({ "type": "string", "minLength": 1 }),
        Kind::Url => json!({ "type": "string", "pattern": r"^https?://[^\s/?#@]+([/?#]\S*)?$" }),
        Kind::Address => json!({ "type": "string", "pattern": r"^\S+:[0-9]+$" }),
        Kind::Texts => json!({ "type": "array", "items": scalar, "maxItems": ITEMS_MAX }),
        Kind::Argv => json!({ "type": "array", "items": scalar, "minItems": 1, "maxItems": ITEMS_MAX }),
        Kind::Env | Kind::Pairs => {
            json!({ "type": "object", "additionalProperties": scalar, "maxProperties": ITEMS_MAX })
        }
        Kind::Optional(kind) => json!({ "anyOf": [of_kind(*kind), { "type": "null" }, { "const": "none" }] }),
    }
}

fn percent(parts: u64, whole: u64) -> f64 {
    parts as f64 * 100.0 / whole as f64
}
