use super::*;

const LOOP: Seen = Seen { looping: true, excused: false, unseen: false };
const NO_LOOP: Seen = Seen { looping: false, excused: false, unseen: false };
const EXCUSED: Seen = Seen { looping: false, excused: true, unseen: false };

/// A worker in a session, with the defaults of 003.
struct Worker {
    trend: Trend,
    policy: JudgePolicy,
    steps: u64,
}

impl Worker {
    fn new() -> Self {
        let policy = JudgePolicy::default();
        let mut trend = Trend::default();
        trend.begin(at(0), "s", &policy);
        Self { trend, policy, steps: 0 }
    }

    /// One past its first check, at two minutes, with an accepted step.
    fn running() -> Self {
        let mut worker = Self::new();
        worker.step(60, Verdict::Accept, NO_LOOP);
        assert_eq!(worker.check(120, NO_LOOP).standing, Standing::Healthy);
        worker
    }

    fn step(&mut self, secs: u64, verdict: Verdict, seen: Seen) -> Option<Assessment> {
        self.steps += 1;
        self.trend.on_step(at(secs), "s", self.steps, Some(verdict), seen, &self.policy)
    }

    /// So many steps that are to be done again, in one second.
    fn retries(&mut self, secs: u64, count: u64, seen: Seen) -> Vec<Severity> {
        (0..count).filter_map(|_| self.step(secs, Verdict::Retry, seen)?.ticket).collect()
    }

    fn check(&mut self, secs: u64, seen: Seen) -> Assessment {
        self.trend.wake(at(secs), seen, &self.policy).expect("a check is due")
    }
}

/// The standing and the ticket at the first check after so many retries, when all came before that check.
fn after(retries: u64, seen: Seen) -> (Standing, Option<Severity>) {
    let mut worker = Worker::running();
    let tickets = worker.retries(130, retries, seen);
    let found = worker.trend.assess(at(130), seen, &worker.policy).expect("a session");
    assert_eq!(found.steps_since_last_accept, retries);
    (found.standing, tickets.last().copied())
}

#[test]
fn j02_fewer_than_5_steps_since_the_last_accept_are_healthy() {
    for retries in 0..5 {
        assert_eq!(after(retries, LOOP), (Standing::Healthy, None), "{retries}");
    }
}

#[test]
fn j02_5_to_9_steps_are_a_warning_without_a_ticket() {
    for retries in 5..10 {
        assert_eq!(after(retries, LOOP), (Standing::Warning, None), "{retries}");
    }
}

#[test]
fn j02_10_to_14_steps_are_a_medium_ticket_if_the_evidence_shows_a_loop() {
    for retries in 10..15 {
        assert_eq!(after(retries, LOOP), (Standing::Medium, Some(Severity::Medium)), "{retries}");
        assert_eq!(after(retries, NO_LOOP), (Standing::Warning, None), "{retries}");
    }
}

#[test]
fn j02_15_to_19_steps_are_a_high_ticket() {
    for retries in 15..20 {
        assert_eq!(after(retries, NO_LOOP), (Standing::High, Some(Severity::High)), "{retries}");
    }
}

#[test]
fn j02_20_steps_and_more_are_a_critical_ticket() {
    for retries in [20, 21, 40, 63, 64, 65, 200] {
        assert_eq!(after(retries, NO_LOOP), (Standing::Critical, Some(Severity::Critical)), "{retries}");
    }
}

#[test]
fn j02_a_stall_of_4_minutes_is_a_critical_ticket() {
    let mut worker = Worker::running();
    let found = worker.check(240, NO_LOOP);
    assert_eq!((found.standing, found.stall), (Standing::Healthy, Some(Span::secs(180))), "3 min");
    assert_eq!(worker.trend.deadline(at(240), &worker.policy), Some(at(300)), "not two minutes later");
    assert_eq!(worker.trend.wake(at(299), NO_LOOP, &worker.policy), None, "early");
    let found = worker.check(300, NO_LOOP);
    assert_eq!((found.standing, found.ticket), (Standing::Critical, Some(Severity::Critical)));
    assert_eq!(found.stall, Some(Span::minutes(4)));
}

#[test]
fn j02_the_first_check_ever_never_writes_a_ticket() {
    let mut worker = Worker::new();
    assert_eq!(worker.retries(60, 30, LOOP), [], "nor does a step before it");
    let first = worker.check(120, LOOP);
    assert_eq!((first.standing, first.ticket), (Standing::Critical, None));
    let second = worker.check(240, LOOP);
    assert_eq!(second.ticket, Some(Severity::Critical));
    assert!(first.to_string().contains("given time to start"), "{first}");
}

#[test]
fn j02_a_first_check_after_a_long_silence_finds_no_stall() {
    let mut worker = Worker::new();
    assert_eq!(worker.check(900, NO_LOOP).stall, None, "one check alone proves nothing");
    assert_eq!(worker.check(1_020, NO_LOOP).ticket, Some(Severity::Critical));
}

#[test]
fn j02_steps_unchanged_at_two_checks_are_a_stall_and_one_new_step_ends_it() {
    let mut worker = Worker::running();
    worker.step(230, Verdict::Accept, NO_LOOP);
    assert_eq!(worker.check(240, NO_LOOP).stall, None, "one more than at the check before");
    assert_eq!(worker.check(360, NO_LOOP).stall, Some(Span::secs(130)));
    assert_eq!(worker.check(470, NO_LOOP).ticket, Some(Severity::Critical));
    let recovered = worker.step(480, Verdict::Accept, NO_LOOP).expect("it moves again");
    assert!(recovered.recovered);
    assert_eq!((recovered.standing, recovered.ticket, recovered.stall), (Standing::Healthy, None, None));
}

#[test]
fn j02_whoever_has_a_reason_to_stand_still_is_not_stalled() {
    let mut worker = Worker::running();
    for secs in (240..4_000).step_by(120) {
        assert_eq!(worker.check(secs, EXCUSED).stall, None, "{secs}");
    }
    assert_eq!(worker.check(4_080, NO_LOOP).standing, Standing::Healthy, "counted from the answer");
    assert_eq!(worker.check(4_200, NO_LOOP).ticket, Some(Severity::Critical));
}

#[test]
fn j02_thresholds_are_configurable() {
    let mut worker = Worker::running();
    worker.policy = JudgePolicy {
        warn_at: 1,
        medium_at: 2,
        high_at: 3,
        critical_at: 4,
        stall_critical: Span::secs(30),
        ..JudgePolicy::default()
    };
    assert_eq!(worker.retries(130, 4, LOOP), [Severity::Medium, Severity::High, Severity::Critical]);
    let mut worker = Worker::running();
    worker.policy.stall_critical = Span::secs(90);
    assert_eq!(worker.check(240, NO_LOOP).ticket, Some(Severity::Critical));
}

#[test]
fn j02_a_ticket_is_written_once_for_each_severity_and_again_after_a_while() {
    let mut worker = Worker::running();
    assert_eq!(worker.retries(130, 25, LOOP), [Severity::Medium, Severity::High, Severity::Critical]);
    let mut written = Vec::new();
    for secs in (240..=4_000).step_by(120) {
        let by_step = worker.step(secs, Verdict::Retry, LOOP).and_then(|found| found.ticket);
        let by_check = worker.check(secs, LOOP).ticket;
        written.extend(by_step.into_iter().chain(by_check).map(|severity| (secs, severity)));
    }
    assert_eq!(written, [(2_040, Severity::Critical), (3_840, Severity::Critical)], "every half hour");
}

#[test]
fn j02_a_condition_ends_with_health_and_not_with_a_warning() {
    let mut worker = Worker::running();
    assert_eq!(worker.retries(130, 12, LOOP), [Severity::Medium]);
    assert!(!worker.check(240, NO_LOOP).recovered, "the loop is out of sight, the steps are still bad");
    assert_eq!(worker.check(360, LOOP).ticket, None, "so it is the same condition");
    let accepted = worker.step(370, Verdict::Accept, LOOP).expect("news");
    assert!(accepted.recovered);
    assert_eq!(worker.retries(380, 10, LOOP), [Severity::Medium], "and this is another");
}

#[test]
fn j02_retry_reject_and_escalate_count_and_continue_does_not() {
    for (verdict, counted) in [
        (Verdict::Accept, 0),
        (Verdict::Retry, 3),
        (Verdict::Reject, 3),
        (Verdict::Escalate, 3),
        (Verdict::Continue, 0),
    ] {
        let mut worker = Worker::running();
        for _ in 0..3 {
            worker.step(130, verdict, NO_LOOP);
        }
        assert_eq!(worker.trend.steps_since(&worker.policy), counted, "{verdict:?}");
    }
    let mut worker = Worker::running();
    worker.policy.continue_counts = true;
    worker.step(130, Verdict::Continue, NO_LOOP);
    assert_eq!(worker.trend.steps_since(&worker.policy), 1);
}

impl Trend {
    fn steps_since(&self, policy: &JudgePolicy) -> u64 {
        self.assess(at(0), Seen::default(), policy).map_or(0, |found| found.steps_since_last_accept)
    }
}

#[test]
fn j02_steps_that_come_twice_late_or_unjudged_first_are_counted_once() {
    let policy = JudgePolicy::default();
    let mut trend = Trend::default();
    trend.begin(at(0), "s", &policy);
    let mut step = |number, verdict| {
        trend.on_step(at(1), "s", number, verdict, NO_LOOP, &policy);
        (trend.total, trend.steps_since(&policy))
    };
    assert_eq!(step(3, Some(Verdict::Retry)), (1, 1));
    assert_eq!(step(3, Some(Verdict::Retry)), (1, 1), "twice");
    assert_eq!(step(4, None), (2, 1), "not judged yet");
    assert_eq!(step(4, Some(Verdict::Retry)), (2, 2), "judged");
    assert_eq!(step(4, None), (2, 2), "the line without its verdict once more");
    assert_eq!(step(2, Some(Verdict::Accept)), (3, 2), "late, and before the others");
    assert_eq!(step(1, Some(Verdict::Retry)), (4, 2), "before the ACCEPT");
    assert_eq!(step(3, Some(Verdict::Accept)), (4, 1), "judged anew");
}

#[test]
fn j02_what_is_forgotten_is_still_counted_from_the_last_accept() {
    let mut worker = Worker::running();
    worker.retries(130, 100, NO_LOOP);
    worker.step(131, Verdict::Accept, NO_LOOP);
    worker.retries(132, 70, NO_LOOP);
    let found = worker.trend.assess(at(132), NO_LOOP, &worker.policy).expect("a session");
    assert_eq!((found.total_steps, found.steps_since_last_accept), (172, 70));
    assert_eq!(found.recent_verdicts.len(), 40);
    let late = worker.trend.on_step(at(133), "s", 20, Some(Verdict::Accept), NO_LOOP, &worker.policy);
    assert_eq!((late, worker.trend.total), (None, 172), "too late to matter");
}

#[test]
fn j02_another_session_begins_anew_and_steps_of_the_old_one_are_not_its_own() {
    let mut worker = Worker::running();
    worker.retries(130, 30, NO_LOOP);
    worker.trend.begin(at(140), "s", &worker.policy);
    assert_eq!(worker.trend.steps_since(&worker.policy), 30, "the same session");
    worker.trend.begin(at(150), "t", &worker.policy);
    assert_eq!(worker.retries(160, 30, NO_LOOP), [], "steps of s");
    assert_eq!(worker.trend.total, 0);
    assert_eq!(worker.trend.deadline(at(160), &worker.policy), Some(at(270)));
    worker.trend.end();
    assert_eq!(worker.trend.deadline(at(160), &worker.policy), None);
    assert_eq!(worker.trend.wake(at(9_999), LOOP, &worker.policy), None);
}

#[test]
fn j01_the_reasoning_can_be_read() {
    let mut worker = Worker::running();
    worker.retries(130, 12, LOOP);
    let text = worker.check(240, LOOP).to_string();
    assert_eq!(
        text,
        "Last check: total_steps=1. This check: total_steps=13. steps_since_last_accept=12. \
         The evidence shows a loop. This is a medium ticket."
    );
    let text = worker.check(370, NO_LOOP).to_string();
    assert_eq!(
        text,
        "Last check: total_steps=13. This check: total_steps=13. Unchanged at two checks: stalled for 4m. \
         steps_since_last_accept=12. No loop is seen. This is a critical ticket."
    );
}

#[test]
fn j01_the_words_of_step_logs_are_understood() {
    for (word, verdict) in [
        ("ACCEPT", Some(Verdict::Accept)),
        ("retry", Some(Verdict::Retry)),
        (" REJECT ", Some(Verdict::Reject)),
        ("CONTINUE", Some(Verdict::Continue)),
        ("ESCALATE", Some(Verdict::Escalate)),
        ("", None),
        ("APPROVED", None),
    ] {
        assert_eq!(Verdict::from_word(word), verdict, "{word}");
    }
}

#[test]
fn j02_what_is_not_seen_is_neither_a_standstill_nor_over() {
    let unseen = Seen { unseen: true, ..Seen::default() };
    let mut worker = Worker::running();
    assert_eq!(worker.trend.wake(at(300), unseen, &worker.policy), None);
    assert_eq!(worker.check(420, NO_LOOP).ticket, None, "its time begins when it is seen again");
    assert_eq!(worker.check(540, NO_LOOP).ticket, Some(Severity::Critical));
    assert_eq!(worker.trend.wake(at(660), unseen, &worker.policy), None, "it did not recover");
    assert!(worker.step(670, Verdict::Accept, unseen).is_some_and(|found| found.recovered), "a step is seen");
}
