//! Circuit breakers.

use serde_json::{Value, json};

use super::{Got, Served};

async fn permit(served: &Served, breaker: &str) -> String {
    let got = served.as_admin(&format!("POST /v1/breakers/{breaker}/acquire"), "{}").await;
    assert_eq!(got.status, 200, "{}", got.body);
    got.body["permit"].as_str().expect("a permit").to_owned()
}

/// A call that fails.
async fn fail(served: &Served, breaker: &str) -> Got {
    let permit = permit(served, breaker).await;
    let report = format!(r#"{{"permit":"{permit}","ok":false,"durationMs":12,"error":"no"}}"#);
    served.as_admin(&format!("POST /v1/breakers/{breaker}/report"), &report).await
}

#[tokio::test]
async fn l24_three_failures_open_a_breaker_and_a_person_closes_it() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    for _ in 0..3 {
        assert_eq!(fail(&served, "a/api/model").await.status, 204);
    }
    let got = served.as_admin("POST /v1/breakers/a/api/model/acquire", "").await;
    assert_eq!((got.status, &got.body["code"]), (503, &json!("VG0341")), "{}", got.body);
    let wait = got.body["retryAfterSeconds"].as_u64().expect("a number");
    assert!((1..=60).contains(&wait) && got.head.contains(&format!("retry-after: {wait}")), "{}", got.head);
    let got = served.as_admin("GET /v1/breakers/a/api/model", "").await;
    assert_eq!((&got.body["state"], &got.body["failureCount"]), (&json!("OPEN"), &json!(3)), "{}", got.body);
    assert!(got.body["halfOpenInSeconds"].is_u64(), "{}", got.body);
    let second = served.crashed().await;
    let kept = second.as_admin("GET /v1/breakers/a%2Fapi%2Fmodel", "").await;
    assert_eq!(kept.body["state"], "OPEN", "a trip is on disk: {}", kept.body);
    let got = served.as_admin("POST /v1/breakers/a%2Fapi%2Fmodel/reset", "").await;
    assert_eq!((got.status, &got.body["state"]), (200, &json!("CLOSED")), "{}", got.body);
    permit(&served, "a/api/model").await;
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn l24_a_permit_holds_for_its_breaker_and_cannot_be_made_up() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let given = permit(&served, "a/tool/bash").await;
    permit(&served, "a/tool/make").await;
    let report = |permit: &str| format!(r#"{{"permit":"{permit}","ok":true}}"#);
    let mut forged = given.clone();
    let last = if forged.ends_with('0') { "1" } else { "0" };
    forged.replace_range(forged.len() - 1.., last);
    served
        .refused(&[
            ("POST /v1/breakers/a/tool/make/report", &report(&given), 422, "VG0402"),
            ("POST /v1/breakers/a/tool/bash/report", &report(&forged), 422, "VG0402"),
            ("POST /v1/breakers/a/tool/bash/report", &report("1"), 422, "VG0402"),
            ("POST /v1/breakers/a/tool/bash/report", "{}", 422, "VG0402"),
            ("POST /v1/breakers/a/tool/bash/report", "", 422, "VG0402"),
        ])
        .await;
    for _ in 0..2 {
        let got = served.as_admin("POST /v1/breakers/a/tool/bash/report", &report(&given)).await;
        assert_eq!(got.status, 204, "told twice is told once");
    }
    served.started.stop();
}

#[tokio::test]
async fn l24_names_with_slashes_are_found_however_they_are_written() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    permit(&served, "a/api/host%2Fv1%2Facquire").await;
    let names: Vec<Value> =
        served.pages("GET /v1/breakers", 10).await.iter().map(|breaker| breaker["name"].clone()).collect();
    assert_eq!(names, ["a/api/host~1v1~1acquire"]);
    for name in ["a/api/host/v1/acquire", "a%2Fapi%2Fhost~1v1~1acquire", "a/api/host~1v1~1acquire"] {
        let got = served.as_admin(&format!("GET /v1/breakers/{name}"), "").await;
        assert_eq!(got.status, 200, "{name}: {}", got.body);
    }
    served
        .refused(&[
            ("GET /v1/breakers/a/tool/none", "", 404, "VG0342"),
            ("GET /v1/breakers/nonsense", "", 400, "VG0403"),
            ("GET /v1/breakers/a/tool/b%00", "", 400, "VG0403"),
            ("GET /v1/breakers/a/tool/%ff", "", 400, "VG0403"),
            ("POST /v1/breakers/a/tool/bash/explode", "", 404, "VG0407"),
            ("POST /v1/breakers/acquire", "", 404, "VG0407"),
            ("POST /v1/breakers/nobody/tool/x/reset", "", 404, "VG0342"),
        ])
        .await;
    served.started.stop();
}

#[tokio::test]
async fn l24_breakers_come_page_by_page_and_by_what_is_asked_for() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    for breaker in ["a/api/y", "a/tool/x", "b/tool/x", "shared/model"] {
        permit(&served, breaker).await;
    }
    for _ in 0..3 {
        fail(&served, "a/api/y").await;
    }
    let names = |all: &[Value]| -> Vec<String> {
        all.iter().map(|breaker| breaker["name"].as_str().expect("a name").to_owned()).collect()
    };
    let all = served.pages("GET /v1/breakers", 3).await;
    assert_eq!(names(&all), ["a/api/y", "a/tool/x", "b/tool/x", "shared/model"]);
    assert_eq!(names(&served.pages("GET /v1/breakers?agent=a", 1).await), ["a/api/y", "a/tool/x"]);
    assert_eq!(names(&served.pages("GET /v1/breakers?state=OPEN", 1).await), ["a/api/y"]);
    served.started.stop();
}

#[tokio::test]
async fn an_agent_reaches_its_own_breakers_and_resets_none() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    for breaker in ["a/tool/x", "b/tool/x", "shared/model"] {
        permit(&served, breaker).await;
    }
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let asked = [
        ("POST /v1/breakers/a/tool/x/acquire", ""),
        ("POST /v1/breakers/b/tool/x/acquire", ""),
        ("POST /v1/breakers/shared/model/acquire", ""),
        ("POST /v1/breakers/a/tool/x/reset", ""),
        ("GET /v1/breakers/a/tool/x", ""),
        ("GET /v1/breakers/b/tool/x", ""),
        ("GET /v1/breakers/shared/model", ""),
        ("GET /v1/breakers", ""),
        ("GET /v1/breakers?agent=a", ""),
    ];
    assert_eq!(served.reached(&agent, &asked).await, "1...1...1");
    assert_eq!(served.reached("", &asked).await, ".........");
    assert_eq!(served.reached(&read, &asked).await, "....11111");
    served.started.stop();
}
