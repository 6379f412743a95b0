//! Text of agents and of programs in the operator's log: it forges no line and steers no terminal (X19).

use serde_json::{Value, json};

use crate::program::{Place, until};

/// A name as an agent may choose it: control characters are refused, these are not.
const NAME: &str = "a\u{202e}gpj.exe\u{2066} level=info verger: \u{2028}forged";
/// What somebody says, with everything that a log could stumble over.
const SAID: &str =
    "x\nverger: forged by a reason\r\n\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\"} {\"level\":\"info\"";

/// What a monitor says to its operator when hostile text comes from everywhere.
fn log(format: &str) -> String {
    let place = Place::new();
    let script = r"printf 'gone\nverger: forged by a program\r\033[2J' >&2; exit 1".replace('\'', "''");
    place.configure(&format!(
        "telemetry:\n  log: {{format: {format}, level: info}}\ntermination:\n  command: [sh, -c, '{script}']\n"
    ));
    let program = place.start();
    let beat = json!({"agentId": NAME, "taskId": "t\u{2067}"}).to_string();
    assert_eq!(program.as_admin("POST /v1/heartbeats", &beat).status, 202);
    let id: String = NAME.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
    for order in ["escalate", "terminate"] {
        let body = json!({"reason": SAID}).to_string();
        let got = program.as_admin(&format!("POST /v1/agents/{id}/{order}"), &body);
        assert_eq!(got.status, 202, "{}", got.body);
    }
    for expected in ["ESCALATION_TRIGGERED", "effect ", "HEALTH_STATE_CHANGED"] {
        until(expected, || place.log().contains(expected).then_some(()));
    }
    place.log()
}

/// What a terminal obeys, or what changes the order in which letters are read.
fn is_harmless(letter: char) -> bool {
    let is_bidi =
        matches!(letter, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter == '\n' || !(letter.is_control() || is_bidi)
}

#[test]
fn x19_hostile_text_forges_no_line_for_people() {
    let log = log("text");
    assert!(log.chars().all(is_harmless), "{log:?}");
    for line in log.lines() {
        assert!(line.starts_with("verger: ") && !line.starts_with("verger: forged"), "{line:?} of {log}");
    }
    let told = log.lines().find(|line| line.contains("ESCALATION_TRIGGERED")).expect("it is told");
    assert!(told.contains("reason=\"x\\u{a}verger: forged by a reason"), "{told}");
}

#[test]
fn x19_hostile_text_is_one_value_of_one_object_for_programs() {
    let log = log("json");
    assert!(log.chars().all(is_harmless), "{log:?}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let of = |message: &str| {
        lines.iter().find(|line| line["message"].as_str().is_some_and(|text| text.starts_with(message)))
    };
    let told = of("ESCALATION_TRIGGERED").expect("it is told");
    assert_eq!((&told["agent"], &told["reason"]), (&NAME.into(), &SAID.into()));
    assert!(told["event"].as_str().is_some_and(|id| id.parse::<u64>().is_ok()), "{told}");
    let failed = of("effect ").expect("what a program said");
    assert_eq!((&failed["level"], &failed["agent"]), (&"warn".into(), &NAME.into()));
    assert!(failed["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{failed}");
}

#[test]
fn x19_lines_of_one_trace_are_found_by_its_name() {
    let place = Place::new();
    place.configure("telemetry:\n  log: {format: json, level: info}\n");
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let admin = format!("Bearer {}", program.token);
    let headers = [("Authorization", admin.as_str()), ("traceparent", parent.as_str())];
    assert_eq!(program.send("POST /v1/agents/a/terminate", &headers, r#"{"reason":"enough"}"#).status, 202);
    let line = until("what came of it", || {
        let log = place.log();
        let line = log.lines().find(|line| line.contains("nothing is configured by which"))?;
        serde_json::from_str::<Value>(line).ok()
    });
    assert_eq!((&line["trace"], &line["agent"]), (&trace.into(), &"a".into()), "{line}");
}
