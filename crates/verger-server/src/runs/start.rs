//! Has a wrapper bring its program back, by a word to its own socket (L28).

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;
use verger_act::RunRecord;
use verger_core::effect::Outcome;

use super::Runs;

/// The time that a wrapper has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

impl Runs {
    /// Hands the document over. A wrapper that does not answer may have begun, which its new life tells.
    pub(crate) async fn start(&self, record: &RunRecord, document: &Value) -> Outcome {
        let socket = record.folder.join(RunRecord::CONTROL);
        match timeout(ANSWER_WITHIN, ask(&socket, document)).await {
            Ok(Ok(true)) => Outcome::Delivered,
            Ok(Ok(false) | Err(_)) => Outcome::Failed,
            Err(_) => Outcome::Unreachable,
        }
    }
}

async fn ask(socket: &Path, document: &Value) -> std::io::Result<bool> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(format!("{document}\n").as_bytes()).await?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).await?;
    Ok(answer.trim() == "started")
}
