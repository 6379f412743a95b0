//! `verger.yaml`, from anybody.

use std::path::Path;

use verger_config::{Configuration, Detail, Problems, Source, Surroundings, load};
use verger_core::signal::{Body, Content, Signal, Trust};
use verger_core::time::WallTime;
use verger_core::{AgentId, Collector, Fleet, Span, Timestamp};

/// What may be printed about one file: a hundred problems, each with its line.
const TOLD_MAX: usize = 128 * 1_024;

/// A configuration, or everything that is wrong with it.
pub fn configuration(bytes: &[u8]) {
    match (read(bytes), read(bytes)) {
        (Ok(read), Ok(again)) => {
            assert_eq!(read.show(Detail::All), again.show(Detail::All), "the same bytes, another answer");
            assert_clean(&read.show(Detail::Changed));
            watched(read);
        }
        (Err(problems), Err(again)) => {
            assert_eq!(problems.to_string(), again.to_string(), "the same bytes, another answer");
            assert!(problems.count() > 0, "refused without a word");
            assert_clean(&problems.to_string());
        }
        _ => panic!("the same bytes, another answer"),
    }
}

fn read(bytes: &[u8]) -> Result<Configuration, Problems> {
    let environment = [("HOME".to_owned(), "/home/a".to_owned())].into();
    let surroundings = Surroundings { environment, ..Surroundings::default() };
    load(Some(&Source::from_bytes(Path::new("verger.yaml"), bytes)?), &surroundings)
}

/// What is printed cannot steer a terminal, and has an end.
fn assert_clean(text: &str) {
    assert!(text.len() <= TOLD_MAX, "{} bytes", text.len());
    assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text:?}");
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
        now = now + Span::secs(90);
        fleet.wake(now, &mut out);
    }
    fleet.wake(now + Span::hours(24), &mut out);
    let _ = fleet.view(now, &agent);
}
