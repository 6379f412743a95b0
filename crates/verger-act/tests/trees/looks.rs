//! Trees that work, wait, are stopped or debugged, told apart (H02, H03), and what they use (L12).

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use verger_act::process::{Aliveness, Doing, Identity, Sample, Seen, Sign, Signal, State, doing, look};

use crate::run::{Run, signal, until};

/// Two looks; the second when something holds, or after a while in which nothing should move.
async fn looks(run: &mut Run) -> (Sample, Sample) {
    let before = run.tree.sample();
    // Longer than the kernel's clock for time on processors.
    tokio::time::sleep(Duration::from_millis(50)).await;
    (before, run.tree.sample())
}

async fn judged(run: &mut Run, seen: &Seen) -> Aliveness {
    let (before, now) = looks(run).await;
    look(Some(&before), &now, seen)
}

/// Looks until the answer is this one.
async fn becomes(run: &mut Run, expected: Aliveness) {
    let seen = Seen::default();
    let wait = async {
        let mut before = run.tree.sample();
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let now = run.tree.sample();
            if look(Some(&before), &now, &seen) == expected {
                return;
            }
            before = now;
        }
    };
    tokio::time::timeout(crate::run::PATIENCE, wait).await.unwrap_or_else(|_| panic!("never {expected:?}"));
}

#[tokio::test]
async fn h03_a_busy_program_works_and_a_sleeping_one_waits() {
    let mut busy = Run::script("while :; do :; done");
    becomes(&mut busy, Aliveness::Running(Sign::Processor)).await;
    drop(busy);
    let mut sleeping = Run::script("exec sleep 300");
    becomes(&mut sleeping, Aliveness::Waiting).await;
    assert!(!judged(&mut sleeping, &Seen::default()).await.is_freeze());
}

#[tokio::test]
async fn h03_the_work_of_a_child_counts_for_its_parent() {
    let mut run = Run::script("setsid sh -c 'while :; do :; done' & wait");
    becomes(&mut run, Aliveness::Running(Sign::Processor)).await;
}

#[tokio::test]
async fn h03_children_that_come_and_go_are_a_sign_of_life() {
    let mut run = Run::script("while :; do sleep 0.2; done");
    let before = run.tree.sample();
    until("a child went or came", || run.tree.sample().family != before.family).await;
    let now = run.tree.sample();
    assert!(matches!(look(Some(&before), &now, &Seen::default()), Aliveness::Running(_)));
}

#[tokio::test]
async fn h02_a_process_that_somebody_stopped_is_frozen_until_it_goes_on() {
    let mut run = Run::script("exec sleep 300");
    signal(&run.tree.root(), Signal::STOP);
    becomes(&mut run, Aliveness::Stopped { by_person: false }).await;
    let person = Seen { stopped_by_person: true, ..Seen::default() };
    assert_eq!(judged(&mut run, &person).await, Aliveness::Stopped { by_person: true });
    signal(&run.tree.root(), Signal::CONT);
    becomes(&mut run, Aliveness::Waiting).await;
}

#[tokio::test]
async fn h03_a_worker_that_is_stopped_below_its_shell_is_seen() {
    let mut run = Run::script("sleep 300 & echo $! > worker; wait");
    let worker = run.process("worker").await;
    signal(&worker, Signal::STOP);
    becomes(&mut run, Aliveness::PartlyStopped { by_person: false }).await;
}

fn debugger(process: &Identity) -> Child {
    let mut command = Command::new("strace");
    command.args(["-q", "-o", "/dev/null", "-p", &process.pid.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("strace is installed by scripts/setup")
}

#[tokio::test]
async fn h03_a_debugger_is_seen_and_freezes_nobody() {
    let mut run = Run::script("exec sleep 300");
    let mut debugger = debugger(&run.tree.root());
    until("it is debugged", || run.tree.sample().root.is_some_and(|root| root.tracer.is_some())).await;
    assert!(!judged(&mut run, &Seen::default()).await.is_freeze());
    signal(&run.tree.root(), Signal::STOP);
    becomes(&mut run, Aliveness::Traced).await;
    debugger.kill().unwrap();
    debugger.wait().unwrap();
    // Nobody holds it any more, and it is still stopped.
    becomes(&mut run, Aliveness::Stopped { by_person: false }).await;
}

#[tokio::test]
async fn h02_an_end_is_seen_at_once_and_then_there_is_nothing_to_look_at() {
    let mut run = Run::script("exec sleep 300");
    let root = run.tree.root();
    let handle = root.open().unwrap();
    assert!(!handle.has_ended());
    signal(&root, Signal::TERM);
    tokio::time::timeout(crate::run::PATIENCE, handle.ended()).await.unwrap().unwrap();
    let sample = run.tree.sample();
    assert_eq!((sample.root.map(|root| root.state), sample.processes), (Some(State::Zombie), 0));
    assert_eq!(look(None, &sample, &Seen::default()), Aliveness::Ended);
    run.child.wait().unwrap();
    assert_eq!(run.tree.sample().root, None);
}

#[tokio::test]
async fn h03_what_a_process_waits_in_is_told() {
    let run = Run::script(
        "mkfifo pipe keys; exec 3<> pipe 4<> keys; cat <&3 & echo $! > reader; sleep 300 & echo $! > sleeper; \
         script -qfc 'echo $$ > person; exec cat' /dev/null <&4 & echo $$ > shell; sleep 300",
    );
    for (name, expected) in [
        ("reader", Doing::Reading),
        ("sleeper", Doing::Sleeping),
        ("shell", Doing::WaitingForChild),
        ("person", Doing::ReadingTerminal),
    ] {
        let process = run.process(name).await;
        until(name, || doing(&process) == Some(expected)).await;
    }
}

#[tokio::test]
async fn l12_memory_and_processors_are_summed_over_the_tree() {
    const SIZE: u64 = 60_000_000;
    // One holds the memory, in a session of its own; another works.
    let mut run = Run::script(&format!(
        "(head -c {SIZE} /dev/zero; sleep 300) | setsid tail -c {SIZE} & while :; do :; done"
    ));
    until("it is large", || run.tree.memory_exact() > SIZE).await;
    until("it has worked", || run.tree.sample().cpu > Duration::from_millis(100)).await;
    let exact = run.tree.memory_exact();
    assert!(SIZE < exact && exact <= run.tree.sample().memory, "{exact}");
}

#[tokio::test]
async fn l12_the_time_of_children_that_ended_is_kept() {
    let work = "sh -c 'n=0; while [ $n -lt 100000 ]; do n=$((n+1)); done'";
    for run in [Run::script, Run::adopted] {
        // The second one works as an orphan.
        let mut run = run(&format!(
            "{work}; ({work}; echo > over) & until [ -e over ]; do sleep 0.01; done; sleep 300"
        ));
        let mut last = Duration::ZERO;
        until("all work is done", || {
            let sample = run.tree.sample();
            assert!(last <= sample.cpu, "it fell from {last:?} to {:?}", sample.cpu);
            last = sample.cpu;
            run.file("over").exists()
        })
        .await;
        assert!(last >= Duration::from_millis(20), "{last:?}");
    }
}
