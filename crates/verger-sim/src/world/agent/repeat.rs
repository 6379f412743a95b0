//! A call repeated with the same result, which the agent leaves by itself.
//!
//! Of 174 recorded streaks of two or more identical calls, 85 ended at two, 39 at three and 6 at four;
//! these are what a healthy agent does, and 27 of 28 flagged at three "moved on to another action by
//! themselves". From five on, 84 % and more went on to the end of the run: those are faults here.

use std::sync::Arc;

use super::burst::{fruitful, ordinary, trouble};
use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text::{self, Brings, Pager, Told};

/// How many of the streaks of three and more that were left were pages of something: 16 of 28.
const PAGES: f64 = 16.0 / 28.0;

/// A short streak.
#[derive(Debug)]
pub(crate) struct Repeat {
    left: u64,
    streak: Option<Streak>,
}

impl Repeat {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self { left: 2 + rng.weighted(&[85, 39, 6]) as u64, streak: None }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        let streak = self.streak.get_or_insert_with(|| Streak::draw(kit, self.left));
        let told = match streak {
            Streak::Same(told) => Arc::clone(told),
            Streak::Pages(pager) => Arc::new(pager.next(kit.voice)),
        };
        kit.think();
        kit.call(told);
        self.left -= 1;
        if self.left == 0 {
            // What it does instead works, so that two streaks never run together: that is how it got out.
            kit.think();
            let told = fruitful(kit);
            kit.call(told);
            return false;
        }
        true
    }
}

/// What is called again.
#[derive(Debug)]
enum Streak {
    Same(Arc<Told>),
    /// The same words, and another page each time.
    Pages(Pager),
}

impl Streak {
    fn draw(kit: &mut Kit<'_>, length: u64) -> Self {
        let told = if kit.rng.chance(0.4) {
            kit.fresh();
            trouble(kit)
        } else {
            looked_at(kit)
        };
        if length > 2 && kit.voice.chance(PAGES) {
            return Self::Pages(Pager::draw(kit.voice, true));
        }
        Self::Same(Arc::new(told))
    }
}

/// What is asked again: it is looked at. Who makes the same change again and again was not left by itself.
fn looked_at(kit: &mut Kit<'_>) -> Told {
    let told = ordinary(kit);
    if told.brings == Brings::Change { text::command(kit.voice) } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streaks_are_as_long_as_recorded_ones_that_were_left() {
        let mut rng = Rng::stream(1, 1);
        let mut counts = [0_u32; 5];
        for _ in 0..1_300 {
            counts[Repeat::draw(&mut rng).left as usize] += 1;
        }
        assert!((780..920).contains(&counts[2]), "{counts:?}");
        assert!((320..460).contains(&counts[3]), "{counts:?}");
        assert!((30..100).contains(&counts[4]), "{counts:?}");
    }
}
