//! Whatever the text is, the answer is a configuration or a list of problems, soon.

use std::path::Path;

use proptest::prelude::*;
use verger_config::{BYTES_MAX, Source, load};

use crate::{at_home, loaded, right, wrong};

fn lines(range: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    range.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn huge_deep_and_multiplying_files_are_refused() {
    let refused = |text: &str| assert!(!wrong(text).is_empty());
    refused(&"a: 1\n".repeat(BYTES_MAX / 5));
    refused(&"[".repeat(BYTES_MAX));
    refused(&"{a: ".repeat(10_000));
    refused(&lines(0..10_000, |n| format!("{}a:", " ".repeat(n % 100))));
    refused(&"- ".repeat(BYTES_MAX / 2));
    refused(&"&a ".repeat(10_000));
    refused(&"? ".repeat(10_000));
    let bomb = lines(1..30, |n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]", n - 1));
    refused(&format!("a0: &a0 [x, x, x, x]\n{bomb}"));
    refused("a: &a [*a]");
    refused(&format!("mode: {}", "x".repeat(BYTES_MAX - 10)));
    refused(&format!("{}: 1", "x".repeat(BYTES_MAX - 10)));
    refused(&lines(0..20_000, |n| format!("key{n}: 1")));
}

#[test]
fn many_roles_are_a_matter_of_a_moment_and_too_many_are_refused() {
    let roles = |count: usize| {
        let role =
            |n| format!("  r{n}: {{extends: r{}, mode: full, progress: {{stuck_after: 20m}}}}\n", n + 1);
        format!("roles:\n{}  r{count}: {{}}\n", (0..count).map(role).collect::<String>())
    };
    right(&roles(200));
    assert!(wrong(&roles(255)).contains("more than 256 roles"));
    assert!(wrong(&roles(300)).contains("more than 256 entries"));
}

#[test]
fn numbers_beyond_all_bounds_are_told() {
    for number in [
        "1e999",
        "-1e999",
        ".nan",
        ".inf",
        "-.inf",
        "-1",
        "99999999999999999999999",
        "0x",
        "1e-400",
        "''",
        "~",
    ] {
        let text = format!(
            "health_monitoring: {{heartbeat: {{timeout_seconds: {number}}}, recovery: {{max_attempts_per_task: {number}}}}}"
        );
        assert_eq!(wrong(&text).lines().count(), 2, "{number}: {}", wrong(&text));
    }
}

/// Pieces of configurations, well and badly put together.
fn pieces() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        Just("health_monitoring"),
        Just("heartbeat"),
        Just("interval_seconds"),
        Just("roles"),
        Just("limits"),
        Just("agents"),
        Just("spawn"),
        Just("command"),
        Just("mode"),
        Just("<<"),
        Just("breakers"),
        Just("extends"),
    ];
    let values = prop_oneof![
        Just("full".to_owned()),
        Just("*a".to_owned()),
        Just("&a x".to_owned()),
        Just("[1, 2".to_owned()),
        Just("1e999".to_owned()),
        Just("10m".to_owned()),
        Just("!!binary x".to_owned()),
        Just("|\n".to_owned()),
        any::<f64>().prop_map(|number| number.to_string()),
        any::<i128>().prop_map(|number| number.to_string()),
        "\\PC{0,12}",
    ];
    let line = (0_usize..12, words, values)
        .prop_map(|(indent, word, value)| format!("{}{word}: {value}\n", " ".repeat(indent)));
    prop::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(source) = Source::from_bytes(Path::new("v.yaml"), &bytes) {
            let _ = load(Some(&source), &at_home()).map_err(|problems| problems.to_string());
        }
    }

    #[test]
    fn any_text_is_answered_without_steering_a_terminal(text in "(?s).{0,300}") {
        if let Err(problems) = loaded(&text) {
            prop_assert!(0 < problems.count());
            let steers = |c: char| c.is_control() && c != '\n';
            prop_assert!(!problems.to_string().contains(steers), "{}", problems);
        }
    }

    #[test]
    fn pieces_of_configurations_are_answered(text in pieces()) {
        match loaded(&text) {
            Ok(configuration) => prop_assert!(!configuration.effective().is_empty()),
            Err(problems) => prop_assert!(!problems.to_string().is_empty()),
        }
    }
}
