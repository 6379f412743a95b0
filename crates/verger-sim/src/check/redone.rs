//! Finished work is never done again.

use verger_core::effect::Action;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};

/// The word that a task is done is sent until it is heard; for so long it may be on its way.
const ON_ITS_WAY: u64 = 60 * 60_000;

/// Looks at every start.
#[derive(Debug, Default)]
pub(super) struct NotRedone {
    broken: Broken,
}

impl Checker for NotRedone {
    fn name(&self) -> &'static str {
        "no-redo-of-finished-work"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        for effect in &batch.effects {
            let Action::Spawn(spawn) = &effect.action else { continue };
            let done = moment.truth.finished_at(&spawn.task);
            // Who proves nothing is not believed that its work is done.
            let believed = moment.truth.agent(&spawn.agent).is_some_and(|agent| agent.verified);
            if done.is_some_and(|done| ON_ITS_WAY <= moment.at.since(done)) && believed {
                self.broken.note(moment.at, || format!("{} is started again, and is done", spawn.task));
            }
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, spawn};
    use super::*;
    use crate::world::SimTime;

    #[test]
    fn a_start_of_finished_work_is_caught() {
        for (minute, ok) in [(30, true), (61, false)] {
            let (mut trace, mut checker) = (Trace::new(), NotRedone::default());
            trace.truth.finish("t".into(), SimTime(1));
            trace.at(minute * 60).commit(&mut checker, vec![], vec![spawn("t", None), spawn("u", None)]);
            assert_eq!(trace.finish(&mut checker).is_ok(), ok, "at minute {minute}");
        }
    }
}
