//! Tasks.

use serde_json::json;
use verger_api::Time;

use super::Served;

#[tokio::test]
async fn r06_a_task_is_given_gets_on_and_ends_and_all_of_it_is_on_disk() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    let new = r#"{"agentId":"a","description":"mend it","expectedCompletion":"2100-01-01T00:00:00Z"}"#;
    let got = served.as_admin("PUT /v1/tasks/t", new).await;
    assert_eq!((got.status, &got.body["status"]), (200, &json!("assigned")), "{}", got.body);
    let update = r#"{"progressPercentage":40,"status":"in_progress","explanation":"it is large"}"#;
    let got = served.as_admin("PUT /v1/tasks/t", update).await;
    assert_eq!((&got.body["progressPercentage"], &got.body["status"]), (&json!(40), &json!("in_progress")));
    assert_eq!(
        (&got.body["description"], &got.body["agentId"]),
        (&json!("mend it"), &json!("a")),
        "{}",
        got.body
    );
    let due: Time = serde_json::from_value(got.body["expectedCompletion"].clone()).expect("a time");
    let wanted: Time = "2100-01-01T00:00:00Z".parse().expect("a time");
    assert!(
        (due.as_millis() - wanted.as_millis()).abs() < 60_000,
        "the loop's clock is another one: {due:?}"
    );
    let second = served.crashed().await;
    let kept = second.as_admin("GET /v1/tasks/t", "").await;
    assert_eq!(
        (&kept.body["progressPercentage"], &kept.body["explanation"]),
        (&json!(40), &json!("it is large"))
    );
    let done = second.as_admin("PUT /v1/tasks/t", r#"{"status":"done"}"#).await;
    assert_eq!((&done.body["status"], &done.body["description"]), (&json!("done"), &json!("mend it")));
    second.refused(&[("PUT /v1/tasks/t", r#"{"progressPercentage":50}"#, 409, "VG0322")]).await;
    let again = second.as_admin("PUT /v1/tasks/t", r#"{"status":"in_progress"}"#).await;
    assert_eq!((again.status, &again.body["endedAt"]), (200, &json!(null)), "a person may: {}", again.body);
    served.started.stop();
    second.started.stop();
}

#[tokio::test]
async fn what_looks_like_a_credential_is_not_kept_with_a_task() {
    let served = Served::new().await;
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let got = served.as_admin("PUT /v1/tasks/t", &format!(r#"{{"description":"use {token}"}}"#)).await;
    let text = got.body["description"].as_str().expect("a text");
    assert!(text.starts_with("use ") && !text.contains(token), "{text}");
    served.started.stop();
}

#[tokio::test]
async fn an_agent_speaks_of_its_own_task_and_of_no_other() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    served.as_admin("PUT /v1/tasks/theirs", r#"{"agentId":"b"}"#).await;
    served.as_admin("PUT /v1/tasks/nobodys", "{}").await;
    let (agent, read) = (served.token("agent", Some("a")).await, served.token("read", None).await);
    let asked = [
        ("PUT /v1/tasks/own", r#"{"description":"mine"}"#),
        ("GET /v1/tasks/own", ""),
        ("PUT /v1/tasks/own", r#"{"progressPercentage":5}"#),
        ("PUT /v1/tasks/own", r#"{"agentId":"b"}"#),
        ("GET /v1/tasks/theirs", ""),
        ("PUT /v1/tasks/theirs", r#"{"status":"done"}"#),
        ("PUT /v1/tasks/theirs", r#"{"agentId":"a"}"#),
        ("PUT /v1/tasks/nobodys", r#"{"status":"done"}"#),
        ("GET /v1/tasks", ""),
        ("GET /v1/tasks?agent=a", ""),
        ("GET /v1/tasks?agent=b", ""),
    ];
    assert_eq!(served.reached(&agent, &asked).await, "111......1.");
    assert_eq!(served.reached("", &asked).await, "...........");
    assert_eq!(served.reached(&read, &asked).await, ".1..1...111");
    let theirs = served.as_admin("GET /v1/tasks/theirs", "").await.body;
    assert_eq!((&theirs["agentId"], &theirs["status"]), (&json!("b"), &json!("assigned")), "{theirs}");
    served.started.stop();
}

#[tokio::test]
async fn tasks_come_page_by_page_and_by_what_is_asked_for() {
    let served = Served::new().await;
    for number in 0..7 {
        let agent = if number % 2 == 0 { "a" } else { "b" };
        let body = format!(r#"{{"agentId":"{agent}","description":"number {number}"}}"#);
        served.as_admin(&format!("PUT /v1/tasks/t{number}"), &body).await;
    }
    served.as_admin("PUT /v1/tasks/t3", r#"{"status":"done"}"#).await;
    let names = |all: &[serde_json::Value]| -> Vec<String> {
        all.iter().map(|task| task["taskId"].as_str().expect("a name").to_owned()).collect()
    };
    let all = served.pages("GET /v1/tasks", 3).await;
    assert_eq!(names(&all), ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]);
    assert_eq!(all[3]["description"], "number 3", "also of what is over");
    assert_eq!(names(&served.pages("GET /v1/tasks?agent=b", 1).await), ["t1", "t3", "t5"]);
    assert_eq!(names(&served.pages("GET /v1/tasks?status=done", 2).await), ["t3"]);
    let first = served.as_admin("GET /v1/tasks?limit=1", "").await.body;
    let other = format!("GET /v1/tasks?agent=b&cursor={}", first["nextCursor"].as_str().expect("a cursor"));
    served.refused(&[(&other, "", 400, "VG0404")]).await;
    served.started.stop();
}

#[tokio::test]
async fn what_cannot_be_a_task_or_a_word_about_one_is_refused() {
    let served = Served::new().await;
    let long = format!("PUT /v1/tasks/{}", "x".repeat(300));
    served
        .refused(&[
            ("GET /v1/tasks/none", "", 404, "VG0321"),
            ("PUT /v1/tasks/a%0Ab", "{}", 400, "VG0403"),
            ("PUT /v1/tasks/%ff", "{}", 400, "VG0403"),
            (&long, "{}", 422, "VG0325"),
            ("PUT /v1/tasks/t", "nonsense", 400, "VG0401"),
            ("PUT /v1/tasks/t", r#"{"progressPercentage":101}"#, 422, "VG0402"),
            ("PUT /v1/tasks/t", r#"{"status":"lost"}"#, 422, "VG0402"),
            ("PUT /v1/tasks/t", r#"{"agentId":""}"#, 422, "VG0402"),
            ("GET /v1/tasks?status=lost", "", 400, "VG0403"),
            ("GET /v1/tasks/t", "", 404, "VG0321"),
        ])
        .await;
    let got = served.as_admin("PUT /v1/tasks/a%2Fb%20%3Cscript%3E", "{}").await;
    assert_eq!(got.body["taskId"], "a/b <script>", "{}", got.body);
    served.started.stop();
}

#[tokio::test]
async fn l27_an_agent_saves_nothing_for_a_task_of_another() {
    let served = Served::new().await;
    served.beat(&["a", "b"]).await;
    let (own, other) = (served.token("agent", Some("a")).await, served.token("agent", Some("b")).await);
    served.as_admin("PUT /v1/tasks/given", r#"{"agentId":"a"}"#).await;
    let given = |agent: &str| format!(r#"{{"taskId":"given","agentId":"{agent}","state":1}}"#);
    let found = |agent: &str| format!(r#"{{"taskId":"found","agentId":"{agent}","state":1}}"#);
    let save = "POST /v1/checkpoints";
    assert_eq!(served.reached(&own, &[(save, &given("a")), (save, &found("a"))]).await, "11");
    assert_eq!(served.reached(&other, &[(save, &given("b")), (save, &found("b"))]).await, "..");
    let health = served.as_admin("GET /v1/agents/a", "").await.body;
    assert!(health["lastCheckpoint"].is_string(), "{health}");
    served.started.stop();
}
