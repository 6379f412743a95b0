//! Programs that people use beside Verger, each run against the real one.
//!
//! `scripts/setup tools` installs them. One that is missing fails its test: what nobody tried cannot be said to work.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::program::{Place, Program};

/// A tool that the set-up installed.
pub(crate) fn tool(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_verger"));
    let found = built.ancestors().map(|folder| folder.join("tools").join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is missing: run `scripts/setup tools`"))
}

/// A script of these tests.
pub(crate) fn script(name: &str) -> PathBuf {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    Path::new(&own).join("tests/serve/scripts").join(name)
}

/// Runs something that knows where the monitor is and is let in, and gives its output if it ended well.
fn run(command: &mut Command, place: &Place, program: &Program) -> String {
    let url = format!("http://{}", program.address);
    let built = Path::new(env!("CARGO_BIN_EXE_verger")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{}:{path}", built.display()))
        .env("VERGER_DATA_DIR", place.data())
        .env("VERGER_URL", &url)
        .env("VERGER_TOKEN", &program.token);
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let (said, failed) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{said}\n{failed}");
    said.into_owned()
}

#[test]
fn curl_and_jq_are_all_that_one_needs() {
    let place = Place::new();
    let program = place.start();
    let said = run(Command::new("bash").arg(script("curl.sh")), &place, &program);
    assert!(said.ends_with("all is as it should be\n"), "{said}");
}

#[test]
fn h09_promtool_finds_nothing_wrong_with_the_metrics() {
    let place = Place::new();
    let program = place.start();
    program
        .as_nobody("POST /v1/heartbeats", r#"[{"agentId":"a","role":"critical"},{"agentId":"b \"c\"\n"}]"#);
    program.loop_agent("a");
    program.event("a", "ESCALATION_TRIGGERED");
    program.as_admin("POST /v1/breakers/shared%2Fsearch/acquire", "{}");
    let check = r#"curl -fsS -H "Authorization: Bearer $VERGER_TOKEN" "$VERGER_URL/metrics" | "$0" check metrics 2>&1"#;
    let said = run(
        Command::new("bash").args(["-euo", "pipefail", "-c", check]).arg(tool("promtool")),
        &place,
        &program,
    );
    assert_eq!(said, "", "promtool has something to say");
}

#[test]
fn h09_the_health_client_of_grpc_itself_is_understood() {
    let place = Place::new();
    let program = place.start();
    run(Command::new(tool("python/bin/python")).arg(script("health.py")), &place, &program);
}

#[test]
fn l50_a_client_that_was_made_from_the_description_works() {
    let place = Place::new();
    let program = place.start();
    let document = place.path("openapi.json");
    let described = program.get("/openapi.json");
    fs::write(&document, described.to_string()).expect("it is ours");
    let mut generate = Command::new(tool("python/bin/openapi-python-client"));
    generate.args(["generate", "--meta", "none", "--path"]).arg(&document);
    let made = run(generate.arg("--output-path").arg(place.path("verger_client")), &place, &program);
    assert_no_operation_is_missing(&place.path("verger_client"), &described, &made);
    let mut client = Command::new(tool("python/bin/python"));
    run(client.arg(script("client.py")).env("PYTHONPATH", place.path("")), &place, &program);
}

/// What a generator does not understand it leaves out, with a warning.
fn assert_no_operation_is_missing(client: &Path, described: &Value, warnings: &str) {
    let operations = described["paths"].as_object().into_iter().flatten().flat_map(|(_, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.filter_map(|(_, operation)| {
            Some((operation["tags"][0].as_str()?, operation["operationId"].as_str()?))
        })
    });
    let missing = operations.filter(|(tag, id)| {
        let snake: String = id
            .chars()
            .flat_map(|c| [c.is_uppercase().then_some('_'), Some(c.to_ascii_lowercase())])
            .flatten()
            .collect();
        !client.join("api").join(tag).join(format!("{snake}.py")).exists()
    });
    assert_eq!(missing.collect::<Vec<_>>(), [], "{warnings}");
}

#[test]
fn l46_sqlite3_reads_the_data_while_the_monitor_goes_on_writing() {
    let place = Place::new();
    let program = place.start();
    program.as_nobody("POST /v1/heartbeats", r#"{"agentId":"a"}"#);
    let mut shell = Command::new("sqlite3")
        .args(["-readonly", "-noheader"])
        .arg(place.data().join("verger.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sqlite3 is missing: run `scripts/setup tools`");
    let mut asks = shell.stdin.take().expect("it is piped");
    let mut answers = BufReader::new(shell.stdout.take().expect("it is piped")).lines();
    let mut ask = |question: &str| {
        writeln!(asks, "{question}").expect("it reads");
        answers.next().expect("it answers").expect("text")
    };
    let escalations = "SELECT count(*) FROM events WHERE body ->> '$.type' = 'ESCALATION_TRIGGERED';";
    assert_eq!(ask("PRAGMA integrity_check;"), "ok");
    assert_eq!(ask(&format!("BEGIN; {escalations}")), "0");
    // While somebody looks at an old state, what is new is written all the same.
    let asked = program.as_admin("POST /v1/agents/a/escalate", r#"{"reason":"look"}"#);
    assert_eq!(asked.status, 202, "{}", asked.body);
    assert_eq!(ask(escalations), "0", "it still looks at the old state");
    assert_eq!(ask(&format!("COMMIT; {escalations}")), "1");
    assert_eq!(ask("SELECT agent FROM events WHERE type = 'ESCALATION_TRIGGERED';"), "a");
    drop(asks);
    assert!(shell.wait().expect("it ends").success());
    assert_eq!(program.as_nobody("GET /ready", "").status, 200);
}
