//! The orchestrator's webhook (L21), with receivers that answer well, badly and not at all.

use std::env;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::net::TcpSocket;
use verger_act::{
    Delivery, Post, Reply, Secret, SignatureError, Stamp, Target, Unreachable, Verifier, Webhooks,
};

use crate::server::{Answering, Request, Server};

/// For receivers that answer.
const LONG: Duration = Duration::from_mins(1);

fn secret() -> Secret {
    Secret::new(b"a secret of the orchestrator").expect("it is long enough")
}

fn webhooks() -> Webhooks {
    Webhooks::new(LONG).expect("a client")
}

async fn post_to(url: &str, limit: Duration) -> Delivery {
    let target = Target::new(url, Some(secret())).expect("an address");
    let post = Post { target, document: json!({"agentId": "ä"}) };
    let delivery = webhooks().post("agent ä#1/7", &post, limit).await;
    let sentence = delivery.to_string();
    assert!(!sentence.contains("secret"), "a secret is shown: {sentence}");
    delivery
}

/// Posts to a server that answers in this way.
async fn post(answering: Answering) -> Reply {
    post_to(&Server::start(answering).await.url(), LONG).await.reply
}

fn stamp(request: &Request) -> Stamp {
    let header = |name| request.header(name).unwrap_or_default().to_owned();
    Stamp {
        timestamp: header("Verger-Timestamp"),
        nonce: header("Verger-Nonce"),
        signature: header("Verger-Signature"),
    }
}

#[tokio::test]
async fn l21_the_orchestrator_gets_a_signed_document_once() {
    let mut server = Server::start(Answering::status("202 Accepted", "", r#"{"seen":true}"#)).await;
    let delivery = post_to(&server.url(), LONG).await;
    let Reply::Accepted(answer) = &delivery.reply else { panic!("{delivery}") };
    assert_eq!((answer.status, answer.body.as_str()), (202, r#"{"seen":true}"#));
    assert_eq!(delivery.to_string(), format!("{} accepted it (202)", server.address));

    let request = server.request().await;
    assert_eq!(request.line(), "POST /hook/path-secret HTTP/1.1");
    assert_eq!(request.header("Content-Type"), Some("application/json"));
    assert_eq!(request.header("Verger-Id"), Some("agent%20%C3%A4#1/7"));
    assert_eq!(request.body, r#"{"agentId":"ä"}"#.as_bytes());
    let verifier = Verifier::new(secret());
    assert_eq!(verifier.verify(&stamp(&request), &request.body, SystemTime::now()), Ok(()));
    assert!(!server.was_asked());
}

#[test]
fn where_no_certificates_are_installed_http_still_works() {
    let alone = Command::new(env::current_exe().unwrap())
        .args(["--exact", "webhooks::l21_the_orchestrator_gets_a_signed_document_once"])
        .envs([("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/nonexistent")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn l21_what_was_changed_made_old_or_sent_again_is_not_believed() {
    let mut server = Server::start(Answering::status("200 OK", "", "")).await;
    post_to(&server.url(), LONG).await;
    let request = server.request().await;
    let (stamp, now) = (stamp(&request), SystemTime::now());
    let verifier = Verifier::new(secret());
    let verify = |body: &[u8], now| verifier.verify(&stamp, body, now);
    assert_eq!(verify(br#"{"agentId":"b"}"#, now), Err(SignatureError::Forged));
    assert_eq!(verify(&request.body, now + Duration::from_secs(400)), Err(SignatureError::Expired));
    assert_eq!(verify(&request.body, now), Ok(()));
    assert_eq!(verify(&request.body, now), Err(SignatureError::Replayed));
}

#[tokio::test]
async fn a_webhook_without_a_secret_is_not_signed() {
    let mut server = Server::start(Answering::status("200 OK", "", "")).await;
    let post = Post { target: Target::new(&server.url(), None).unwrap(), document: json!(1) };
    webhooks().post("k", &post, LONG).await;
    let request = server.request().await;
    assert_eq!(request.header("Verger-Id"), Some("k"));
    assert_eq!(request.header("Verger-Signature"), None);
}

#[tokio::test]
async fn l21_a_refusal_is_final_and_a_busy_receiver_is_not() {
    let Reply::Refused(answer) = post(Answering::status("403 Forbidden", "", "who are you?")).await else {
        panic!("403 is a refusal")
    };
    assert_eq!((answer.status, answer.body.as_str()), (403, "who are you?"));

    let server = Server::start(Answering::status("429 Too Many Requests", "Retry-After: 7\r\n", "")).await;
    let delivery = post_to(&server.url(), LONG).await;
    let expected = format!("{} could not take it (429) and asks to wait 7 s", server.address);
    assert_eq!(delivery.to_string(), expected);
    assert!(
        matches!(&delivery.reply, Reply::Failed(answer) if answer.retry_after == Some(Duration::from_secs(7)))
    );

    let broken = post(Answering::status("503 Service Unavailable", "", "")).await;
    assert!(matches!(&broken, Reply::Failed(answer) if answer.status == 503), "{broken:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut elsewhere = Server::start(Answering::status("200 OK", "", "")).await;
    let location = format!("Location: {}\r\n", elsewhere.url());
    let server = Server::start(Answering::status("307 Temporary Redirect", &location, "")).await;
    let delivery = post_to(&server.url(), LONG).await;
    assert!(delivery.to_string().ends_with("sent it elsewhere (307), and redirects are not followed"));
    assert!(!elsewhere.was_asked());
}

#[tokio::test]
async fn a_receiver_that_never_answers_is_given_up() {
    let server = Server::start(Answering::Never).await;
    let delivery = post_to(&server.url(), Duration::from_millis(200)).await;
    assert_eq!(delivery.reply, Reply::Unreachable(Unreachable::TooSlow));
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_none() {
    for cut in
        ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half", "HTTP/1.1 200", "", "SSH-2.0-OpenSSH\r\n"]
    {
        let reply = post(Answering::With(cut.to_owned())).await;
        assert_eq!(reply, Reply::Unreachable(Unreachable::BrokenOff), "after {cut:?}");
    }
}

#[tokio::test]
async fn of_an_endless_answer_only_the_beginning_is_read() {
    let reply = post(Answering::Endlessly).await;
    let Reply::Accepted(answer) = reply else { panic!("{reply:?}") };
    assert_eq!(answer.body, "x".repeat(64 * 1024));
}

#[tokio::test]
async fn who_cannot_be_reached_is_told_apart() {
    // Bound and never listening: the port stays taken, and closed.
    let closed = TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/secret", closed.local_addr().unwrap());
    assert_eq!(post_to(&url, LONG).await.reply, Reply::Unreachable(Unreachable::NobodyListens));

    // A name so long that no resolver asks anybody for it.
    let url = format!("http://{}.invalid/secret", "n".repeat(64));
    assert_eq!(post_to(&url, LONG).await.reply, Reply::Unreachable(Unreachable::NoAddress));

    let plain = Server::start(Answering::Never).await;
    let reply = post_to(&format!("https://{}/secret", plain.address), LONG).await.reply;
    assert!(matches!(reply, Reply::Unreachable(Unreachable::Untrusted(_))), "{reply:?}");
}
