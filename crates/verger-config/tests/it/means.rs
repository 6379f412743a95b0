//! Whom the monitor tells, and by what means it acts.

use std::path::Path;

use verger_config::{Command, Means};
use verger_core::id::{AgentId, RoleName};

use crate::right;

#[test]
fn l28_the_nearest_means_counts() {
    let text = "
spawn: {command: [spawn-any]}
roles: {critical: {spawn: {webhook: {url: 'https://h/spawn', secret_file: keys/spawn}}}}
agents: {a1: {spawn: {command: [spawn-a1, --fast, 1.10], cwd: work, env: {PORT: 8080}}}}
";
    let means = right(text).means;
    let spawn = |agent: &str, role: Option<&str>| {
        means.spawn(&AgentId::from(agent), role.map(RoleName::from).as_ref())
    };
    let Some(Means::Command(Command { argv, cwd, env })) = spawn("a1", Some("critical")) else {
        panic!("{means:?}")
    };
    assert_eq!(argv, &["spawn-a1", "--fast", "1.10"]);
    assert_eq!(cwd.as_deref(), Some(Path::new("work")));
    assert_eq!((env[0].0.as_str(), env[0].1.reveal()), ("PORT", "8080"));
    let Some(Means::Webhook(webhook)) = spawn("a2", Some("critical")) else { panic!("{means:?}") };
    assert_eq!(webhook.secret_file.as_deref(), Some(Path::new("keys/spawn")));
    assert!(matches!(spawn("a2", None), Some(Means::Command(command)) if command.argv == ["spawn-any"]));
    assert_eq!(means.termination(&AgentId::from("a1"), None), None);
}

#[test]
fn l21_the_orchestrator_and_a_program_are_told_of_what_is_named() {
    let text = "
notify: {command: [notify-send, Verger], events: [INCIDENT_OPENED]}
orchestrator: {webhook: {url: 'http://127.0.0.1:9000/x'}}
";
    let outward = right(text).outward;
    assert_eq!(outward.notify.unwrap().events, Some(vec!["INCIDENT_OPENED".to_owned()]));
    assert_eq!(outward.orchestrator.unwrap().events, None);
}

#[test]
fn settings_of_a_single_agent_are_kept() {
    let text = "
limits: {agent: {tokens: 10}}
agents: {'claude-code:7f.3': {role: active, task: t1, mode: nudge, limits: {memory_mb: 512MiB, cpu_percent: 150}, nudge: {channels: [hook, inbox]}}}
";
    let configuration = right(text);
    let agent = &configuration.agents[&AgentId::from("claude-code:7f.3")];
    let limits = agent.limits.as_ref().unwrap();
    assert_eq!(
        (limits.tokens, limits.memory_bytes, limits.cpu_millis),
        (Some(10), Some(512 << 20), Some(1500))
    );
    assert_eq!(agent.role, Some("active".into()));
    assert_eq!(agent.nudge_channels.as_deref(), Some(&["hook".to_owned(), "inbox".to_owned()][..]));
}

#[test]
fn what_is_secret_is_not_printed() {
    let configuration = right(
        "spawn: {command: [a], env: {TOKEN: hunter2}}\norchestrator: {webhook: {url: 'https://h/x?key=hunter2'}}",
    );
    let printed = format!(
        "{:?}{}{}",
        configuration.means,
        configuration.show(verger_config::Detail::All),
        configuration.show_json()
    );
    assert!(!printed.contains("hunter2"), "{printed}");
    assert!(printed.contains("TOKEN"));
}
