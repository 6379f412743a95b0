//! What is told or ordered about something that is no agent.

use verger_api::HttpError;
use verger_core::notice::{Notice, Reply};
use verger_engine::{Answer, Message};

use super::{App, Refusal};

/// Tells the loop, and waits for what becomes of it: what lasts is on disk then.
pub(super) async fn notice(app: &App, notice: Notice) -> Result<Reply, Refusal> {
    let answers = app.monitor.tell(vec![Message::Notice(notice)]).await?;
    match answers.into_iter().next() {
        Some(Answer::Noticed(result)) => Ok(result?),
        _ => Err(Refusal::http(HttpError::Internal, "what was told was not answered")),
    }
}
