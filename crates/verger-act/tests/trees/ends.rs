//! How processes end, told apart (H03).

use std::fs;
use std::path::{Path, PathBuf};

use verger_act::process::{End, MemoryWatch, Signal};

use crate::run::{PATIENCE, Run, signal};

/// How a script ended, before and when it was reaped.
async fn ended(run: &Run) -> End {
    let handle = run.tree.root().open().expect("nobody has reaped it");
    tokio::time::timeout(PATIENCE, handle.ended()).await.expect("it ends").expect("a runtime");
    let seen = handle.end().expect("it has ended");
    assert_eq!(handle.reap(), Some(seen));
    assert_eq!(handle.reap(), None, "it was reaped before");
    seen
}

#[tokio::test]
async fn h03_a_clean_end_a_failure_and_a_signal_are_told_apart() {
    let clean = Run::script("until [ -e go ]; do sleep 0.01; done");
    fs::write(clean.file("go"), "").unwrap();
    assert!(ended(&clean).await.is_clean());
    drop(clean);
    let failed = Run::script("sleep 0.1; exit 7");
    assert_eq!(ended(&failed).await, End::Code { code: 7 });
    drop(failed);
    let hit = Run::script("exec sleep 300");
    signal(&hit.tree.root(), Signal::SEGV);
    assert!(matches!(ended(&hit).await, End::Signal { signal: 11, .. }));
}

#[tokio::test]
async fn h03_a_kill_by_somebody_and_one_for_want_of_memory_are_told_apart() {
    let watch = MemoryWatch::start(None);
    let run = Run::script("exec sleep 300");
    signal(&run.tree.root(), Signal::KILL);
    let end = ended(&run).await;
    assert_eq!(end, End::Signal { signal: 9, core_dumped: false });
    assert_eq!(watch.explain(end, true), end);
    assert_eq!(watch.explain(end, false), end, "no memory ran out on this machine meanwhile");
    drop(run);
    // Where this machine lets nobody have little memory, it cannot be made to run out.
    let Some(group) = Small::create() else { return };
    // The shell itself takes what it reads.
    let greedy = "x=$(head -c 200000000 /dev/zero | tr '\\0' x)";
    let joined = format!("echo $$ > {} && {greedy}", group.0.join("cgroup.procs").display());
    let run = Run::script(&joined);
    let end = ended(&run).await;
    assert_eq!(watch.explain(end, false), End::OutOfMemory { certain: false }, "{end:?}");
    assert_eq!(watch.explain(end, true), end);
}

/// A control group with little memory, in either hierarchy.
struct Small(PathBuf);

impl Small {
    fn create() -> Option<Self> {
        let name = format!("verger-test-{}", std::process::id());
        [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
            .iter()
            .map(|(place, limit)| (Self(Path::new(place).join(&name)), limit))
            .find(|(group, limit)| {
                fs::create_dir(&group.0).is_ok() && fs::write(group.0.join(limit), "20000000").is_ok()
            })
            .map(|(group, _)| group)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
