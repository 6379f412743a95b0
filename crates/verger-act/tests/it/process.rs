//! Programs to run, and whether a process is alive.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{sleep, timeout};
use verger_act::Program;

/// For what must happen; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A script that runs in this directory.
pub(crate) fn script(directory: &Path, text: &str) -> Program {
    Program {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), text.to_owned()],
        cwd: Some(directory.to_owned()),
        env: Vec::new(),
        document: json!({"agentId": "a"}),
    }
}

/// Waits until a script has written this file as a whole, with a line break at its end.
pub(crate) async fn written(path: &Path) -> String {
    let appears = async {
        loop {
            match fs::read_to_string(path) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(PATIENCE, appears).await.expect("the file should be written")
}

/// The process whose number a script wrote to this file.
pub(crate) async fn process(path: &Path) -> Pid {
    written(path).await.parse().ok().and_then(Pid::from_raw).expect("the number of a process")
}

/// Waits until a process has ended. One that nobody has reaped yet has ended too.
pub(crate) async fn ended(pid: Pid) {
    match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => {}
        Err(error) => panic!("{error}"),
        Ok(pidfd) => {
            let exit = Receiver::from_owned_fd_unchecked(pidfd).expect("a runtime");
            drop(timeout(PATIENCE, exit.readable()).await.expect("the process should have ended"));
        }
    }
}
