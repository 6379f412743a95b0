//! Recovery: how it stands, and what people order about it.

use serde_json::json;

use super::Served;

/// A monitor under which agent `a` was ended, and task `t` is to go on.
async fn ended() -> Served {
    let served = Served::new().await;
    served.as_admin("POST /v1/signals", r#"{"kind":"spawn","agentId":"a","taskId":"t"}"#).await;
    served.beat(&["a"]).await;
    served.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"it looks odd"}"#).await;
    let decision = r#"{"decision":"terminate-and-recover","reason":"it is odd"}"#;
    served.as_admin("POST /v1/agents/a/decision", decision).await;
    let got = served.as_admin("POST /v1/signals", r#"{"kind":"exit","agentId":"a","code":1}"#).await;
    assert_eq!(got.body["accepted"], 1, "{}", got.body);
    served
}

#[tokio::test]
async fn l29_the_recovery_of_a_task_whose_agent_ended_can_be_seen_and_survives_a_crash() {
    let served = ended().await;
    let got = served.as_admin("GET /v1/tasks/t/recovery", "").await;
    assert_eq!((got.status, &got.body["agentId"]), (200, &json!("a")), "{}", got.body);
    assert_eq!((&got.body["status"], &got.body["attempt"]), (&json!("waiting"), &json!(0)), "{}", got.body);
    let second = served.crashed().await;
    let list = second.as_admin("GET /v1/recoveries", "").await.body;
    assert_eq!((&list["items"][0]["taskId"], &list["nextCursor"]), (&json!("t"), &json!(null)), "{list}");
    let none = second.as_admin("GET /v1/recoveries?status=succeeded", "").await.body;
    assert_eq!(none["items"], json!([]), "{none}");
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn l27_a_person_has_a_task_recovered_now_and_says_why() {
    let served = ended().await;
    let unknown = r#"{"fromCheckpoint":"never-saved"}"#;
    served.refused(&[("POST /v1/tasks/t/recover", unknown, 404, "VG0315")]).await;
    let got = served.as_admin("POST /v1/tasks/t/recover", r#"{"reason":"it is urgent"}"#).await;
    assert_eq!((got.status, &got.body["taskId"]), (202, &json!("t")), "{}", got.body);
    let audit = served.started.monitor.archive().audit_after(0, 10).expect("it can be read");
    assert!(audit.iter().any(|kept| kept.line.detail.contains("it is urgent")), "{audit:?}");
    served.started.stop();
}

#[tokio::test]
async fn l28_work_whose_agent_crashed_is_taken_up_by_order_where_its_role_does_not_bring_it_back() {
    let served = Served::new().await;
    served.as_admin("POST /v1/signals", r#"{"kind":"spawn","agentId":"a","taskId":"t"}"#).await;
    served.refused(&[("POST /v1/tasks/t/recover", "", 409, "VG0313")]).await;
    served.as_admin("POST /v1/signals", r#"{"kind":"exit","agentId":"a","code":137}"#).await;
    served.refused(&[("GET /v1/tasks/t/recovery", "", 404, "VG0311")]).await;
    let got = served.as_admin("POST /v1/tasks/t/recover", r#"{"reason":"it is urgent"}"#).await;
    assert_eq!((got.status, &got.body["agentId"]), (202, &json!("a")), "{}", got.body);
    let second = served.crashed().await;
    let got = second.as_admin("GET /v1/tasks/t/recovery", "").await;
    assert_eq!((got.status, &got.body["taskId"]), (200, &json!("t")), "{}", got.body);
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn recoveries_are_ordered_by_the_admin_and_seen_by_the_tasks_agent() {
    let served = ended().await;
    served.beat(&["b"]).await;
    let (own, other) = (served.token("agent", Some("a")).await, served.token("agent", Some("b")).await);
    let read = served.token("read", None).await;
    let asked =
        [("GET /v1/tasks/t/recovery", ""), ("GET /v1/recoveries", ""), ("POST /v1/tasks/t/recover", "")];
    assert_eq!(served.reached("", &asked).await, "...");
    assert_eq!(served.reached(&own, &asked).await, "1..");
    assert_eq!(served.reached(&other, &asked).await, "...");
    assert_eq!(served.reached(&read, &asked).await, "11.");
    served
        .refused(&[
            ("GET /v1/tasks/none/recovery", "", 404, "VG0311"),
            ("POST /v1/tasks/none/recover", "", 404, "VG0311"),
            ("POST /v1/tasks/t/recover", "[]", 422, "VG0402"),
            ("GET /v1/recoveries?status=odd", "", 400, "VG0403"),
            ("GET /v1/recoveries?cursor=00", "", 400, "VG0404"),
        ])
        .await;
    served.started.stop();
}
