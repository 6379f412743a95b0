//! `verger.yaml`, from anybody.

use std::path::Path;

use verger_config::{Configuration, Detail, Problems, Source, Surroundings, load};
use verger_core::signal::{Body, Content, Signal, Trust};
use verger_core::time::WallTime;
use verger_core::{AgentId, Collector, Fleet, Span, Timestamp};

/// What may be printed about one file: a hundred problems, each with its line.
const TOLD_MAX: usize = 128 * 1_024;

/// Of so many cases one is read twice: reading takes longer here than anywhere else.
const TWICE_EVERY: usize = 16;

/// A configuration, or everything that is wrong with it.
pub fn configuration(bytes: &[u8]) {
    let read_once = read(bytes);
    let told = told(&read_once);
    assert!(told.len() <= TOLD_MAX, "{} bytes", told.len());
    // What is printed cannot steer a terminal.
    assert!(!told.chars().any(|char| char.is_control() && char != '\n'), "{told:?}");
    if bytes.len().is_multiple_of(TWICE_EVERY) {
        assert_eq!(told, self::told(&read(bytes)), "the same bytes, another answer");
    }
    match read_once {
        Ok(configuration) => watched(configuration),
        Err(problems) => assert!(problems.count() > 0 && !told.trim().is_empty(), "refused without a word"),
    }
}

fn told(read: &Result<Configuration, Problems>) -> String {
    match read {
        Ok(configuration) => configuration.show(Detail::Changed),
        Err(problems) => problems.to_string(),
    }
}

fn read(bytes: &[u8]) -> Result<Configuration, Problems> {
    let environment = [("HOME".to_owned(), "/home/a".to_owned())].into();
    let surroundings = Surroundings { environment, ..Surroundings::default() };
    load(Some(&Source::from_bytes(Path::new("verger.yaml"), bytes)?), &surroundings)
}

/// Whatever thresholds were accepted, a fleet can be watched by them.
fn watched(configuration: Configuration) {
    let mut fleet = Fleet::new(configuration.policies, 1);
    let mut out = Collector::default();
    let agent = "a".into();
    let mut now = Timestamp::from_millis(1_000);
    for body in [Body::Activity, Body::ModelStarted, Body::Compaction] {
        let content = Content {
            incarnation: None,
            sent_at: None,
            received_at: WallTime(0),
            trust: Trust::Verified,
            body,
        };
        let _ = fleet.observe(now, &Signal { agent: AgentId::clone(&agent), content }, &mut out);
        now += Span::secs(90);
        fleet.wake(now, &mut out);
    }
    fleet.wake(now + Span::hours(24), &mut out);
    let _ = fleet.view(now, &agent);
}
