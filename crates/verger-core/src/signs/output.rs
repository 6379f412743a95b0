//! Whether an agent's work becomes visible: changed files, tests that pass.
//!
//! Both findings are notes. Reading for two hours is work, and a test count falls when a suite is split; they
//! count only where another family agrees.

use crate::evidence::{Measure, Severity, Sign};
use crate::signal::Output;
use crate::signs::Finding;
use crate::time::Timestamp;

/// How many test reports are remembered, so that going to and fro between two of them is not progress.
const REPORTS: usize = 8;

/// How much invisible work is too much.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Calls without a changed file, for an agent that changes files. 150: long investigations take some tens
    /// of calls, and whole runs of coding agents rarely more than a hundred.
    pub calls_max: u32,
    /// Reports in a row with fewer passing tests than the one before. Three: one fall is an edit in progress,
    /// two may be a second one.
    pub falls: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { calls_max: 150, falls: 3 }
    }
}

/// What one report said of the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Tests that pass.
    pub(crate) passed: u32,
    /// Tests that fail.
    pub(crate) failed: u32,
}

/// What became visible of an agent's work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// It changed a file at some time, so not changing any means something.
    pub(crate) changes_files: bool,
    /// Calls since it last did.
    pub(crate) calls: u32,
    /// The last reports about tests, latest last, at most [`REPORTS`].
    pub(crate) reports: Vec<Tests>,
    /// Reports in a row with fewer passing tests than the one before.
    pub(crate) falls: u32,
}

impl Outputs {
    /// Work became visible. Whether that is progress: a file changed, or tests are better than last time and
    /// not merely back where they recently were.
    pub fn observe(&mut self, _now: Timestamp, output: &Output) -> bool {
        let changed = output.files_changed.is_some_and(|files| files > 0);
        if changed {
            self.changes_files = true;
            self.calls = 0;
        }
        let improved = match (output.tests_passed, output.tests_failed) {
            (None, None) => false,
            (passed, failed) => {
                self.observe_tests(Tests { passed: passed.unwrap_or(0), failed: failed.unwrap_or(0) })
            }
        };
        changed || improved
    }

    /// The agent called a tool.
    pub fn on_call(&mut self) {
        self.calls = self.calls.saturating_add(1);
    }

    /// A new turn begins: what was asked for may need no files and other tests.
    pub fn reset(&mut self) {
        self.calls = 0;
        self.falls = 0;
    }

    /// Falling tests, and many calls without a changed file.
    pub fn findings(&self, _now: Timestamp, policy: &Policy) -> impl Iterator<Item = Finding> + use<> {
        let note = |sign, value, threshold| Finding {
            sign,
            value: Measure::Count(u64::from(value)),
            threshold: Measure::Count(u64::from(threshold)),
            severity: Severity::Note,
        };
        let falling = self.falls >= policy.falls;
        let invisible = self.changes_files && self.calls > policy.calls_max;
        [
            falling.then(|| note(Sign::FallingTests, self.falls, policy.falls)),
            invisible.then(|| note(Sign::NoOutput, self.calls, policy.calls_max)),
        ]
        .into_iter()
        .flatten()
    }

    fn observe_tests(&mut self, tests: Tests) -> bool {
        let Some(&last) = self.reports.last() else {
            self.reports.push(tests);
            return tests.passed > 0;
        };
        let better =
            tests.passed > last.passed || (tests.failed < last.failed && tests.passed == last.passed);
        let known = self.reports.contains(&tests);
        self.falls = if tests.passed < last.passed { self.falls.saturating_add(1) } else { 0 };
        if self.reports.len() == REPORTS {
            self.reports.remove(0);
        }
        self.reports.push(tests);
        better && !known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: u32) -> Output {
        Output { files_changed: Some(files), ..Output::default() }
    }

    fn tests(passed: u32, failed: u32) -> Output {
        Output { tests_passed: Some(passed), tests_failed: Some(failed), ..Output::default() }
    }

    /// Which of the reports were progress.
    fn progress(agent: &mut Outputs, reports: &[Output]) -> Vec<bool> {
        reports.iter().map(|output| agent.observe(Timestamp::ZERO, output)).collect()
    }

    fn signs(agent: &Outputs) -> Vec<(Sign, Measure)> {
        let findings = agent.findings(Timestamp::ZERO, &Policy::default());
        findings.map(|finding| (finding.sign, finding.value)).collect()
    }

    #[test]
    fn l10_changed_files_and_better_tests_are_progress() {
        let mut agent = Outputs::default();
        let reports = [files(1), files(0), tests(3, 2), tests(4, 2), tests(4, 1), tests(4, 1), tests(5, 3)];
        assert_eq!(progress(&mut agent, &reports), [true, false, true, true, true, false, true]);
    }

    #[test]
    fn l10_breaking_and_mending_the_same_test_is_not_progress() {
        let reports = [tests(9, 1), tests(10, 0), tests(9, 1), tests(10, 0), tests(9, 1), tests(10, 0)];
        assert_eq!(progress(&mut Outputs::default(), &reports), [true, true, false, false, false, false]);
    }

    #[test]
    fn l10_tests_that_fall_three_times_in_a_row_are_noted() {
        let mut agent = Outputs::default();
        progress(&mut agent, &[tests(9, 0), tests(8, 1), tests(7, 2)]);
        assert_eq!(signs(&agent), []);
        progress(&mut agent, &[tests(6, 3)]);
        assert_eq!(signs(&agent), [(Sign::FallingTests, Measure::Count(3))]);
        progress(&mut agent, &[tests(6, 3)]);
        assert_eq!(signs(&agent), []);
    }

    #[test]
    fn l10_many_calls_without_a_changed_file_count_against_one_that_changes_files() {
        let mut reader = Outputs::default();
        (0..900).for_each(|_| reader.on_call());
        assert_eq!(signs(&reader), [], "an agent that only reads never had to");
        let mut writer = Outputs::default();
        progress(&mut writer, &[files(2)]);
        (0..150).for_each(|_| writer.on_call());
        assert_eq!(signs(&writer), []);
        writer.on_call();
        assert_eq!(signs(&writer), [(Sign::NoOutput, Measure::Count(151))]);
        progress(&mut writer, &[files(1)]);
        assert_eq!(signs(&writer), []);
    }

    #[test]
    fn what_was_seen_stays_bounded() {
        let mut agent = Outputs::default();
        (0..99).for_each(|passed| drop(progress(&mut agent, &[tests(passed, 0)])));
        assert_eq!(agent.reports.len(), REPORTS);
    }
}
