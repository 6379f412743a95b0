//! Bodies that mean harm: nothing panics, the good ones beside the bad ones are kept, and work stays linear.
//!
//! There are no clocks in here. Were anything quadratic, the long bodies below would take minutes.

use proptest::prelude::*;
use verger_api::ingest::{self, Batch, Ingest, Limits};

fn heartbeats(body: &[u8]) -> (Vec<(usize, String)>, usize) {
    let limits = Limits { items: 1_000_000, ..Limits::default() };
    let Batch { items, rejected } = match ingest::heartbeats(body, &limits) {
        Ingest::One(Ok(item)) => return (vec![(0, item.agent_id.into_owned())], 0),
        Ingest::One(Err(_)) => return (vec![], 1),
        Ingest::Many(batch) => batch,
    };
    (items.into_iter().map(|(at, item)| (at, item.agent_id.into_owned())).collect(), rejected.len())
}

#[test]
fn long_bodies_of_nonsense_end() {
    let big = 400_000;
    for part in [
        "[",
        "{",
        "{\"x\":[",
        "{\"x\":[\n",
        "\"",
        "\\",
        "[[],",
        "{\"agentId\":\"a\"",
        "{\"agentId\":\"a\"}\n{",
        "[{\"x\":",
        ",\n",
        "null\n",
        "{\"args\":[\n{",
    ] {
        let body = part.repeat(big / part.len());
        let _ = heartbeats(body.as_bytes());
        let _ = heartbeats(format!("[{body}").as_bytes());
        let _ = heartbeats(format!("{{\"agentId\":{body}").as_bytes());
        let _ = ingest::signals(
            format!("{{\"kind\":\"toolCall\",\"args\":{body}").as_bytes(),
            &Limits::default(),
        );
    }
}

#[test]
fn deep_nesting_is_skipped_or_refused_without_recursion() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let ignored = format!("{{\"x\":{deep},\"agentId\":\"a\"}}");
    assert_eq!(heartbeats(ignored.as_bytes()), (vec![(0, "a".to_owned())], 0));
    let call = format!(
        r#"{{"kind":"toolCall","agentId":"a","callId":"c","tool":"t","phase":"started","args":{deep}}}"#
    );
    let Ingest::One(Err(error)) = ingest::signals(call.as_bytes(), &Limits::default()) else {
        panic!("one was expected")
    };
    assert_eq!(error, "args is nested deeper than 64 levels");
    let field = format!("{{\"agentId\":{deep}}}");
    assert_eq!(heartbeats(field.as_bytes()), (vec![], 1));
}

#[test]
fn invalid_utf_8_is_refused_where_it_matters() {
    assert_eq!(heartbeats(b"{\"agentId\":\"\xff\xfe\"}"), (vec![], 1));
    assert_eq!(
        heartbeats(b"{\"agentId\":\"a\"}\n{\"agentId\":\"\xc3\x28\"}\n{\"agentId\":\"b\"}").0.len(),
        2
    );
}

/// Values of all kinds, also those that no JSON has.
fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        "-?[0-9]{1,30}(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?",
        "NaN|Infinity|-Infinity|undefined|0x10|01|true|false|\\+1|\\.5",
        "\"[a-z\\\\\"{}:,\\[\\]]{0,12}\"",
        "\"\\\\u[dD][89a-fA-F][0-9a-f]{2}\"",
        "\\[{0,6}\\]{0,6}",
        "(\\{\"a\":){0,4}[0-9]?\\}{0,4}",
    ]
}

/// Objects with the names that are known and wrong values.
fn objects() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "agentId",
        "agent_id",
        "kind",
        "timestamp",
        "tokenCount",
        "status",
        "phase",
        "args",
        "result",
        "at",
        "incarnation",
        "costUsd",
        "retryAfter",
        "x",
    ]);
    prop::collection::vec((name, values()), 0..6).prop_map(|fields| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = heartbeats(&body);
        let _ = ingest::signals(&body, &Limits::default());
    }

    #[test]
    fn no_structure_is_too_strange(body in "([\\[\\]{}:,\"\\\\\n a1]|\"agentId\"|\"kind\"|\"args\"|null|\\{\"agentId\":\"b\"\\}){0,60}") {
        let _ = heartbeats(body.as_bytes());
        let _ = ingest::signals(body.as_bytes(), &Limits { depth: 3, items: 4, item_bytes: 30, ..Limits::default() });
    }

    #[test]
    fn no_values_are_too_strange(object in objects(), cut in any::<prop::sample::Index>()) {
        for kind in ["toolCall", "error", "status", "exit", "heartbeat"] {
            let signal = format!("{{\"kind\":\"{kind}\",\"agentId\":\"a\",{}", &object[1..]);
            let _ = ingest::signals(signal.as_bytes(), &Limits::default());
            let cut = cut.index(signal.len());
            let _ = ingest::signals(&signal.as_bytes()[..cut], &Limits::default());
        }
    }

    /// Whatever stands in the lines between them, good heartbeats are kept, each at its place.
    #[test]
    fn good_lines_survive_among_bad_ones(bad in prop::collection::vec(objects(), 1..6)) {
        let lines: Vec<String> = bad.iter().enumerate().flat_map(|(at, bad)| [format!("{{\"agentId\":\"good-{at}\"}}"), bad.clone()]).collect();
        let (items, _) = heartbeats(lines.join("\n").as_bytes());
        for at in 0..bad.len() {
            prop_assert!(items.contains(&(2 * at, format!("good-{at}"))), "{:?} of {:?}", items, lines);
        }
    }

    /// Of an array whose items are JSON, however wrong they are, the good ones are kept and all are accounted for.
    #[test]
    fn good_items_survive_among_bad_ones(bad in prop::collection::vec(objects(), 1..6)) {
        let bad: Vec<_> = bad.into_iter().filter(|bad| serde_json::from_str::<serde_json::Value>(bad).is_ok()).collect();
        let mut items = vec!["{\"agentId\":\"first\"}".to_owned()];
        items.extend(bad);
        items.push("{\"agentId\":\"last\"}".to_owned());
        let (good, rejected) = heartbeats(format!("[{}]", items.join(" , ")).as_bytes());
        prop_assert_eq!(good.len() + rejected, items.len());
        prop_assert_eq!(&good[0], &(0, "first".to_owned()));
        prop_assert_eq!(good.last(), Some(&(items.len() - 1, "last".to_owned())));
    }
}
