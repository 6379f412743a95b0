//! A signal as a choice between one type for each kind.
//!
//! As it is derived, it is an intersection with a choice inside: right, but whoever makes a client from it leaves it
//! out, and `POST /v1/signals` with it. The same said the other way round is understood.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{AllOf, AllOfBuilder, Discriminator, OneOf, OneOfBuilder};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

/// What all kinds have in common.
const HEAD: &str = "SignalHead";

/// Gives each kind a type of its own, named after it, and makes a signal one of them.
pub(super) fn spread(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let (Some(RefOr::T(Schema::AllOf(signal))), Some(RefOr::T(Schema::OneOf(kinds)))) =
        (schemas.get("Signal").cloned(), schemas.get("SignalBody").cloned())
    else {
        return;
    };
    let Some(mut head) = signal.items.iter().find_map(object).cloned() else { return };
    head.description = Some("Whom a signal is about, and when it happened.".to_owned());
    schemas.insert(HEAD.to_owned(), Schema::Object(head).into());
    schemas.remove("SignalBody");
    let choice = choice(&signal, kinds, schemas);
    schemas.insert("Signal".to_owned(), choice.into());
}

fn choice(signal: &AllOf, kinds: OneOf, schemas: &mut BTreeMap<String, RefOr<Schema>>) -> Schema {
    let (mut choice, mut mapping) = (OneOfBuilder::new().description(signal.description.clone()), Vec::new());
    for kind in kinds.items {
        let (parts, description) = match kind {
            RefOr::T(Schema::AllOf(all)) => (all.items, all.description),
            RefOr::T(Schema::Object(alone)) => {
                (vec![Schema::Object(alone.clone()).into()], alone.description)
            }
            other => (vec![other], None),
        };
        let Some(word) = parts.iter().find_map(word) else { continue };
        let name = format!("{}{}Signal", word[..1].to_uppercase(), &word[1..]);
        let head = AllOfBuilder::new().description(description).item(Ref::from_schema_name(HEAD));
        let whole = parts.into_iter().fold(head, AllOfBuilder::item);
        let reference = Ref::from_schema_name(&name);
        mapping.push((word, reference.ref_location.clone()));
        choice = choice.item(reference);
        schemas.insert(name, Schema::AllOf(whole.build()).into());
    }
    Schema::OneOf(choice.discriminator(Some(Discriminator::with_mapping("kind", mapping))).build())
}

fn object(schema: &RefOr<Schema>) -> Option<&Object> {
    match schema {
        RefOr::T(Schema::Object(object)) => Some(object),
        _ => None,
    }
}

/// The word by which a kind is known, in the part that says it.
fn word(part: &RefOr<Schema>) -> Option<String> {
    let kind = object(object(part).and_then(|part| part.properties.get("kind"))?)?;
    kind.enum_values.as_ref()?.first()?.as_str().map(str::to_owned)
}
