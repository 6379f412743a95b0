//! No effect leaves twice, but once more after a restart; and no key names two effects.

use std::collections::BTreeMap;

use verger_core::effect::EffectKey;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};

/// Counts releases.
#[derive(Debug, Default)]
pub(super) struct AtMostTwice {
    /// How often each effect left, and in which life of the monitor last.
    released: BTreeMap<EffectKey, Releases>,
    life: u32,
    broken: Broken,
}

#[derive(Debug, Default)]
struct Releases {
    times: u32,
    life: u32,
}

impl Checker for AtMostTwice {
    fn name(&self) -> &'static str {
        "no-effect-twice-beyond-the-allowed-once"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        match moment.what {
            What::Restarted => self.life += 1,
            What::Committed { batch, .. } => {
                for effect in &batch.effects {
                    if self.released.insert(effect.key.clone(), Releases::default()).is_some() {
                        self.broken.note(moment.at, || format!("{} names two effects", effect.key));
                    }
                }
            }
            What::Released(effect) => {
                let releases = self.released.entry(effect.key.clone()).or_default();
                releases.times += 1;
                let again = releases.times > 1 && releases.life == self.life;
                releases.life = self.life;
                if again || releases.times > 2 {
                    let times = releases.times;
                    self.broken.note(moment.at, || format!("{} left for the {times}. time", effect.key));
                }
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

    fn run(script: &str) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), AtMostTwice::default());
        for step in script.split_whitespace() {
            match step {
                "commit" => trace.commit(&mut checker, vec![], vec![nudge(1)]),
                "release" => trace.tell(&mut checker, What::Released(&nudge(1))),
                _ => trace.tell(&mut checker, What::Restarted),
            }
        }
        trace.finish(&mut checker)
    }

    #[test]
    fn once_more_after_a_restart_is_allowed() {
        assert_eq!(run("commit release restart release restart"), Ok(()));
    }

    #[test]
    fn a_repeat_without_a_restart_is_caught() {
        assert_eq!(run("commit release release"), Err("at 0s: a#1/1 left for the 2. time".into()));
    }

    #[test]
    fn a_repeat_for_every_restart_is_caught() {
        let caught = run("commit release restart release restart release");
        assert_eq!(caught, Err("at 0s: a#1/1 left for the 3. time".into()));
    }

    #[test]
    fn a_key_that_is_used_again_is_caught() {
        assert_eq!(run("commit restart commit"), Err("at 0s: a#1/1 names two effects".into()));
    }
}
