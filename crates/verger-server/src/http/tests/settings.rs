//! What is set for one agent.

use serde_json::json;

use super::Served;

#[tokio::test]
async fn l51_role_task_and_mode_of_an_agent_are_set_and_stay() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let asked = r#"{"role":"critical","task_id":"t","mode":"full"}"#;
    let got = served.as_admin("PUT /v1/agents/a", asked).await;
    assert_eq!(got.status, 200, "{}", got.body);
    let second = served.crashed().await;
    for health in [got.body, second.as_admin("GET /v1/agents/a", "").await.body] {
        assert_eq!(
            (&health["role"], &health["taskId"], &health["mode"]),
            (&json!("critical"), &json!("t"), &json!("full")),
            "{health}"
        );
    }
    let task = served.as_admin("GET /v1/tasks/t", "").await.body;
    assert_eq!(task["agentId"], "a", "{task}");
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn l52_an_agent_that_was_never_heard_is_registered_by_its_settings() {
    let served = Served::new().await;
    let got = served.as_admin("PUT /v1/agents/a", r#"{"role":"critical","mode":"observe"}"#).await;
    assert_eq!(got.status, 200, "{}", got.body);
    let health = served.as_admin("GET /v1/agents/a", "").await.body;
    assert_eq!(
        (&health["state"], &health["role"], &health["mode"]),
        (&json!("UNKNOWN"), &json!("critical"), &json!("observe")),
        "{health}"
    );
    served.beat(&["a"]).await;
    let health = served.as_admin("GET /v1/agents/a", "").await.body;
    assert_eq!((&health["state"], &health["incarnation"]), (&json!("HEALTHY"), &json!(1)), "{health}");
    served.started.stop();
}

#[tokio::test]
async fn l51_what_nobody_would_keep_is_refused_by_name_and_nothing_is_changed() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let asked = r#"{"mode":"full","limits":{"tokens":5},"spawn":{"command":["sh"]},
        "nudge":{"channels":["pty"]},"probes":[{"type":"tcp"}]}"#;
    let got = served.as_admin("PUT /v1/agents/a", asked).await;
    assert_eq!((got.status, &got.body["code"]), (422, &json!("VG0402")), "{}", got.body);
    let fields: Vec<_> =
        got.body["errors"].as_array().expect("a list").iter().map(|error| error["field"].clone()).collect();
    assert_eq!(fields, ["limits", "nudge", "probes", "spawn"]);
    let got = served.as_admin("PUT /v1/agents/a", r#"{"mode":"full","role":"king"}"#).await;
    assert_eq!((got.status, &got.body["code"]), (422, &json!("VG0107")), "{}", got.body);
    let health = served.as_admin("GET /v1/agents/a", "").await.body;
    assert_eq!(health["mode"], "escalate", "{health}");
    served.started.stop();
}

#[tokio::test]
async fn settings_are_the_admins_and_need_a_body_that_makes_sense() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let asked = [("PUT /v1/agents/a", r#"{"mode":"full"}"#)];
    for token in ["", &agent, &read] {
        assert_eq!(served.reached(token, &asked).await, ".", "{token}");
    }
    served
        .refused(&[
            ("PUT /v1/agents/nobody", r#"{"role":"king"}"#, 422, "VG0107"),
            ("GET /v1/agents/nobody", "", 404, "VG0101"),
            ("PUT /v1/agents/a", "{", 400, "VG0401"),
            ("PUT /v1/agents/a", "[]", 422, "VG0402"),
            ("PUT /v1/agents/a", r#"{"mode":"kill"}"#, 422, "VG0402"),
            ("PUT /v1/agents/a", r#"{"taskId":"a\u0007b"}"#, 422, "VG0402"),
            ("PUT /v1/agents/a%ff", "{}", 400, "VG0403"),
        ])
        .await;
    served.started.stop();
}
