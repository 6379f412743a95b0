//! How agents come, stand and go, as programs that give them work see it.

use serde_json::{Value, json};

use crate::program::{Place, Program, until};

fn ready(program: &Program, agent: &str) -> (u16, Value) {
    let got = program.as_admin(&format!("GET /v1/agents/{agent}/ready"), "");
    (got.status, got.body)
}

#[test]
fn x16_only_an_agent_that_should_be_given_work_is_ready() {
    let place = Place::new();
    let program = place.start();
    program
        .as_nobody("POST /v1/heartbeats", r#"[{"agentId":"well"},{"agentId":"stuck"},{"agentId":"gone"}]"#);
    assert_eq!(ready(&program, "well").0, 200);
    program.loop_agent("stuck");
    program.event("stuck", "ESCALATION_TRIGGERED");
    let (status, told) = ready(&program, "stuck");
    assert_eq!((status, &told["ready"]), (503, &false.into()), "{told}");
    program.as_admin("POST /v1/signals", r#"{"kind":"exit","agentId":"gone","code":1}"#);
    assert_eq!(ready(&program, "gone").0, 503);
    assert_eq!(ready(&program, "nobody").0, 404);
    for (agent, is_ready) in [("well", true), ("stuck", false), ("gone", false)] {
        assert_eq!(program.get(&format!("/v1/agents/{agent}"))["ready"], is_ready, "{agent}");
    }
}

#[test]
fn l52_agents_are_known_by_first_sight_by_their_start_and_by_what_they_are_given_and_go_with_their_end() {
    let place = Place::new();
    let fast =
        "roles:\n  default:\n    startup_grace: 0\n    liveness: {beats: {interval: 500ms, timeout: 1s}}\n";
    let program = place.configure(fast).start();
    program.as_nobody("POST /v1/signals", r#"{"kind":"activity","agentId":"seen"}"#);
    let spawn = r#"{"kind":"spawn","agentId":"started","taskId":"t","pid":1,"host":"h","command":"x"}"#;
    assert_eq!(program.as_admin("POST /v1/signals", spawn).body["accepted"], 1);
    program.as_nobody("POST /v1/heartbeats", r#"[{"agentId":"ends"},{"agentId":"goes-on"}]"#);
    assert_eq!(program.as_admin("PUT /v1/agents/given", r#"{"role":"critical"}"#).status, 200);
    for agent in ["seen", "started", "given", "ends", "goes-on"] {
        assert_eq!(program.get(&format!("/v1/agents/{agent}"))["incarnation"], 1, "{agent}");
    }
    assert_eq!(program.get("/v1/agents/started")["taskId"], "t");
    // Nobody watches for the heartbeats of one that has ended. The other's silence is noticed meanwhile.
    program.as_admin("POST /v1/signals", r#"{"kind":"exit","agentId":"ends","code":0}"#);
    until("silence is noticed", || (program.get("/v1/agents/goes-on")["state"] == "DEGRADED").then_some(()));
    let ended = program.get("/v1/agents/ends");
    assert_eq!(
        (&ended["state"], &ended["metrics"]["missedHeartbeats"]),
        (&"TERMINATED".into(), &0.into()),
        "{ended}"
    );
    // Another life of it is watched again.
    assert_eq!(
        program.as_admin("POST /v1/signals", r#"{"kind":"spawn","agentId":"ends"}"#).body["accepted"],
        1
    );
    let again = program.get("/v1/agents/ends");
    assert_eq!(again["incarnation"], 2, "{again}");
    assert_eq!(program.as_admin("DELETE /v1/agents/ends", "").status, 204);
    assert_eq!(program.as_admin("GET /v1/agents/ends", "").status, 404);
}

/// What the clock of somebody shows who is days off.
fn days_off(days: i64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later");
    let millis = i64::try_from(now.as_millis()).expect("it is not that late");
    verger_api::Time::from_millis(millis + days * DAY_MS).to_string()
}

const DAY_MS: i64 = 86_400_000;

#[test]
fn l53_clocks_that_are_days_off_are_shown_and_change_nothing() {
    let place = Place::new();
    let fast =
        "roles:\n  default:\n    startup_grace: 0\n    liveness: {beats: {interval: 500ms, timeout: 2s}}\n";
    let program = place.configure(fast).start();
    let agents = [("slow", -3), ("fast", 3), ("right", 0)];
    for (agent, days) in agents {
        let beat = json!({"agentId": agent, "timestamp": days_off(days)}).to_string();
        assert_eq!(program.as_nobody("POST /v1/heartbeats", &beat).body["accepted"], 1);
        let health = program.get(&format!("/v1/agents/{agent}"));
        assert_eq!(health["state"], "HEALTHY", "{health}");
        let skew = health["clockSkewMs"].as_i64().unwrap_or_else(|| panic!("it is shown: {health}"));
        assert!((skew - days * DAY_MS).abs() < DAY_MS / 24, "{agent}: {skew}");
        let heard = health["lastHeartbeat"].as_str().and_then(|at| at.parse::<verger_api::Time>().ok());
        let now = days_off(0).parse::<verger_api::Time>().expect("a time");
        let ago = now.as_millis() - heard.expect("a time").as_millis();
        assert!(ago.abs() < DAY_MS / 24, "it is told by the monitor's clock: {health}");
    }
    // No clock makes an agent that says nothing alive, nor one that does dead.
    for (agent, _) in agents {
        until("silence is noticed", || {
            (program.get(&format!("/v1/agents/{agent}"))["state"] == "DEGRADED").then_some(())
        });
    }
}

fn acquire(program: &Program, token: &str, breaker: &str) -> crate::program::Got {
    program.bearing(token, &format!("POST /v1/breakers/{breaker}/acquire"), "{}")
}

fn report(program: &Program, token: &str, breaker: &str, permit: &Value, ok: bool) {
    let body = json!({"permit": permit, "ok": ok, "error": "no"}).to_string();
    let got = program.bearing(token, &format!("POST /v1/breakers/{breaker}/report"), &body);
    assert_eq!(got.status, 204, "{}", got.body);
}

#[test]
fn l25_an_agent_asks_before_it_calls_fails_fast_and_tries_one_call_when_it_may() {
    let place = Place::new();
    place.configure("breakers:\n  api: {failure_threshold: 2, open_for: 1s, half_open_requests: 1}\n");
    let program = place.start();
    let (token, breaker) = (program.token_of("a"), "a/api/search");
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    for _ in 0..2 {
        let permit = acquire(&program, &token, breaker);
        assert_eq!(permit.status, 200, "{}", permit.body);
        report(&program, &token, breaker, &permit.body["permit"], false);
    }
    let refused = acquire(&program, &token, breaker);
    assert_eq!(refused.status, 503, "it fails fast: {}", refused.body);
    assert!(refused.head.contains("retry-after: "), "{}", refused.head);
    assert_eq!(program.event("a", "CIRCUIT_BREAKER_STATE_CHANGED")["data"]["to"], "OPEN");
    assert_eq!(acquire(&program, &token, "a/api/other").status, 200, "what did not fail is not refused");
    // One call may try it; who comes meanwhile is refused until that one is back.
    let tries =
        until("it may be tried", || Some(acquire(&program, &token, breaker)).filter(|got| got.status == 200));
    assert_eq!(acquire(&program, &token, breaker).status, 503);
    report(&program, &token, breaker, &tries.body["permit"], true);
    assert_eq!(program.get(&format!("/v1/breakers/{breaker}"))["state"], "CLOSED");
    assert_eq!(acquire(&program, &token, breaker).status, 200);
}

#[test]
fn l29_attempts_are_limited_across_crashes_and_then_a_person_must_look() {
    let place = Place::new();
    place.configure(
        "health_monitoring:\n  recovery: {max_attempts_per_task: 2, backoff_seconds: [1]}\n\
         roles:\n  default: {restart: recover}\ntermination: {command: ['true']}\n\
         spawn: {command: [sh, -c, 'echo \"$VERGER_TASK_ID\" >> \"{here}/started\"']}\n",
    );
    let mut program = place.start();
    let signal = |program: &Program, what: &str| {
        let got = program.as_admin("POST /v1/signals", &format!(r#"{{"agentId":"a","taskId":"t",{what}}}"#));
        assert_eq!(got.body["accepted"], 1, "{}", got.body);
    };
    let starts = || std::fs::read_to_string(place.path("started")).unwrap_or_default().lines().count();
    let recovery = |program: &Program| program.as_admin("GET /v1/tasks/t/recovery", "").body;
    signal(&program, r#""kind":"spawn""#);
    for attempt in 1..=2 {
        signal(&program, r#""kind":"exit","code":1"#);
        until("it is started again", || (starts() == attempt).then_some(()));
        // Only what is known to be done is not done again.
        until("that is known", || (program.get("/v1/fleet")["monitor"]["effectsPending"] == 0).then_some(()));
        program.kill();
        program = place.start();
        assert_eq!(recovery(&program)["attempt"], attempt, "{}", recovery(&program));
        signal(&program, r#""kind":"spawn""#);
        until("it came up", || (recovery(&program)["status"] == "watching").then_some(()));
    }
    signal(&program, r#""kind":"exit","code":1"#);
    until("a person must look", || (recovery(&program)["status"] == "human-review").then_some(()));
    program.kill();
    program = place.start();
    assert_eq!(recovery(&program)["status"], "human-review", "a restart gives no new attempts");
    assert_eq!(starts(), 2);
}
