//! Texts are what they are meant to be, and the same from the same seed.

use std::collections::BTreeSet;

use verger_core::fingerprint::CallClass;

use super::*;

fn voices() -> impl Iterator<Item = Voice> {
    (0..60).map(|place| Voice::draw(1, place))
}

#[test]
fn a_seed_decides_what_an_agent_says() {
    let said = |seed, place| {
        let voice = &mut Voice::draw(seed, place);
        (read(voice), search(voice), command(voice), next(voice))
    };
    assert_eq!(said(3, 5), said(3, 5));
    assert_ne!(said(3, 5), said(3, 6));
    assert_ne!(said(3, 5), said(4, 5));
}

#[test]
fn all_three_dialects_are_spoken() {
    let spoken: Vec<Dialect> = voices().map(|voice| voice.dialect).collect();
    for dialect in [Dialect::Tools, Dialect::Shell, Dialect::Editor] {
        assert!(spoken.contains(&dialect), "{dialect:?}");
    }
}

#[test]
fn arguments_in_json_are_json() {
    for mut voice in voices().filter(|voice| voice.dialect == Dialect::Tools) {
        for told in
            [read(&mut voice), search(&mut voice), edit(&mut voice, "src/a \"b\".rs"), write(&mut voice)]
        {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&told.args);
            assert!(parsed.is_ok(), "{}", told.args);
        }
    }
}

#[test]
fn what_is_read_and_found_is_new_each_time() {
    for mut voice in voices() {
        let results: BTreeSet<String> = (0..100).map(|_| read(&mut voice).result).collect();
        assert_eq!(results.len(), 100);
    }
}

#[test]
fn texts_are_about_as_long_as_recorded_ones() {
    let mut lengths: Vec<usize> = Vec::new();
    for mut voice in voices() {
        for _ in 0..50 {
            lengths.extend([
                read(&mut voice).result.len(),
                search(&mut voice).result.len(),
                command(&mut voice).result.len(),
            ]);
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!((80..300).contains(&median), "{median}");
    assert!(lengths[lengths.len() - 1] < 2_000);
}

#[test]
fn tests_print_who_fails_until_nobody_does() {
    for mut voice in voices() {
        let mut suite = Suite::draw(&mut voice, 3);
        let first = suite.run(&mut voice, 10, 3);
        let again = suite.run(&mut voice, 10, 3);
        assert!(first.failed && again.failed);
        assert_eq!(
            first.result(None).digest,
            again.result(None).digest,
            "only the time differs: {}",
            first.result
        );
        let fewer = suite.run(&mut voice, 11, 2);
        assert_ne!(first.result(None).digest, fewer.result(None).digest);
        let done = suite.run(&mut voice, 13, 0);
        assert!(!done.failed && !done.result.contains("FAIL"), "{}", done.result);
        assert_eq!(first.args, done.args);
    }
}

#[test]
fn a_service_that_is_down_is_seen_to_be_down() {
    for mut voice in voices() {
        let told = outage(&mut voice);
        assert!(told.result(None).outage, "{}", told.result);
    }
}

#[test]
fn most_looks_at_a_job_are_seen_to_wait() {
    for mut voice in voices() {
        for manner in 0..6 {
            let mut job = Job::new(manner, 77);
            job.get_on(&mut voice, false);
            let told = job.look(&voice);
            assert_eq!(told.call().class, CallClass::Waiting, "{} {}", told.tool, told.args);
        }
    }
}
