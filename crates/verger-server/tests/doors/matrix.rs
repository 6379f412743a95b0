//! Every address, tried by everybody: one table, and no address that is not in it.

use std::collections::BTreeSet;

use crate::served::{Got, Served};

/// An address, how it is called here, and what each gets: nobody, the agent itself, another agent, a reader, an admin,
/// and those whose token has expired, was revoked, or never was one.
type Row = (&'static str, &'static str, &'static str, [u16; 8]);

const OPEN: [u16; 8] = [200; 8];
/// A vital sign, which needs no proof; but whoever has a token speaks for its agent alone.
const VITAL: [u16; 8] = [202, 202, 403, 403, 202, 401, 401, 401];
/// What others rely on.
const PROVEN: [u16; 8] = [403, 202, 403, 403, 202, 401, 401, 401];
const OWN: [u16; 8] = [401, 200, 403, 403, 200, 401, 401, 401];
const SEE: [u16; 8] = [401, 200, 403, 200, 200, 401, 401, 401];
const READ: [u16; 8] = [401, 403, 403, 200, 200, 401, 401, 401];

/// What generates a client.
const DESCRIBED: [u16; 8] = [200, 200, 200, 200, 200, 401, 401, 401];
/// What there might be, for those who may know.
const NOT_THERE: [u16; 8] = [401, 403, 403, 404, 404, 401, 401, 401];

/// Who may say it says it wrong.
const NOT_ITS_OWN: [u16; 8] = [401, 422, 403, 403, 422, 401, 401, 401];

/// An order, with what an admin gets.
const fn order(admin: u16) -> [u16; 8] {
    [401, 403, 403, 403, admin, 401, 401, 401]
}

const REASON: &str = r#"{"reason":"x"}"#;
const CHECKPOINT: &str = r#"{"id":"of-a-1","taskId":"of-a","agentId":"a","state":{"n":1}}"#;
/// Calls for the health of `a`, and for all.
const CHECK: &str = "\0\0\0\0\x03\n\x01a";
const LIST: &str = "\0\0\0\0\0";

const ROWS: &[Row] = &[
    ("GET /", "/", "", OPEN),
    ("GET /health", "/health", "", OPEN),
    ("GET /ready", "/ready", "", OPEN),
    ("POST /v1/heartbeats", "/v1/heartbeats", r#"{"agentId":"a"}"#, VITAL),
    ("POST /v1/signals", "/v1/signals", r#"{"kind":"output","agentId":"a","filesChanged":1}"#, PROVEN),
    ("GET /v1/agents", "/v1/agents", "", READ),
    ("GET /v1/agents/{id}", "/v1/agents/a", "", SEE),
    ("DELETE /v1/agents/{id}", "/v1/agents/gone", "", order(404)),
    ("GET /v1/agents/{id}/ready", "/v1/agents/a/ready", "", SEE),
    ("GET /v1/agents/{id}/events", "/v1/agents/a/events", "", SEE),
    ("GET /v1/agents/{id}/inbox", "/v1/agents/a/inbox", "", OWN),
    ("GET /v1/events", "/v1/events", "", READ),
    ("POST /v1/agents/{id}/nudge", "/v1/agents/gone/nudge", "", order(404)),
    ("POST /v1/agents/{id}/escalate", "/v1/agents/gone/escalate", REASON, order(404)),
    (
        "POST /v1/agents/{id}/decision",
        "/v1/agents/gone/decision",
        r#"{"decision":"force-handoff","reason":"x"}"#,
        order(404),
    ),
    ("POST /v1/agents/{id}/terminate", "/v1/agents/gone/terminate", REASON, order(404)),
    ("GET /openapi.json", "/openapi.json", "", DESCRIBED),
    ("GET /v1/fleet", "/v1/fleet", "", READ),
    ("PUT /v1/agents/{id}", "/v1/agents/new", r#"{"mode":"observe"}"#, order(200)),
    ("GET /v1/agents/{id}/history", "/v1/agents/a/history", "", SEE),
    ("GET /v1/agents/{id}/heartbeat", "/v1/agents/a/heartbeat", "", SEE),
    ("GET /v1/tasks", "/v1/tasks?agent=a", "", SEE),
    ("GET /v1/tasks/{id}", "/v1/tasks/of-a", "", SEE),
    ("PUT /v1/tasks/{id}", "/v1/tasks/of-a", r#"{"progressPercentage":5}"#, OWN),
    ("GET /v1/tasks/{id}/recovery", "/v1/tasks/of-a/recovery", "", NOT_THERE),
    ("POST /v1/tasks/{id}/recover", "/v1/tasks/gone/recover", "{}", order(404)),
    ("GET /v1/recoveries", "/v1/recoveries", "", READ),
    (
        "GET /v1/tasks/{id}/checkpoints",
        "/v1/tasks/of-a/checkpoints",
        "",
        [401, 200, 200, 200, 200, 401, 401, 401],
    ),
    ("POST /v1/checkpoints", "/v1/checkpoints", CHECKPOINT, [401, 201, 403, 403, 201, 401, 401, 401]),
    ("GET /v1/checkpoints/{id}", "/v1/checkpoints/of-a-1", "", SEE),
    ("POST /v1/breakers/{name}/acquire", "/v1/breakers/a/tool/x/acquire", "{}", OWN),
    ("GET /v1/breakers", "/v1/breakers", "", READ),
    ("GET /v1/breakers/{name}", "/v1/breakers/a/tool/x", "", SEE),
    (
        "POST /v1/breakers/{name}/report",
        "/v1/breakers/a/tool/x/report",
        r#"{"permit":"none","ok":true}"#,
        NOT_ITS_OWN,
    ),
    ("POST /v1/breakers/{name}/reset", "/v1/breakers/a/tool/x/reset", "{}", order(200)),
    ("GET /v1/incidents", "/v1/incidents", "", READ),
    ("POST /v1/events/{id}/wrong", "/v1/events/999999/wrong", "{}", order(404)),
    ("POST /v1/backup", "/v1/backup", r#"{"file":"relative"}"#, order(422)),
    ("GET /v1/tokens", "/v1/tokens", "", READ),
    ("POST /v1/tokens", "/v1/tokens", r#"{"scope":"read"}"#, order(201)),
    ("DELETE /v1/tokens/{id}", "/v1/tokens/gone", "", order(404)),
    ("GET /v1/audit", "/v1/audit", "", READ),
    ("POST /v1/sessions", "/v1/sessions", "", order(201)),
    ("GET /v1/sessions/current", "/v1/sessions/current", "", [401, 200, 200, 200, 200, 401, 401, 401]),
    ("DELETE /v1/sessions/current", "/v1/sessions/current", "", [401, 204, 204, 204, 204, 401, 401, 401]),
    ("GET /signin", "/signin?code=none", "", [410; 8]),
    ("GET /metrics", "/metrics", "", READ),
    ("POST /grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Check", CHECK, SEE),
    ("POST /grpc.health.v1.Health/Watch", "/grpc.health.v1.Health/Watch", CHECK, SEE),
    ("POST /grpc.health.v1.Health/List", "/grpc.health.v1.Health/List", LIST, READ),
];

#[tokio::test]
async fn each_scope_reaches_what_it_may_at_every_address_and_nothing_else() {
    let served = Served::new().await;
    served.beat("a").await;
    served.beat("b").await;
    let got = served.admin("PUT /v1/tasks/of-a", r#"{"agentId":"a"}"#).await;
    assert_eq!(got.status, 200, "{}", got.text);
    let revoked = served.token("admin", None, false).await;
    let got = served.admin("DELETE /v1/tokens/admin-all-false", "").await;
    assert_eq!(got.status, 204, "{}", got.text);
    let tokens = [
        None,
        Some(served.token("agent", Some("a"), false).await),
        Some(served.token("agent", Some("b"), false).await),
        Some(served.token("read", None, false).await),
        Some(served.admin.clone()),
        Some(served.token("admin", None, true).await),
        Some(revoked),
        Some("vgt_wrong".to_owned()),
    ];
    let mut wrong = Vec::new();
    for (route, path, body, expected) in ROWS {
        let (method, _) = route.split_once(' ').expect("a method");
        for (who, (token, expected)) in tokens.iter().zip(expected).enumerate() {
            let request = format!("{method} {path}");
            let got = match token {
                Some(token) => served.bearer(token, &request, body).await,
                None => served.nobody(&request, body).await,
            };
            if reached(&got) != *expected {
                wrong.push(format!(
                    "{route}, caller {who}: {} instead of {expected}: {}",
                    got.status, got.text
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    served.started.stop();
}

/// The status, also where one is told in another way: a batch of which nothing was taken, a call by gRPC.
fn reached(got: &Got) -> u16 {
    if got.body.get("accepted").is_some_and(|accepted| accepted == 0) {
        return 403;
    }
    let grpc = got.head.lines().find_map(|line| line.strip_prefix("grpc-status: "));
    match grpc.map(str::trim) {
        Some("16") => 401,
        Some("7") => 403,
        Some("0") | None => got.status,
        Some(_) => 500,
    }
}

#[tokio::test]
async fn pages_from_elsewhere_and_rebound_names_reach_no_address() {
    let served = Served::new().await;
    let bearer = format!("Bearer {}", served.admin);
    for (route, path, body, _) in ROWS {
        let (method, _) = route.split_once(' ').expect("a method");
        for stranger in
            [("Origin", "https://evil.example"), ("Origin", "null"), ("Host", "evil.example:8374")]
        {
            let headers = [("Authorization", bearer.as_str()), stranger];
            let got = served.send(&format!("{method} {path}"), &headers, body).await;
            assert_eq!((got.status, &got.body["code"]), (403, &"VG0414".into()), "{route} {stranger:?}");
        }
    }
    served.started.stop();
}

#[tokio::test]
async fn every_address_is_in_the_table() {
    let served = Served::new().await;
    let document = served.nobody("GET /openapi.json", "").await.body;
    let paths = document["paths"].as_object().expect("what is served").iter();
    let described = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flat_map(|item| item.keys());
        methods.map(move |method| format!("{} {path}", method.to_ascii_uppercase()))
    });
    // Its description is that of gRPC.
    let health = ["Check", "List", "Watch"].map(|name| format!("POST /grpc.health.v1.Health/{name}"));
    let known: BTreeSet<String> = described.chain(health).collect();
    let tried: BTreeSet<String> = ROWS.iter().map(|(route, ..)| (*route).to_owned()).collect();
    assert_eq!(known, tried, "left: what is served, right: what this table tries");
    served.started.stop();
}
