//! What `verger inspect` reads: recordings of ten formats, and scenarios.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use verger_ingest::scenario;
use verger_ingest::{Finding, Flaw, Format, Inspector, ReadError, Recording, State, read};

use crate::assert_told;

thread_local! {
    /// Recordings are files: one folder serves all cases of a thread.
    static FOLDER: RefCell<TempDir> =
        RefCell::new(tempfile::tempdir().expect("a folder for the cases"));
}

/// Any recording. The first byte says as what it is read: one of the formats, or what its content tells.
pub fn recordings(bytes: &[u8]) {
    let Some((which, content)) = bytes.split_first() else { return };
    inspected(content, Format::ALL.get(usize::from(*which) % (Format::ALL.len() + 1)).copied());
}

/// OpenTelemetry in JSON.
pub fn otlp(bytes: &[u8]) {
    inspected(bytes, Some(Format::Otlp));
}

fn inspected(content: &[u8], format: Option<Format>) {
    let path = FOLDER.with_borrow(|folder| folder.path().join("case.jsonl"));
    fs::write(&path, content).expect("the folder can be written");
    let (first, again) = (judged(&path, format), judged(&path, format));
    assert_eq!(first.findings, again.findings, "the same bytes, another answer");
    assert_eq!(first.flaws, again.flaws, "the same bytes, another answer");
    first.flaws.iter().for_each(|flaw| assert_told(&flaw.reason));
    if let Err(error) = first.read {
        assert_told(&error.to_string().replace(&path.display().to_string(), ""));
    }
    first.findings.iter().for_each(assert_sensible);
}

struct Judged {
    read: Result<Format, ReadError>,
    findings: Vec<Finding>,
    flaws: Vec<Flaw>,
}

fn judged(path: &Path, format: Option<Format>) -> Judged {
    let mut findings = Vec::new();
    let mut found = |finding| findings.push(finding);
    let mut inspector = Inspector::new(&mut found);
    let read = read(&Recording::file(PathBuf::from(path)), format, &mut inspector, &|_| {});
    let flaws = std::mem::take(&mut inspector.flaws);
    Judged { read, findings, flaws }
}

/// A verdict says when, why, and shows what it is about.
fn assert_sensible(finding: &Finding) {
    assert_eq!(finding.state == State::Stuck, finding.stuck_at.is_some(), "{finding:?}");
    assert_eq!(finding.state == State::Healthy, finding.evidence.is_empty(), "{finding:?}");
    if let Some((since, at)) = finding.since.zip(finding.stuck_at) {
        assert!(since <= at, "{finding:?}");
    }
    finding.evidence.iter().for_each(|evidence| assert_told(&evidence.text));
}

/// A file of scenarios: refused with a sentence, or played to its end.
pub fn scenarios(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = scenario::parse(&text);
    assert_eq!(read, scenario::parse(&text), "the same bytes, another answer");
    match read {
        Ok(scenarios) => {
            assert!(!scenarios.is_empty());
            for scenario in scenarios {
                assert!(!scenario.run.steps.is_empty(), "nothing happens in `{}`", scenario.name);
                assert_sensible(&scenario.play().finding);
            }
        }
        Err(error) => assert_told(&error.to_string()),
    }
}
