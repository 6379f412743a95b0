//! Forgets what is over, a little at a time (L46), and removes files that nothing refers to.

use std::time::Duration;

use verger_config::Retention;
use verger_core::time::Span;
use verger_store::Archive;

use super::reach::Live;
use crate::monitor::wall_now;
use crate::serve::Log;

/// How often it is looked; more often where something is kept for less.
const EVERY: Duration = Duration::from_mins(1);
/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Chunks of each kind that go at one look.
const ROUNDS: usize = 20;
/// Looks after which files are looked through too: once an hour.
const LOOKS_PER_FILES: u32 = 60;

/// Looks after the disk until it is dropped.
pub(crate) async fn keep_up(archive: Archive, live: Live, log: Log) {
    for look in 0_u32.. {
        let every = shortest(&live.borrow().retention).clamp(PAUSE, EVERY);
        tokio::time::sleep(every).await;
        let kept = kept(&live.borrow().retention);
        let archive = archive.clone();
        let sweep = move || {
            // By the last mark and not by the loop: on a full disk the loop stands still, and only this frees it.
            let now = archive.moment(wall_now())?.observed;
            loop {
                let swept = archive.sweep(&kept, now, ROUNDS)?;
                // While a backup is made nothing goes; the rest is for the next look.
                if swept.complete || swept.rows == 0 {
                    break;
                }
            }
            if look % LOOKS_PER_FILES == 0 { archive.sweep_files() } else { Ok(0) }
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(sweep).await {
            log.warn(&format!("what is over could not be forgotten: {error}"));
        }
    }
}

/// What was done and what was not seen belong to what happened.
fn kept(retention: &Retention) -> verger_store::Retention {
    let Retention { history, events, checkpoints, messages, audit: _ } = *retention;
    verger_store::Retention {
        events,
        vitals: history,
        effects: events,
        checkpoints,
        messages,
        tasks: checkpoints,
        blind_times: events,
    }
}

fn shortest(retention: &Retention) -> Duration {
    let Retention { history, events, checkpoints, messages, audit: _ } = *retention;
    let shortest: Span = [history, events, checkpoints, messages].into_iter().min().unwrap_or(Span::ZERO);
    Duration::from_millis(shortest.as_millis())
}
