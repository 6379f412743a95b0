//! Reading through something long, page by page.
//!
//! 50 `read_output` calls of 8 KB each, all different, were taken for a loop; 16 of the 28 streaks that
//! "three identical calls" flagged wrongly were `scroll_down`, whose arguments never change.

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::print;

/// Something long.
#[derive(Debug)]
pub(crate) struct Paging {
    pages: u64,
    page: u64,
    subject: u64,
    /// The call is the same for every page; only what it shows differs.
    scrolls: bool,
}

impl Paging {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let scrolls = rng.chance(0.25);
        let pages = if scrolls { rng.range(3, 9) } else { rng.range(5, 50) };
        Self { pages, page: 0, subject: rng.range(1, 1_000_000), scrolls }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let Self { page, subject, .. } = *self;
        let text =
            if self.scrolls { "scroll_down".to_owned() } else { format!("Read log{subject} offset {page}") };
        kit.call(print::call(&text), print::result(&format!("page {page} of {subject}")));
        self.page += 1;
        self.page < self.pages
    }
}
