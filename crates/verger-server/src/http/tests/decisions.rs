//! Decisions of whoever directs the agents: signed instead of bearing a token (L21).

use std::time::SystemTime;

use serde_json::json;

use super::{Served, orchestrator};

const DECIDE: &str = "POST /v1/agents/a/decision";
const BODY: &str = r#"{"agentId":"a","decision":"allow-more-time","reason":"it is nearly done"}"#;

#[tokio::test]
async fn l21_a_signed_decision_is_taken_from_another_machine_and_recorded_under_its_name() {
    let served = Served::new().await;
    served.beat(&["a"]).await;
    served.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"odd"}"#).await;
    let afar = served.afar().await;
    let unsigned = served.send_to(afar, DECIDE, &[], BODY).await;
    assert_eq!((unsigned.status, &unsigned.body["code"]), (401, &json!("VG0411")), "{}", unsigned.body);
    let stamp = verger_act::sign(&orchestrator(), SystemTime::now(), BODY.as_bytes());
    let signed = [
        ("Verger-Timestamp", stamp.timestamp.as_str()),
        ("Verger-Nonce", stamp.nonce.as_str()),
        ("Verger-Signature", stamp.signature.as_str()),
    ];
    let forged = served.send_to(afar, DECIDE, &signed, &BODY.replace("nearly", "never")).await;
    assert_eq!((forged.status, &forged.body["code"]), (401, &json!("VG0412")), "{}", forged.body);
    let got = served.send_to(afar, DECIDE, &signed, BODY).await;
    assert_eq!((got.status, &got.body["by"]), (202, &json!("orchestrator")), "{}", got.body);
    let again = served.send_to(afar, DECIDE, &signed, BODY).await;
    assert_eq!(again.status, 401, "it works once: {}", again.body);
    let audit = served.started.monitor.archive().audit_after(0, 100).expect("it can be read");
    let told: Vec<&str> = audit.iter().map(|kept| kept.line.actor.as_str()).collect();
    assert_eq!(told, ["admin", "nobody", "nobody", "orchestrator", "nobody"], "{audit:?}");
    served.started.stop();
}
