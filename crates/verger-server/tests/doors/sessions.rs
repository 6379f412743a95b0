//! A browser that is signed in, and what it may do.

use serde_json::json;

use crate::served::{Got, Served};

/// Opens a new link, as a browser does: the cookie that it gets.
async fn signed_in(served: &Served) -> String {
    let got = served.admin("POST /v1/sessions", "").await;
    assert_eq!(got.status, 201, "{}", got.text);
    let got = open(served, got.body["url"].as_str().expect("an address")).await;
    assert_eq!(got.status, 200, "{}", got.text);
    let cookie = got.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    for part in ["httponly", "samesite=strict", "path=/", "max-age=43200"] {
        assert!(cookie.split("; ").any(|found| found == part), "{part}: {cookie}");
    }
    cookie.split(';').next().expect("its name and value").to_owned()
}

async fn open(served: &Served, url: &str) -> Got {
    let path = url.strip_prefix(&format!("http://{}", served.address)).expect("it leads here");
    served.nobody(&format!("GET {path}"), "").await
}

#[tokio::test]
async fn a_link_signs_one_browser_in_and_no_other() {
    let served = Served::new().await;
    let url =
        served.admin("POST /v1/sessions", "").await.body["url"].as_str().expect("an address").to_owned();
    let path = url.strip_prefix(&format!("http://{}", served.address)).expect("it leads here").to_owned();
    assert_eq!(served.nobody(&format!("HEAD {path}"), "").await.status, 200, "a look does not use it up");
    assert_eq!(open(&served, &url).await.status, 200);
    let got = open(&served, &url).await;
    assert_eq!((got.status, &got.body["code"]), (410, &json!("VG0416")), "{}", got.text);
    assert!(got.head.find("set-cookie").is_none(), "{}", got.head);
    served.started.stop();
}

#[tokio::test]
async fn a_signed_in_browser_may_do_everything_from_the_monitors_own_page_alone() {
    let served = Served::new().await;
    let cookie = signed_in(&served).await;
    let own = format!("http://{}", served.address);
    let cookie = ("Cookie", cookie.as_str());
    let got = served.send("GET /v1/sessions/current", &[cookie], "").await;
    assert_eq!((&got.body["name"], &got.body["scope"]), (&json!("admin"), &json!("admin")), "{}", got.text);
    assert_eq!(served.send("GET /v1/agents", &[cookie], "").await.status, 200);
    let make = |origin: Option<&'static str>| {
        let headers: Vec<_> =
            std::iter::once(cookie).chain(origin.map(|origin| ("Origin", origin))).collect();
        let served = &served;
        async move { served.send("POST /v1/tokens", &headers, r#"{"scope":"read"}"#).await.status }
    };
    assert_eq!(make(None).await, 403, "nobody says which page made it ask");
    assert_eq!(make(Some("https://evil.example")).await, 403);
    assert_eq!(make(Some("http://127.0.0.1:1")).await, 403, "a page of another program on this machine");
    let got = served.send("POST /v1/tokens", &[cookie, ("Origin", &own)], r#"{"scope":"read"}"#).await;
    assert_eq!(got.status, 201, "{}", got.text);
    served.started.stop();
}

#[tokio::test]
async fn who_signs_out_or_whose_token_is_revoked_is_out() {
    let served = Served::new().await;
    let own = format!("http://{}", served.address);
    let cookie = signed_in(&served).await;
    let got = served
        .send("DELETE /v1/sessions/current", &[("Cookie", cookie.as_str()), ("Origin", &own)], "")
        .await;
    assert_eq!(got.status, 204, "{}", got.text);
    assert!(got.head.contains("max-age=0"), "the browser forgets it: {}", got.head);
    assert_eq!(served.send("GET /v1/agents", &[("Cookie", cookie.as_str())], "").await.status, 401);
    let cookie = signed_in(&served).await;
    served.token("admin", None, false).await;
    assert_eq!(served.admin("DELETE /v1/tokens/admin-all-false", "").await.status, 204);
    assert_eq!(served.send("GET /v1/agents", &[("Cookie", cookie.as_str())], "").await.status, 401);
    served.started.stop();
}

#[tokio::test]
async fn signing_in_is_recorded_and_the_link_is_not() {
    let served = Served::new().await;
    signed_in(&served).await;
    assert_eq!(served.nobody("GET /signin?code=guessed", "").await.status, 410);
    let got = served.admin("GET /v1/audit", "").await;
    let items = got.body["items"].as_array().expect("a list");
    let told: Vec<_> = items
        .iter()
        .rev()
        .map(|line| (line["actor"].as_str(), line["action"].as_str(), line["detail"]["outcome"].as_str()))
        .collect();
    let expected = [
        (Some("admin"), Some("POST /v1/sessions"), Some("done")),
        (Some("admin"), Some("GET /signin"), Some("done")),
        (Some("nobody"), Some("GET /signin"), Some("refused")),
    ];
    assert_eq!(told, expected);
    assert!(!got.text.contains("vgt_") && !got.text.contains("guessed"), "{}", got.text);
    served.started.stop();
}
