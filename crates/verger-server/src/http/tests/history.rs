//! How agents were, and their last heartbeats.

use serde_json::{Value, json};

use super::Served;

/// The states of a history, each as often as it changed.
fn states(history: &Value) -> Vec<String> {
    let items = history["items"].as_array().expect("a list");
    let mut states: Vec<String> =
        items.iter().map(|item| item["state"].as_str().expect("a state").to_owned()).collect();
    states.dedup();
    states
}

#[tokio::test]
async fn l46_a_history_tells_every_state_also_after_an_end_without_warning() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.fail("a").await;
    let history = served.as_admin("GET /v1/agents/a/history?duration=24h", "").await.body;
    assert_eq!(states(&history), ["HEALTHY", "FAILING"], "{history}");
    assert_eq!(history["nextCursor"], Value::Null);
    let second = served.crashed().await;
    let history = second.as_admin("GET /v1/agents/a/history", "").await.body;
    assert_eq!(states(&history), ["HEALTHY", "FAILING"], "{history}");
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn l46_what_was_before_a_restart_is_not_sampled_anew_with_the_counters_of_today() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","tokenCount":7}"#).await;
    served.as_admin("GET /v1/agents/a", "").await;
    let second = served.crashed().await;
    let restarted = crate::monitor::wall_now().0;
    second.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","tokenCount":900}"#).await;
    second.beat(&["b"]).await;
    // Until the sampler has looked at what happened since.
    let is_sampled = |served: &Served| {
        let (from, until) = (verger_core::time::WallTime(0), verger_core::time::WallTime(i64::MAX));
        let archive = served.started.monitor.archive();
        !archive.history(&"b".into(), from, until, 9).expect("it can be read").is_empty()
    };
    while !is_sampled(&second) {
        tokio::task::yield_now().await;
    }
    let history = second.as_admin("GET /v1/agents/a/history", "").await.body;
    let items = history["items"].as_array().expect("a list");
    let is_before = |item: &&Value| {
        let at: verger_api::Time = serde_json::from_value(item["at"].clone()).expect("a time");
        at.as_millis() < restarted
    };
    let before: Vec<_> = items.iter().filter(is_before).collect();
    assert!(before.iter().all(|item| item["metrics"]["tokenCount"] != 900), "{history}");
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn l46_samples_are_taken_of_who_does_not_change() {
    let served = Served::new().await;
    served.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a","tokenCount":7,"taskId":"t"}"#).await;
    loop {
        let history = served.as_admin("GET /v1/agents/a/history?duration=1h", "").await.body;
        let last = history["items"].as_array().and_then(|items| items.last()).cloned().unwrap_or_default();
        if last["metrics"]["tokenCount"] == 7 {
            assert_eq!((&last["taskId"], &last["incarnation"]), (&json!("t"), &json!(1)), "{last}");
            break;
        }
        tokio::task::yield_now().await;
    }
    served.started.stop();
}

#[tokio::test]
async fn l46_a_history_comes_page_by_page_and_no_moment_is_lost() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.fail("a").await;
    let whole = served.as_admin("GET /v1/agents/a/history", "").await.body;
    let (mut paged, mut next) = (Vec::new(), String::new());
    loop {
        let page = served.as_admin(&format!("GET /v1/agents/a/history?limit=1{next}"), "").await.body;
        paged.extend(page["items"].as_array().expect("a list").iter().cloned());
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    assert_eq!(states(&whole), states(&json!({ "items": paged })));
    served
        .refused(&[
            ("GET /v1/agents/a/history?cursor=forged", "", 400, "VG0404"),
            ("GET /v1/agents/a/history?duration=soon", "", 400, "VG0403"),
            ("GET /v1/agents/nobody/history", "", 404, "VG0101"),
            ("GET /v1/agents/%00/history", "", 400, "VG0403"),
        ])
        .await;
    served.started.stop();
}

#[tokio::test]
async fn l46_what_happened_before_the_clock_was_set_back_is_told() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.fail("a").await;
    let told = served.as_admin("GET /v1/agents/a/history", "").await.body["items"][0].clone();
    let body = told.to_string().replace("HEALTHY", "STUCK");
    let sample = verger_store::Sample { agent: "a".into(), state: "STUCK", body };
    let ahead = verger_core::time::WallTime(crate::monitor::wall_now().0 + 3_600_000);
    let at = verger_store::Moment { wall: ahead, ..verger_store::Moment::default() };
    served.started.monitor.archive().put_samples(at, vec![sample]).await.expect("it is kept");
    let history = served.as_admin("GET /v1/agents/a/history", "").await.body;
    assert_eq!(states(&history), ["HEALTHY", "FAILING", "STUCK"], "{history}");
    served.started.stop();
}

#[tokio::test]
async fn l50_the_last_heartbeat_says_when_it_came_and_what_it_told() {
    let served = Served::new().await;
    let beat = r#"{"agentId":"a","taskId":"t","tokenCount":12,"errorCount":3,"costUsd":0.5}"#;
    served.as_nobody("POST /v1/heartbeats", beat).await;
    let got = served.as_admin("GET /v1/agents/a/heartbeat", "").await.body;
    assert_eq!((&got["tokenCount"], &got["errorCount"]), (&json!(12), &json!(3)), "{got}");
    assert_eq!((&got["taskId"], &got["costUsd"], &got["agentId"]), (&json!("t"), &json!(0.5), &json!("a")));
    assert!(got["timestamp"].is_string(), "{got}");
    served.as_admin("POST /v1/signals", r#"{"kind":"spawn","agentId":"mute"}"#).await;
    served
        .refused(&[
            ("GET /v1/agents/mute/heartbeat", "", 404, "VG0407"),
            ("GET /v1/agents/nobody/heartbeat", "", 404, "VG0101"),
        ])
        .await;
    served.started.stop();
}

#[tokio::test]
async fn an_agent_sees_its_own_history_and_no_others() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let asked = [
        ("GET /v1/agents/a/history", ""),
        ("GET /v1/agents/b/history", ""),
        ("GET /v1/agents/a/heartbeat", ""),
        ("GET /v1/agents/b/heartbeat", ""),
    ];
    assert_eq!(served.reached("", &asked).await, "....");
    assert_eq!(served.reached(&agent, &asked).await, "1.1.");
    assert_eq!(served.reached(&read, &asked).await, "1111");
    served.started.stop();
}
