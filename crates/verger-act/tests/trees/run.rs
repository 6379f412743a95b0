//! A script that runs as the root of a tree, and what is waited for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use verger_act::process::{Identity, Mark, Patience, RUN_VARIABLE, Signal, Tree};

/// For what must happen; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// Much time to end well, and enough to be killed.
pub(crate) const PATIENT: Patience = Patience { grace: PATIENCE, limit: Duration::from_mins(2) };
/// No time to end well.
pub(crate) const IMPATIENT: Patience = Patience { grace: Duration::from_millis(50), limit: PATIENCE };

/// Whoever inherits a tree's orphans takes all children for the tree's. So where tests share a process, one runs at a
/// time.
static ALONE: Mutex<()> = Mutex::new(());

/// Until this is dropped, no other test of this process starts anything. Each test is a thread with a runtime of its
/// own, so it may be held while that waits.
pub(crate) struct Alone {
    _guard: MutexGuard<'static, ()>,
}

pub(crate) fn alone() -> Alone {
    Alone { _guard: ALONE.lock().unwrap_or_else(PoisonError::into_inner) }
}

/// A running script with all that it started. Whatever is left is killed at the end.
pub(crate) struct Run {
    pub(crate) child: Child,
    pub(crate) tree: Tree,
    pub(crate) mark: Mark,
    pub(crate) folder: TempDir,
    _alone: Alone,
}

impl Run {
    /// Runs a script in a folder and a session of its own.
    pub(crate) fn script(text: &str) -> Self {
        Self::start(text, |tree| tree)
    }

    /// The same, and this process inherits its orphans.
    pub(crate) fn adopted(text: &str) -> Self {
        verger_act::process::become_subreaper().expect("every process may be one");
        Self::start(text, Tree::adopting)
    }

    fn start(text: &str, with: fn(Tree) -> Tree) -> Self {
        let alone = alone();
        let folder = tempfile::tempdir().expect("a folder");
        let mark = Mark::random();
        let mut command = Command::new("setsid");
        command.args(["sh", "-c", text]);
        let child = marked(&mut command, &mark, folder.path()).spawn().expect("a shell");
        let tree = with(Tree::new(Identity::of(child.id()).expect("it was just started"), mark.clone()));
        Self { child, tree, mark, folder, _alone: alone }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until the script has written this file, with a line break at its end.
    pub(crate) async fn written(&self, name: &str) -> String {
        written(&self.file(name)).await
    }

    /// The process whose number the script wrote to this file.
    pub(crate) async fn process(&self, name: &str) -> Identity {
        process(&self.file(name)).await
    }

    /// Everything that bears the mark, as nobody else than this test sees it.
    pub(crate) fn bearers(&self) -> Vec<u32> {
        bearers(&self.mark)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.tree.stop(Patience { grace: Duration::ZERO, limit: Duration::from_secs(10) });
        let _ = self.child.wait();
    }
}

/// A command that bears the mark, in this folder, with no input and no output.
pub(crate) fn marked<'a>(command: &'a mut Command, mark: &Mark, folder: &Path) -> &'a mut Command {
    command
        .env(RUN_VARIABLE, mark.variable(None))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

/// Waits until a script has written this file, with a line break at its end.
pub(crate) async fn written(path: &Path) -> String {
    let text = || fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    until(&format!("{} is written", path.display()), || text().is_some()).await;
    text().expect("it was just there").trim().to_owned()
}

/// The process whose number a script wrote to this file.
pub(crate) async fn process(path: &Path) -> Identity {
    let pid = written(path).await.parse().expect("a number");
    Identity::of(pid).unwrap_or_else(|| panic!("{pid} has ended"))
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("waited in vain until {what}"));
}

/// Sends a signal to a process of ours.
pub(crate) fn signal(process: &Identity, signal: Signal) {
    let handle = process.open().expect("it has not ended");
    handle.signal(signal).expect("it is ours");
}

/// The numbers of all processes that run and bear this mark, found by looking at everybody.
pub(crate) fn bearers(mark: &Mark) -> Vec<u32> {
    let needle = format!("{RUN_VARIABLE}={mark}").into_bytes();
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let bears = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == needle)
    };
    numbers.filter(bears).collect()
}

/// This test again, in a process of its own, with a variable that tells it so.
pub(crate) fn again(test: &str, variable: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]).env(variable, "1");
    command
}
