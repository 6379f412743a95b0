//! Traces of the real program, as a real receiver of OTLP gets them; read by the types of `OpenTelemetry` itself.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;

use crate::collector::Collector;
use crate::program::{Place, Program, until};
use crate::receiver::Orchestrator;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

fn parent() -> String {
    format!("00-{TRACE}-{CALLER}-01")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// What a span says.
fn said(span: &Span) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let attributes = span.attributes.iter();
    attributes.filter_map(|it| Some((it.key.clone(), text(it.value.as_ref()?.value.as_ref()?)))).collect()
}

/// All spans that were received.
fn spans(collector: &Collector) -> Vec<Span> {
    let calls = collector.calls();
    let received = calls.iter().filter(|call| call.status == 200 && call.line == "POST /v1/traces");
    received
        .flat_map(|call| {
            assert_eq!(call.header("content-type"), Some("application/x-protobuf"));
            let request = ExportTraceServiceRequest::decode(call.body.as_slice()).expect("OTLP");
            request.resource_spans.into_iter().flat_map(|of| {
                let service = &of.resource.as_ref().expect("a resource").attributes[0];
                assert_eq!(service.key, "service.name");
                of.scope_spans.into_iter().flat_map(|scoped| scoped.spans)
            })
        })
        .collect()
}

/// The first span of this name, once it is there.
fn span(collector: &Collector, name: &str) -> Span {
    until(name, || spans(collector).into_iter().find(|span| span.name == name))
}

/// The span that this one hangs below.
fn above(collector: &Collector, span: &Span) -> Span {
    until("its parent", || spans(collector).into_iter().find(|other| other.span_id == span.parent_span_id))
}

fn traced(place: &Place, port: u16, more: &str) -> Program {
    let traces = format!("  traces:\n    endpoint: http://127.0.0.1:{port}\n    headers: {{x-key: k1}}\n");
    place.configure(&format!("telemetry:\n{traces}{more}")).start()
}

fn beat(program: &Program, headers: &[(&str, &str)], agent: &str) {
    let body = format!(r#"{{"agentId":"{agent}"}}"#);
    assert_eq!(program.send("POST /v1/heartbeats", headers, &body).status, 202);
}

/// So many heartbeats, each in a trace of its own, over one connection.
fn beat_traced(program: &Program, count: u32) {
    let mut stream = TcpStream::connect(&program.address).expect("it listens");
    let (body, mut text) = (r#"{"agentId":"a"}"#, vec![0; 1 << 16]);
    for first in (0..count).step_by(40) {
        let requests = (first..count.min(first + 40)).map(|number| {
            let head = format!("POST /v1/heartbeats HTTP/1.1\r\nHost: {}\r\n", program.address);
            let trace = format!("traceparent: 00-f{number:031x}-{CALLER}-01\r\n");
            format!("{head}{trace}Content-Length: {}\r\n\r\n{body}", body.len())
        });
        let requests: Vec<String> = requests.collect();
        stream.write_all(requests.concat().as_bytes()).expect("it reads");
        let mut answers = String::new();
        while answers.matches(r#""accepted":1"#).count() < requests.len() {
            let length = stream.read(&mut text).expect("it answers");
            assert!(length > 0, "it hung up after {answers}");
            answers += &String::from_utf8_lossy(&text[..length]);
        }
    }
}

#[test]
fn l48_what_is_found_and_done_about_an_agent_carries_on_the_trace_that_it_came_in() {
    let (collector, place) = (Collector::at(0), Place::new());
    let program = traced(&place, collector.port, "");
    let headers = [("traceparent", parent()), ("tracestate", "vendor=1".to_owned())];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    for call in 0..12 {
        for phase in ["started", "finished"] {
            let body = format!(
                r#"{{"kind":"toolCall","agentId":"a","callId":"c{call}","tool":"grep","phase":"{phase}","args":{{"pattern":"x"}},"result":"nothing"}}"#
            );
            assert_eq!(program.send("POST /v1/signals", &headers, &body).status, 202);
        }
    }
    let request = span(&collector, "POST /v1/signals");
    assert_eq!((hex(&request.trace_id), hex(&request.parent_span_id)), (TRACE.into(), CALLER.into()));
    assert_eq!((request.kind(), request.trace_state.as_str()), (SpanKind::Server, "vendor=1"));
    assert_eq!(said(&request)["http.response.status_code"], "202");

    let is_stuck =
        |span: &Span| span.name == "HEALTH_STATE_CHANGED" && said(span)["verger.health.to"] == "STUCK";
    let stuck = until("it is stuck", || spans(&collector).into_iter().find(is_stuck));
    assert_eq!(hex(&stuck.trace_id), TRACE);
    assert_eq!(above(&collector, &stuck).name, "POST /v1/signals", "the request in which it was seen");
    assert_eq!(said(&stuck)["verger.agent.id"], "a");
    assert!(said(&stuck)["verger.health.reason"].contains("grep"), "{:?}", said(&stuck));
    assert!(stuck.start_time_unix_nano <= stuck.end_time_unix_nano);

    let escalated = span(&collector, "intervention escalate");
    assert_eq!(hex(&escalated.trace_id), TRACE);
    assert_eq!(above(&collector, &escalated).name, "HEALTH_STATE_CHANGED");
    assert_eq!(escalated.status.map(|status| status.code), Some(StatusCode::Ok.into()));
    // The event in the journal names the very span.
    let event = program.event("a", "HEALTH_STATE_CHANGED");
    let expected = format!("00-{TRACE}-{}-01", hex(&stuck.span_id));
    assert_eq!(event["traceparent"], expected.as_str(), "{event}");
    assert!(collector.calls().iter().all(|call| call.header("x-key") == Some("k1")));
}

#[test]
fn l48_a_reminder_is_a_span_from_when_it_leaves_until_it_is_handed_over() {
    let (collector, place) = (Collector::at(0), Place::new());
    let program = traced(&place, collector.port, "");
    beat(&program, &[], "a");
    let admin = format!("Bearer {}", program.token);
    let headers = [("Authorization", admin.as_str()), ("traceparent", &parent())];
    assert_eq!(program.send("POST /v1/agents/a/nudge", &headers, r#"{"message":"go on"}"#).status, 202);
    let order = span(&collector, "POST /v1/agents/{id}/nudge");
    assert_eq!((hex(&order.trace_id), hex(&order.parent_span_id)), (TRACE.into(), CALLER.into()));
    assert!(spans(&collector).iter().all(|span| span.name != "intervention nudge"), "it waits");
    beat(&program, &[], "a");
    let nudge = span(&collector, "intervention nudge");
    assert_eq!(nudge.parent_span_id, order.span_id);
    assert_eq!((nudge.kind(), said(&nudge)["verger.outcome"].as_str()), (SpanKind::Client, "delivered"));
    // An order that bears no trace begins one.
    assert_eq!(program.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"look"}"#).status, 202);
    let order = span(&collector, "POST /v1/agents/{id}/escalate");
    assert!(order.parent_span_id.is_empty() && hex(&order.trace_id) != TRACE);
    assert_eq!(span(&collector, "intervention escalate").parent_span_id, order.span_id);
}

#[test]
fn l48_webhooks_and_programs_are_told_the_trace() {
    let (collector, place) = (Collector::at(0), Place::new());
    let script = r#"echo "$TRACEPARENT" > "{here}/ended""#;
    let program = traced(&place, collector.port, &format!("termination:\n  command: [sh, -c, '{script}']\n"));
    beat(&program, &[], "a");
    let admin = format!("Bearer {}", program.token);
    let headers = [("Authorization", admin.as_str()), ("traceparent", &parent())];
    assert_eq!(program.send("POST /v1/agents/a/terminate", &headers, r#"{"reason":"enough"}"#).status, 202);
    let stop = span(&collector, "intervention terminate");
    assert_eq!(place.file("ended").trim(), format!("00-{TRACE}-{}-01", hex(&stop.span_id)));
    assert_eq!(said(&stop)["verger.outcome"], "stopped");
    let ended = span(&collector, "AGENT_TERMINATED");
    assert_eq!(hex(&ended.trace_id), TRACE);
}

#[test]
fn l48_without_a_receiver_a_trace_is_still_passed_on() {
    let orchestrator = Orchestrator::at(0, 204, "");
    let place = Place::new();
    let webhook = format!("orchestrator:\n  webhook:\n    url: http://127.0.0.1:{}/x\n", orchestrator.port);
    let program = place.configure(&webhook).start();
    beat(&program, &[("traceparent", &parent()), ("tracestate", "vendor=1")], "a");
    assert_eq!(program.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"look"}"#).status, 202);
    let asked = orchestrator.next("ESCALATION_TRIGGERED");
    assert_eq!(asked.document["traceparent"], parent().as_str());
    assert_eq!(asked.traceparent, parent());
    assert_eq!(asked.document["tracestate"], "vendor=1");
}

#[test]
fn l48_a_malformed_context_is_ignored_and_one_that_is_not_recorded_is_left_alone() {
    let (collector, place) = (Collector::at(0), Place::new());
    let program = traced(&place, collector.port, "");
    for wrong in ["garbage", "00-00000000000000000000000000000000-b7ad6b7169203331-01", ""] {
        beat(&program, &[("traceparent", wrong)], "a");
    }
    beat(&program, &[("traceparent", &parent()), ("traceparent", &parent())], "a");
    beat(&program, &[("traceparent", &parent().replace("-01", "-00"))], "b");
    beat(&program, &[("traceparent", &parent())], "c");
    span(&collector, "POST /v1/heartbeats");
    let of_reports = spans(&collector).into_iter().filter(|span| span.name == "POST /v1/heartbeats");
    assert_eq!(of_reports.count(), 1, "only what was whole, and recorded by its caller");
    let event = program.event("b", "HEALTH_STATE_CHANGED");
    assert_eq!(event["traceparent"].as_str().map(|it| &it[..36]), Some(&parent()[..36]), "{event}");
}

#[test]
fn l48_while_a_receiver_is_down_the_newest_spans_wait_and_the_rest_is_counted() {
    let place = Place::new();
    // Nobody listens at a port that was just another's.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let free = free.expect("a port").port();
    let program = traced(&place, free, "");
    let sent = 5_200;
    beat_traced(&program, sent);
    until("it was tried", || place.log().contains("traces do not arrive").then_some(()));
    let lost = program.metric("verger_trace_spans_dropped_total{reason=\"full\"}");
    let waiting = program.metric("verger_trace_queue_spans");
    assert!(lost > 0.0 && waiting <= 4_096.0, "{lost} lost, {waiting} wait");
    let collector = Collector::at(free);
    collector.answer(503);
    until("it is tried again", || collector.calls().iter().any(|call| call.status == 503).then_some(()));
    collector.answer(200);
    let all = until("all that is left arrives", || {
        let count = program.metric("verger_trace_spans_exported_total")
            + program.metric("verger_trace_spans_dropped_total{reason=\"full\"}");
        let made = spans(&collector).into_iter().filter(|span| span.name == "POST /v1/heartbeats").count();
        (program.metric("verger_trace_queue_spans") == 0.0 && made >= 4_096).then_some(count)
    });
    assert!(all >= f64::from(sent), "every span is either received or counted: {all}");
    let newest = format!("f{:031x}", sent - 1);
    assert!(spans(&collector).iter().any(|span| hex(&span.trace_id) == newest), "the newest are kept");
    assert!(place.log().contains("traces arrive again"), "{}", place.log());
    assert_eq!(program.as_nobody("GET /ready", "").status, 200);
}

#[test]
fn l48_another_receiver_is_used_without_a_restart() {
    let (first, second, place) = (Collector::at(0), Collector::at(0), Place::new());
    let program = traced(&place, first.port, "");
    beat(&program, &[("traceparent", &parent())], "a");
    span(&first, "POST /v1/heartbeats");
    place.configure(&format!("telemetry:\n  traces:\n    endpoint: http://127.0.0.1:{}\n", second.port));
    until("it is loaded", || place.log().contains("was loaded again").then_some(()));
    beat(&program, &[("traceparent", &parent())], "a");
    span(&second, "POST /v1/heartbeats");
}
