//! `verger config check` on real files.

use std::path::PathBuf;

use verger_config::{Flags, Report, Surroundings, check};

use crate::at_home;

fn checked(file: &str) -> Report {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    let folder = PathBuf::from(own).join("tests/fixtures");
    let flags = Flags { config: Some(folder.join(file)), ..Flags::default() };
    let report = check(&Surroundings { flags, ..at_home() });
    Report { text: report.text.replace(&format!("{}/", folder.display()), ""), ..report }
}

#[test]
fn a_right_file_passes_and_says_what_is_not_used_yet() {
    let Report { passed, text } = checked("000-section-7.yaml");
    assert!(passed, "{text}");
    insta::assert_snapshot!(text, @"
    000-section-7.yaml is fine; 82 settings are set (`verger config show --changed`)
    note: `health_monitoring.alerting` is kept, and not used until alerts exist
    ");
}

#[test]
fn a_wrong_file_fails_with_everything_that_is_wrong() {
    let Report { passed, text } = checked("wrong.yaml");
    assert!(!passed);
    insta::assert_snapshot!(text, @"
    wrong.yaml:1:7: `mode` must be `observe`, `nudge`, `escalate` or `full`, not the text `fulll`; did you mean `full`?
      |
    1 | mode: fulll
      |       ^^^^^
    wrong.yaml:4:32: `roles.critical.progress.degraded_after` (40m) must not be more than `roles.critical.progress.stuck_after` (30m by default)
      |
    4 |     progress: {degraded_after: 40m}
      |                                ^^^
    2 problems; nothing was started or changed
    ");
    assert!(!checked("nowhere.yaml").passed);
}
