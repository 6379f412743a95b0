//! Pages of lists: how long they are, and where the next one begins.

use verger_api::{HttpError, List};

use super::{App, Refusal};

/// Items on one page, unless another number is asked for.
const PAGE: usize = 100;
/// Items on one page at most.
const PAGE_MAX: usize = 1_000;

/// So many items are on this page. More than the most is asked for by scripts that want all there is; none by nobody.
pub(super) fn limit(asked: Option<u32>) -> Result<usize, Refusal> {
    limit_within(asked, PAGE, PAGE_MAX)
}

/// The same for a list with pages of its own.
pub(super) fn limit_within(asked: Option<u32>, usual: usize, most: usize) -> Result<usize, Refusal> {
    match asked {
        None => Ok(usual),
        Some(0) => Err(Refusal::http(HttpError::WrongQuery, "`limit` must be at least 1")),
        Some(asked) => Ok((asked as usize).min(most)),
    }
}

/// After which item the page begins, as the list put it into its cursor. `list` names the list and its filters.
pub(super) fn after(app: &App, list: &str, cursor: Option<&String>) -> Result<Option<String>, Refusal> {
    cursor.map(|cursor| app.cursors.open(list, cursor)).transpose().map_err(Into::into)
}

/// The same where items are told apart by numbers.
pub(super) fn after_number(app: &App, list: &str, cursor: Option<&String>) -> Result<Option<i64>, Refusal> {
    let unreadable = |_| Refusal::http(HttpError::WrongCursor, "the cursor cannot be read");
    after(app, list, cursor)?.map(|place| place.parse().map_err(unreadable)).transpose()
}

/// A page out of up to one item too many, which shows that there are more.
pub(super) fn page<T>(
    app: &App,
    list: &str,
    items: Vec<T>,
    limit: usize,
    key: impl FnOnce(&T) -> String,
) -> List<T> {
    List::page(items, limit, |last| app.cursors.seal(list, &key(last)))
}
