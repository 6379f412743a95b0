//! Reading through something long, page by page.
//!
//! 50 `read_output` calls of 8 KB each, all different, were taken for a loop; 16 of the 28 streaks that
//! "three identical calls" flagged wrongly were `scroll_down`, whose arguments never change.

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::Pager;

/// Something long.
#[derive(Debug)]
pub(crate) struct Paging {
    left: u64,
    pager: Option<Pager>,
    /// The call is the same for every page; only what it shows differs.
    scrolls: bool,
}

impl Paging {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let scrolls = rng.chance(0.25);
        let pages = if scrolls { rng.range(3, 9) } else { rng.range(5, 50) };
        Self { left: pages, pager: None, scrolls }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let pager = self.pager.get_or_insert_with(|| Pager::draw(kit.voice, self.scrolls));
        let told = pager.next(kit.voice);
        kit.call(told);
        self.left -= 1;
        self.left > 0
    }
}
