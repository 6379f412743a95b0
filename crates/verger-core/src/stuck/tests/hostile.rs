//! Text that means harm, or nothing: it costs no more, and nothing breaks.

use super::*;
use crate::stuck::words;

#[test]
fn x20_a_fingerprint_and_a_detector_have_a_fixed_size() {
    assert!(size_of::<StepPrint>() <= 256, "{}", size_of::<StepPrint>());
    assert!(size_of::<Detector>() <= 16 * 1024, "{}", size_of::<Detector>());
    assert!(!std::mem::needs_drop::<Detector>(), "it owns nothing beyond itself");
    assert!(!std::mem::needs_drop::<StepPrint>());
}

#[test]
fn x20_of_a_huge_text_a_bounded_part_is_read() {
    let huge = "x y z\n".repeat(2_000_000);
    let read: usize = words::ends(&huge).iter().map(|part| part.len()).sum();
    assert!(read <= 8 * 1024, "{read}");
    let inner = format!("{}{}{}", "a ".repeat(8_000), "secret ".repeat(100_000), "b ".repeat(8_000));
    let other = format!("{}{}{}", "a ".repeat(8_000), "hidden ".repeat(100_000), "b ".repeat(8_000));
    assert_eq!(
        call("t", "{}", inner).print(),
        call("t", "{}", other).print(),
        "what lies between is not read"
    );
}

#[test]
fn x20_odd_bytes_and_broken_json_are_read_as_far_as_they_go() {
    let odd = [
        "\u{0}\u{1}\u{7f}\u{1b}[31m\u{1b}]0;title\u{7}\u{1b}",
        "\\",
        "\"\\",
        "{\"a\":\"\\u12",
        "{\"command\":\"unterminated \\n and more",
        "[[[[[[{{{{{{\"k\":{\"k\":",
        "\u{202e}\u{feff}\u{1f600}\u{10ffff}",
        "…[1234 chars cut]…",
        "> >> > >>",
        "#",
        "%s%n",
    ];
    for args in odd {
        for result in odd {
            let step = call("", args, result);
            assert_eq!(step.print(), step.print());
            judgements(&vec![step; 3]);
        }
    }
}

#[test]
fn x20_one_endless_word_is_one_word() {
    let word = "a".repeat(100_000);
    let steps: Vec<Step> = (0..5).map(|n| call("t", format!("{word}{n}"), word.clone())).collect();
    judgements(&steps);
    let digits = "7".repeat(100_000);
    judgements(&[call("t", digits.clone(), digits)]);
}
