//! Heartbeats in every form they may come in, and what is said of those that are wrong.

use verger_api::ingest::{self, Batch, Ingest, Limits, Rejected};
use verger_api::{AgentStatus, Heartbeat, Vitals};

/// Reads a body of one heartbeat.
fn one(body: &str) -> Result<Heartbeat<'_>, String> {
    match ingest::heartbeats(body.as_bytes(), &Limits::default()) {
        Ingest::One(item) => item,
        Ingest::Many(batch) => panic!("one was expected: {batch:?}"),
    }
}

/// Reads a body of several, and gives the places and names of the good ones, and the bad ones.
fn many(body: &str, limits: &Limits) -> (Vec<(usize, String)>, Vec<Rejected>) {
    match ingest::heartbeats(body.as_bytes(), limits) {
        Ingest::One(item) => panic!("several were expected: {item:?}"),
        Ingest::Many(Batch { items, rejected }) => {
            (items.into_iter().map(|(at, it)| (at, it.agent_id.into_owned())).collect(), rejected)
        }
    }
}

fn names(names: &[(usize, &str)]) -> Vec<(usize, String)> {
    names.iter().map(|(at, name)| (*at, (*name).to_owned())).collect()
}

fn rejected(index: usize, error: &str) -> Rejected {
    Rejected { index, error: error.to_owned() }
}

#[test]
fn l11_a_heartbeat_is_read_in_both_spellings_and_by_the_names_of_the_specification() {
    let expected = Heartbeat {
        agent_id: "a".into(),
        task_id: Some("t".into()),
        timestamp: Some("2026-01-31T12:00:00Z".parse().expect("a time")),
        incarnation: Some(3),
        vitals: Vitals {
            phase: Some("testing".into()),
            last_tool_call: Some("2026-01-31T11:59:00Z".into()),
            token_count: Some(1_200),
            error_count: Some(2),
            progress_indicator: Some("step 4".into()),
            status: Some(AgentStatus::Busy),
            busy_until: Some("2026-01-31T12:10:00Z".parse().expect("a time")),
            role: Some("critical".into()),
            context_used: Some(10),
            context_limit: Some(20),
            cost_usd: Some(0.5),
        },
    };
    let camel = serde_json::to_string(&expected).expect("JSON");
    assert_eq!(one(&camel), Ok(expected.clone()));
    assert_eq!(serde_json::from_str::<Heartbeat<'static>>(&camel).expect("a heartbeat"), expected);
    let snake = r#"{"agent_id":"a","task_id":"t","timestamp":"2026-01-31T12:00:00Z","incarnation":3,
        "current_phase":"testing","last_tool_call_timestamp":"2026-01-31T11:59:00Z","token_count":1200.0,
        "error_count":2,"progress_indicator":"step 4","status":"BUSY","busy_until":"2026-01-31T13:10:00+01:00",
        "role":"critical","context_used":10,"context_limit":20,"cost_usd":0.5}"#;
    assert_eq!(one(snake), Ok(expected));
}

#[test]
fn only_the_agents_name_is_needed_and_what_is_not_known_is_ignored() {
    assert_eq!(one(r#"{"agentId":"a"}"#), Ok(Heartbeat::of("a")));
    let more =
        r#"{"x":{"agentId":"b","y":[1,{"z":null}]},"agentId":"a","taskId":null,"phase":null,"at":null}"#;
    assert_eq!(one(more), Ok(Heartbeat::of("a")));
}

#[test]
fn what_has_no_escapes_is_not_copied() {
    use std::borrow::Cow;
    let read = one(r#"{"agentId":"a","phase":"b\nc"}"#).expect("a heartbeat");
    assert!(matches!(read.agent_id, Cow::Borrowed("a")));
    assert_eq!(read.vitals.phase, Some(Cow::Owned("b\nc".to_owned())));
}

#[test]
fn the_form_is_found_out_from_the_body() {
    let limits = Limits::default();
    let both = names(&[(0, "a"), (1, "b")]);
    for body in [
        "[{\"agentId\":\"a\"},{\"agentId\":\"b\"}]",
        " [ {\"agentId\":\"a\"} ,\n {\"agentId\":\"b\"}\n ] \n",
        "{\"agentId\":\"a\"}\n{\"agentId\":\"b\"}",
        "\u{feff}\n{\"agentId\":\"a\"}\r\n\r\n  {\"agentId\":\"b\"}\r\n\n",
    ] {
        assert_eq!(many(body, &limits), (both.clone(), vec![]), "{body}");
    }
    assert_eq!(many("[]", &limits), (vec![], vec![]));
    for body in [
        "{\"agentId\":\"a\"}\n",
        "\n{\n  \"agentId\": \"a\",\n  \"phase\": null\n}\n",
        "{\"agentId\":\"a\"\n,\"x\":1}",
        "{\"x\":\n{},\"agentId\":\"a\"}",
        "{\"x\":[\n{}\n],\"agentId\":\"a\"}",
    ] {
        assert_eq!(one(body), Ok(Heartbeat::of("a")), "{body}");
    }
}

#[test]
fn a_bad_one_is_told_by_its_place_and_the_good_ones_are_kept() {
    let lines = "{\"agentId\":\"a\"}\n{\"agentId\":7}\nnonsense\n{\"agentId\":\"b\"\n{\"agentId\":\"c\"} {}\n{\"agentId\":\"d\"}";
    let (good, bad) = many(lines, &Limits::default());
    assert_eq!(good, names(&[(0, "a"), (5, "d")]));
    assert_eq!(
        bad,
        [
            rejected(1, "agentId must be a string, not a number"),
            rejected(2, "not valid JSON: expected ident at character 2"),
            rejected(3, "not valid JSON: EOF while parsing an object at character 14"),
            rejected(4, "not valid JSON: trailing characters at character 17"),
        ]
    );
    let array = r#"[{"agentId":"a"}, 1, null, [{}], {"phase":"x"}, {"agentId":"b","tokenCount":-1}, {"agentId":"c"}]"#;
    let (good, bad) = many(array, &Limits::default());
    assert_eq!(good, names(&[(0, "a"), (6, "c")]));
    let object = "an item must be an object";
    assert_eq!(
        bad,
        [
            rejected(1, object),
            rejected(2, object),
            rejected(3, object),
            rejected(4, "agentId is missing"),
            rejected(5, "tokenCount must be a whole number that is not negative"),
        ]
    );
}

#[test]
fn an_array_that_breaks_off_keeps_what_came_before() {
    for (body, why) in [
        (r#"[{"agentId":"a"}"#, "the array is not closed"),
        (r#"[{"agentId":"a"},"#, "the array is not closed"),
        (r#"[{"agentId":"a"} {"agentId":"b"}]"#, "a comma is missing; the rest of the array cannot be read"),
        (r#"[{"agentId":"a"}] {}"#, "text follows the array"),
    ] {
        assert_eq!(many(body, &Limits::default()), (names(&[(0, "a")]), vec![rejected(1, why)]), "{body}");
    }
    let (good, bad) = many(r#"[{"agentId":"a"},{"agentId":"#, &Limits::default());
    assert_eq!((good, bad.len()), (names(&[(0, "a")]), 2));
}

#[test]
fn the_sentence_names_the_field() {
    for (fields, error) in [
        (r#""agentId":"""#, "agentId must not be empty"),
        (r#""agentId":"a\u001b[2J""#, "agentId must not contain control characters"),
        (r#""agentId":"a","agent_id":"b""#, "agentId is given twice"),
        (
            r#""agentId":"a","status":"great""#,
            "status: `great` is none of healthy, busy, degraded, idle, waiting",
        ),
        (r#""agentId":"a","timestamp":"noon""#, "timestamp must be a time as in 2026-01-31T12:00:00Z"),
        (
            r#""agentId":"a","timestamp":1700000000"#,
            "timestamp must be a time as in 2026-01-31T12:00:00Z, not a number",
        ),
        (r#""agentId":"a","tokenCount":"7""#, "tokenCount must be a whole number, not a string"),
        (r#""agentId":"a","tokenCount":1.5"#, "tokenCount must be a whole number that is not negative"),
        (r#""agentId":"a","tokenCount":1e400"#, "tokenCount: number out of range"),
        (r#""agentId":"a","costUsd":-0.1"#, "costUsd must not be negative"),
        (r#""agentId":"a","incarnation":4294967296"#, "incarnation must be at most 4294967295"),
        (r#""agentId":"a","phase":{"deep":[1]}"#, "phase must be a string, not an object"),
        (r#""agentId":"a","role":true"#, "role must be a string, not a boolean"),
    ] {
        assert_eq!(one(&format!("{{{fields}}}")), Err(error.to_owned()), "{fields}");
    }
    assert_eq!(one("  "), Err("the body is empty".to_owned()));
    assert_eq!(one("42"), Err("invalid type: integer `42`, expected an object".to_owned()));
    assert_eq!(one(r#"{"agentId":NaN}"#), Err("agentId: expected value".to_owned()));
    assert_eq!(one(r#"{"agentId":"\ud800"}"#), Err("agentId: unexpected end of hex escape".to_owned()));
}

#[test]
fn limits_hold_for_items_sizes_and_lengths() {
    let limits = Limits { items: 2, item_bytes: 40, name_bytes: 5, label_bytes: 8, ..Limits::default() };
    let body = |items: &[&str]| [items.join("\n"), format!("[{}]", items.join(","))];
    for body in body(&[r#"{"agentId":"a"}"#, r#"{"agentId":"b"}"#, r#"{"agentId":"c"}"#]) {
        let (good, bad) = many(&body, &limits);
        assert_eq!(good, names(&[(0, "a"), (1, "b")]));
        assert_eq!(bad, [rejected(2, "more than 2 items; the rest was not read")]);
    }
    let long = format!(r#"{{"agentId":"a","x":"{}"}}"#, "y".repeat(40));
    for body in body(&[&long, r#"{"agentId":"b"}"#]) {
        assert_eq!(
            many(&body, &limits),
            (names(&[(1, "b")]), vec![rejected(0, "the item is larger than 40 bytes")])
        );
    }
    for body in body(&[r#"{"agentId":"abcdef"}"#, r#"{"agentId":"a","phase":"123456789"}"#]) {
        let longer =
            [rejected(0, "agentId is longer than 5 bytes"), rejected(1, "phase is longer than 8 bytes")];
        assert_eq!(many(&body, &limits), (vec![], longer.to_vec()));
    }
}

#[test]
fn a_report_counts_what_was_taken() {
    let body = "{\"agentId\":\"a\"}\n{}\n{\"agentId\":\"b\"}";
    let (items, mut report) = ingest::heartbeats(body.as_bytes(), &Limits::default()).into_parts();
    assert_eq!(items.len(), 2);
    report.reject(2, "incarnation 1 of this agent was superseded");
    assert_eq!(
        serde_json::to_string(&report).expect("JSON"),
        r#"{"accepted":1,"rejected":[{"index":1,"error":"agentId is missing"},{"index":2,"error":"incarnation 1 of this agent was superseded"}]}"#
    );
}
