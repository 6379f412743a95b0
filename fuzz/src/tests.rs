//! The seeds, and cases made of them: `make test` tries 100,000 for each target, any other run of the tests fewer.
//!
//! This is the part of fuzzing that needs no build of its own. Looking for bytes that reach new code is libFuzzer's
//! (`scripts/fuzz`, `make soak`).

mod made;
mod mutator;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{TARGETS, Target};

fn folder() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it")).to_path_buf()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").file_name();
    entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect()
}

#[test]
fn every_target_has_a_program_and_seeds() {
    let expected: BTreeSet<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names(&folder().join("seeds")), expected);
    let programs = names(&folder().join("fuzz_targets"));
    assert_eq!(programs, expected.iter().map(|name| format!("{name}.rs")).collect());
}

#[test]
fn x13_every_seed_is_borne_by_its_target() {
    for target in TARGETS {
        let seeds = folder().join("seeds").join(target.name);
        for name in names(&seeds) {
            let bytes = fs::read(seeds.join(&name)).expect("readable");
            let tried = std::panic::catch_unwind(|| (target.run)(&bytes));
            assert!(tried.is_ok(), "seeds/{}/{name} breaks it", target.name);
        }
    }
}

#[test]
fn l42_the_seeds_of_state_are_rows_and_effects_as_they_are_written_today() {
    for (path, bytes) in made::all() {
        let path = folder().join("seeds").join(path);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &bytes).expect("the seeds can be written");
        }
        let is_same = fs::read(&path).is_ok_and(|kept| kept == bytes);
        assert!(is_same, "{}: UPDATE=1 cargo test -p verger-fuzz writes it anew", path.display());
    }
}

/// Cases of each target, unless `FUZZ_CASES` says another number.
const CASES: u64 = 2_000;

/// What a process may use at its peak that does nothing but decode cases of 16 KiB, in KiB.
const MEMORY_MAX_KIB: u64 = 256 * 1_024;

fn tried(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    let seeds = folder().join("seeds").join(name);
    let seeds: Vec<_> =
        names(&seeds).iter().map(|name| fs::read(seeds.join(name)).expect("readable")).collect();
    let words = mutator::words(&fs::read_to_string(folder().join("dictionary.txt")).expect("readable"));
    let cases = std::env::var("FUZZ_CASES").map_or(CASES, |cases| cases.parse().expect("a number"));
    for number in 0..cases {
        try_one(target, number, &mutator::Mutator::new(&seeds, &words, number).case());
    }
    let peak = peak_memory_kib();
    assert!(peak <= MEMORY_MAX_KIB, "{name} used {peak} KiB");
}

fn try_one(target: &Target, number: u64, case: &[u8]) {
    if std::panic::catch_unwind(|| (target.run)(case)).is_err() {
        let kept = std::env::temp_dir().join(format!("verger-fuzz-{}-{number}", target.name));
        fs::write(&kept, case).expect("the case can be kept");
        panic!("case {number} of {} breaks it; it was kept as {}", target.name, kept.display());
    }
}

/// The most that this process ever used. nextest gives each test a process of its own.
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells the peak");
    peak.trim().trim_end_matches(" kB").parse().expect("a number of KiB")
}

/// A test for each target, so that they run side by side.
macro_rules! cases {
    ($($test:ident: $target:literal;)+) => {
        $(
            #[test]
            fn $test() {
                tried($target);
            }
        )+

        #[test]
        fn every_target_is_tried() {
            let tried: Vec<_> = vec![$($target),+];
            assert_eq!(tried, TARGETS.iter().map(|target| target.name).collect::<Vec<_>>());
        }
    };
}

cases! {
    x13_no_body_of_an_order_is_too_strange: "bodies";
    x13_no_checkpoint_is_too_strange: "checkpoints";
    x15_no_configuration_is_too_strange: "configuration";
    x13_no_cursor_is_too_strange: "cursors";
    l21_no_decision_is_believed_that_was_not_signed: "decisions";
    l42_no_kept_effect_is_too_strange: "effects";
    l49_no_event_is_too_strange: "events";
    l02_no_heartbeat_is_too_strange: "heartbeats";
    x13_lines_mean_what_they_mean_alone: "lines";
    x13_no_otlp_is_too_strange: "otlp";
    x13_no_recording_is_too_strange: "recordings";
    l49_no_last_event_is_too_strange: "resume";
    l42_no_state_row_is_too_strange: "rows";
    x13_no_scenario_is_too_strange: "scenarios";
    x13_no_signal_is_too_strange: "signals";
    x20_no_step_is_too_strange: "steps";
    x13_no_text_is_too_strange: "texts";
}

/// The mutator is held against what it promises.
mod checks {
    use std::collections::BTreeSet;

    use super::mutator::{BYTES_MAX, Mutator, words};

    #[test]
    fn the_same_number_is_the_same_case_and_few_are_alike() {
        let (seeds, words) = (vec![b"{\"a\":1}".to_vec(), vec![]], vec![b"null".to_vec()]);
        let case = |number| Mutator::new(&seeds, &words, number).case();
        let cases: BTreeSet<_> = (0..1_000).map(case).collect();
        assert!(cases.len() > 600, "{} different ones", cases.len());
        assert!(cases.iter().all(|case| case.len() <= BYTES_MAX));
        assert!((0..1_000).map(case).eq((0..1_000).map(case)));
    }

    #[test]
    fn words_are_read_as_libfuzzer_reads_them() {
        let read = words("# no word\n\"a\\x00\\\"\\\\\"\n\"\\xff\"\nb\n");
        assert_eq!(read, [b"a\0\"\\".to_vec(), vec![0xff]]);
    }
}
