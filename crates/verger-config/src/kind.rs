//! What may be written as the value of a setting: its type and its range.
//!
//! One description serves the loader, the JSON Schema and the page of documentation, so they cannot disagree.

use std::net::SocketAddr;

use verger_core::time::Span;

use crate::quantity;
use crate::value::Value;
use crate::yaml::{Is, Node};

/// Nothing is waited for longer than ten years.
pub(crate) const LONGEST: Span = Span::hours(10 * 365 * 24);
/// Where only memory limits a count.
pub(crate) const MANY: u64 = u32::MAX as u64;
/// Lists and tables that are written by hand are shorter.
pub(crate) const ITEMS_MAX: usize = 256;
/// Texts too: the longest is a reminder.
const TEXT_MAX: usize = 16_384;

/// What may be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Bool,
    Count {
        min: u64,
        max: u64,
    },
    Duration {
        min: Span,
        max: Span,
    },
    /// A list of durations, none of them empty.
    Durations,
    /// A percentage, kept in parts of which `whole` make 100 %.
    Share {
        whole: u64,
        min: u64,
        max: u64,
    },
    /// Memory, kept in bytes; a number without a unit is mebibytes.
    Size,
    /// US dollars, kept in millionths.
    Money,
    Limit,
    Choice(&'static [&'static str]),
    Text,
    /// A file or folder; relative ones are meant from the folder of the configuration.
    Path,
    /// `http://` or `https://`, without a password in it.
    Url,
    /// `127.0.0.1:8374`.
    Address,
    Texts,
    /// A program and its arguments, never a line for a shell.
    Argv,
    /// Names and values of environment variables.
    Env,
    /// Names and what they stand for.
    Pairs,
    /// Some of these words.
    Choices(&'static [&'static str]),
    /// The same, or `none`.
    Optional(&'static Kind),
}

/// Any time that is not empty.
pub(crate) const fn span() -> Kind {
    at_least(Span::millis(1))
}

/// Any time, none included.
pub(crate) const fn pause() -> Kind {
    at_least(Span::ZERO)
}

pub(crate) const fn at_least(min: Span) -> Kind {
    Kind::Duration { min, max: LONGEST }
}

pub(crate) const fn count(min: u64, max: u64) -> Kind {
    Kind::Count { min, max }
}

/// A percentage that the core keeps in thousandths.
pub(crate) const fn thousandths(min_percent: u64, max_percent: u64) -> Kind {
    Kind::Share { whole: 1_000, min: min_percent * 10, max: max_percent * 10 }
}

/// A percentage that the core keeps as such.
pub(crate) const fn hundredths(min_percent: u64, max_percent: u64) -> Kind {
    Kind::Share { whole: 100, min: min_percent, max: max_percent }
}

impl Kind {
    /// Reads what was written, or says in a sentence why it cannot be.
    pub(crate) fn read(self, node: &Node) -> Result<Value, String> {
        match self {
            Self::Bool => match node.is {
                Is::Bool(value) => Ok(Value::Bool(value)),
                _ => Err(self.expected(node)),
            },
            Self::Count { min, max } => self.read_count(node, min, max),
            Self::Duration { min, max } => {
                let span = self.read_duration(node)?;
                match () {
                    () if span < min && span == Span::ZERO => Err("must not be zero".into()),
                    () if span < min => Err(format!("must be at least {min}")),
                    () if max < span => Err(format!("must be at most {}", quantity::shown_span(max))),
                    () => Ok(Value::Duration(span)),
                }
            }
            Self::Durations => self.read_durations(node),
            Self::Share { whole, min, max } => self.read_share(node, whole, min, max),
            Self::Size => self.read_size(node),
            Self::Money => self.read_money(node),
            Self::Limit => quantity::limit(self.text(node)?).map(Value::Limit),
            Self::Choice(words) => self.read_choice(node, words),
            Self::Text => Ok(Value::Text(self.text(node)?.to_owned())),
            Self::Path => match self.text(node)? {
                "" => Err("must not be empty".into()),
                path => Ok(Value::Text(path.to_owned())),
            },
            Self::Url => url(self.text(node)?).map(|()| Value::Text(self.written(node))),
            Self::Address => address(self.text(node)?).map(|address| Value::Text(address.to_string())),
            Self::Texts => self.read_texts(node).map(Value::Texts),
            Self::Argv => match self.read_texts(node)?.as_slice() {
                [] => Err("must name a program".into()),
                [program, ..] if program.is_empty() => Err("must name a program".into()),
                argv => Ok(Value::Texts(argv.to_vec())),
            },
            Self::Env | Self::Pairs => self.read_env(node),
            Self::Choices(words) => self.read_choices(node, words),
            Self::Optional(kind) => match &node.is {
                Is::Nothing => Ok(Value::Nothing),
                Is::Text(text) if text == "none" => Ok(Value::Nothing),
                _ => kind.read(node),
            },
        }
    }

    fn read_count(self, node: &Node, min: u64, max: u64) -> Result<Value, String> {
        let Is::Integer(count) = node.is else { return Err(self.expected(node)) };
        match u64::try_from(count) {
            Ok(count) if (min..=max).contains(&count) => Ok(Value::Count(count)),
            _ => Err(format!("must be from {min} to {max}")),
        }
    }

    fn read_duration(self, node: &Node) -> Result<Span, String> {
        match &node.is {
            Is::Integer(_) | Is::Number(_) => quantity::seconds(number(node)),
            Is::Text(text) => quantity::duration(text),
            _ => Err(self.expected(node)),
        }
    }

    fn read_durations(self, node: &Node) -> Result<Value, String> {
        let Is::List(items) = &node.is else { return Err(self.expected(node)) };
        if items.is_empty() || ITEMS_MAX < items.len() {
            return Err(format!("must have from 1 to {ITEMS_MAX} items"));
        }
        let spans = items.iter().map(|item| match span().read(item)? {
            Value::Duration(span) => Ok(span),
            _ => Err(self.expected(item)),
        });
        spans.collect::<Result<_, _>>().map(Value::Durations)
    }

    fn read_share(self, node: &Node, whole: u64, min: u64, max: u64) -> Result<Value, String> {
        let percent = match &node.is {
            Is::Integer(_) | Is::Number(_) => number(node),
            Is::Text(text) => quantity::percent(text)?,
            _ => return Err(self.expected(node)),
        };
        let parts = percent * whole as f64 / 100.0;
        if !(min as f64..=max as f64).contains(&parts) {
            return Err(format!("must be from {} to {}", shown_share(min, whole), shown_share(max, whole)));
        }
        if 1e-6 < (parts - parts.round()).abs() {
            return Err(format!("must be in steps of {}", shown_share(1, whole)));
        }
        #[expect(clippy::cast_sign_loss, reason = "the range begins at zero or above")]
        Ok(Value::Count(parts.round() as u64))
    }

    fn read_size(self, node: &Node) -> Result<Value, String> {
        let bytes = match &node.is {
            Is::Integer(mebibytes) => {
                u64::try_from(*mebibytes).ok().and_then(|count| count.checked_mul(1 << 20))
            }
            Is::Text(text) => Some(quantity::size(text)?),
            _ => return Err(self.expected(node)),
        };
        match bytes {
            Some(bytes) if (1..=1 << 50).contains(&bytes) => Ok(Value::Count(bytes)),
            _ => Err("must be from 1B to 1024TiB".into()),
        }
    }

    fn read_money(self, node: &Node) -> Result<Value, String> {
        let (Is::Integer(_) | Is::Number(_)) = node.is else { return Err(self.expected(node)) };
        let micros = number(node) * 1e6;
        if !(1.0..=1e15).contains(&micros) {
            return Err("must be from 0.000001 to 1000000000 dollars".into());
        }
        #[expect(clippy::cast_sign_loss, reason = "it was just seen not to be negative")]
        Ok(Value::Count(micros.round() as u64))
    }

    fn read_choice(self, node: &Node, words: &[&'static str]) -> Result<Value, String> {
        let text = self.text(node)?;
        if words.contains(&text) {
            return Ok(Value::Text(text.to_owned()));
        }
        let meant = crate::nearest::nearest(text, words.iter().copied());
        let meant = meant.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
        Err(format!("must be {}, not {}{meant}", listed(words), node.described()))
    }

    fn read_choices(self, node: &Node, words: &'static [&'static str]) -> Result<Value, String> {
        let Is::List(items) = &node.is else { return Err(self.expected(node)) };
        let texts = items.iter().map(|item| match Self::Choice(words).read(item)? {
            Value::Text(text) => Ok(text),
            _ => Err(self.expected(item)),
        });
        texts.collect::<Result<_, _>>().map(Value::Texts)
    }

    fn read_texts(self, node: &Node) -> Result<Vec<String>, String> {
        let Is::List(items) = &node.is else { return Err(self.expected(node)) };
        if ITEMS_MAX < items.len() {
            return Err(format!("must have at most {ITEMS_MAX} items"));
        }
        items.iter().map(|item| self.scalar(item)).collect()
    }

    fn read_env(self, node: &Node) -> Result<Value, String> {
        let Is::Map(entries) = &node.is else { return Err(self.expected(node)) };
        if ITEMS_MAX < entries.len() {
            return Err(format!("must have at most {ITEMS_MAX} variables"));
        }
        let pairs = entries.iter().map(|(key, node)| {
            if key.name.is_empty() || key.name.contains('=') {
                return Err(format!("`{}` is no name of a variable", key.name));
            }
            Ok((key.name.clone(), self.scalar(node)?))
        });
        pairs.collect::<Result<_, _>>().map(Value::Pairs)
    }

    fn text(self, node: &Node) -> Result<&str, String> {
        match &node.is {
            Is::Text(text) if text.len() <= TEXT_MAX => Ok(text),
            Is::Text(_) => Err(format!("must have at most {TEXT_MAX} bytes")),
            _ => Err(self.expected(node)),
        }
    }

    /// A text, or a number or truth value as it was written: `PORT: 8080` needs no quotes.
    fn scalar(self, node: &Node) -> Result<String, String> {
        match node.is {
            Is::Bool(_) | Is::Integer(_) | Is::Number(_) => Ok(node.written.clone()),
            Is::Nothing | Is::Text(_) | Is::List(_) | Is::Map(_) => self.text(node).map(str::to_owned),
        }
    }

    fn written(self, node: &Node) -> String {
        self.text(node).unwrap_or_default().to_owned()
    }

    fn expected(self, node: &Node) -> String {
        format!("must be {}, not {}", self.described(), node.described())
    }

    /// What may be written, for a sentence and for the documentation.
    pub(crate) fn described(self) -> String {
        match self {
            Self::Bool => "true or false".into(),
            Self::Count { min, max: MANY } => format!("a whole number, at least {min}"),
            Self::Count { min, max } => format!("a whole number from {min} to {max}"),
            Self::Duration { min: Span::ZERO, .. } => {
                "a duration such as 90s or 10m, or seconds; may be 0".into()
            }
            Self::Duration { min, .. } if min == Span::millis(1) => {
                "a duration such as 90s or 10m, or seconds".into()
            }
            Self::Duration { min, .. } => {
                format!("a duration such as 90s or 10m, or seconds; at least {min}")
            }
            Self::Durations => "a list of durations".into(),
            Self::Share { whole, min, max } => {
                format!("a percentage from {} to {}", shown_share(min, whole), shown_share(max, whole))
            }
            Self::Size => "a size such as 512MiB, or mebibytes".into(),
            Self::Money => "US dollars".into(),
            Self::Limit => "a limit such as `6 in 1h`".into(),
            Self::Choice(words) => listed(words),
            Self::Text => "a text".into(),
            Self::Path => "a path".into(),
            Self::Url => "an http or https address".into(),
            Self::Address => "an address such as 127.0.0.1:8374".into(),
            Self::Texts => "a list of texts".into(),
            Self::Argv => "a list: the program and its arguments".into(),
            Self::Env => "a table of variables".into(),
            Self::Pairs => "a table of names".into(),
            Self::Choices(words) => format!("a list of {}", listed(words)),
            Self::Optional(kind) => format!("{}; or `none`", kind.described()),
        }
    }

    /// A value as it would be written in the file.
    pub(crate) fn shown(self, value: &Value) -> String {
        match (self, value) {
            (Self::Share { whole, .. }, Value::Count(parts)) => shown_share(*parts, whole),
            (Self::Size, Value::Count(bytes)) => quantity::shown_size(*bytes),
            (Self::Money, Value::Count(micros)) => format!("{}", *micros as f64 / 1e6),
            (Self::Url, Value::Text(url)) => without_query(url),
            (Self::Pairs, Value::Pairs(pairs)) => {
                let pairs: Vec<_> = pairs.iter().map(|(name, meant)| format!("{name}: {meant}")).collect();
                format!("{{{}}}", pairs.join(", "))
            }
            (Self::Optional(_), Value::Nothing) => "none".into(),
            (Self::Optional(kind), value) => kind.shown(value),
            _ => value.to_string(),
        }
    }
}

fn number(node: &Node) -> f64 {
    match node.is {
        Is::Integer(number) => number as f64,
        Is::Number(number) => number,
        _ => f64::NAN,
    }
}

fn shown_share(parts: u64, whole: u64) -> String {
    format!("{}%", parts as f64 * 100.0 / whole as f64)
}

fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [most @ .., last] => format!(
            "{} or `{last}`",
            most.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Tokens are often written behind a question mark.
fn without_query(url: &str) -> String {
    url.split_once(['?', '#']).map_or(url.to_owned(), |(before, _)| format!("{before}?…"))
}

pub(crate) fn url(text: &str) -> Result<(), String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let Some(rest) = rest else { return Err("must begin with `http://` or `https://`".into()) };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    if host.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("is no address: a host is missing, or there is a blank in it".into());
    }
    if host.contains('@') {
        return Err("has a password in it, which would end up in logs; use a secret file".into());
    }
    Ok(())
}

/// An address to listen at. A name would have to be looked up, which differs from day to day; only `localhost` does
/// not.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local.as_deref().unwrap_or(text).parse().map_err(|_| {
        let text: String = text.chars().take(60).collect();
        format!("`{text}` is no address with a port, such as `127.0.0.1:8374` or `[::1]:8374`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Kind, text: &str) -> Result<String, String> {
        let node = crate::yaml::parse(text, &mut Vec::new()).unwrap().unwrap();
        kind.read(&node).map(|value| kind.shown(&value))
    }

    #[track_caller]
    fn reads(kind: Kind, written: &str, shown: &str) {
        assert_eq!(read(kind, written), Ok(shown.to_owned()), "{written}");
    }

    #[test]
    fn what_is_right_is_read() {
        reads(Kind::Bool, "true", "true");
        reads(count(1, 5), "5", "5");
        reads(span(), "300", "5m");
        reads(span(), "2.5", "2s500ms");
        reads(span(), "90s", "1m30s");
        reads(Kind::Durations, "[60, 2m, 240]", "[1m, 2m, 4m]");
        reads(thousandths(0, 100), "25%", "25%");
        reads(thousandths(0, 100), "2.5", "2.5%");
        reads(hundredths(100, 1000), "200%", "200%");
        reads(Kind::Size, "512MiB", "512MiB");
        reads(Kind::Size, "512", "512MiB");
        reads(Kind::Money, "12.5", "12.5");
        reads(Kind::Limit, "6 in 1h", "6 in 1h");
        reads(Kind::Choice(&["a", "b"]), "b", "b");
        reads(Kind::Url, "https://h/x?token=1", "https://h/x?…");
        reads(Kind::Address, "localhost:80", "127.0.0.1:80");
        reads(Kind::Argv, "[sh, 1.10, true]", "[sh, 1.10, true]");
        reads(Kind::Env, "{PORT: 8080, SECRET: x}", "{PORT: set, SECRET: set}");
    }

    #[test]
    fn what_is_wrong_is_told_in_a_sentence() {
        let told = |kind, written| read(kind, written).unwrap_err();
        assert_eq!(told(Kind::Bool, "yes"), "must be true or false, not the text `yes`");
        assert_eq!(told(count(1, 5), "6"), "must be from 1 to 5");
        assert_eq!(told(count(1, 5), "1.5"), "must be a whole number from 1 to 5, not the number 1.5");
        assert_eq!(told(span(), "0"), "must not be zero");
        assert_eq!(told(span(), "-3"), "a duration cannot be negative");
        assert_eq!(told(span(), "1e999"), "a duration must be a finite number of seconds");
        assert_eq!(told(span(), ".nan"), "a duration must be a finite number of seconds");
        assert_eq!(told(span(), "4000d"), "must be at most 3650d");
        assert_eq!(told(span(), "'90'"), "`90` has no unit; write `90s`, or the number without quotes");
        assert_eq!(told(thousandths(0, 100), "250"), "must be from 0% to 100%");
        assert_eq!(told(hundredths(0, 100), "2.5%"), "must be in steps of 1%");
        assert_eq!(
            told(Kind::Choice(&["full", "nudge"]), "ful"),
            "must be `full` or `nudge`, not the text `ful`; did you mean `full`?"
        );
        assert_eq!(
            told(Kind::Argv, "rm -rf x"),
            "must be a list: the program and its arguments, not the text `rm -rf x`"
        );
        assert_eq!(told(Kind::Argv, "[]"), "must name a program");
        assert!(told(Kind::Url, "https://me:secret@h/").contains("password"));
        assert!(told(Kind::Address, "'8374'").contains("no address"));
        assert!(told(Kind::Money, ".inf").contains("dollars"));
    }
}
