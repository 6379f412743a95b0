use proptest::prelude::*;

use super::*;

/// Feeds a script of `<minutes>m <tokens>` entries: so many minutes, each with so many tokens; 0 is a pause.
fn fed(script: &[(u64, u64)]) -> (TokenUse, Timestamp) {
    let mut agent = TokenUse::default();
    let now = feed(&mut agent, Timestamp::ZERO, script);
    (agent, now)
}

fn feed(agent: &mut TokenUse, mut now: Timestamp, script: &[(u64, u64)]) -> Timestamp {
    for &(minutes, tokens) in script {
        for _ in 0..minutes {
            now += Span::minutes(1);
            agent.observe_used(now, tokens);
        }
    }
    now
}

fn spikes((agent, now): &(TokenUse, Timestamp)) -> bool {
    agent.spike(*now, &Policy::default()).is_some()
}

#[test]
fn l08_steady_use_is_normal() {
    assert!(!spikes(&fed(&[(200, 1_000)])));
}

#[test]
fn l08_a_runaway_is_seen_after_a_few_minutes() {
    assert!(!spikes(&fed(&[(30, 1_000), (6, 20_000)])), "the sixth minute is not over");
    let (agent, now) = fed(&[(30, 1_000), (7, 20_000)]);
    let finding = agent.spike(now, &Policy::default()).unwrap();
    assert_eq!(finding.severity, Severity::Degraded);
    assert_eq!((finding.value, finding.threshold), (Measure::Count(20_000), Measure::Count(1_000)));
}

#[test]
fn l08_one_large_minute_is_not_a_spike() {
    assert!(!spikes(&fed(&[(30, 1_000), (1, 90_000), (1, 1_000)])));
    assert!(!spikes(&fed(&[(30, 1_000), (2, 90_000), (1, 1_000), (2, 90_000), (1, 1_000)])));
}

#[test]
fn l08_nothing_is_judged_during_the_warm_up() {
    assert!(!spikes(&fed(&[(4, 1_000), (8, 90_000)])));
}

#[test]
fn l08_bursts_are_usual_for_a_bursty_agent() {
    let script: Vec<_> = (0..40).flat_map(|_| [(2, 300), (2, 9_000)]).collect();
    assert!(!spikes(&fed(&[script, vec![(6, 9_000)]].concat())));
}

#[test]
fn l08_a_new_level_becomes_the_usual_one_in_time() {
    assert!(spikes(&fed(&[(60, 1_000), (600, 20_000)])), "a runaway lasts a night");
    assert!(!spikes(&fed(&[(60, 1_000), (3_500, 20_000)])), "but not for ever");
}

#[test]
fn l08_a_runaway_of_an_uneven_agent_is_found_within_half_an_hour() {
    let uneven = |minutes, times: u64| {
        let day = [400, 9_000, 1_500, 30_000, 700, 3_000, 16_000, 2_000, 1_000, 6_000];
        day.into_iter().cycle().take(minutes).map(|used| (1, used * times)).collect::<Vec<_>>()
    };
    assert!(!spikes(&fed(&uneven(400, 1))), "that is its way");
    assert!(spikes(&fed(&[uneven(120, 1), uneven(30, 12)].concat())));
}

#[test]
fn l08_a_spike_ends_when_most_minutes_are_ordinary_again_or_with_silence() {
    assert!(spikes(&fed(&[(30, 1_000), (9, 20_000), (7, 1_000)])));
    assert!(!spikes(&fed(&[(30, 1_000), (9, 20_000), (9, 1_000)])));
    assert!(
        spikes(&fed(&[(30, 1_000), (3, 20_000), (1, 900), (3, 20_000), (1, 900), (2, 20_000)])),
        "with gaps"
    );
    let (agent, now) = fed(&[(30, 1_000), (8, 20_000)]);
    let over = now + Span::minutes(10);
    assert_eq!(agent.spike(over, &Policy::default()), None);
    assert_eq!(agent.deadline(now, &Policy::default()), Some(over));
}

#[test]
fn l08_five_minutes_of_tokens_in_one_heartbeat_are_not_one_minutes_spike() {
    let (mut agent, mut now) = fed(&[]);
    let mut total = 0;
    for beat in 0..60 {
        now += Span::minutes(5);
        total += if beat == 30 { 9_000 } else { 5_000 };
        agent.observe_total(now, total);
        assert_eq!(agent.spike(now, &Policy::default()), None);
    }
    for _ in 0..2 {
        now += Span::minutes(5);
        total += 200_000;
        agent.observe_total(now, total);
    }
    let finding = agent.spike(now, &Policy::default()).unwrap();
    assert_eq!((finding.value, finding.threshold), (Measure::Count(40_000), Measure::Count(1_000)));
}

#[test]
fn l08_tokens_reported_twice_count_once() {
    let (mut agent, mut now) = fed(&[]);
    for minute in 1..100 {
        now += Span::minutes(1);
        agent.observe_used(now, 1_000);
        agent.observe_total(now, minute * 1_000);
    }
    assert_eq!(tokens(agent.median), 1_000);
}

#[test]
fn a_new_life_counts_from_nothing() {
    let (mut agent, mut now) = fed(&[]);
    for total in (0..40).map(|n| n * 1_000).chain((0..40).map(|n| n * 1_000)) {
        now += Span::minutes(1);
        agent.observe_total(now, total);
        assert_eq!(agent.spike(now, &Policy::default()), None);
    }
    agent.reset();
    agent.observe_total(now + Span::minutes(1), 9_000_000);
    assert_eq!(agent.in_minute, 0, "what another life used is not this one's");
}

#[test]
fn l08_an_agent_that_stops_using_tokens_is_noted() {
    let policy = Policy::default();
    let (agent, now) = fed(&[(30, 1_000)]);
    assert_eq!(agent.deadline(now, &policy), Some(now + Span::minutes(15)));
    assert_eq!(agent.stop(now + Span::minutes(15), &policy), None);
    let finding = agent.stop(now + Span::minutes(16), &policy).unwrap();
    assert_eq!((finding.sign, finding.severity), (Sign::TokenStop, Severity::Note));
    assert_eq!(finding.value, Measure::Span(Span::minutes(16)));
}

#[test]
fn l08_an_agent_that_pauses_often_may_pause_long() {
    let (agent, now) = fed(&[(50, 1_000), (9, 0), (50, 1_000), (9, 0), (50, 1_000)]);
    assert_eq!(agent.stop(now + Span::minutes(59), &Policy::default()), None);
    assert!(agent.stop(now + Span::minutes(71), &Policy::default()).is_some());
}

#[test]
fn l08_one_outage_does_not_make_an_agent_unwatched() {
    let (agent, now) = fed(&[(20, 1_000), (600, 0), (20, 1_000)]);
    assert!(agent.stop(now + Span::minutes(16), &Policy::default()).is_some());
}

#[test]
fn l08_an_idle_agent_does_not_stop() {
    let (mut agent, now) = fed(&[(30, 1_000)]);
    agent.on_idle();
    assert_eq!(agent.stop(now + Span::hours(9), &Policy::default()), None);
    assert_eq!(agent.deadline(now, &Policy::default()), None);
}

proptest! {
    #[test]
    fn levels_keep_the_order_and_nearly_the_value(a in 1..=u64::MAX, b in 1..=u64::MAX) {
        prop_assert_eq!(a.cmp(&b).is_le() || level(a) >= level(b), true);
        let back = tokens(level(a));
        prop_assert!(back <= a && a - back <= a / 128);
    }

    #[test]
    fn any_reports_in_any_order_are_borne_and_bounded(
        reports in prop::collection::vec((any::<bool>(), any::<u64>(), 0..10_000_000u64), 0..300)
    ) {
        let mut agent = TokenUse::default();
        let mut now = Timestamp::ZERO;
        for (total, tokens, pause) in reports {
            now += Span::millis(pause);
            if total { agent.observe_total(now, tokens) } else { agent.observe_used(now, tokens) }
            agent.spike(now, &Policy::default());
            agent.stop(now, &Policy::default());
        }
        prop_assert!(agent.usual.len() <= MINUTES);
    }
}
