//! Whole trees end (L22), whatever they do, and nobody else does.

use std::process::{Command, Stdio};
use std::time::Duration;

use verger_act::process::{How, Identity, Signal, State, Tree, TreeRecord, spawn_apart};

use crate::run::{IMPATIENT, PATIENT, Run, bearers, marked, process, signal, until};

/// A child, and one whose parent has ended, in sessions and groups of their own.
const FAMILY: &str = "sleep 300 & echo $! > child; \
                      (setsid sh -c 'echo $$ > session; exec sleep 300' &); \
                      (sh -c 'sleep 300 & echo $! > orphan') & \
                      echo $$ > root; wait; sleep 300";
const NAMES: [&str; 4] = ["root", "child", "session", "orphan"];

async fn family(run: &Run) -> Vec<Identity> {
    let mut all = Vec::new();
    for name in NAMES {
        all.push(run.process(name).await);
    }
    all
}

#[tokio::test]
async fn l22_a_tree_ends_when_it_is_asked_with_sessions_and_orphans() {
    let mut run = Run::script(FAMILY);
    let all = family(&run).await;
    let found = run.tree.processes();
    assert!(all.iter().all(|one| found.contains(one)), "{found:?} is not all of {all:?}");
    let stopped = run.tree.stop(PATIENT);
    assert!(stopped.is_complete() && stopped.killed == 0 && stopped.asked >= 4, "{stopped:?}");
    assert!(stopped.ended.iter().all(|ended| ended.how == How::Asked));
    assert!(all.iter().all(|one| !one.is_alive()));
    assert_eq!(run.bearers(), Vec::<u32>::new());
}

#[tokio::test]
async fn l22_a_subreaper_ends_and_reaps_those_that_came_to_it() {
    let mut run = Run::adopted(FAMILY);
    let all = family(&run).await;
    let found = run.tree.sample().processes;
    assert!(found >= 4, "{found} of {all:?}");
    assert!(run.tree.stop(PATIENT).is_complete());
    // The root is another's to reap; who came to this process is gone from the table.
    let left: Vec<_> = all.iter().filter(|one| one.is_same()).map(|one| one.pid).collect();
    assert_eq!(left, [run.child.id()]);
}

#[tokio::test]
async fn l22_who_ignores_the_request_is_killed_and_told_so() {
    let mut run = Run::script("trap '' TERM; setsid sleep 300 & echo $! > deaf; echo $$ > root; wait");
    let deaf = [run.process("root").await, run.process("deaf").await];
    let stopped = run.tree.stop(IMPATIENT);
    assert!(stopped.is_complete() && stopped.killed == 2, "{stopped:?}");
    assert!(deaf.iter().all(|one| !one.is_alive()));
    assert!(stopped.took >= IMPATIENT.grace, "it was not given its time");
}

#[tokio::test]
async fn l22_who_cleans_up_has_its_time() {
    let tidy = "trap 'sleep 0.2; echo saved > saved; exit' TERM; echo > ready; while :; do sleep 0.01; done";
    let mut run = Run::script(tidy);
    run.written("ready").await;
    let stopped = run.tree.stop(PATIENT);
    assert!(stopped.is_complete() && stopped.killed == 0, "{stopped:?}");
    assert_eq!(run.written("saved").await, "saved");
}

#[tokio::test]
async fn l22_a_stopped_process_is_woken_so_that_it_can_end_well() {
    let mut run =
        Run::script("trap 'echo saved > saved; exit' TERM; echo > ready; while :; do sleep 0.01; done");
    run.written("ready").await;
    signal(&run.tree.root(), Signal::STOP);
    until("it has stopped", || run.tree.sample().root.is_some_and(|root| root.state == State::Stopped)).await;
    assert!(run.tree.stop(PATIENT).is_complete());
    assert_eq!(run.written("saved").await, "saved");
}

/// A script that goes on in a child of its own session and ends, again and again, as long as its folder is there.
const CHAIN: &str = "#!/bin/sh\ntrap '' TERM HUP\n[ -e chain ] || exit\necho >> links\nsetsid ./chain &\n";

fn chain(run: &Run) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(run.file("new"), CHAIN).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(run.file("new"), mode).expect("a file of ours");
    std::fs::rename(run.file("new"), run.file("chain")).expect("a file of ours");
}

#[tokio::test]
async fn l22_a_tree_whose_processes_only_fork_and_end_does_not_escape() {
    for run in [Run::script, Run::adopted] {
        let mut run = run("until [ -e chain ]; do sleep 0.01; done; exec ./chain");
        chain(&run);
        let links = run.file("links");
        until("it has forked", || std::fs::read(&links).is_ok_and(|links| links.len() > 20)).await;
        let stopped = run.tree.stop(IMPATIENT);
        assert!(stopped.is_complete(), "{stopped:?}");
        assert_eq!(run.bearers(), Vec::<u32>::new());
    }
}

#[tokio::test]
async fn l22_a_tree_that_grows_without_end_is_ended() {
    for run in [Run::script, Run::adopted] {
        // Ten that fork all the time, up to a bound that harms nobody should this test fail.
        let bomb = "grow() { n=0; while [ $n -lt 60 ]; do n=$((n+1)); (setsid sleep 300 &); done; }; \
                    trap '' TERM; for one in 1 2 3 4 5 6 7 8 9 10; do grow & done; echo > ready; wait";
        let mut run = run(bomb);
        run.written("ready").await;
        until("it has grown", || run.tree.processes().len() > 50).await;
        let stopped = run.tree.stop(IMPATIENT);
        assert!(stopped.is_complete(), "{stopped:?}");
        assert!(stopped.ended.len() <= 256 && stopped.asked + stopped.killed >= 50);
        assert_eq!(run.bearers(), Vec::<u32>::new());
    }
}

#[tokio::test]
async fn l22_who_dropped_its_environment_is_found_by_who_inherits_it() {
    let bare = "(env -i setsid /bin/sh -c 'echo $$ > bare; exec sleep 300' &); exec sleep 300";
    let mut run = Run::adopted(bare);
    let bare = run.process("bare").await;
    until("its parent has ended", || run.tree.sample().processes == 2).await;
    assert!(run.tree.stop(PATIENT).is_complete());
    assert!(!bare.is_alive());
}

#[tokio::test]
async fn l22_who_was_seen_once_is_known_when_its_parent_has_ended() {
    let bare = "sh -c 'env -i setsid /bin/sh -c \"echo \\$\\$ > bare; exec sleep 300\" & \
                until [ -e go ]; do sleep 0.01; done'; echo > over; sleep 300";
    let mut run = Run::script(bare);
    let bare = run.process("bare").await;
    assert!(run.tree.processes().contains(&bare));
    std::fs::write(run.file("go"), "").unwrap();
    run.written("over").await;
    assert!(run.tree.stop(PATIENT).is_complete());
    assert!(!bare.is_alive());
}

#[tokio::test]
async fn l22_the_job_of_a_wrapper_that_was_killed_is_finished_from_its_record() {
    let mut wrapper = Run::script("until [ -e inner ]; do sleep 0.01; done; sh ./inner");
    let mark = verger_act::process::Mark::random();
    // What a wrapper would start, with a mark of its own. The wrapper itself is the script above.
    let inner =
        format!("VERGER_RUN={mark} setsid sh -c '{}' & echo $! > first; wait", FAMILY.replace('\'', "'\\''"));
    std::fs::write(wrapper.file("new"), inner).unwrap();
    std::fs::rename(wrapper.file("new"), wrapper.file("inner")).unwrap();
    let all = family(&wrapper).await;
    let tree = Tree::new(wrapper.process("first").await, mark.clone());
    let text = serde_json::to_string(&tree.record()).unwrap();
    signal(&wrapper.tree.root(), Signal::KILL);
    wrapper.child.wait().unwrap();
    let record: TreeRecord = serde_json::from_str(&text).unwrap();
    assert!(all.iter().all(Identity::is_alive), "nobody else has ended them");
    let stopped = Tree::of_record(record).stop(PATIENT);
    assert!(stopped.is_complete(), "{stopped:?}");
    assert!(all.iter().all(|one| !one.is_alive()));
    assert_eq!(bearers(&mark), Vec::<u32>::new());
}

#[tokio::test]
async fn l22_nobody_is_touched_that_the_run_did_not_start() {
    let mut run = Run::adopted(FAMILY);
    family(&run).await;
    let sleeper = || {
        let mut command = Command::new("sleep");
        command.arg("300").stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    // One that is apart, one that is spared though it bears the mark, with a child of its own.
    let mut apart = spawn_apart(&mut sleeper()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut spared = Command::new("sh");
    spared.args(["-c", "sleep 300 & echo $! > below; wait"]);
    let mut spared = marked(&mut spared, &run.mark, folder.path()).spawn().unwrap();
    let below = process(&folder.path().join("below")).await;
    run.tree.spare(&Identity::of(spared.id()).unwrap());
    assert!(run.tree.stop(IMPATIENT).is_complete());
    let untouched = [apart.id(), spared.id(), below.pid].map(|pid| Identity::of(pid).unwrap());
    assert!(untouched.iter().all(Identity::is_alive));
    for one in untouched {
        signal(&one, Signal::KILL);
    }
    apart.wait().unwrap();
    spared.wait().unwrap();
}

#[tokio::test]
async fn l22_who_cannot_be_ended_in_time_is_told_and_nobody_waits_for_it() {
    let mut run = Run::script("trap '' TERM; echo > ready; while :; do sleep 0.01; done");
    run.written("ready").await;
    let never = Duration::from_millis(200);
    let stopped = run.tree.stop(verger_act::process::Patience { grace: never, limit: never });
    let left: Vec<_> = stopped.left.iter().map(|left| (left.process, left.name.as_str())).collect();
    assert!(!stopped.is_complete() && left.contains(&(run.tree.root(), "sh")), "{stopped:?}");
}

#[tokio::test]
async fn l22_a_tree_that_has_ended_already_is_complete_at_once() {
    let mut run = Run::script("exit 3");
    run.child.wait().unwrap();
    let stopped = run.tree.stop(PATIENT);
    assert!(stopped.is_complete() && stopped.ended.is_empty(), "{stopped:?}");
}

#[tokio::test]
async fn l22_a_tree_is_ended_while_the_runtime_goes_on() {
    let run = Run::script(FAMILY);
    family(&run).await;
    let tree = Tree::of_record(run.tree.record());
    let (mut tree, stopped) = tree.stop_async(PATIENT).await;
    assert!(stopped.is_complete() && tree.processes().is_empty(), "{stopped:?}");
}
