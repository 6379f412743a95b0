//! What nobody should send, and somebody will.

use serde_json::json;

use super::Served;

#[tokio::test]
async fn names_that_cannot_be_names_are_refused_before_anything_is_kept() {
    let served = Served::new().await;
    let long = "x".repeat(10_000);
    let of = |field: &str, value: &str| {
        let mut body = json!({"taskId": "t", "agentId": "a", "state": 1});
        body[field] = value.into();
        body.to_string()
    };
    for body in [
        of("taskId", ""),
        of("taskId", "a\u{1b}[31m"),
        of("agentId", "a\nb"),
        of("id", &long),
        of("parentId", "\u{0}"),
        of("phase", &long),
    ] {
        served.refused(&[("POST /v1/checkpoints", &body, 422, "VG0402")]).await;
    }
    let kept = served.started.monitor.archive().checkpoints(&"t".into(), None, 9).expect("it can be read");
    assert!(kept.is_empty(), "{kept:?}");
    served.started.stop();
}

#[tokio::test]
async fn what_people_write_is_not_kept_without_end() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let long = "x".repeat(300_000);
    let cases = [
        ("POST /v1/agents/a/nudge", json!({"message": long})),
        ("POST /v1/agents/a/escalate", json!({"reason": long})),
        ("POST /v1/agents/a/terminate", json!({"reason": long})),
        ("POST /v1/agents/a/decision", json!({"decision": "force-handoff", "reason": long})),
        ("PUT /v1/tasks/t", json!({"description": long})),
        ("POST /v1/tasks/t/recover", json!({"reason": long})),
        ("POST /v1/backup", json!({"file": "/proc/none/backup"})),
    ];
    for (request, body) in cases {
        served.refused(&[(request, &body.to_string(), 422, "VG0402")]).await;
    }
    let there = served.directory.path().join("admin.token");
    served.refused(&[("POST /v1/backup", &json!({"file": there}).to_string(), 409, "VG0433")]).await;
    let kinds = served.started.monitor.archive().events_after(0, 100).expect("it can be read");
    assert_eq!(kinds.len(), 3, "nothing came of it: {kinds:?}");
    served.started.stop();
}
