//! Takes the fields of an item as what they should be, or says which one is not.

use std::borrow::Cow;
use std::str::FromStr;

use super::field::{Field, Fields};
use super::given::Given;
use super::limits::Limits;
use crate::words::UnknownWord;
use crate::{AnyJson, HumanDuration, Time, scan};

/// The largest whole number that every reader of JSON keeps exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Fields and the limits they are held against. Errors are sentences that name the field.
pub(crate) struct Reader<'f, 'a> {
    fields: &'f mut Fields<'a>,
    limits: &'f Limits,
}

impl<'f, 'a> Reader<'f, 'a> {
    pub(crate) fn new(fields: &'f mut Fields<'a>, limits: &'f Limits) -> Self {
        Self { fields, limits }
    }

    /// A name: not empty, not long, and without control characters, which would end up on terminals and in logs.
    pub(crate) fn name(&mut self, field: Field) -> Result<Option<Cow<'a, str>>, String> {
        let Some(name) = self.string(field, self.limits.name_bytes)? else { return Ok(None) };
        if name.is_empty() {
            return Err(format!("{} must not be empty", field.name()));
        }
        if name.chars().any(char::is_control) {
            return Err(format!("{} must not contain control characters", field.name()));
        }
        Ok(Some(name))
    }

    /// A name, or just `true` for one that is not known.
    pub(crate) fn name_or_flag(&mut self, field: Field) -> Result<Option<Cow<'a, str>>, String> {
        match self.fields.peek(field) {
            Some(Given::Bool(true)) => Ok(Some(Cow::Borrowed("unknown"))),
            Some(Given::Bool(false)) => Ok(None),
            _ => self.name(field),
        }
    }

    /// A short text.
    pub(crate) fn label(&mut self, field: Field) -> Result<Option<Cow<'a, str>>, String> {
        self.string(field, self.limits.label_bytes)
    }

    /// A long text.
    pub(crate) fn text(&mut self, field: Field) -> Result<Option<Cow<'a, str>>, String> {
        self.string(field, self.limits.text_bytes)
    }

    /// A whole number, not negative. `12.0` is one: some languages know no other numbers.
    pub(crate) fn count(&mut self, field: Field) -> Result<Option<u64>, String> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(Given::Unsigned(count)) => Ok(Some(count)),
            #[expect(clippy::cast_sign_loss, reason = "the range was checked")]
            Some(Given::Float(count)) if (0.0..=EXACT_MAX).contains(&count) && count.fract() == 0.0 => {
                Ok(Some(count as u64))
            }
            Some(Given::Signed(_) | Given::Float(_)) => {
                Err(format!("{} must be a whole number that is not negative", field.name()))
            }
            Some(other) => Err(wrong(field, "a whole number", &other)),
        }
    }

    /// A whole number that fits 32 bits.
    pub(crate) fn small(&mut self, field: Field) -> Result<Option<u32>, String> {
        let count = self.count(field)?.map(u32::try_from).transpose();
        count.map_err(|_| format!("{} must be at most {}", field.name(), u32::MAX))
    }

    /// A whole number that fits 32 bits, with its sign.
    pub(crate) fn signed(&mut self, field: Field) -> Result<Option<i32>, String> {
        let number = match self.fields.take(field) {
            None => return Ok(None),
            Some(Given::Unsigned(number)) => i32::try_from(number).ok(),
            Some(Given::Signed(number)) => i32::try_from(number).ok(),
            Some(other) => return Err(wrong(field, "a whole number", &other)),
        };
        number.map(Some).ok_or_else(|| format!("{} must fit 32 bits", field.name()))
    }

    /// A number that is not negative.
    pub(crate) fn amount(&mut self, field: Field) -> Result<Option<f64>, String> {
        let amount = match self.fields.take(field) {
            None => return Ok(None),
            Some(Given::Unsigned(number)) => number as f64,
            Some(Given::Signed(number)) => number as f64,
            Some(Given::Float(number)) => number,
            Some(other) => return Err(wrong(field, "a number", &other)),
        };
        if amount.is_finite() && 0.0 <= amount {
            Ok(Some(amount))
        } else {
            Err(format!("{} must not be negative", field.name()))
        }
    }

    pub(crate) fn flag(&mut self, field: Field) -> Result<Option<bool>, String> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(Given::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(wrong(field, "true or false", &other)),
        }
    }

    pub(crate) fn time(&mut self, field: Field) -> Result<Option<Time>, String> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(Given::Text(text)) => {
                text.parse().map(Some).map_err(|error| format!("{} {error}", field.name()))
            }
            Some(other) => Err(wrong(field, "a time as in 2026-01-31T12:00:00Z", &other)),
        }
    }

    /// A length of time: seconds, or a text as in `90s`.
    pub(crate) fn duration(&mut self, field: Field) -> Result<Option<HumanDuration>, String> {
        let unreadable = |_| format!("{} must be seconds, or a duration as in 90s", field.name());
        match self.fields.take(field) {
            None => Ok(None),
            Some(Given::Unsigned(secs)) => Ok(Some(HumanDuration::from_secs(secs))),
            Some(Given::Float(secs)) => HumanDuration::from_decimal(secs).map(Some).map_err(unreadable),
            Some(Given::Text(text)) => text.parse().map(Some).map_err(unreadable),
            Some(other) => Err(wrong(field, "seconds, or a duration as in 90s", &other)),
        }
    }

    /// The progress indicator. Some count their steps, so a number is as good as a text.
    pub(crate) fn progress(&mut self) -> Result<Option<Cow<'a, str>>, String> {
        match self.fields.take(Field::ProgressIndicator) {
            Some(Given::Unsigned(number)) => Ok(Some(number.to_string().into())),
            Some(Given::Signed(number)) => Ok(Some(number.to_string().into())),
            Some(Given::Float(number)) => Ok(Some(number.to_string().into())),
            other => checked(Field::ProgressIndicator, other, self.limits.label_bytes),
        }
    }

    /// A word out of a closed list.
    pub(crate) fn word<T: FromStr<Err = UnknownWord>>(&mut self, field: Field) -> Result<Option<T>, String> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(Given::Text(text)) => {
                text.parse().map(Some).map_err(|error| format!("{}: {error}", field.name()))
            }
            Some(other) => Err(wrong(field, "a string", &other)),
        }
    }

    /// Any JSON, not nested too deep.
    pub(crate) fn any(&mut self, field: Field) -> Result<Option<AnyJson<'a>>, String> {
        match self.fields.take(field) {
            None => Ok(None),
            Some(Given::Raw(raw)) if scan::is_deeper(raw.get(), self.limits.depth) => {
                Err(format!("{} is nested deeper than {} levels", field.name(), self.limits.depth))
            }
            Some(Given::Raw(raw)) => Ok(Some(AnyJson::borrowed(raw))),
            Some(other) => Err(wrong(field, "any JSON", &other)),
        }
    }

    fn string(&mut self, field: Field, bytes_max: usize) -> Result<Option<Cow<'a, str>>, String> {
        let given = self.fields.take(field);
        checked(field, given, bytes_max)
    }
}

/// For what must be there.
pub(crate) fn required<T>(field: Field, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("{} is missing", field.name()))
}

#[cold]
fn wrong(field: Field, expected: &str, given: &Given<'_>) -> String {
    format!("{} must be {expected}, not {}", field.name(), given.what())
}

/// A text that is not too long.
fn checked(field: Field, given: Option<Given<'_>>, bytes_max: usize) -> Result<Option<Cow<'_, str>>, String> {
    match given {
        None => Ok(None),
        Some(Given::Text(text)) if bytes_max < text.len() => {
            Err(format!("{} is longer than {bytes_max} bytes", field.name()))
        }
        Some(Given::Text(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(field, "a string", &other)),
    }
}
