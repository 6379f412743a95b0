//! No effect leaves before the commit that holds it.

use std::collections::BTreeSet;

use verger_core::effect::EffectKey;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};

/// Knows what is on disk.
#[derive(Debug, Default)]
pub(super) struct WriteAhead {
    written: BTreeSet<EffectKey>,
    broken: Broken,
}

impl Checker for WriteAhead {
    fn name(&self) -> &'static str {
        "no-effect-before-its-commit"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        match moment.what {
            What::Committed { batch, .. } => {
                self.written.extend(batch.effects.iter().map(|effect| effect.key.clone()));
            }
            What::Released(effect) if !self.written.contains(&effect.key) => {
                self.broken.note(moment.at, || format!("{} left and is not on disk", effect.key));
            }
            _ => {}
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, nudge};
    use super::*;

    #[test]
    fn an_effect_that_overtakes_its_commit_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), WriteAhead::default());
        trace.commit(&mut checker, vec![], vec![nudge(1)]);
        trace.tell(&mut checker, What::Released(&nudge(1)));
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.at(7).tell(&mut checker, What::Released(&nudge(2)));
        assert_eq!(trace.finish(&mut checker), Err("at 7s: a#1/2 left and is not on disk".into()));
    }
}
