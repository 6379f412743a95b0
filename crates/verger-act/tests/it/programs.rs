//! Programs that end well, badly, late or not at all by themselves.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::json;
use tempfile::tempdir;
use verger_act::{Program, RunEnd, RunReport, StartError};

use crate::process::{ended, process, script, written};

/// For programs that end by themselves.
const LONG: Duration = Duration::from_mins(1);
/// For programs that do not.
const SHORT: Duration = Duration::from_millis(200);

async fn run(program: &Program) -> RunReport {
    program.run(LONG, LONG).await
}

/// Runs a script that does not end by itself until its time is up. If it was not `ready` by then, because the machine
/// is busy, it gets twice the time.
async fn run_late(directory: &Path, text: &str, grace: Duration) -> RunReport {
    let mut limit = SHORT;
    loop {
        let report = script(directory, text).run(limit, grace).await;
        assert!(matches!(report.end, RunEnd::Overdue), "{report}");
        if directory.join("ready").exists() {
            return report;
        }
        limit *= 2;
    }
}

#[tokio::test]
async fn a_program_reads_its_document_where_it_should_run() {
    let directory = tempdir().unwrap();
    let report = run(&script(directory.path(), "cat > document")).await;
    assert!(report.succeeded(), "{report}");
    assert_eq!(fs::read_to_string(directory.path().join("document")).unwrap(), r#"{"agentId":"a"}"#);
}

#[tokio::test]
async fn a_failure_is_told_with_its_code_and_last_words() {
    let directory = tempdir().unwrap();
    let report = run(&script(directory.path(), "echo first >&2; echo 'no such agent' >&2; exit 3")).await;
    assert!(matches!(report.end, RunEnd::Exited(3)));
    assert_eq!(report.stderr, "first\nno such agent\n");
    let sentence = report.to_string();
    assert!(sentence.starts_with("`sh` failed with code 3 after "), "{sentence}");
    assert!(sentence.ends_with("; it said last: no such agent"), "{sentence}");
}

#[tokio::test]
async fn a_signal_from_elsewhere_is_told() {
    let directory = tempdir().unwrap();
    let report = run(&script(directory.path(), "kill -9 $$")).await;
    assert!(matches!(report.end, RunEnd::Signalled(9)), "{report}");
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let directory = tempdir().unwrap();
    let plain = directory.path().join("plain");
    fs::write(&plain, "").unwrap();
    let start = async |program: &str, cwd: &Path| {
        let script = script(cwd, "");
        run(&Program { program: program.to_owned(), ..script }).await.end
    };
    let missing = start("no-such-program", directory.path()).await;
    assert!(matches!(missing, RunEnd::NotStarted(StartError::NotFound)), "{missing:?}");
    let no_program = start(&plain.to_string_lossy(), directory.path()).await;
    assert!(matches!(no_program, RunEnd::NotStarted(StartError::NotExecutable)), "{no_program:?}");
    for nowhere in [directory.path().join("nowhere"), plain] {
        let end = start("true", &nowhere).await;
        assert!(
            matches!(&end, RunEnd::NotStarted(StartError::NoDirectory(path)) if *path == nowhere),
            "{end:?}"
        );
    }
}

#[tokio::test]
async fn a_program_gets_a_few_variables_and_what_was_configured() {
    let directory = tempdir().unwrap();
    let mut program = script(directory.path(), "env > variables");
    program.env = vec![("API_KEY".to_owned(), "k".to_owned()), ("HOME".to_owned(), "/h".to_owned())];
    assert!(run(&program).await.succeeded());
    let text = fs::read_to_string(directory.path().join("variables")).unwrap();
    // A shell adds PWD, SHLVL and `_` of its own.
    let strange: Vec<_> = text
        .lines()
        .filter_map(|line| line.split('=').next())
        .filter(|name| {
            !["PATH", "LANG", "TMPDIR", "API_KEY", "HOME", "PWD", "OLDPWD", "SHLVL", "_"].contains(name)
        })
        .collect();
    assert_eq!(strange, Vec::<&str>::new());
    assert!(text.contains("API_KEY=k\n") && text.contains("HOME=/h\n") && text.contains("PATH="), "{text}");
    assert!(!format!("{program:?}").contains("\"k\""), "the value of a variable is shown");
}

#[tokio::test]
async fn a_program_inherits_no_open_file() {
    let directory = tempdir().unwrap();
    let ours = directory.path().join("ours");
    let _open = File::create(&ours).unwrap();
    let report = run(&script(directory.path(), "readlink /proc/$$/fd/* >&2; exit")).await;
    assert!(report.stderr.contains("pipe:"), "its files were not seen: {}", report.stderr);
    assert!(!report.stderr.contains("ours"), "{}", report.stderr);
}

#[tokio::test]
async fn output_without_measure_holds_up_nobody() {
    let directory = tempdir().unwrap();
    let flood = "head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; echo end >&2";
    let report = run(&script(directory.path(), flood)).await;
    assert!(report.succeeded(), "{report}");
    assert_eq!(report.stderr.len(), 8 * 1024);
    assert!(report.stderr.ends_with("\0end\n"));
}

#[tokio::test]
async fn a_document_that_is_not_read_holds_up_nobody() {
    let directory = tempdir().unwrap();
    let large = json!("x".repeat(4_000_000));
    let ends = Program { document: large.clone(), ..script(directory.path(), "exit 0") };
    assert!(run(&ends).await.succeeded());
    let stays = Program { document: large, ..script(directory.path(), "exec sleep 1000") };
    assert!(matches!(stays.run(SHORT, LONG).await.end, RunEnd::Overdue));
}

#[tokio::test]
async fn a_late_program_ends_with_all_that_it_started() {
    let directory = tempdir().unwrap();
    let family = "echo $$ > parent; sleep 1000 & echo $! > child; (sleep 1000 & echo $! > grandchild); \
                  echo > ready; wait";
    let report = run_late(directory.path(), family, LONG).await;
    for name in ["parent", "child", "grandchild"] {
        ended(process(&directory.path().join(name)).await).await;
    }
    assert!(report.to_string().starts_with("`sh` took too long and was ended after "), "{report}");
}

#[tokio::test]
async fn who_ignores_the_request_is_killed() {
    let directory = tempdir().unwrap();
    let deaf = "trap '' TERM; echo $$ > parent; sleep 1000 & echo $! > child; \
                echo > ready; while :; do wait; done";
    run_late(directory.path(), deaf, SHORT).await;
    for name in ["parent", "child"] {
        ended(process(&directory.path().join(name)).await).await;
    }
    let directory = tempdir().unwrap();
    let deaf_child = "(trap '' TERM; exec sleep 1000) & echo $! > child; echo > ready; wait";
    run_late(directory.path(), deaf_child, SHORT).await;
    ended(process(&directory.path().join("child")).await).await;
}

#[tokio::test]
async fn a_child_has_its_time_to_clean_up_also_when_its_parent_is_gone() {
    let directory = tempdir().unwrap();
    let tidy = "sh -c 'trap \"sleep 0.1; echo saved > saved; exit\" TERM; \
                echo > ready; while :; do sleep 0.01; done' & wait";
    run_late(directory.path(), tidy, LONG).await;
    assert_eq!(fs::read_to_string(directory.path().join("saved")).unwrap(), "saved\n");
}

#[tokio::test]
async fn what_a_program_leaves_running_when_it_is_done_is_its_own_affair() {
    let directory = tempdir().unwrap();
    // It keeps the pipes open, and still nobody waits for it.
    let daemon = "sh -c 'trap \"echo asked > asked; exit\" TERM; echo $$ > daemon; while :; do sleep 0.01; done' & \
                  echo started >&2";
    let report = run(&script(directory.path(), daemon)).await;
    assert!(report.succeeded(), "{report}");
    assert_eq!(report.stderr, "started\n");
    let daemon = process(&directory.path().join("daemon")).await;
    kill_process(daemon, Signal::TERM).unwrap();
    assert_eq!(written(&directory.path().join("asked")).await, "asked", "only the living answer");
}

#[tokio::test]
async fn a_run_that_is_given_up_leaves_nothing_behind() {
    let directory = tempdir().unwrap();
    let program = script(directory.path(), "echo $$ > parent; sleep 1000 & echo $! > child; wait");
    let child = directory.path().join("child");
    tokio::select! {
        report = run(&program) => panic!("{report}"),
        _ = written(&child) => {}
    }
    for name in ["parent", "child"] {
        ended(process(&directory.path().join(name)).await).await;
    }
}
