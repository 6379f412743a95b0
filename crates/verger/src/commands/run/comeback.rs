//! Between two lives: the program has ended, and the monitor decides whether and when it is brought back (L28, L29).
//!
//! Limits, waits and budgets are the monitor's, and outlive this process. Here it is only waited for its word; and seen
//! when there is nothing to wait for any more.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};
use verger_act::RunRecord;
use verger_api::RecoveryPhase;
use verger_client::Control;

use super::place::Folder;

/// How often it is asked whether it will be brought back at all.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// So often in a row nobody may know of a recovery, or it may be over. The word of the end takes a moment.
const NO_MAX: u32 = 3;
/// Larger words are none.
const WORD_MAX: usize = 4 << 20;

/// With what the program is brought back.
pub(super) struct Start {
    word: Value,
    answer: UnixStream,
}

/// Where the monitor can be heard.
pub(super) struct Comeback {
    listener: UnixListener,
    task: String,
}

impl Comeback {
    pub(super) fn new(folder: &Folder, agent: &str, task: Option<&str>) -> io::Result<Self> {
        let listener = UnixListener::bind(folder.file(RunRecord::CONTROL))?;
        // Whoever has no task is recovered under one that bears its name.
        let task = task.map_or_else(|| format!("agent:{agent}"), ToOwned::to_owned);
        Ok(Self { listener, task })
    }

    /// Waits for the word. Nothing comes of it if the recovery is over, or somebody wants this to end.
    pub(super) async fn word(&self, control: Option<&Control>) -> Option<Start> {
        let mut ends = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        let [Ok(interrupt), Ok(terminate), Ok(hangup)] = &mut ends else { return None };
        let mut ask = interval(ASK_EVERY);
        ask.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut noes = 0;
        loop {
            tokio::select! {
                Ok((stream, _)) = self.listener.accept() => {
                    if let Some(start) = read(stream).await {
                        return Some(start);
                    }
                }
                _ = interrupt.recv() => return None,
                _ = terminate.recv() => return None,
                _ = hangup.recv() => return None,
                _ = ask.tick() => {
                    noes = if self.is_over(control).await { noes + 1 } else { 0 };
                    if NO_MAX <= noes {
                        return None;
                    }
                }
            }
        }
    }

    /// Whether the monitor says that nothing is to come. One that does not answer may come back.
    async fn is_over(&self, control: Option<&Control>) -> bool {
        let Some(control) = control else { return false };
        match control.recovery(&self.task).await {
            // People who review it may still want it back.
            Ok(recovery) => recovery.status == RecoveryPhase::Failed,
            Err(error) => error.problem().is_some_and(|problem| problem.status == 404),
        }
    }
}

impl Start {
    /// What the program finds around it, besides what it found before.
    pub(super) fn variables(&self, folder: &Path) -> Vec<(&'static str, OsString)> {
        let mut variables = Vec::new();
        let mut add = |name, value: &Value| {
            if let Some(text) = value.as_str() {
                variables.push((name, OsString::from(text)));
            }
        };
        add("VERGER_CHECKPOINT", &self.word["checkpoint"]);
        add("VERGER_RECOVERY_CONTEXT", &self.word["context"]);
        add("VERGER_TASK_ID", &self.word["taskId"]);
        let state = folder.join("checkpoint.json");
        if !self.word["state"].is_null() && std::fs::write(&state, self.word["state"].to_string()).is_ok() {
            variables.push(("VERGER_CHECKPOINT_FILE", state.into()));
        }
        let attempt = self.word["attempt"].as_u64().unwrap_or(1);
        variables.push(("VERGER_ATTEMPT", attempt.to_string().into()));
        variables
    }

    /// Says what became of it.
    pub(super) async fn answer(mut self, started: bool) {
        let word: &[u8] = if started { b"started\n" } else { b"failed\n" };
        // Whoever asked may have given up.
        let _ = self.answer.write_all(word).await;
    }
}

async fn read(stream: UnixStream) -> Option<Start> {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        let chunk = reader.fill_buf().await.ok()?;
        if chunk.is_empty() || WORD_MAX < line.len() {
            return None;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        line.extend_from_slice(&chunk[..taken]);
        reader.consume(taken);
        if end.is_some() {
            let word = serde_json::from_slice(&line).ok()?;
            return Some(Start { word, answer: reader.into_inner() });
        }
    }
}
