//! What people and programs outside are told, what they answer, and what is done by their means.

use serde_json::Value;

use crate::program::{Place, Program, until};
use crate::receiver::{Orchestrator, SECRET, signed};

fn with_orchestrator(place: &Place, port: u16) -> Program {
    place.secret("secret", SECRET);
    let webhook = format!("url: http://127.0.0.1:{port}/verger\n    secret_file: \"{{here}}/secret\"\n");
    place.configure(&format!("orchestrator:\n  webhook:\n    {webhook}")).start()
}

#[test]
fn l21_a_stuck_agent_reaches_the_orchestrator_signed_and_its_answer_decides() {
    let orchestrator = Orchestrator::at(0, 200, r#"{"decision":"allow-more-time","reason":"it compiles"}"#);
    let place = Place::new();
    let program = with_orchestrator(&place, orchestrator.port);
    program.loop_agent("a");
    let asked = orchestrator.next("ESCALATION_TRIGGERED");
    assert!(asked.is_signed, "{asked:?}");
    let data = &asked.document["data"];
    assert_eq!(data["agentId"], "a");
    assert!(data["evidence"].as_array().is_some_and(|found| !found.is_empty()), "{data}");
    let address = data["decisionUrl"].as_str().expect("where to decide");
    assert!(address.ends_with("/v1/agents/a/decision") && address.contains(&program.address), "{address}");
    let decided = program.event("a", "ESCALATION_DECIDED");
    assert_eq!(decided["data"]["decision"], "allow-more-time");
    assert_eq!(
        (&decided["data"]["by"], &decided["data"]["reason"]),
        (&"orchestrator".into(), &"it compiles".into())
    );
}

#[test]
fn l21_a_later_call_decides_if_it_is_signed_and_only_once_and_only_about_the_agent_it_names() {
    let orchestrator = Orchestrator::at(0, 204, "");
    let place = Place::new();
    let program = with_orchestrator(&place, orchestrator.port);
    program.as_nobody("POST /v1/heartbeats", r#"[{"agentId":"a"},{"agentId":"b"}]"#);
    for agent in ["a", "b"] {
        program.as_admin(&format!("POST /v1/agents/{agent}/escalate"), r#"{"reason":"look"}"#);
        orchestrator.next("ESCALATION_TRIGGERED");
    }
    let body = r#"{"agentId":"a","decision":"force-handoff","reason":"late"}"#;
    let headers = signed("n1", body);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let decide = |agent: &str, headers: &[(&str, &str)], body: &str| {
        program.send(&format!("POST /v1/agents/{agent}/decision"), headers, body).status
    };
    assert_eq!(decide("a", &[], body), 401, "without a signature");
    assert_eq!(decide("b", &headers, body), 422, "about another agent");
    assert_eq!(decide("a", &headers, &body.replace("late", "lame")), 401, "changed on the way");
    assert_eq!(decide("a", &headers, body), 202);
    assert_eq!(decide("a", &headers, body), 401, "a second time");
    assert_eq!(program.event("a", "ESCALATION_DECIDED")["data"]["by"], "orchestrator");
}

#[test]
fn l49_what_an_orchestrator_missed_while_both_were_down_it_is_told_afterwards() {
    let place = Place::new();
    let port = Orchestrator::at(0, 204, "").port;
    // Nobody listens at a port that was just another's.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let free = free.map_or(port, |address| address.port());
    let program = with_orchestrator(&place, free);
    program.loop_agent("a");
    let stuck = program.event("a", "HEALTH_STATE_CHANGED");
    until("it was tried", || place.log().contains("orchestrator was not told").then_some(()));
    program.kill();
    let orchestrator = Orchestrator::at(free, 204, "");
    let _program = place.start();
    let told = orchestrator.next("HEALTH_STATE_CHANGED");
    assert_eq!(told.document["data"]["to"], "STUCK");
    assert!(told.id.starts_with("event-") && told.is_signed, "{told:?} {stuck}");
}

#[test]
fn people_hear_of_trouble_by_their_own_command() {
    let place = Place::new();
    let script = r#"cat > "{here}/$VERGER_EVENT.part"; echo "$VERGER_TEXT" > "{here}/$VERGER_EVENT.text"; mv "{here}/$VERGER_EVENT.part" "{here}/$VERGER_EVENT.json""#;
    let quoted = script.replace('\'', "''");
    place.configure(&format!("notify:\n  command: [sh, -c, '{quoted}']\n"));
    let program = place.start();
    program.loop_agent("a");
    let event: Value = serde_json::from_str(&place.file("ESCALATION_TRIGGERED.json")).expect("an event");
    assert_eq!((&event["type"], &event["subject"]), (&"ESCALATION_TRIGGERED".into(), &"a".into()));
    let text = place.file("ESCALATION_TRIGGERED.text");
    assert!(text.starts_with("a needs a decision: "), "{text}");
    assert!(place.file("HEALTH_STATE_CHANGED.text").starts_with("a is STUCK: "));
}

#[test]
fn an_agent_that_nothing_is_configured_to_end_is_not_ended_and_the_operator_is_told() {
    let place = Place::new();
    let program = place.start();
    program.as_admin("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    assert_eq!(program.as_admin("POST /v1/agents/a/terminate", r#"{"reason":"enough"}"#).status, 202);
    until("the operator is told", || place.log().contains("nothing is configured by which").then_some(()));
    assert_ne!(program.as_admin("GET /v1/agents/a", "").body["state"], "TERMINATED");
}

#[test]
fn an_agent_is_ended_by_the_command_that_is_configured() {
    let place = Place::new();
    let script = r#"echo "$VERGER_ACTION $VERGER_AGENT_ID $VERGER_INCARNATION" > "{here}/ended""#;
    place.configure(&format!("termination:\n  command: [sh, -c, '{script}']\n"));
    let program = place.start();
    program.as_admin("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    program.as_admin("POST /v1/agents/a/terminate", r#"{"reason":"enough"}"#);
    assert_eq!(place.file("ended").trim(), "terminate a 1");
    assert_eq!(program.event("a", "AGENT_TERMINATED")["data"]["reason"], "enough");
}
