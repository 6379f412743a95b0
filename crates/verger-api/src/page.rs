//! Lists, a page at a time.
//!
//! A cursor says after which item the next page begins, not how many came before: what is inserted or removed
//! meanwhile neither repeats an item nor skips one. It is sealed for one list and one choice of filters, so that a
//! cursor that was changed, cut off or carried to another list is refused instead of answering something odd. That
//! is no protection of secrets: whoever asks is checked at every page.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const SEAL_BYTES: usize = 8;
/// Longer ones are nobody's: the longest name, twice over.
const CURSOR_MAX: usize = 4_096;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct List<T> {
    /// What is on this page.
    pub items: Vec<T>,
    /// Asks for the next page; `null` on the last.
    pub next_cursor: Option<String>,
}

impl<T> List<T> {
    /// A list that fits on one page.
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }

    /// A page out of up to `limit + 1` items: the one too many shows that there are more, and is left out.
    pub fn page(mut items: Vec<T>, limit: usize, cursor: impl FnOnce(&T) -> String) -> Self {
        let more = limit < items.len();
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| more).map(cursor);
        Self { items, next_cursor }
    }
}

/// Makes and opens cursors.
#[derive(Clone)]
pub struct Cursors {
    key: [u8; 32],
}

/// A cursor that was not made here for this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor was changed, or belongs to another list or other filters; begin with the first page")]
pub struct CursorError;

impl Cursors {
    /// Cursors of whoever holds this secret. The same secret opens them after a restart.
    pub fn new(secret: &[u8]) -> Self {
        Self { key: blake3::derive_key("verger cursor 2026-11", secret) }
    }

    /// A cursor that continues after the item of this key. `list` names the list and its filters.
    pub fn seal(&self, list: &str, after: &str) -> String {
        let mut bytes = self.mark(list, after).to_vec();
        bytes.extend_from_slice(after.as_bytes());
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex).collect()
    }

    /// The key of the item after which the page begins.
    pub fn open(&self, list: &str, cursor: &str) -> Result<String, CursorError> {
        let bytes = unhex(cursor).ok_or(CursorError)?;
        let (mark, after) = bytes.split_at_checked(SEAL_BYTES).ok_or(CursorError)?;
        let after = str::from_utf8(after).map_err(|_| CursorError)?;
        if self.mark(list, after) == mark { Ok(after.to_owned()) } else { Err(CursorError) }
    }

    fn mark(&self, list: &str, after: &str) -> [u8; SEAL_BYTES] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        // The length keeps `ab` + `c` apart from `a` + `bc`.
        hasher.update(&(list.len() as u64).to_le_bytes());
        hasher.update(list.as_bytes());
        hasher.update(after.as_bytes());
        let mut mark = [0; SEAL_BYTES];
        hasher.finalize_xof().fill(&mut mark);
        mark
    }
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cursors")
    }
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0')
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if CURSOR_MAX < text.len() || text.len() % 2 == 1 {
        return None;
    }
    // One cursor has one spelling: capital letters are a change too.
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    text.as_bytes().chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_page_has_no_cursor() {
        let page = |count: u32| List::page((0..count).collect(), 2, u32::to_string);
        assert_eq!(page(3), List { items: vec![0, 1], next_cursor: Some("1".to_owned()) });
        assert_eq!(page(2), List { items: vec![0, 1], next_cursor: None });
        assert_eq!(page(0), List::whole(vec![]));
        assert_eq!(serde_json::to_string(&page(1)).expect("JSON"), r#"{"items":[0],"nextCursor":null}"#);
    }

    #[test]
    fn a_cursor_holds_for_one_list_and_one_secret() {
        let cursors = Cursors::new(b"secret");
        let cursor = cursors.seal("agents?state=STUCK", "agent-7");
        assert_eq!(cursors.open("agents?state=STUCK", &cursor), Ok("agent-7".to_owned()));
        assert_eq!(Cursors::new(b"secret").open("agents?state=STUCK", &cursor), Ok("agent-7".to_owned()));
        assert_eq!(cursors.open("agents", &cursor), Err(CursorError));
        assert_eq!(Cursors::new(b"another").open("agents?state=STUCK", &cursor), Err(CursorError));
    }

    proptest! {
        #[test]
        fn a_cursor_that_was_changed_is_refused(after in "\\PC{0,20}", at in any::<prop::sample::Index>(), to in "[0-9a-fA-F]") {
            let cursors = Cursors::new(b"secret");
            let cursor = cursors.seal("list", &after);
            prop_assert_eq!(cursors.open("list", &cursor), Ok(after));
            let at = at.index(cursor.len());
            let changed = format!("{}{to}{}", &cursor[..at], &cursor[at + 1..]);
            prop_assert_eq!(cursors.open("list", &changed).is_ok(), changed == cursor);
            prop_assert_eq!(cursors.open("list", &cursor[..at]), Err(CursorError));
        }

        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,60}") {
            prop_assert_eq!(Cursors::new(b"secret").open("list", &text), Err(CursorError));
        }
    }
}
