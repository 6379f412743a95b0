//! A command meant for one incarnation never reaches the next, and incarnations only grow.

use std::collections::BTreeMap;

use verger_core::effect::Effect;
use verger_core::event::{Event, Fact};
use verger_core::id::{AgentId, Incarnation};

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::SimTime;

/// Knows which life of each agent the monitor last registered.
#[derive(Debug, Default)]
pub(super) struct Incarnations {
    present: BTreeMap<AgentId, Incarnation>,
    broken: Broken,
}

impl Checker for Incarnations {
    fn name(&self) -> &'static str {
        "no-command-to-a-later-incarnation"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        match moment.what {
            What::Committed { batch, .. } => {
                for event in &batch.events {
                    self.on_event(moment.at, event);
                }
            }
            What::Released(effect) => self.on_release(moment.at, effect),
            _ => {}
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

impl Incarnations {
    fn on_event(&mut self, at: SimTime, event: &Event) {
        let Some((agent, incarnation)) = &event.agent else { return };
        match event.fact {
            Fact::Registered { .. } => {
                let before = self.present.insert(agent.clone(), *incarnation);
                if before.is_some_and(|before| *incarnation <= before) {
                    self.broken.note(at, || format!("{agent} is registered as {incarnation} again"));
                }
            }
            Fact::Unregistered { .. } => {
                self.present.remove(agent);
            }
            _ => {}
        }
    }

    fn on_release(&mut self, at: SimTime, effect: &Effect) {
        let present = self.present.get(&effect.key.agent);
        if present != Some(&effect.key.incarnation) {
            let now = present.map_or_else(|| "nobody".to_owned(), ToString::to_string);
            self.broken.note(at, || format!("{} left, and the present life is {now}", effect.key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trace, nudge, registered};
    use super::*;

    #[test]
    fn an_effect_for_a_life_that_is_over_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), Incarnations::default());
        trace.commit_events(&mut checker, vec![registered(1)], vec![nudge(1)]);
        trace.tell(&mut checker, What::Released(&nudge(1)));
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.commit_events(&mut checker, vec![registered(2)], vec![]);
        trace.tell(&mut checker, What::Released(&nudge(1)));
        assert_eq!(trace.finish(&mut checker), Err("at 0s: a#1/1 left, and the present life is #2".into()));
    }

    #[test]
    fn a_life_that_begins_twice_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), Incarnations::default());
        trace.commit_events(&mut checker, vec![registered(2), registered(2)], vec![]);
        assert_eq!(trace.finish(&mut checker), Err("at 0s: a is registered as #2 again".into()));
    }
}
