//! Incidents, and alarms that were false.

use serde_json::{Value, json};

use super::Served;

#[tokio::test]
async fn l50_an_incident_is_open_with_its_evidence_until_it_is_over() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    served.fail("a").await;
    served.fail("b").await;
    let open = served.pages("GET /v1/incidents?state=open", 1).await;
    let whom: Vec<&Value> = open.iter().map(|incident| &incident["agentId"]).collect();
    assert_eq!(whom, ["b", "a"], "newest first");
    assert_eq!((&open[0]["kind"], &open[0]["state"]), (&json!("failing"), &json!("open")), "{}", open[0]);
    assert_eq!(open[0]["evidence"][0]["signal"], "unrecoverable", "{}", open[0]);
    let second = served.crashed().await;
    assert_eq!(second.pages("GET /v1/incidents?state=open", 9).await.len(), 2, "a crash ends nothing");
    served.as_admin("DELETE /v1/agents/a", "").await;
    let over = served.pages("GET /v1/incidents?state=resolved", 9).await;
    assert_eq!((over.len(), &over[0]["agentId"], &over[0]["state"]), (1, &json!("a"), &json!("resolved")));
    assert!(over[0]["resolvedAt"].is_string() && over[0]["id"] == open[1]["id"], "{}", over[0]);
    assert_eq!(served.pages("GET /v1/incidents?agent=b", 9).await.len(), 1);
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn x12_a_false_alarm_is_marked_by_a_person_and_shown_with_its_incident() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.fail("a").await;
    let id = served.pages("GET /v1/incidents", 1).await[0]["id"].as_str().expect("an id").to_owned();
    let request = format!("POST /v1/events/{id}/wrong");
    let got = served.as_admin(&request, r#"{"reason":"it was me"}"#).await;
    assert_eq!((got.status, &got.body["agentId"], &got.body["by"]), (200, &json!("a"), &json!("admin")));
    assert_eq!(
        (&got.body["eventId"], &got.body["reason"]),
        (&json!(id), &json!("it was me")),
        "{}",
        got.body
    );
    let second = served.crashed().await;
    assert_eq!(second.pages("GET /v1/incidents", 1).await[0]["wrong"], true, "it is on disk");
    served
        .refused(&[
            ("POST /v1/events/4711/wrong", "", 404, "VG0302"),
            ("POST /v1/events/x/wrong", "", 404, "VG0302"),
            ("POST /v1/events/1/wrong", "", 409, "VG0303"),
            ("GET /v1/incidents?limit=0", "", 400, "VG0403"),
            ("POST /v1/events/%00/wrong", "", 400, "VG0403"),
            (&request, "[]", 422, "VG0402"),
            ("GET /v1/incidents?state=odd", "", 400, "VG0403"),
            ("GET /v1/incidents?cursor=odd", "", 400, "VG0404"),
        ])
        .await;
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn incidents_are_shown_to_readers_and_marked_by_admins() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let asked =
        [("GET /v1/incidents", ""), ("GET /v1/incidents?agent=a", ""), ("POST /v1/events/1/wrong", "")];
    assert_eq!(served.reached("", &asked).await, "...");
    assert_eq!(served.reached(&agent, &asked).await, ".1.");
    assert_eq!(served.reached(&read, &asked).await, "11.");
    served.started.stop();
}
