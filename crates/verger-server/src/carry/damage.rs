//! Looks through the database for damage: at the start, from time to time, and when something could not be read.
//!
//! What is found keeps the store from writing, which the loop notices and everybody is told of. A file that is damaged is
//! looked through again and again, so that a disk that gives the right bytes again needs nobody.

use std::time::{Duration, Instant};

use verger_store::Archive;

use crate::serve::Log;

/// Between two looks at a file of which nothing bad is known.
const EVERY: Duration = Duration::from_hours(6);
/// How often it is asked whether there is a reason to look.
const PAUSE: Duration = Duration::from_secs(1);
/// The part of the time that may be spent with looking at a file that is damaged: one in so many.
const SHARE: u32 = 10;

/// Looks through it until it is dropped.
pub(crate) async fn look_for_damage(archive: Archive, log: Log) {
    let (mut is_damaged, mut due) = (false, Instant::now());
    loop {
        let began = Instant::now();
        if archive.is_doubtful() || due <= began {
            let looked = archive.clone();
            match tokio::task::spawn_blocking(move || looked.check()).await {
                Ok(Ok(found)) => tell(&found, is_damaged, &log),
                Ok(Err(error)) => log.warn(&format!("the database could not be looked through: {error}")),
                Err(_) => {}
            }
            is_damaged = archive.is_doubtful();
            due = Instant::now() + EVERY;
        }
        tokio::time::sleep(PAUSE.max(began.elapsed() * SHARE)).await;
    }
}

fn tell(found: &[String], was_damaged: bool, log: &Log) {
    match (found, was_damaged) {
        ([_, ..], false) => {
            log.warn(&format!(
                "the database is damaged, nothing is written to it (VG0203): {}",
                found.join("; ")
            ));
        }
        ([], true) => log.warn("the database is whole again"),
        _ => {}
    }
}
