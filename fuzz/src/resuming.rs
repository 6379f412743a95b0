//! Where readers go on: cursors of lists, and the last event that a stream's reader saw.

use verger_api::{Cursors, Resume, last_event_id};

use crate::assert_told;

/// What a list's item may be called at most, for its cursor to be one.
const KEY_MAX: usize = 1_024;

/// `?cursor=`: only what was made here for this list is opened.
pub fn cursors(bytes: &[u8]) {
    let cursors = Cursors::new(b"a secret of the monitor");
    let text = String::from_utf8_lossy(bytes);
    match cursors.open("agents", &text) {
        Ok(after) => assert_eq!(cursors.seal("agents", &after), text, "a cursor with two spellings"),
        Err(error) => assert_told(&error.to_string()),
    }
    let after: String = text.chars().take(KEY_MAX / 4).collect();
    let sealed = cursors.seal("agents", &after);
    assert_eq!(cursors.open("agents", &sealed).as_deref(), Ok(after.as_str()));
    assert!(cursors.open("agents?state=STUCK", &sealed).is_err(), "carried to another list");
    assert!(Cursors::new(b"another secret").open("agents", &sealed).is_err(), "opened by a stranger");
    let changed = bytes.first().map_or(0, |byte| usize::from(*byte)) % sealed.len();
    let mut changed_text = sealed.into_bytes();
    changed_text[changed] ^= 1;
    let changed_text = String::from_utf8(changed_text).expect("digits, one of them another");
    assert!(cursors.open("agents", &changed_text).is_err(), "changed on the way");
}

/// `Last-Event-ID`, and where a stream goes on in a journal of these ends.
///
/// The first two bytes say where the journal begins and how long it is, the rest is the header.
pub fn resume(bytes: &[u8]) {
    let [begin, length, header @ ..] = bytes else { return };
    let seen = match last_event_id(header) {
        Ok(seen) => Some(seen),
        Err(error) => {
            assert_told(&error.to_string());
            None
        }
    };
    let oldest = (*length > 0).then_some(i64::from(*begin) + 1);
    let newest = i64::from(*begin) + i64::from(*length);
    let resume = Resume::of(seen, oldest, newest);
    // Whatever was asked for, nothing that is there is passed over without a word, and nothing is sent twice.
    assert!((oldest.unwrap_or(newest + 1) - 1..=newest).contains(&resume.after), "{resume:?}");
    assert_eq!(resume.reset, seen.is_some_and(|seen| seen != resume.after), "{seen:?} {resume:?}");
    assert!(seen.is_some() || resume.after == newest, "who saw nothing begins with what comes");
}
