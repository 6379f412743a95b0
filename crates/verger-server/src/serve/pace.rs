//! How the loop is paced.

use verger_config::Storage;
use verger_engine::Settings;

/// The engine's settings, as configured: the loop never sleeps longer than an evaluation may be late.
pub(super) fn settings(storage: &Storage) -> Settings {
    let Settings { mark_every, .. } = Settings::default();
    let mark_every = storage.evaluate_within.map_or(mark_every, |within| within.min(mark_every));
    Settings { mark_every, strict: storage.strict, ..Settings::default() }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;

    use tempfile::TempDir;
    use verger_config::{Source, Surroundings, load};
    use verger_core::effect::Effect;
    use verger_core::fleet::Fleet;
    use verger_engine::{Answer, Clock, Engine, Inbox, Input, Outbox, Reading, Ticket};
    use verger_store::{EngineStore, Options};

    use super::*;
    use crate::wire::{Encoder, SOURCE};

    /// A clock that is set by hand.
    struct Hand<'a>(&'a Cell<u64>);

    impl Clock for Hand<'_> {
        fn read(&self) -> Reading {
            Reading { boot: self.0.get(), ..Reading::default() }
        }
    }

    /// Nobody reports anything, and nothing is done.
    struct Quiet;

    impl Inbox for Quiet {
        fn next(&mut self) -> Option<Input> {
            None
        }

        fn answer(&mut self, _: Ticket, _: Answer) {}
    }

    impl Outbox for Quiet {
        fn release(&mut self, _: &Effect) {}
    }

    fn store(folder: &TempDir) -> EngineStore {
        let encoder = Encoder { source: SOURCE.to_owned(), ..Encoder::default() };
        verger_store::open(Options::new(folder.path(), std::sync::Arc::new(encoder))).expect("it opens").0
    }

    /// How often the loop turns and writes down how far it has seen, in a minute in which nothing happens.
    fn turns_in_a_minute(yaml: &str) -> (u32, u32) {
        let around = Surroundings { root: true, ..Surroundings::default() };
        let source = Source::from_bytes(Path::new("verger.yaml"), yaml.as_bytes()).expect("it is text");
        let configuration = load(Some(&source), &around).unwrap_or_else(|problems| panic!("{problems}"));
        let (clock, folder) = (Cell::new(0), TempDir::new().expect("a folder"));
        let restore = |rows, now| Fleet::restore(configuration.policies.clone(), 7, rows, now);
        let pace = settings(&configuration.storage);
        let mut engine =
            Engine::open(Hand(&clock), store(&folder), Quiet, pace, restore).expect("it can be opened");
        let (mut turns, mut written) = (0, 0);
        while clock.get() < 60_000 {
            let turn = engine.turn(&mut Quiet);
            clock.set(turn.sleep_until);
            turns += 1;
            written += u32::from(turn.committed);
        }
        (turns, written)
    }

    #[test]
    fn l03_health_check_interval_seconds_bounds_how_late_an_evaluation_may_be() {
        let every = |secs: u32| {
            turns_in_a_minute(&format!("health_monitoring: {{health_check: {{interval_seconds: {secs}}}}}"))
        };
        assert_eq!(every(2).0, 30);
        assert_eq!(every(5).0, 12);
        assert_eq!(every(30), turns_in_a_minute(""), "it is looked more often than that anyway");
        assert!(every(2).1 > every(5).1, "a crash loses less of what was observed");
    }
}
