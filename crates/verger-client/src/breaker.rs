//! A circuit breaker around an agent's own calls: ask, make the call or fail fast, tell what became of it (L25).
//!
//! Whether a call may be made the monitor decides, so that a hundred agents behind one failing service call it as
//! rarely as one would. It must never stand in the way itself: where it cannot be asked within [`PATIENCE`], or
//! turns the question down for any other reason than the breaker, the call is made as if nobody watched.

use std::fmt;
use std::time::{Duration, Instant};

use reqwest::Method;
use verger_api::{CallReport, Permit};

use crate::control::Control;
use crate::error::Error;

/// How long a call waits for the monitor's word, at most.
const PATIENCE: Duration = Duration::from_millis(250);

/// The code of a refusal that is the breaker's.
const OPEN: &str = "VG0341";

/// Why a guarded call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum Guarded<E> {
    /// It was not made: what it calls fails.
    #[error("not called: its circuit breaker is open{}", again(*.retry_after))]
    Open {
        /// When it may be tried again, where that is known.
        retry_after: Option<Duration>,
    },
    /// It was made, and failed.
    #[error(transparent)]
    Failed(E),
}

fn again(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!("; try again in {} s", wait.as_secs()))
}

impl Control {
    /// Asks whether a call may be made. The permit goes back with [`report`](Self::report).
    pub async fn acquire(&self, breaker: &str) -> Result<Permit, Error> {
        let asked = self.transport().ask(Method::POST, &["v1", "breakers", breaker, "acquire"], &[])?;
        asked.json(&serde_json::Map::new())?.within(PATIENCE).answer().await
    }

    /// Tells what became of a call.
    pub async fn report(&self, breaker: &str, report: &CallReport) -> Result<(), Error> {
        let asked = self.transport().ask(Method::POST, &["v1", "breakers", breaker, "report"], &[])?;
        asked.json(report)?.within(PATIENCE).done().await
    }

    /// Makes a call behind the breaker of this name, `{agent}/{kind}/{target}`.
    pub async fn guarded<T, E: fmt::Display>(
        &self,
        breaker: &str,
        call: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<T, Guarded<E>> {
        let permit = match self.acquire(breaker).await {
            Ok(permit) => Some(permit.permit),
            Err(error) => match error.problem().filter(|problem| problem.code == OPEN) {
                Some(problem) => {
                    let retry_after = problem.retry_after_seconds.map(Duration::from_secs);
                    return Err(Guarded::Open { retry_after });
                }
                None => None,
            },
        };
        let began = Instant::now();
        let result = call().await;
        if let Some(permit) = permit {
            let duration_ms = Some(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            let error = result.as_ref().err().map(ToString::to_string);
            let report = CallReport { permit, ok: result.is_ok(), duration_ms, error };
            // A report that is lost counts as a failure when its permit expires.
            let _ = self.report(breaker, &report).await;
        }
        result.map_err(Guarded::Failed)
    }
}
