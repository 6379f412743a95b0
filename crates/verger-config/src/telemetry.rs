//! `telemetry:`, and the variables by which every program that is traced is told where its traces go.

use verger_core::time::Span;

use crate::effective::Listing;
use crate::keys::telemetry::{FORMATS, LEVELS, PING_EVERY, SHARE};
use crate::kind::{self, Kind};
use crate::place_of_data::{Environment, variable};
use crate::problem::Problem;
use crate::settings::Secret;
use crate::shape::Section;
use crate::show::Origin;
use crate::value::Value;

/// The way that receivers of OTLP listen at.
const TRACES_PATH: &str = "/v1/traces";
/// Twice within the minute in which a monitor that is gone is to be missed.
const DEAD_MAN_EVERY: Span = Span::secs(30);

/// What is told of the monitor itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// Where traces go, if they go anywhere.
    pub traces: Option<Traces>,
    /// What is called for as long as all is well.
    pub dead_man: Option<DeadMan>,
    /// Agents that `/metrics` names one by one.
    pub agents_max: usize,
    /// What the operator reads.
    pub log: LogSettings,
}

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// The whole address.
    pub url: String,
    /// Headers that the receiver wants.
    pub headers: Vec<(String, Secret)>,
    /// The share of traces that begin here which is recorded, in percent.
    pub sample_percent: u8,
}

/// What is called for as long as all is well (X08).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadMan {
    /// The address.
    pub url: String,
    /// How often.
    pub interval: Span,
}

/// What the operator reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// How it is written.
    pub format: LogFormat,
    /// Which of it is written.
    pub level: LogLevel,
}

/// How lines for the operator are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: an object in each line.
    Json,
}

/// Which lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// What somebody should look at.
    #[default]
    Warn,
    /// And each change of state and each intervention.
    Info,
}

/// Reads the section and the variables, and lists what holds.
pub(crate) struct Reading<'a> {
    pub(crate) file: &'a Section,
    pub(crate) environment: &'a Environment,
    pub(crate) problems: &'a mut Vec<Problem>,
}

impl Reading<'_> {
    pub(crate) fn telemetry(&mut self, listing: &mut Listing<'_>) -> Telemetry {
        let agents_max = self.count("telemetry.metrics.agents_max").unwrap_or(0);
        let sample_percent = self.count("telemetry.traces.sample_percent").unwrap_or(100);
        let interval = match self.file.value("telemetry.dead_man.interval").map(|found| &found.value) {
            Some(Value::Duration(interval)) => *interval,
            _ => DEAD_MAN_EVERY,
        };
        let log = self.log();
        let telemetry = Telemetry {
            traces: self.traces(u8::try_from(sample_percent).unwrap_or(100), listing),
            dead_man: self.dead_man(interval),
            agents_max: usize::try_from(agents_max).unwrap_or(0),
            log,
        };
        let mut row = |key: &str, value: String| {
            let origin = self.file.value(key).map_or(Origin::Default, |found| listing.at(found.place));
            listing.push(key, value, origin);
        };
        row("telemetry.traces.sample_percent", SHARE.shown(&Value::Count(sample_percent)));
        row("telemetry.dead_man.interval", PING_EVERY.shown(&Value::Duration(interval)));
        row("telemetry.metrics.agents_max", agents_max.to_string());
        row("telemetry.log.format", FORMATS[usize::from(log.format == LogFormat::Json)].to_owned());
        row("telemetry.log.level", LEVELS[usize::from(log.level == LogLevel::Info)].to_owned());
        telemetry
    }

    fn log(&self) -> LogSettings {
        let is = |key, word| self.file.text(key) == Some(word);
        LogSettings {
            format: if is("telemetry.log.format", "json") { LogFormat::Json } else { LogFormat::Text },
            level: if is("telemetry.log.level", "info") { LogLevel::Info } else { LogLevel::Warn },
        }
    }

    /// Where traces go: to where a variable of `OpenTelemetry` says, else to where the file says.
    fn traces(&mut self, sample_percent: u8, listing: &mut Listing<'_>) -> Option<Traces> {
        let (url, origin) = self.endpoint_of_variables().or_else(|| {
            let found = self.file.value("telemetry.traces.endpoint")?;
            Some((with_path(self.file.text("telemetry.traces.endpoint")?), listing.at(found.place)))
        })?;
        if let Origin::Environment(name) = &origin
            && let Err(why) = kind::url(&url)
        {
            self.problems.push(Problem::of_outside(name, format!("the address {why}")));
        }
        listing.push("telemetry.traces.endpoint", Kind::Url.shown(&Value::Text(url.clone())), origin);
        Some(Traces { url, headers: self.headers(), sample_percent })
    }

    /// `OTEL_SDK_DISABLED` and `OTEL_TRACES_EXPORTER` may say that nothing is to be sent. Only HTTP is spoken, so
    /// variables that are meant for gRPC are not for us.
    fn endpoint_of_variables(&self) -> Option<(String, Origin)> {
        let of = |name| variable(self.environment, name);
        let is_off = of("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || of("OTEL_TRACES_EXPORTER").is_some_and(|value| value != "otlp");
        let protocol = of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").or_else(|| of("OTEL_EXPORTER_OTLP_PROTOCOL"));
        if is_off || protocol.is_some_and(|protocol| protocol == "grpc") {
            return None;
        }
        let (own, all) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
        if let Some(url) = of(own) {
            return Some((url.to_owned(), Origin::Environment(own)));
        }
        of(all).map(|url| (format!("{}{TRACES_PATH}", url.trim_end_matches('/')), Origin::Environment(all)))
    }

    /// Those of the file, and those of the variables, which go before.
    fn headers(&self) -> Vec<(String, Secret)> {
        let of_file = match self.file.value("telemetry.traces.headers").map(|found| &found.value) {
            Some(Value::Pairs(pairs)) => pairs.clone(),
            _ => Vec::new(),
        };
        let named = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
        let of_variables =
            named.iter().find_map(|name| variable(self.environment, name)).into_iter().flat_map(pairs);
        let mut headers: Vec<(String, Secret)> =
            of_variables.map(|(name, value)| (name, Secret::new(value))).collect();
        for (name, value) in of_file {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                headers.push((name, Secret::new(value)));
            }
        }
        headers
    }

    fn dead_man(&self, interval: Span) -> Option<DeadMan> {
        let url = self.file.text("telemetry.dead_man.url")?.to_owned();
        Some(DeadMan { url, interval })
    }

    fn count(&self, key: &str) -> Option<u64> {
        match &self.file.value(key)?.value {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }
}

/// An address of a receiver alone is that of its way for traces.
fn with_path(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match rest.split_once('/') {
        None | Some((_, "")) => format!("{}{TRACES_PATH}", url.trim_end_matches('/')),
        Some(_) => url.to_owned(),
    }
}

/// `name=value,name=value`, as W3C baggage is written; what is no pair is left out.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_owned(), unescaped(value.trim())))
    };
    text.split(',').filter_map(pair)
}

/// `%20` is a space.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_that_of_traces() {
        assert_eq!(with_path("http://h:4318"), "http://h:4318/v1/traces");
        assert_eq!(with_path("http://h:4318/"), "http://h:4318/v1/traces");
        assert_eq!(with_path("https://h/otlp/x"), "https://h/otlp/x");
    }

    #[test]
    fn headers_of_a_variable_are_pairs_and_what_is_none_is_left_out() {
        let read: Vec<_> = pairs("api-key=a%20b, x = 1=2 ,nonsense,%=%zz%4").collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read, [pair("api-key", "a b"), pair("x", "1=2"), pair("%", "%zz%4")]);
    }
}
