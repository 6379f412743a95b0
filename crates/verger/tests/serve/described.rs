//! Everything that `/openapi.json` says, tried by a program that believes it: schemathesis, once with each scope.
//!
//! No fault of the monitor, no status that is not described, no answer that is not as described; whatever is sent. What
//! it sends is the same each time: `DESCRIBED_SEED` has it send something else, and `DESCRIBED_CASES` more of it for each
//! operation.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Place, Program};
use crate::tools::{script, tool};

/// Cases for each operation, besides those that are made of the limits of its parameters.
const CASES: &str = "5";
const SEED: &str = "1";

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";
/// Answers that do not end by themselves, for those who get them: these are read in tests of their own.
const ENDLESS: [&str; 2] = ["streamEvents", "getInbox"];
/// It writes wherever an admin says.
const WRITES: &str = "makeBackup";

/// A monitor in which there is one of everything that can be asked for.
fn furnished(place: &Place) -> Program {
    let program = place.start();
    program.loop_agent("a");
    program.event("a", "ESCALATION_TRIGGERED");
    for (request, body) in [
        ("PUT /v1/tasks/t", r#"{"agentId":"a","description":"mend it"}"#),
        ("POST /v1/checkpoints", r#"{"id":"c","taskId":"t","agentId":"a","state":{"step":7}}"#),
        ("POST /v1/breakers/a%2Ftool%2Fsearch/acquire", "{}"),
    ] {
        let made = program.as_admin(request, body);
        assert!((200..300).contains(&made.status), "{request}: {}", made.body);
    }
    program
}

/// Has everything tried by who shows this token, but for these operations.
fn tried(place: &Place, program: &Program, token: Option<&str>, except: &[&str]) {
    let own = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let settings = script("schemathesis.toml");
    let mut command = Command::new(tool("python/bin/st"));
    command.arg("--config-file").arg(&settings);
    command.args(["run", &format!("http://{}/openapi.json", program.address), "--checks", CHECKS]);
    command.args(["--phases", "examples,coverage,fuzzing", "--request-timeout", "60"]);
    command.args(["--max-examples", &own("DESCRIBED_CASES", CASES), "--seed", &own("DESCRIBED_SEED", SEED)]);
    for operation in except {
        command.args(["--exclude-operation-id", operation]);
    }
    if let Some(token) = token {
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
    }
    let scripts = settings.parent().map(Path::to_owned).unwrap_or_default();
    command.env("SCHEMATHESIS_HOOKS", "schemathesis_lines").env("PYTHONPATH", scripts);
    // What it leaves behind is left where it is run.
    command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(place.path("")).stdin(Stdio::null());
    let output = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{failed}\n{}", place.log());
    // It ends well, too, when it could not make sense of anything.
    assert!(said.contains(" passed"), "{said}");
    assert_eq!(program.as_nobody("GET /ready", "").status, 200, "{}", place.log());
}

#[test]
fn l50_without_a_token_everything_is_answered_as_it_is_described() {
    let place = Place::new();
    let program = furnished(&place);
    tried(&place, &program, None, &[]);
}

#[test]
fn l50_with_the_token_of_an_agent_everything_is_answered_as_it_is_described() {
    let place = Place::new();
    place.configure("traffic: {agent_rate: 100000, agent_burst: 1000000}");
    let program = furnished(&place);
    let token = program.token_of("a");
    tried(&place, &program, Some(&token), &ENDLESS[1..]);
}

#[test]
fn l50_with_the_token_of_a_reader_everything_is_answered_as_it_is_described() {
    let place = Place::new();
    place.configure("traffic: {reader_rate: 100000, reader_burst: 1000000}");
    let program = furnished(&place);
    let made = program.as_admin("POST /v1/tokens", r#"{"scope":"read"}"#);
    let token = made.body["secret"].as_str().unwrap_or_else(|| panic!("{}", made.body));
    tried(&place, &program, Some(token), &ENDLESS[..1]);
}

#[test]
fn l50_with_the_token_of_an_admin_everything_is_answered_as_it_is_described() {
    let place = Place::new();
    let program = furnished(&place);
    let token = program.token.clone();
    tried(&place, &program, Some(&token), &[ENDLESS[0], ENDLESS[1], WRITES]);
}
