//! Prometheus' text format, version 0.0.4.
//!
//! By hand, because it is thirty lines: the chosen library writes `OpenMetrics`, in which the family of a counter is
//! named without its `_total`, and `promtool check metrics` reads the older format and finds such counters without
//! help and type.

use std::fmt::Write;

use crate::monitor::Histogram;

/// What its reader is told that it is.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What a number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows, until the program is started again.
    Counter,
    /// It is what it is now.
    Gauge,
    /// How long things took.
    Histogram,
}

/// Metrics, one after the other.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// A number that stands alone.
    pub(super) fn one(&mut self, name: &str, kind: Kind, help: &str, value: f64) {
        self.head(name, kind, help);
        self.sample(name, &[], value);
    }

    /// The same number of different things, told apart by one label. The things are few, and known beforehand.
    pub(super) fn by<'a>(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (&'a str, f64)>,
    ) {
        self.head(name, kind, help);
        for (of, value) in values {
            self.sample(name, &[(label, of)], value);
        }
    }

    /// The same with two labels.
    pub(super) fn by_two<'a>(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        values: impl IntoIterator<Item = ([(&'a str, &'a str); 2], f64)>,
    ) {
        self.head(name, kind, help);
        for (labels, value) in values {
            self.sample(name, &labels, value);
        }
    }

    /// How long things took: how many took at most each bound.
    pub(super) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, Kind::Histogram, help);
        let (parts, count, sum) = histogram.read();
        let bucket = format!("{name}_bucket");
        for (bound, count) in parts {
            self.sample(&bucket, &[("le", &bound.to_string())], count as f64);
        }
        self.sample(&bucket, &[("le", "+Inf")], count as f64);
        self.sample(&format!("{name}_sum"), &[], sum);
        self.sample(&format!("{name}_count"), &[], count as f64);
    }

    pub(super) fn text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(label, of)| format!("{label}=\"{}\"", escaped(of))).collect();
        if labels.is_empty() {
            self.line(format_args!("{name} {value}\n"));
        } else {
            self.line(format_args!("{name}{{{}}} {value}\n", labels.join(",")));
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Text takes whatever is written to it.
        let _ = self.0.write_fmt(line);
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_family_is_its_help_its_type_and_its_samples() {
        let mut text = Exposition::default();
        text.one("a_seconds", Kind::Gauge, "How long.", 1.5);
        text.by("b_total", Kind::Counter, "How many.", "kind", [("x", 1.0), ("y", 20_000_000_000.0)]);
        assert_eq!(
            text.text(),
            "# HELP a_seconds How long.\n# TYPE a_seconds gauge\na_seconds 1.5\n\
             # HELP b_total How many.\n# TYPE b_total counter\nb_total{kind=\"x\"} 1\nb_total{kind=\"y\"} 20000000000\n"
        );
    }

    proptest! {
        #[test]
        fn no_value_of_a_label_breaks_out_of_its_line(value in "\\PC{0,20}|[\"\\\\\n]{0,8}") {
            let mut text = Exposition::default();
            text.by("a", Kind::Gauge, "x", "l", [(value.as_str(), 1.0)]);
            let text = text.text();
            let sample = text.strip_prefix("# HELP a x\n# TYPE a gauge\na{l=\"").expect("a head");
            let written = sample.strip_suffix("\"} 1\n").expect("an end");
            prop_assert!(!written.contains('\n'));
            prop_assert_eq!(unescaped(written), value);
        }
    }

    fn unescaped(written: &str) -> String {
        let mut letters = written.chars();
        let mut value = String::new();
        while let Some(letter) = letters.next() {
            value.push(match letter {
                '\\' => match letters.next().expect("something is escaped") {
                    'n' => '\n',
                    other => other,
                },
                '"' => panic!("it ends too early"),
                other => other,
            });
        }
        value
    }
}
