//! Whoever proved nothing can have nobody ended: the same signals, with a token and without.

use std::time::Duration;

use verger_core::effect::{Action, Outcome};
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::time::Span;

use crate::served::Served;

/// The same call that fails again and again: two kinds of evidence, each of which is damning.
fn loop_of(agent: &str) -> String {
    let call = |n: u32| {
        format!(
            "{{\"kind\":\"toolCall\",\"agentId\":\"{agent}\",\"callId\":\"{n}\",\"tool\":\"bash\",\
             \"phase\":\"finished\",\"args\":{{\"command\":\"make\"}},\"error\":\"exit status 2\"}}\n"
        )
    };
    (0..60).map(call).collect()
}

#[tokio::test]
async fn an_unverified_signal_never_leads_to_a_termination() {
    let mut policies = Policies::default();
    policies.correlation.look_around = Span::ZERO;
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
        role.startup_grace = Span::ZERO;
        role.intervention.nudge_enabled = false;
        role.intervention.repeats_stop = 0;
        role.intervention.escalation_timeout = Span::millis(300);
    });
    let mut served = Served::with(policies).await;
    let token = served.token("agent", Some("proven"), false).await;
    // The one that proves nothing begins first: what would happen to it would have happened by then.
    let got = served.nobody("POST /v1/signals", &loop_of("claimed")).await;
    assert_eq!(got.body["accepted"], 60, "{}", got.text);
    let got = served.bearer(&token, "POST /v1/signals", &loop_of("proven")).await;
    assert_eq!(got.body["accepted"], 60, "{}", got.text);
    let (mut stopped, mut seen) = (Vec::new(), Vec::new());
    while stopped.is_empty() {
        let next = tokio::time::timeout(Duration::from_secs(30), served.started.effects.recv()).await;
        let effect = next.unwrap_or_else(|_| panic!("nothing more than {seen:?}")).expect("it runs");
        seen.push(format!("{}: {:?}", effect.key.agent, effect.action));
        if let Action::Stop { .. } = effect.action {
            stopped.push(effect.key.agent.to_string());
        } else {
            served.started.monitor.report(effect.key, Outcome::Delivered);
        }
    }
    assert_eq!(stopped, ["proven"], "{seen:?}");
    let got = served.admin("GET /v1/agents/claimed", "").await;
    assert_ne!(got.body["state"], "HEALTHY", "it is seen, and told: {}", got.text);
    served.started.stop();
}
