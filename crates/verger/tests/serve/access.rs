//! Who reaches what of the real program: strangers, agents, and those who run inside a watched tree.
//!
//! Each scope at each address is tried in `verger-server`; here it is what an attacker or a careless agent would try.

use std::process::Command;

use serde_json::json;

use crate::program::{Place, Program, until};

/// Kinds of signals that anybody on this machine may send, and what each needs.
const VITAL: [&str; 7] = [
    r#""kind":"heartbeat""#,
    r#""kind":"activity""#,
    r#""kind":"toolCall","callId":"1","tool":"x","phase":"finished""#,
    r#""kind":"message","role":"assistant","text":"hello""#,
    r#""kind":"modelRequest","phase":"started""#,
    r#""kind":"tokens","input":1,"output":1"#,
    r#""kind":"pong","seq":1"#,
];
/// Kinds on which others rely.
const PROVEN: [&str; 9] = [
    r#""kind":"subagent","phase":"started","id":"s""#,
    r#""kind":"compaction""#,
    r#""kind":"output","filesChanged":1"#,
    r#""kind":"error","message":"no""#,
    r#""kind":"status","status":"busy""#,
    r#""kind":"handoff","reason":"x""#,
    r#""kind":"blocker","reason":"x""#,
    r#""kind":"spawn","pid":1"#,
    r#""kind":"exit","code":1"#,
];

fn signal(agent: &str, what: &str) -> String {
    format!(r#"{{"agentId":"{agent}",{what}}}"#)
}

#[test]
fn whoever_proves_nothing_sends_vital_signs_and_nothing_else() {
    let place = Place::new();
    let program = place.start();
    let token = program.token_of("a");
    for (kinds, taken) in [(VITAL.as_slice(), 1), (PROVEN.as_slice(), 0)] {
        for what in kinds {
            let got = program.as_nobody("POST /v1/signals", &signal("a", what));
            assert_eq!(got.body["accepted"], taken, "{what}: {}", got.body);
        }
    }
    let health = program.get("/v1/agents/a");
    assert_eq!((&health["state"], &health["incarnation"]), (&"HEALTHY".into(), &1.into()), "{health}");
    for what in VITAL.iter().chain(&PROVEN) {
        let got = program.bearing(&token, "POST /v1/signals", &signal("a", what));
        assert_eq!(got.body["accepted"], 1, "its own token proves it: {what}: {}", got.body);
    }
}

#[test]
fn the_token_of_an_agent_reaches_nobody_else() {
    let place = Place::new();
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"[{"agentId":"a"},{"agentId":"b"}]"#);
    program.as_admin("PUT /v1/tasks/of-b", r#"{"agentId":"b"}"#);
    let saved = r#"{"id":"c1","taskId":"of-b","agentId":"b","state":1}"#;
    assert_eq!(program.as_admin("POST /v1/checkpoints", saved).status, 201);
    let before = program.get("/v1/agents/b");
    let token = program.token_of("a");
    let tried = [
        ("GET /v1/agents/b", ""),
        ("GET /v1/agents/b/ready", ""),
        ("GET /v1/agents/b/events", ""),
        ("GET /v1/agents/b/history", ""),
        ("GET /v1/agents/b/heartbeat", ""),
        ("GET /v1/agents/b/inbox", ""),
        ("GET /v1/agents", ""),
        ("GET /v1/fleet", ""),
        ("GET /v1/tasks/of-b", ""),
        ("PUT /v1/tasks/of-b", r#"{"status":"done"}"#),
        ("PUT /v1/tasks/of-b", r#"{"agentId":"a"}"#),
        ("GET /v1/checkpoints/c1", ""),
        ("POST /v1/checkpoints", r#"{"id":"c2","taskId":"of-b","agentId":"b","state":2}"#),
        ("POST /v1/checkpoints", r#"{"id":"c3","taskId":"of-b","agentId":"a","state":3}"#),
        ("POST /v1/breakers/b/tool/x/acquire", "{}"),
        ("POST /v1/breakers/b/tool/x/reset", "{}"),
        ("PUT /v1/agents/a", r#"{"mode":"observe"}"#),
        ("POST /v1/agents/a/decision", r#"{"decision":"allow-more-time","reason":"please"}"#),
        ("POST /v1/agents/b/terminate", r#"{"reason":"x"}"#),
        ("DELETE /v1/agents/b", ""),
        ("POST /v1/tokens", r#"{"scope":"admin"}"#),
    ];
    for (request, body) in tried {
        let got = program.bearing(&token, request, body);
        assert_eq!(got.status, 403, "{request} {body}: {}", got.body);
    }
    let listed = program.bearing(&token, "GET /v1/tasks/of-b/checkpoints", "");
    assert_eq!(listed.body["items"], json!([]), "what another saved is not listed: {}", listed.body);
    let batch = r#"[{"agentId":"a"},{"agentId":"b","taskId":"mine"}]"#;
    let got = program.bearing(&token, "POST /v1/heartbeats", batch);
    assert_eq!(
        (&got.body["accepted"], &got.body["rejected"][0]["index"]),
        (&1.into(), &1.into()),
        "{}",
        got.body
    );
    let after = program.get("/v1/agents/b");
    assert_eq!((&after["taskId"], &after["metrics"]["totalHeartbeats"]), (&before["taskId"], &1.into()));
    assert_eq!(program.get("/v1/tasks/of-b")["agentId"], "b");
}

#[test]
fn an_unverified_signal_never_leads_to_a_termination() {
    let place = Place::new();
    let program = place
        .configure(
            "mode: full\ntermination: {command: [sh, -c, 'echo \"$VERGER_AGENT_ID\" >> \"{here}/ended\"']}\n\
             correlation: {look_around: 0}\n\
             roles:\n  default:\n    startup_grace: 0\n    restart: recover\n    \
             intervention: {nudge_enabled: false, repeats_stop: 1000, escalation_timeout: 1s}\n",
        )
        .start();
    let token = program.token_of("proven");
    let failing = |agent: &str| -> String {
        let call = |n: u32| {
            let what = r#""kind":"toolCall","tool":"bash","phase":"finished","args":{"command":"make"},"error":"exit status 2""#;
            signal(agent, &format!(r#""callId":"{n}",{what}"#)) + "\n"
        };
        (0..60).map(call).collect()
    };
    // Who proves nothing begins first: what would be done about it would have been done by then.
    assert_eq!(program.as_nobody("POST /v1/signals", &failing("claimed")).body["accepted"], 60);
    program.event("claimed", "ESCALATION_TRIGGERED");
    assert_eq!(program.bearing(&token, "POST /v1/signals", &failing("proven")).body["accepted"], 60);
    program.event("proven", "AGENT_TERMINATED");
    assert_eq!(place.file("ended"), "proven\n");
    let claimed = program.get("/v1/agents/claimed");
    assert!(
        claimed["state"] != "HEALTHY" && claimed["state"] != "TERMINATED",
        "it is seen, and told: {claimed}"
    );
}

#[test]
fn a_page_from_elsewhere_and_a_rebound_name_get_nowhere() {
    let place = Place::new();
    let program = place.start();
    let bearer = format!("Bearer {}", program.token);
    let strangers = [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost.evil.example"),
        ("Host", "evil.example"),
        ("Host", "127.0.0.1.evil.example:8374"),
        ("Host", ""),
    ];
    let requests = [
        ("POST /v1/heartbeats", r#"{"agentId":"a"}"#),
        ("GET /health", ""),
        ("GET /v1/agents", ""),
        ("OPTIONS /v1/heartbeats", ""),
        ("POST /v1/agents/a/terminate", r#"{"reason":"x"}"#),
    ];
    for stranger in strangers {
        for (request, body) in requests {
            for headers in [vec![stranger], vec![stranger, ("Authorization", &bearer)]] {
                let got = program.send(request, &headers, body);
                assert!(
                    matches!(got.status, 400 | 403),
                    "{request} {stranger:?}: {} {}",
                    got.status,
                    got.body
                );
                assert!(!got.head.contains("access-control-allow"), "{}", got.head);
            }
        }
    }
    assert_eq!(program.get("/v1/agents")["items"], json!([]), "nobody was registered");
}

/// An agent that people were asked about.
fn asked_about(program: &Program) {
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    assert_eq!(program.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"look"}"#).status, 202);
}

#[test]
fn verger_decide_from_inside_a_watched_tree_is_refused() {
    let place = Place::new();
    let program = place.start();
    asked_about(&program);
    let decide = ["decide", "a", "allow-more-time", "--reason", "please"];
    let inside = place.run(&decide, &[("VERGER_AGENT_ID", "a")]);
    let said = String::from_utf8_lossy(&inside.stderr).into_owned();
    assert_eq!(inside.status.code(), Some(4), "{said}");
    assert!(said.contains("must not decide"), "{said}");
    // Who clears its environment is known by its parents; also when it is orphaned into a session of its own.
    let below = |script: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_verger")]).env("VERGER_AGENT_ID", "a");
        let data = place.data().display().to_string();
        let output = shell.env("DATA", data).env_remove("VERGER_TOKEN").output().expect("a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let cleared = below(
        "env -i VERGER_DATA_DIR=\"$DATA\" \"$0\" decide a allow-more-time --reason please; code=$?; exit $code",
    );
    assert_eq!(cleared.0, Some(4), "{}", cleared.1);
    // Who finds the token and speaks over the socket itself is known by the kernel's word.
    let over_socket = r#"
        answer=$(env -i curl -s -o /dev/null -w '%{http_code}' --unix-socket "$DATA/verger.sock" \
            -H "Authorization: Bearer $(cat "$DATA/admin.token")" http://localhost/v1/agents/a/decision \
            -d '{"decision":"allow-more-time","reason":"please"}')
        echo "$answer" >&2; test "$answer" = 403; code=$?; exit $code"#;
    let local = below(over_socket);
    assert_eq!(local.0, Some(0), "the socket answered {}", local.1);
    assert_eq!(program.get("/v1/agents/a/events?type=ESCALATION_DECIDED")["items"], json!([]));
    let audit = until("it is recorded", || {
        let audit = program.get("/v1/audit");
        audit["items"].as_array()?.iter().find(|entry| entry["actor"] == "agent:a").cloned()
    });
    assert_eq!(audit["detail"]["code"], "VG0415", "{audit}");
    let outside = place.run(&decide, &[]);
    assert_eq!(outside.status.code(), Some(0), "{}", String::from_utf8_lossy(&outside.stderr));
}
