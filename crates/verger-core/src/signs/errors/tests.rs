use super::*;
use crate::fingerprint::TextPrint;

/// One word per result: `.` succeeds, `a!x` is call `a` failing with `x`, `W!x` a wait, `a~` an outage.
fn run(script: &str) -> Errors {
    let mut errors = Errors::default();
    for word in script.split_whitespace() {
        let name = word.split(['!', '~']).next().unwrap();
        let text = word.split_once('!').map_or("", |(_, text)| text);
        let waits = !name.is_empty() && name.chars().all(char::is_uppercase);
        let class = if waits { CallClass::Waiting } else { CallClass::Plain };
        let call = CallPrint { digest: CallPrint::of(name, "").digest, class };
        let result = ResultPrint { outage: word.ends_with('~'), ..ResultPrint::of(text, word != ".", None) };
        errors.observe_result(Timestamp::ZERO, call, result);
    }
    errors
}

fn signs(errors: &Errors, now: Timestamp) -> Vec<(Sign, Severity)> {
    errors.findings(now, &Policy::default()).map(|finding| (finding.sign, finding.severity)).collect()
}

fn verdict(script: &str) -> Vec<(Sign, Severity)> {
    signs(&run(script), Timestamp::ZERO)
}

const STREAK: (Sign, Severity) = (Sign::FailureStreak, Severity::Failing);
const RATE: (Sign, Severity) = (Sign::ErrorRate, Severity::Degraded);

fn failure(text: &str) -> Failure {
    Failure { text: TextPrint::of(text), unrecoverable: false, provider: false, retry_after: None }
}

#[test]
fn l05_more_than_three_failures_alike_are_failing() {
    assert_eq!(verdict("a!x a!x a!x"), []);
    assert_eq!(verdict("a!x a!y a!z a!w"), [STREAK], "one call, failing in four ways");
    assert_eq!(verdict("a!x a!x a!x a!x"), [], "the very same call is a retry, and has one more");
    assert_eq!(verdict("a!x a!x a!x a!x a!x"), [STREAK]);
    assert_eq!(verdict("a!x a!x a!x b!x"), [STREAK]);
    assert_eq!(verdict("a!denied b!denied c!denied d!denied"), [STREAK], "four calls, failing in one way");
    assert_eq!(verdict("a!x a!x . a!x a!x"), []);
    assert_eq!(verdict("a!x a!x a!x a!x a!x ."), []);
}

#[test]
fn l05_failures_that_differ_are_exploration() {
    assert_eq!(verdict("a!x b!y c!z d!w e!v"), []);
    assert_eq!(verdict("grep! find! ls! rg! fd!"), [], "finding nothing says nothing");
}

#[test]
fn l05_neither_outages_nor_polls_are_failures() {
    assert_eq!(verdict("a~ a~ a~ a~ a~ a~ a~ a~ a~ a~"), []);
    assert_eq!(verdict("W!x W!x W!x W!x W!x W!x W!x W!x W!x"), []);
    assert_eq!(verdict("a!x a~ b!x W!x a!x a~ b!x"), [STREAK], "nor do they end a streak");
}

#[test]
fn l05_a_quarter_of_failures_is_degraded() {
    assert_eq!(verdict("a!x . b!y . c!z . ."), [], "too few results");
    assert_eq!(verdict("a!x . b!y . c!z . . ."), [], "three wrong guesses");
    assert_eq!(verdict("a!x . b!y . c!z . . . d!w ."), [RATE]);
    assert_eq!(verdict(&". . . a!x ".repeat(9)), [], "a quarter is not more than a quarter");
    assert_eq!(verdict(&". . a!x ".repeat(9)), [RATE]);
}

#[test]
fn l05_a_degraded_agent_is_calm_again_well_below_the_limit() {
    let bad = "a!x . b!y . c!z . d!w . e!v . ";
    assert_eq!(verdict(&(bad.to_owned() + &". ".repeat(12))), [RATE], "four in twenty");
    assert_eq!(verdict(&(bad.to_owned() + &". ".repeat(15))), []);
    let errors = run(&(bad.to_owned() + &". ".repeat(12)));
    let value = errors.findings(Timestamp::ZERO, &Policy::default()).next().unwrap().value;
    assert_eq!(value, Measure::PerMille(200), "the rate as it is, not as it was");
}

#[test]
fn l05_an_unrecoverable_error_stands_until_something_succeeds() {
    let mut errors = Errors::default();
    errors.observe_failure(Timestamp::ZERO, &Failure { unrecoverable: true, ..failure("disk gone") });
    assert_eq!(signs(&errors, Timestamp::ZERO + Span::hours(9)), [(Sign::Unrecoverable, Severity::Failing)]);
    let success = ResultPrint::of("fine", false, None);
    errors.observe_result(Timestamp::ZERO, CallPrint::of("a", ""), success);
    assert_eq!(signs(&errors, Timestamp::ZERO), []);
}

#[test]
fn l05_a_provider_s_failure_is_not_the_agent_s() {
    let mut errors = Errors::default();
    for _ in 0..9 {
        let overloaded = Failure { provider: true, unrecoverable: true, ..failure("overloaded") };
        errors.observe_failure(Timestamp::ZERO, &overloaded);
    }
    assert_eq!(errors, Errors::default());
}

#[test]
fn l05_reported_errors_count_apart_from_the_failed_calls_they_repeat() {
    let mut errors = run("a!x a!x a!x");
    (0..3).for_each(|_| errors.observe_failure(Timestamp::ZERO, &failure("call a failed")));
    assert_eq!(signs(&errors, Timestamp::ZERO), []);
    errors.observe_failure(Timestamp::ZERO, &failure("call a failed"));
    assert_eq!(signs(&errors, Timestamp::ZERO), [STREAK]);
    let over = Timestamp::ZERO + Span::hours(1);
    assert_eq!(errors.deadline(Timestamp::ZERO, &Policy::default()), Some(over));
    assert_eq!(signs(&errors, over), [], "nothing latches");
}

#[test]
fn l05_errors_that_grow_with_every_heartbeat_are_noted() {
    let after = |totals: &[u64]| {
        let mut errors = Errors::default();
        for &total in totals {
            errors.observe_error_total(Timestamp::ZERO, total);
        }
        signs(&errors, Timestamp::ZERO)
    };
    assert_eq!(after(&[7, 8, 9, 10]), []);
    assert_eq!(after(&[7, 8, 9, 10, 11]), [(Sign::ErrorCount, Severity::Note)]);
    assert_eq!(after(&[7, 8, 9, 10, 11, 11]), []);
    assert_eq!(after(&[7, 8, 9, 10, 0, 1]), [], "a new life counts anew");
}
