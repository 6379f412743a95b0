//! Runs a program: with a document on its standard input, within a time, and with nothing of ours.
//!
//! The program gets the document, four variables of ours and what was configured. What it prints is thrown away, but
//! for the end of its standard error, which is kept for the report. It is never waited for beyond its time: not when
//! it does not read, not when it prints without end, not when it ignores to be asked.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::process::Group;
use crate::tail::Tail;

/// Variables of ours that a program gets. All others may hold secrets.
const KEPT_VARIABLES: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// How long the pipes are read after the end, if something that the program left running holds them open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A program to run. No shell stands between, so nothing in an argument is ever taken for a command.
#[derive(Clone, PartialEq)]
pub struct Program {
    /// Its name, looked up in `PATH`, or its path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs; without, where the monitor does.
    pub cwd: Option<PathBuf>,
    /// Variables that it gets besides `PATH`, `HOME`, `LANG` and `TMPDIR`. They may be secret.
    pub env: Vec<(String, String)>,
    /// What it reads on its standard input.
    pub document: Value,
}

/// What became of a run. Shows itself as a sentence.
#[derive(Debug)]
pub struct RunReport {
    /// Which program.
    pub program: String,
    /// How it ended.
    pub end: RunEnd,
    /// How long it took, until all of it had ended.
    pub took: Duration,
    /// The last 8 KiB of its standard error.
    pub stderr: String,
}

/// How a run ended.
#[derive(Debug)]
pub enum RunEnd {
    /// With this code; 0 is success.
    Exited(i32),
    /// By a signal that somebody else sent.
    Signalled(i32),
    /// It took too long, and was ended with all of its process group.
    Overdue,
    /// It never began.
    NotStarted(StartError),
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no such program, or not the interpreter that its first line names.
    #[error("there is no such program")]
    NotFound,
    /// The file is there and may not be run.
    #[error("it may not be executed")]
    NotExecutable,
    /// The directory in which it should run is not there.
    #[error("there is no directory {}", .0.display())]
    NoDirectory(PathBuf),
    /// The system refuses.
    #[error("{0}")]
    System(#[source] io::Error),
}

impl Program {
    /// Runs it. After `limit` it is asked to end, and after `grace` it is made to; dropping the future kills it.
    pub async fn run(&self, limit: Duration, grace: Duration) -> RunReport {
        let started = Instant::now();
        let mut tail = Tail::default();
        let end = match self.start() {
            Ok((child, group)) => self.attend(child, group, &mut tail, limit, grace).await,
            Err(error) => RunEnd::NotStarted(error),
        };
        RunReport { program: self.program.clone(), end, took: started.elapsed(), stderr: tail.text() }
    }

    fn start(&self) -> Result<(Child, Group), StartError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        let child = command.spawn().map_err(|error| why_not_started(error, self.cwd.as_deref()))?;
        let group = Group::of(&child).map_err(StartError::System)?;
        Ok((child, group))
    }

    /// Feeds it, listens to it and waits for its end, all at once. The group is dropped before the child, which would
    /// be reaped.
    async fn attend(
        &self,
        mut child: Child,
        mut group: Group,
        tail: &mut Tail,
        limit: Duration,
        grace: Duration,
    ) -> RunEnd {
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let document = self.document.to_string();
        let feed = async {
            if let Some(mut stdin) = stdin {
                // That it does not want to know everything is no fault of a program.
                drop(stdin.write_all(document.as_bytes()).await);
            }
        };
        let listen = async {
            if let Some(stderr) = stderr {
                tail.read(stderr).await;
            }
        };
        let (over, is_over) = oneshot::channel::<()>();
        let wait = async {
            let by_itself = group.ends_within(limit, grace).await;
            drop(over);
            by_itself
        };
        let talk = async {
            tokio::select! {
                _ = async { tokio::join!(feed, listen) } => {}
                () = async { drop(is_over.await); sleep(LAST_WORDS).await } => {}
            }
        };
        let (by_itself, ()) = tokio::join!(wait, talk);
        let status = child.try_wait();
        if let Ok(Some(_)) = status {
            group.on_reaped();
        }
        match status {
            Ok(Some(status)) if by_itself => how_it_ended(status),
            Ok(_) => RunEnd::Overdue,
            Err(error) => RunEnd::NotStarted(StartError::System(error)),
        }
    }
}

impl fmt::Debug for Program {
    /// Without the values of variables.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Program")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("env", &variables)
            .finish_non_exhaustive()
    }
}

impl RunReport {
    /// Whether it did what it was to do, as far as a code can say so.
    pub fn succeeded(&self) -> bool {
        matches!(self.end, RunEnd::Exited(0))
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, end, took, stderr } = self;
        let took = format!("{:.1} s", took.as_secs_f64());
        match end {
            RunEnd::Exited(0) => write!(f, "`{program}` succeeded after {took}"),
            RunEnd::Exited(code) => write!(f, "`{program}` failed with code {code} after {took}"),
            RunEnd::Signalled(signal) => write!(f, "`{program}` was ended by signal {signal} after {took}"),
            RunEnd::Overdue => write!(f, "`{program}` took too long and was ended after {took}"),
            RunEnd::NotStarted(error) => write!(f, "`{program}` could not be started: {error}"),
        }?;
        match stderr.lines().rfind(|line| !line.trim().is_empty()) {
            Some(last) if !self.succeeded() => write!(f, "; it said last: {}", last.trim()),
            _ => Ok(()),
        }
    }
}

fn how_it_ended(status: ExitStatus) -> RunEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => RunEnd::Exited(code),
        (None, signal) => RunEnd::Signalled(signal.unwrap_or_default()),
    }
}

/// The system answers in the same way whether the program is missing or its directory.
fn why_not_started(error: io::Error, cwd: Option<&Path>) -> StartError {
    match (error.kind(), cwd) {
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Some(cwd)) if !cwd.is_dir() => {
            StartError::NoDirectory(cwd.to_owned())
        }
        (io::ErrorKind::NotFound, _) => StartError::NotFound,
        (io::ErrorKind::PermissionDenied, _) => StartError::NotExecutable,
        _ => StartError::System(error),
    }
}
