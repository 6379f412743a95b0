//! Tells the operator that nothing can be written, and when it can be again: once each.

use crate::monitor::Monitor;
use crate::serve::Log;

/// Tells of it until the monitor ends.
pub(crate) async fn tell_of_trouble(monitor: Monitor, log: Log) {
    let mut trouble = monitor.pulse().trouble();
    let mut is_told = false;
    loop {
        let present = trouble.borrow_and_update().clone();
        match present {
            Some(why) if !is_told => log(&format!("{why}; nothing is decided until it can be written")),
            None if is_told => {
                log("the store can be written again; nothing of that time is held against agents");
            }
            Some(_) | None => {}
        }
        is_told = trouble.borrow().is_some();
        // The monitor's own handle keeps the other end: this waits as long as it is not ended.
        if trouble.changed().await.is_err() {
            return;
        }
    }
}
