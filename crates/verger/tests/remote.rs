//! Commands that ask a monitor, and agents that report to it: against the real program, as a child process.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use verger_api::SignalBody;
use verger_api::signal::{Phase, Tokens, ToolCall};
use verger_client::{Access, Agent, AgentOptions, Control, Guarded};

/// Longer than anything here takes; a test that waits in vain ends.
const PATIENCE: Duration = Duration::from_secs(90);

/// A monitor that runs, in a folder of its own.
struct Monitor {
    child: Child,
    url: String,
    folder: TempDir,
}

/// How a command ended.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

impl Monitor {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let child = serve(folder.path(), "127.0.0.1:0");
        let mut monitor = Self { child, url: String::new(), folder };
        monitor.wait();
        monitor
    }

    /// Until it answers.
    fn wait(&mut self) {
        self.url = until(|| {
            assert_eq!(self.child.try_wait().expect("its state"), None, "it ended");
            let url = fs::read_to_string(self.folder.path().join("verger.url")).ok()?;
            url.ends_with('\n').then(|| url.trim().to_owned())
        });
        until(|| (self.run("agents").code == Some(0)).then_some(()));
    }

    /// Ends it as a power cut would, and starts it again at the same place.
    fn crash_and_come_back(&mut self, meanwhile: impl FnOnce()) {
        self.end();
        meanwhile();
        let address = self.url.trim_start_matches("http://").to_owned();
        fs::remove_file(self.folder.path().join("verger.url")).expect("it was left behind");
        self.child = serve(self.folder.path(), &address);
        self.wait();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is ours");
    }

    fn end(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    fn run(&self, line: &str) -> Ran {
        ran(verger(self.folder.path()).args(line.split(' ')))
    }

    fn agent(&self, id: &str) -> AgentOptions {
        let access = Access::new(self.url.parse().expect("an address"), None);
        AgentOptions { every: Duration::from_millis(200), ..AgentOptions::new(id, access) }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, with nothing around it but this data folder.
fn verger(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_verger"));
    for name in ["VERGER_URL", "VERGER_TOKEN", "VERGER_AGENT_ID", "VERGER_CONFIG", "VERGER_LISTEN"] {
        command.env_remove(name);
    }
    command.env("VERGER_DATA_DIR", folder).stdin(Stdio::null());
    command
}

fn serve(folder: &Path, listen: &str) -> Child {
    let mut command = verger(folder);
    command.args(["serve", "--listen", listen]).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// Asks again until there is an answer.
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "it took too long");
        std::thread::yield_now();
    }
}

fn called(id: String) -> SignalBody<'static> {
    SignalBody::ToolCall(Box::new(ToolCall {
        call_id: id.into(),
        tool: "build".into(),
        phase: Phase::Finished,
        args: None,
        result: None,
        error: None,
        duration_ms: Some(1),
    }))
}

#[test]
fn l55_an_agent_beats_is_listed_explained_and_gets_its_reminder() {
    let monitor = Monitor::start();
    let agent = Agent::start(monitor.agent("sdk-1"));
    agent.works_on(Some("t".to_owned()));
    agent.used(77, 0.5);
    until(|| (monitor.run("agent sdk-1 --json").code == Some(0)).then_some(()));
    let health =
        until(|| Some(monitor.run("agent sdk-1 --json").json()).filter(|health| health["taskId"] == "t"));
    assert_eq!((&health["state"], &health["agentId"]), (&"HEALTHY".into(), &"sdk-1".into()));
    assert_eq!(monitor.run("agents --json").json()["items"][0]["agentId"], "sdk-1");
    let listed = monitor.run("agents");
    assert!(listed.out.starts_with("AGENT") && listed.out.contains("HEALTHY"), "{}", listed.out);
    assert!(!listed.out.contains('\x1b'), "no colours in a pipe");
    let why = monitor.run("why sdk-1");
    assert!(why.out.starts_with("sdk-1 is HEALTHY: it "), "{}", why.out);
    let nudged = monitor.run("nudge sdk-1 -m look --json");
    assert_eq!(nudged.json()["delivery"], "queued", "{}", nudged.err);
    let item = agent.wait_item(PATIENCE).expect("a reminder");
    assert_eq!((item.kind.as_str(), item.message.as_deref()), ("nudge", Some("look")));
    assert_eq!(nudged.json()["id"], item.id, "it has one name everywhere");
    until(|| monitor.run("events --agent sdk-1").out.contains("NUDGE_DELIVERED").then_some(()));
    let events = monitor.run("events --agent sdk-1 --json -n 100");
    let ids: Vec<i64> = events.out.lines().map(id_of).collect();
    assert!(ids.len() >= 3 && ids.is_sorted(), "the oldest first: {ids:?}");
}

fn id_of(line: &str) -> i64 {
    let event: Value = serde_json::from_str(line).expect("JSON");
    event["id"].as_str().expect("a number").parse().expect("a number")
}

#[test]
fn l43_an_agent_outlives_its_monitor_and_tells_everything_when_it_is_back() {
    let mut monitor = Monitor::start();
    let agent = Agent::start(monitor.agent("sdk-2"));
    let count = |monitor: &Monitor| {
        let health = monitor.run("agent sdk-2 --json");
        (health.code == Some(0)).then(|| health.json()["metrics"]["toolCallCount"].as_u64()).flatten()
    };
    agent.tell(called("before".to_owned()));
    until(|| (count(&monitor) == Some(1)).then_some(()));
    monitor.crash_and_come_back(|| {
        for number in 0..50 {
            agent.tell(called(format!("meanwhile-{number}")));
        }
    });
    // A call of the last second before the crash may be forgotten; none that was told after it is.
    until(|| (count(&monitor) >= Some(50)).then_some(()));
    until(|| (agent.tally().waiting == 0).then_some(()));
    assert_eq!(agent.tally().dropped, 0);
    assert!(agent.finish(PATIENCE));
}

/// How long the monitor stands still; ten minutes in `make pauses`.
fn outage() -> Duration {
    let secs = std::env::var("VERGER_OUTAGE_SECS").ok().and_then(|secs| secs.parse().ok());
    Duration::from_secs(secs.unwrap_or(12))
}

#[test]
fn l43_all_that_is_told_while_the_monitor_hangs_arrives_and_counts_once() {
    let monitor = Monitor::start();
    let agent = Agent::start(monitor.agent("sdk-3"));
    until(|| (monitor.run("agent sdk-3 --json").code == Some(0)).then_some(()));
    monitor.signal(Signal::STOP);
    let (began, mut told) = (Instant::now(), 0_u64);
    while began.elapsed() < outage() {
        // No more than is kept through all of it. Whoever gets no answer sends it again, and the system keeps it all.
        if outage().mul_f64(told as f64 / 400.0) < began.elapsed() {
            agent.tell(SignalBody::Tokens(Tokens { input: 1, output: 1, cost_usd: None }));
            told += 1;
        }
        std::thread::yield_now();
    }
    monitor.signal(Signal::CONT);
    until(|| (agent.tally().waiting == 0).then_some(()));
    let used = || monitor.run("agent sdk-3 --json").json()["metrics"]["tokenCount"].as_u64();
    until(|| (used() >= Some(told * 2)).then_some(()));
    assert!(agent.finish(PATIENCE));
    assert_eq!(used(), Some(told * 2), "all of it, and none of it twice");
}

#[test]
fn exit_codes_say_why_a_command_came_to_nothing() {
    let mut monitor = Monitor::start();
    let _agent = Agent::start(monitor.agent("a"));
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    let cases = [
        ("agents --state sleepy", 2, "is none of"),
        ("agents --limit 0", 2, "0 is not in 1.."),
        ("agent nobody", 3, "VG0101"),
        ("why nobody", 3, "VG0101"),
        ("decide a force-handoff", 4, "VG0103"),
        ("decide a force-handoff --for 5m", 2, "--for goes with allow-more-time alone"),
        ("agents --url ftp://x", 2, "is not the address of a monitor"),
    ];
    for (line, code, says) in cases {
        let ran = monitor.run(line);
        assert_eq!((ran.code, ran.err.contains(says)), (Some(code), true), "{line}: {}", ran.err);
    }
    monitor.end();
    let ran = monitor.run("agents");
    assert_eq!((ran.code, ran.err.contains("can't be reached")), (Some(5), true), "{}", ran.err);
    let ran = monitor.run("doctor");
    assert_eq!((ran.code, ran.out.contains("verger serve")), (Some(1), true), "{}", ran.out);
}

#[test]
fn a_slip_of_the_finger_is_answered_with_the_name_that_was_meant() {
    let monitor = Monitor::start();
    let _agent = Agent::start(monitor.agent("coder-1"));
    until(|| (monitor.run("agent coder-1").code == Some(0)).then_some(()));
    let token = monitor.run("token create --scope read --json").json()["token"]["id"].clone();
    let token = token.as_str().expect("its name");
    for (line, meant) in [
        ("why codr-1".to_owned(), "did you mean `coder-1`?".to_owned()),
        ("nudge coder-2".to_owned(), "did you mean `coder-1`?".to_owned()),
        ("events --agent Coder-1".to_owned(), "did you mean `coder-1`?".to_owned()),
        (format!("token revoke {token}x"), format!("did you mean `{token}`?")),
        ("agent somebody-else".to_owned(), "`verger agents` lists those that are known".to_owned()),
    ] {
        let ran = monitor.run(&line);
        assert_eq!((ran.code, ran.err.contains(&meant)), (Some(3), true), "{line}: {}", ran.err);
    }
}

#[test]
fn a_second_monitor_says_who_was_first_and_what_to_do() {
    let monitor = Monitor::start();
    let second = monitor.run("serve --listen 127.0.0.1:0");
    assert_eq!(second.code, Some(1), "{}", second.err);
    assert!(second.err.contains("in use by another monitor") && second.err.contains("→"), "{}", second.err);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let address = monitor.url.trim_start_matches("http://");
    let taken = ran(verger(elsewhere.path()).args(["serve", "--listen", address]));
    assert_eq!(taken.code, Some(1), "{}", taken.err);
    assert!(taken.err.contains("another program has this port"), "{}", taken.err);
}

#[test]
fn a_token_that_opens_nothing_is_found_by_the_doctor() {
    let monitor = Monitor::start();
    let found = ran(verger(monitor.folder.path()).arg("doctor").env("VERGER_TOKEN", "vgt_wrong"));
    assert_eq!((found.code, found.out.contains("unset VERGER_TOKEN")), (Some(1), true), "{}", found.out);
    let refused = ran(verger(monitor.folder.path()).arg("agents").env("VERGER_TOKEN", "vgt_wrong"));
    assert_eq!((refused.code, refused.err.contains("set VERGER_TOKEN")), (Some(4), true), "{}", refused.err);
}

#[test]
fn a_pipe_gets_whole_lines_and_who_asks_for_a_terminal_gets_one() {
    let monitor = Monitor::start();
    let _agent = Agent::start(monitor.agent("a"));
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    let piped = monitor.run("agents");
    assert!(piped.out.starts_with("AGENT  STATE    FOR") && piped.out.contains("ROLE"), "{}", piped.out);
    let shown = |columns: &str| {
        let mut command = verger(monitor.folder.path());
        ran(command.arg("agents").env("CLICOLOR_FORCE", "1").env("COLUMNS", columns)).out
    };
    let wide = shown("120");
    assert!(wide.contains("\x1b[32mHEALTHY\x1b[0m") && !wide.contains("ROLE"), "{wide}");
    let mut without = verger(monitor.folder.path());
    let plain =
        ran(without.arg("agents").env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").env("COLUMNS", "80")).out;
    assert!(!plain.contains('\x1b'), "{plain}");
}

#[test]
fn a_configuration_that_says_where_the_data_is_leads_there() {
    let monitor = Monitor::start();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let file = elsewhere.path().join("verger.yaml");
    fs::write(&file, format!("data_dir: {}\n", monitor.folder.path().display())).expect("a writable folder");
    let found =
        ran(verger(elsewhere.path()).arg("agents").env_remove("VERGER_DATA_DIR").env("VERGER_CONFIG", &file));
    assert_eq!(found.code, Some(0), "{}", found.err);
}

#[test]
fn an_agent_does_not_decide_about_itself() {
    let monitor = Monitor::start();
    let _agent = Agent::start(monitor.agent("a"));
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    let inside = ran(verger(monitor.folder.path())
        .args(["terminate", "a", "--reason", "x"])
        .env("VERGER_AGENT_ID", "a"));
    assert_eq!(inside.code, Some(4), "{}", inside.err);
    assert!(
        inside.err.contains("VERGER_AGENT_ID=a is set") && inside.err.contains("must not decide"),
        "{}",
        inside.err
    );
    // A child that drops the variable is known by its parent.
    let program = env!("CARGO_BIN_EXE_verger");
    let mut shell = Command::new("sh");
    shell.args(["-c", "unset VERGER_AGENT_ID; \"$0\" terminate a --reason x; exit $?", program]);
    shell
        .env("VERGER_AGENT_ID", "a")
        .env("VERGER_DATA_DIR", monitor.folder.path())
        .env_remove("VERGER_TOKEN");
    let below = ran(&mut shell);
    assert_eq!((below.code, below.err.contains("was started as agent a")), (Some(4), true), "{}", below.err);
    let health = monitor.run("agent a --json").json();
    assert_eq!(health["intervention"], Value::Null);
}

#[test]
fn an_escalation_is_explained_and_answered() {
    let monitor = Monitor::start();
    let _agent = Agent::start(monitor.agent("a"));
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    let asked = monitor.run("escalate a --reason odd");
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    let why = monitor.run("why a");
    for told in
        ["people are asked what to do by admin: odd", "People were asked what to do", "verger decide a "]
    {
        assert!(why.out.contains(told), "{told}: {}", why.out);
    }
    let told = monitor.run("why a --json").json();
    assert_eq!(told["timeline"][0]["text"], "people are asked what to do by admin: odd", "{told}");
    assert!(told["youCan"].as_array().is_some_and(|ways| ways.len() == 3), "{told}");
    let decided = monitor.run("decide a allow-more-time --for 30m --reason fine");
    assert_eq!(decided.code, Some(0), "{}", decided.err);
}

#[test]
fn the_fleet_its_events_and_its_history_are_shown() {
    let monitor = Monitor::start();
    let _agent = Agent::start(monitor.agent("a"));
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    let fleet = monitor.run("fleet --json");
    assert_eq!(fleet.json()["agents"], 1, "{}", fleet.err);
    let fleet = monitor.run("fleet");
    assert!(
        fleet.out.starts_with("1 agent,") && fleet.out.contains("no open incidents"),
        "{} {}",
        fleet.out,
        fleet.err
    );
    until(|| monitor.run("events -n 100").out.contains("HEALTH_STATE_CHANGED").then_some(()));
    let ids: Vec<i64> = monitor.run("events --json -n 100").out.lines().map(id_of).collect();
    assert!(ids.is_sorted() && ids.len() >= 2, "{ids:?}");
    assert_eq!(monitor.run("events --json -n 1").out.lines().count(), 1);
    until(|| {
        Some(monitor.run("history a --since 1h --json"))
            .filter(|ran| ran.json()["items"] != serde_json::json!([]))
    });
    let history = monitor.run("history a");
    assert!(
        history.out.starts_with("AT") && history.out.contains("HEALTHY"),
        "{} {}",
        history.out,
        history.err
    );
    assert_eq!(monitor.run("escalate a --reason odd").code, Some(0));
    let alarm = monitor.run("events --json -n 1");
    let marked = monitor.run(&format!("wrong {} --reason fine", id_of(&alarm.out)));
    assert_eq!((marked.code, marked.out.contains("false alarm")), (Some(0), true), "{}", marked.err);
    assert_eq!(monitor.run("wrong 999999").code, Some(3));
    assert_eq!(monitor.run("recover no-such-task").code, Some(3));
}

#[test]
fn l24_breakers_are_listed_and_an_unknown_one_is_not_found() {
    let monitor = Monitor::start();
    let listed = monitor.run("breakers");
    assert_eq!(
        (listed.code, listed.out.trim()),
        (Some(0), "no circuit breakers yet: calls make them"),
        "{}",
        listed.err
    );
    assert_eq!(monitor.run("breakers --json").json()["items"], serde_json::json!([]));
    let reset = monitor.run("breakers reset a/api/search");
    assert_eq!(reset.code, Some(3), "{}", reset.err);
}

#[test]
fn a_token_is_made_used_listed_and_revoked() {
    let monitor = Monitor::start();
    let made = monitor.run("token create --scope read --label dashboard --json");
    let (secret, id) = (made.json()["secret"].clone(), made.json()["token"]["id"].clone());
    let (secret, id) = (secret.as_str().expect("a secret"), id.as_str().expect("a name"));
    let with =
        |line: &str| ran(verger(monitor.folder.path()).args(line.split(' ')).env("VERGER_TOKEN", secret));
    assert_eq!(with("agents").code, Some(0));
    let refused = with("token create --scope read");
    assert_eq!((refused.code, refused.err.contains("VG0413")), (Some(4), true), "{}", refused.err);
    let listed = monitor.run("token list");
    assert!(listed.out.contains("dashboard") && !listed.out.contains(secret), "{}", listed.out);
    assert_eq!(monitor.run(&format!("token revoke {id}")).code, Some(0));
    assert_eq!(with("agents").code, Some(4));
    assert_eq!(monitor.run("token create --scope agent").code, Some(2), "an agent's token needs its agent");
}

#[test]
fn a_browser_is_signed_in_by_a_link_of_this_monitor() {
    let monitor = Monitor::start();
    let link = monitor.run("open --print");
    assert!(link.out.starts_with(&monitor.url), "{} {}", link.out, link.err);
    assert!(monitor.run("open --json").json()["url"].as_str().is_some_and(|url| url.contains("signin")));
}

#[test]
fn a_monitor_that_is_well_is_found_well() {
    let monitor = Monitor::start();
    let found = monitor.run("doctor --json");
    assert_eq!((found.code, &found.json()["ok"]), (Some(0), &Value::Bool(true)), "{}", found.out);
    let bad =
        found.json()["checks"].as_array().expect("a list").iter().any(|check| check["status"] == "fail");
    assert!(!bad, "{}", found.out);
}

#[test]
fn x09_what_waits_for_an_agent_with_a_token_reaches_it_between_two_beats() {
    let monitor = Monitor::start();
    let made = monitor.run("token create --scope agent --agent a --json").json();
    let token = made["secret"].as_str().expect("a secret").to_owned();
    let access = Access::new(monitor.url.parse().expect("an address"), Some(token));
    // It beats once an hour: whatever comes, comes over the inbox.
    let every = Duration::from_hours(1);
    let agent = Agent::start(AgentOptions { every, ..AgentOptions::new("a", access) });
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    assert_eq!(monitor.run("nudge a -m now").code, Some(0));
    assert_eq!(agent.wait_item(PATIENCE).and_then(|item| item.message), Some("now".to_owned()));
}

#[tokio::test]
async fn l25_a_guarded_call_fails_fast_behind_what_fails_and_is_made_when_nobody_can_be_asked() {
    let mut monitor = Monitor::start();
    let made = monitor.run("token create --scope agent --agent a --json").json();
    let token = made["secret"].as_str().expect("a secret").to_owned();
    let control = Control::new(&Access::new(monitor.url.parse().expect("an address"), Some(token)));
    let control = control.expect("a client");
    let _agent = Agent::start(monitor.agent("a"));
    until(|| (monitor.run("agent a").code == Some(0)).then_some(()));
    let mut failures = 0;
    // On a busy machine a word of the monitor may come too late: then the call is made, and not counted.
    let refused = loop {
        match control.guarded("a/api/search", async || Err::<(), _>("no answer")).await {
            Err(Guarded::Failed("no answer")) if failures < 100 => failures += 1,
            other => break other,
        }
    };
    assert!(matches!(refused, Err(Guarded::Open { retry_after: Some(_) })), "{refused:?}");
    assert!(failures >= 3, "{failures}");
    assert!(control.guarded("a/api/other", async || Ok::<_, &str>(())).await.is_ok(), "that one is well");
    monitor.end();
    assert!(control.guarded("a/api/search", async || Ok::<_, &str>(())).await.is_ok(), "nobody can be asked");
}
