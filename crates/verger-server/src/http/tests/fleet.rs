//! The fleet at a glance.

use serde_json::json;

use super::Served;

#[tokio::test]
async fn l50_the_fleet_counts_each_agent_once_by_state_liveness_and_what_it_waits_on() {
    let served = Served::new().await;
    served.beat(&["a", "b", "c"]).await;
    served.fail("b").await;
    let waits = r#"{"kind":"status","agentId":"c","status":"waiting","waitingOn":"person"}"#;
    served.as_admin("POST /v1/signals", waits).await;
    let fleet = served.as_admin("GET /v1/fleet", "").await.body;
    assert_eq!(fleet["agents"], 3, "{fleet}");
    assert_eq!((&fleet["states"]["HEALTHY"], &fleet["states"]["FAILING"]), (&json!(2), &json!(1)), "{fleet}");
    assert_eq!(
        (&fleet["waiting"]["person"], &fleet["waiting"]["nothing"]),
        (&json!(1), &json!(2)),
        "{fleet}"
    );
    let sum = |counts: &serde_json::Value| -> u64 {
        counts.as_object().expect("counts").values().filter_map(serde_json::Value::as_u64).sum()
    };
    assert_eq!(
        [sum(&fleet["states"]), sum(&fleet["liveness"]), sum(&fleet["waiting"])],
        [3, 3, 3],
        "{fleet}"
    );
    let incident = &fleet["incidents"][0];
    assert_eq!((&incident["kind"], &incident["agentId"]), (&json!("failing"), &json!("b")), "{fleet}");
    assert_eq!(fleet["openIncidents"], 1);
    served.started.stop();
}

#[tokio::test]
async fn x01_the_fleet_says_when_the_monitor_could_not_see() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let fleet = served.as_admin("GET /v1/fleet", "").await.body;
    assert_eq!(fleet["monitor"]["blindTimes"], json!([]), "{fleet}");
    assert_eq!(fleet["monitor"]["version"], "0.1.0");
    assert!(fleet["monitor"]["lastEventId"].is_string(), "{fleet}");
    let second = served.crashed().await;
    let fleet = second.as_admin("GET /v1/fleet", "").await.body;
    assert_eq!(fleet["monitor"]["blindTimes"][0]["cause"], "down", "{fleet}");
    assert_eq!(fleet["agents"], 1, "{fleet}");
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn the_fleet_is_shown_to_those_who_may_read() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let asked = [("GET /v1/fleet", "")];
    assert_eq!(served.reached("", &asked).await, ".");
    assert_eq!(served.reached(&agent, &asked).await, ".");
    assert_eq!(served.reached(&read, &asked).await, "1");
    served.started.stop();
}

#[tokio::test]
async fn who_types_the_address_into_a_browser_learns_what_this_is() {
    let served = Served::new().await;
    let got = served.as_nobody("GET /", "").await;
    assert_eq!(got.status, 200);
    assert!(got.head.contains("text/html"), "{}", got.head);
    served.started.stop();
}
