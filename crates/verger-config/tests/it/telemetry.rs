//! What is told of the monitor itself, by the file and by the variables of `OpenTelemetry`.

use verger_config::{Surroundings, Telemetry, load};
use verger_core::time::Span;

use crate::{at_home, loaded, right};

const FILE: &str = "
telemetry:
  traces: {endpoint: 'http://127.0.0.1:4318', headers: {x-key: hunter2}, sample_percent: 25}
  dead_man: {url: 'https://hc.example/ping/1', interval: 20s}
  metrics: {agents_max: 50}
";

fn within(variables: &[(&str, &str)]) -> Surroundings {
    let mut surroundings = at_home();
    surroundings.environment.extend(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    surroundings
}

/// Where traces go with these variables and no file.
fn url(variables: &[(&str, &str)]) -> Option<String> {
    let Telemetry { traces, .. } = load(None, &within(variables)).expect("it is right").telemetry;
    traces.map(|traces| traces.url)
}

#[test]
fn l48_the_file_says_where_traces_go_and_nothing_secret_is_shown() {
    let configuration = right(FILE);
    let Telemetry { traces, dead_man, agents_max, .. } = &configuration.telemetry;
    let traces = traces.as_ref().expect("they go somewhere");
    assert_eq!((traces.url.as_str(), traces.sample_percent), ("http://127.0.0.1:4318/v1/traces", 25));
    assert_eq!((traces.headers[0].0.as_str(), traces.headers[0].1.reveal()), ("x-key", "hunter2"));
    let dead_man = dead_man.as_ref().expect("there is one");
    assert_eq!((dead_man.url.as_str(), dead_man.interval), ("https://hc.example/ping/1", Span::secs(20)));
    assert_eq!(*agents_max, 50);
    let shown = configuration.show(verger_config::Detail::Changed);
    assert!(shown.contains("telemetry.traces.endpoint") && !shown.contains("hunter2"), "{shown}");
    assert!(!format!("{configuration:?}").contains("hunter2"));
}

#[test]
fn l48_without_a_word_nothing_is_sent_anywhere() {
    assert_eq!(right("").telemetry, Telemetry::default());
}

#[test]
fn l48_the_variables_of_opentelemetry_are_understood() {
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/");
    assert_eq!(url(&[all]).as_deref(), Some("http://h:4318/v1/traces"));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other/x");
    assert_eq!(url(&[all, own]).as_deref(), Some("http://other/x"));
    for off in [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ] {
        assert_eq!(url(&[all, off]), None, "{off:?}");
    }
    assert_eq!(url(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), None);
    let headers = within(&[all, ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=other")]);
    let source = verger_config::Source::from_bytes(std::path::Path::new("verger.yaml"), FILE.as_bytes());
    let traces = load(Some(&source.expect("a text")), &headers).expect("it is right").telemetry.traces;
    let traces = traces.expect("they go somewhere");
    assert_eq!(traces.url, "http://h:4318/v1/traces", "a variable goes before the file");
    assert_eq!(traces.headers.len(), 1);
    assert_eq!(traces.headers[0].1.reveal(), "other");
}

#[test]
fn l48_what_cannot_be_meant_is_said() {
    for (text, said) in [
        ("telemetry: {traces: {endpoint: 'ftp://h'}}", "`endpoint`"),
        ("telemetry: {traces: {sample_percent: 101}}", "sample_percent"),
        ("telemetry: {dead_man: {url: 'http://h', interval: 10ms}}", "interval"),
        ("telemetry: {log: {format: xml}}", "`format`"),
    ] {
        let problems = loaded(text).expect_err(text).to_string();
        assert!(problems.contains(said), "{problems}");
    }
    let wrong = load(None, &within(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nowhere")]));
    assert!(wrong.expect_err("it is no address").to_string().contains("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"));
}
