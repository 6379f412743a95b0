//! Documents that are one JSON value, read element by element.
//!
//! A trajectory is one object with a long array in it. Its elements are handed over as they are parsed, so that a file
//! of a gigabyte is never in memory whole, and one that was cut off still gives everything before the cut.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::flaw::{Flaw, Place};

/// The largest document of this kind: a single text in it could be as large.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 1 << 30;

/// Gives `take` the elements of the arrays that a document holds: the name of the field, and the element. The name is
/// empty for a document that is itself an array. Fields that hold no array are given as they are. `take` answers
/// whether it wants more; only the fields in `names` are kept, all if there are none.
pub(crate) fn elements(
    from: impl BufRead,
    names: &[&str],
    take: &mut dyn FnMut(&str, Value) -> bool,
) -> Result<(), Flaw> {
    let mut wanted = true;
    let mut from = serde_json::Deserializer::from_reader(from);
    let document = Document { names, take, wanted: &mut wanted };
    match document.deserialize(&mut from) {
        Err(error) if wanted => {
            let text = error.to_string();
            let what = text.split(" at line ").next().unwrap_or(&text);
            let reason = format!("{what}, at column {}; nothing after it was read", error.column());
            Err(Flaw { place: Place::Line(error.line() as u64), reason })
        }
        _ => Ok(()),
    }
}

struct Document<'a> {
    names: &'a [&'a str],
    take: &'a mut dyn FnMut(&str, Value) -> bool,
    wanted: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<(), A::Error> {
        Elements { name: "", take: self.take, wanted: self.wanted }.visit_seq(elements)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if self.names.is_empty() || self.names.contains(&name.as_str()) {
                fields.next_value_seed(Elements { name: &name, take: self.take, wanted: self.wanted })?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The value of one field: an array's elements one by one, anything else at once.
struct Elements<'a> {
    name: &'a str,
    take: &'a mut dyn FnMut(&str, Value) -> bool,
    wanted: &'a mut bool,
}

impl Elements<'_> {
    fn give<E: serde::de::Error>(&mut self, value: Value) -> Result<(), E> {
        *self.wanted = (self.take)(self.name, value);
        if *self.wanted { Ok(()) } else { Err(E::custom("enough")) }
    }
}

impl<'de> DeserializeSeed<'de> for Elements<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element()? {
            self.give(element)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut object = Map::new();
        while let Some((name, value)) = fields.next_entry()? {
            object.insert(name, value);
        }
        self.give(Value::Object(object))
    }

    fn visit_str<E: serde::de::Error>(mut self, text: &str) -> Result<(), E> {
        self.give(text.into())
    }

    fn visit_bool<E: serde::de::Error>(mut self, it: bool) -> Result<(), E> {
        self.give(it.into())
    }

    fn visit_i64<E: serde::de::Error>(mut self, number: i64) -> Result<(), E> {
        self.give(number.into())
    }

    fn visit_u64<E: serde::de::Error>(mut self, number: u64) -> Result<(), E> {
        self.give(number.into())
    }

    fn visit_f64<E: serde::de::Error>(mut self, number: f64) -> Result<(), E> {
        self.give(number.into())
    }

    fn visit_unit<E: serde::de::Error>(mut self) -> Result<(), E> {
        self.give(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, names: &[&str], most: usize) -> (Vec<String>, Option<String>) {
        let mut taken = Vec::new();
        let done = elements(text.as_bytes(), names, &mut |name, value| {
            taken.push(format!("{name}={value}"));
            taken.len() < most
        });
        (taken, done.err().map(|flaw| flaw.to_string()))
    }

    #[test]
    fn the_elements_of_the_wanted_fields_are_given_one_by_one() {
        let text = r#"{"x":[1,2],"steps":[{"a":[]},3],"info":{"b":null}}"#;
        assert_eq!(
            read(text, &["steps", "info"], 9),
            (vec!["steps={\"a\":[]}".into(), "steps=3".into(), "info={\"b\":null}".into()], None)
        );
        assert_eq!(read("[1,[2]]", &[], 9), (vec!["=1".into(), "=[2]".into()], None));
    }

    #[test]
    fn enough_is_no_error() {
        assert_eq!(read("[1,2,3", &[], 2), (vec!["=1".into(), "=2".into()], None));
    }

    #[test]
    fn what_stands_before_a_cut_is_given() {
        let (taken, flaw) = read("{\"steps\":[\n1,\n{\"a\":", &["steps"], 9);
        assert_eq!(taken, ["steps=1"]);
        assert_eq!(
            flaw.as_deref(),
            Some("line 3: EOF while parsing a value, at column 5; nothing after it was read")
        );
    }

    #[test]
    fn nesting_without_end_is_a_flaw_and_no_overflow() {
        assert!(read(&"[".repeat(1 << 20), &[], 9).1.is_some());
        assert!(read(&format!("{{\"no\":{}", "{\"a\":".repeat(1 << 20)), &["steps"], 9).1.is_some());
    }
}
