//! Tells the operator that nothing can be written, and when it can be again: once each.

use crate::http::meaning;
use crate::monitor::{Monitor, wall_now};
use crate::serve::Log;

/// Tells of it until the monitor ends.
pub(crate) async fn tell_of_trouble(monitor: Monitor, log: Log) {
    let mut trouble = monitor.pulse().trouble();
    let mut began = None;
    loop {
        let present = trouble.borrow_and_update().clone();
        match (&present, began) {
            (Some(trouble), None) => {
                let remedy =
                    trouble.remedy.as_deref().map_or_else(String::new, |remedy| format!("; {remedy}"));
                log.warn(&format!("{}; {}{remedy}", trouble.why, meaning(trouble, false)));
                began = Some(trouble.since);
            }
            (None, Some(since)) => {
                let lasted = wall_now().0.saturating_sub(since.0) / 1_000;
                log.warn(&format!(
                    "the store can be written again, after {lasted} s; what was judged meanwhile is on disk"
                ));
                began = None;
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        // The monitor's own handle keeps the other end: this waits as long as it is not ended.
        if trouble.changed().await.is_err() {
            return;
        }
    }
}
