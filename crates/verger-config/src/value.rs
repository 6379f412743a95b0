//! A setting's value, once it is known to be right.

use std::fmt;
use std::sync::Arc;

use verger_core::cardinality::WhenFull;
use verger_core::intervention::Limit;
use verger_core::policy::{Mode, RestartPolicy};
use verger_core::time::Span;

/// A value of any setting. Counts are in the unit in which the program keeps them (see [`Kind`](crate::kind::Kind)).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nothing,
    Bool(bool),
    Count(u64),
    Duration(Span),
    Durations(Vec<Span>),
    Limit(Limit),
    Text(String),
    Texts(Vec<String>),
    Pairs(Vec<(String, String)>),
}

/// A place in a policy that a value can be put into and read from.
///
/// Tables of settings name such places by functions; the trait is what lets one table hold places of all types. A
/// value of another type than the place has is the table's mistake, found by the test that sets every key.
pub(crate) trait Field {
    fn get(&self) -> Value;
    fn set(&mut self, value: &Value);
}

impl Field for bool {
    fn get(&self) -> Value {
        Value::Bool(*self)
    }

    fn set(&mut self, value: &Value) {
        if let Value::Bool(value) = value {
            *self = *value;
        }
    }
}

impl Field for Span {
    fn get(&self) -> Value {
        Value::Duration(*self)
    }

    fn set(&mut self, value: &Value) {
        if let Value::Duration(value) = value {
            *self = *value;
        }
    }
}

impl Field for Vec<Span> {
    fn get(&self) -> Value {
        Value::Durations(self.clone())
    }

    fn set(&mut self, value: &Value) {
        if let Value::Durations(value) = value {
            self.clone_from(value);
        }
    }
}

impl Field for Vec<(String, String)> {
    fn get(&self) -> Value {
        Value::Pairs(self.clone())
    }

    fn set(&mut self, value: &Value) {
        if let Value::Pairs(value) = value {
            self.clone_from(value);
        }
    }
}

impl Field for Limit {
    fn get(&self) -> Value {
        Value::Limit(*self)
    }

    fn set(&mut self, value: &Value) {
        if let Value::Limit(value) = value {
            *self = *value;
        }
    }
}

impl Field for Arc<str> {
    fn get(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn set(&mut self, value: &Value) {
        if let Value::Text(value) = value {
            *self = value.as_str().into();
        }
    }
}

/// Counts are checked against the range of their key, which no type here is too narrow for.
macro_rules! counts {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn get(&self) -> Value {
                Value::Count(u64::try_from(*self).unwrap_or(u64::MAX))
            }

            fn set(&mut self, value: &Value) {
                if let Value::Count(value) = value {
                    *self = <$type>::try_from(*value).unwrap_or(<$type>::MAX);
                }
            }
        }
    )*};
}

counts!(u8, u16, u32, u64, usize);

impl Field for Option<u16> {
    fn get(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Field::get)
    }

    fn set(&mut self, value: &Value) {
        set_optional(self, 0, value);
    }
}

impl Field for Option<u64> {
    fn get(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Field::get)
    }

    fn set(&mut self, value: &Value) {
        set_optional(self, 0, value);
    }
}

impl Field for Option<Span> {
    fn get(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Field::get)
    }

    fn set(&mut self, value: &Value) {
        set_optional(self, Span::ZERO, value);
    }
}

impl Field for Option<Arc<str>> {
    fn get(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Field::get)
    }

    fn set(&mut self, value: &Value) {
        set_optional(self, "".into(), value);
    }
}

fn set_optional<T: Field>(field: &mut Option<T>, blank: T, value: &Value) {
    match value {
        Value::Nothing => *field = None,
        _ => field.get_or_insert(blank).set(value),
    }
}

/// Words for the variants of an enum, in both directions.
macro_rules! words {
    ($type:ty, $names:ident: $($word:literal => $variant:path),*) => {
        pub(crate) const $names: &[&str] = &[$($word),*];

        impl Field for $type {
            fn get(&self) -> Value {
                Value::Text(match self { $($variant => $word),* }.to_owned())
            }

            fn set(&mut self, value: &Value) {
                match value {
                    $(Value::Text(word) if word == $word => *self = $variant,)*
                    _ => {}
                }
            }
        }
    };
}

words!(Mode, MODES:
    "observe" => Mode::Observe, "nudge" => Mode::Nudge, "escalate" => Mode::Escalate, "full" => Mode::Full);
words!(RestartPolicy, RESTARTS:
    "none" => RestartPolicy::None, "escalate" => RestartPolicy::Escalate, "recover" => RestartPolicy::Recover);
words!(WhenFull, WHEN_FULL: "refuse" => WhenFull::Refuse, "forget_gone" => WhenFull::ForgetGone);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spans = |spans: &[Span]| {
            let shown: Vec<_> = spans.iter().map(|span| crate::quantity::shown_span(*span)).collect();
            format!("[{}]", shown.join(", "))
        };
        match self {
            Self::Nothing => f.write_str("none"),
            Self::Bool(value) => value.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Duration(span) => f.write_str(&crate::quantity::shown_span(*span)),
            Self::Durations(list) => f.write_str(&spans(list)),
            Self::Limit(limit) => {
                write!(f, "{} in {}", limit.count, crate::quantity::shown_span(limit.window))
            }
            Self::Text(text) => f.write_str(text),
            Self::Texts(texts) => write!(f, "[{}]", texts.join(", ")),
            // The values of variables are often secrets; their names never are.
            Self::Pairs(pairs) => {
                let names: Vec<_> = pairs.iter().map(|(name, _)| format!("{name}: set")).collect();
                write!(f, "{{{}}}", names.join(", "))
            }
        }
    }
}
