//! One long tool call: a build, a benchmark, a whole test suite.
//!
//! The longest tool call recorded in an interactive session took 1,136 s, sub-agents not counted; builds of
//! 40 minutes are what people name when they complain of watchdogs ("long pytest: restart recommended").

use verger_core::time::Span;

use super::kit::Kit;
use crate::rng::Rng;
use crate::world::text;
use crate::world::time::{MINUTE, millis};

/// A long call.
#[derive(Debug)]
pub(crate) struct Build {
    took: u64,
    limit: Option<Span>,
}

impl Build {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let took = millis(rng.log_normal(12.0 * 60.0, 0.8).clamp(120.0, 3_900.0));
        let limit = rng.chance(0.4).then(|| Span::millis(took.div_ceil(30 * MINUTE) * 30 * MINUTE));
        Self { took, limit }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        kit.fresh();
        let failed = kit.rng.chance(0.2);
        let told = text::build(kit.voice, failed);
        kit.call_for(told, self.took, self.limit);
        kit.advance(0);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_forty_minutes_occur_and_keep_within_their_own_limit() {
        let mut rng = Rng::stream(1, 1);
        let builds: Vec<Build> = (0..1_000).map(|_| Build::draw(&mut rng)).collect();
        let long = builds.iter().filter(|build| build.took > 40 * MINUTE).count();
        assert!((20..150).contains(&long), "{long}");
        let within = |build: &Build| build.limit.is_none_or(|limit| build.took <= limit.as_millis());
        assert!(builds.iter().all(within));
    }
}
