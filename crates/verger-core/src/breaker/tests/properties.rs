//! Whatever happens, and in whatever order.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{SLOW, at};
use crate::breaker::{
    Breaker, CallResult, FailureKind, Mode, Outcome, PermitNumber, Phase, Policy, Reason, Reported, State,
    Transition, Window,
};
use crate::record::{from_row, to_row};
use crate::time::{Span, Timestamp};

/// Something that happens to one breaker.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// A call asks.
    Ask,
    /// The `nth` permit that was ever given is reported, again perhaps.
    Report(usize, Outcome),
    See(Outcome),
    Wake,
    Reset,
    Set(Mode),
    /// Something claims to have a permit.
    Forge(u64, Outcome),
}

pub(super) fn outcome() -> impl Strategy<Value = Outcome> {
    let result = prop_oneof![
        3 => Just(CallResult::Ok),
        5 => Just(CallResult::Failed),
        1 => Just(CallResult::Outage),
        1 => Just(CallResult::NotMade),
    ];
    (result, proptest::option::of(0..60_u64))
        .prop_map(|(result, secs)| Outcome { result, took: secs.map(Span::secs) })
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => Just(Happening::Ask),
        6 => (0..40_usize, outcome()).prop_map(|(nth, outcome)| Happening::Report(nth, outcome)),
        6 => outcome().prop_map(Happening::See),
        4 => Just(Happening::Wake),
        1 => Just(Happening::Reset),
        1 => mode().prop_map(Happening::Set),
        1 => (any::<u64>(), outcome()).prop_map(|(number, outcome)| Happening::Forge(number, outcome)),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    let other = prop_oneof![Just(Mode::ForcedOpen), Just(Mode::Disabled), Just(Mode::MetricsOnly)];
    prop_oneof![3 => Just(Mode::Normal), 1 => other]
}

fn policy() -> impl Strategy<Value = Policy> {
    let numbers = (0..6_u16, 0..90_u64, 0..4_u8, 0..400_u64, any::<u8>(), any::<u8>());
    let rates = (proptest::option::of(0..1_200_u16), any::<bool>(), 0..1_200_u16, 0..400_u16, 0..600_u64);
    (numbers, rates).prop_map(|(numbers, rates)| Policy {
        failure_threshold: numbers.0,
        open_for: Span::secs(numbers.1),
        half_open_requests: numbers.2,
        permit_timeout: Span::secs(numbers.3),
        window: numbers.4,
        minimum_calls: numbers.5,
        failure_rate: rates.0,
        slow_after: rates.1.then_some(SLOW),
        slow_rate: rates.2,
        growth_percent: rates.3,
        open_for_max: Span::secs(rates.4),
        stable_after: Span::secs(300),
        outages_count: rates.1,
    })
}

/// Times of what happens: often at once, now and then long after.
fn story(length: usize) -> impl Strategy<Value = Vec<(u64, Happening)>> {
    vec((prop_oneof![3 => Just(0), 3 => 0..5_000_u64, 1 => 0..200_000_u64], happening()), 1..length)
}

/// A breaker, the permits it gave, and everything it said.
#[derive(Clone, Debug)]
struct Player {
    breaker: Breaker,
    now: Timestamp,
    permits: Vec<PermitNumber>,
    said: Vec<(Timestamp, Transition)>,
    answers: Vec<String>,
}

impl Player {
    fn new(breaker: Breaker, now: Timestamp) -> Self {
        Self { breaker, now, permits: Vec::new(), said: Vec::new(), answers: Vec::new() }
    }

    fn play(&mut self, policy: &Policy, after: u64, happening: &Happening) {
        self.now += Span::millis(after);
        let (now, mut out) = (self.now, Vec::new());
        let breaker = &mut self.breaker;
        let mut answer = String::new();
        match happening {
            Happening::Ask => match breaker.acquire(now, policy, &mut out) {
                Ok(permit) => {
                    self.permits.push(permit);
                    answer = format!("{permit:?}");
                }
                Err(refusal) => answer = format!("{refusal:?}"),
            },
            Happening::Report(nth, outcome) => {
                if let Some(permit) = self.permits.iter().rev().nth(*nth) {
                    answer = format!("{:?}", breaker.report(now, *permit, *outcome, policy, &mut out));
                }
            }
            Happening::Forge(number, outcome) => {
                if let Ok(permit) = (*number).try_into().map(PermitNumber) {
                    answer = format!("{:?}", breaker.report(now, permit, *outcome, policy, &mut out));
                }
            }
            Happening::See(outcome) => breaker.observe(now, *outcome, policy, &mut out),
            Happening::Wake => breaker.wake(now, policy, &mut out),
            Happening::Reset => breaker.reset(now, &mut out),
            Happening::Set(mode) => breaker.set_mode(now, *mode, &mut out),
        }
        self.answers.push(answer);
        self.said.extend(out.into_iter().map(|transition| (now, transition)));
    }
}

/// Lets the dependency recover: everybody who may call succeeds.
fn recover(breaker: &mut Breaker, mut now: Timestamp, policy: &Policy) -> Timestamp {
    let mut out = Vec::new();
    for _ in 0..20 {
        if breaker.state() == State::Closed {
            break;
        }
        if let Some(deadline) = breaker.deadline() {
            now = now.max(deadline);
        }
        if let Ok(permit) = breaker.acquire(now, policy, &mut out) {
            let done = Outcome { result: CallResult::Ok, took: Some(Span::ZERO) };
            assert_eq!(breaker.report(now, permit, done, policy, &mut out), Reported::Counted);
        }
    }
    now
}

/// How long it may take until what works again is used again: a permit that expires, and the longest open time.
fn slowest(policy: &Policy) -> Span {
    let open = policy.open_for_max.max(policy.open_for).max(Span::millis(1));
    (open + policy.permit_timeout.max(Span::millis(1))).times(2)
}

proptest! {
    #[test]
    fn l24_changes_follow_each_other_and_only_those_that_may_happen_do(policy in policy(), story in story(60)) {
        let mut player = Player::new(Breaker::new(at(0)), at(0));
        for (after, happening) in &story {
            player.play(&policy, *after, happening);
        }
        let mut state = State::Closed;
        for (_, change) in &player.said {
            prop_assert_eq!(change.from, state);
            state = change.to;
            let may = match (change.from, change.to) {
                (State::Closed, State::Open) => !matches!(change.reason, Reason::ProbeFailed | Reason::ProbeExpired),
                (State::Open, State::HalfOpen) => matches!(change.reason, Reason::Waited { .. }),
                (State::HalfOpen, State::Open) =>
                    matches!(change.reason, Reason::ProbeFailed | Reason::ProbeExpired | Reason::ModeSet { .. }),
                (State::HalfOpen, State::Closed) =>
                    matches!(change.reason, Reason::ProbesSucceeded | Reason::Reset | Reason::ModeSet { .. }),
                _ => matches!(change.reason, Reason::Reset | Reason::ModeSet { .. }),
            };
            prop_assert!(may, "{:?}", change);
        }
        prop_assert_eq!(player.breaker.state(), state);
    }

    #[test]
    fn l24_half_open_never_lets_more_pass_than_its_quota(policy in policy(), story in story(60)) {
        let mut player = Player::new(Breaker::new(at(0)), at(0));
        let (mut passed, mut given_back) = (0_u32, 0);
        for (after, happening) in &story {
            let (before, known) = (player.said.len(), player.permits.len());
            player.play(&policy, *after, happening);
            if player.said.len() != before {
                (passed, given_back) = (0, 0);
            }
            if player.breaker.state() != State::HalfOpen {
                continue;
            }
            passed += (player.permits.len() - known) as u32;
            let learnt_nothing = |outcome: &Outcome| match outcome.result {
                CallResult::NotMade => true,
                CallResult::Outage => !policy.outages_count,
                CallResult::Ok | CallResult::Failed => false,
            };
            if let Happening::Report(_, outcome) | Happening::Forge(_, outcome) = happening {
                let counted = player.answers.last().is_some_and(|answer| answer == "Counted");
                given_back += u32::from(counted && learnt_nothing(outcome));
            }
            prop_assert!(passed - given_back <= u32::from(policy.half_open_requests.max(1)));
        }
    }

    #[test]
    fn x11_nothing_latches(policy in policy(), story in story(60)) {
        let mut player = Player::new(Breaker::new(at(0)), at(0));
        for (after, happening) in &story {
            player.play(&policy, *after, happening);
        }
        let mut breaker = player.breaker;
        if breaker.mode() == Mode::ForcedOpen {
            breaker.set_mode(player.now, Mode::Normal, &mut Vec::new());
        }
        let well = recover(&mut breaker, player.now, &policy);
        prop_assert_eq!(breaker.state(), State::Closed);
        prop_assert!(well.since(player.now) <= slowest(&policy), "it took {}", well.since(player.now));
    }

    #[test]
    fn waking_early_changes_nothing_and_the_deadline_changes_something(policy in policy(), story in story(40)) {
        let mut player = Player::new(Breaker::new(at(0)), at(0));
        for (after, happening) in &story {
            player.play(&policy, *after, happening);
            let mut out = Vec::new();
            player.breaker.wake(player.now, &policy, &mut out);
            player.said.extend(out.drain(..).map(|change| (player.now, change)));
            let Some(deadline) = player.breaker.deadline() else { continue };
            prop_assert!(player.now < deadline);
            let mut early = player.breaker.clone();
            early.wake(deadline - Span::millis(1), &policy, &mut out);
            prop_assert_eq!(&early, &player.breaker);
            prop_assert_eq!(&out, &[]);
            early.wake(deadline, &policy, &mut out);
            prop_assert_eq!(out.len(), 1);
        }
    }

    #[test]
    fn a_restart_at_any_point_gives_the_same_future(policy in policy(), story in story(60), cut in 0..60_usize) {
        let mut player = Player::new(Breaker::new(at(0)), at(0));
        let cut = cut.min(story.len());
        for (after, happening) in &story[..cut] {
            player.play(&policy, *after, happening);
        }
        let mut restarted = player.clone();
        restarted.breaker = from_row(&to_row(&player.breaker)).expect("our own row");
        restarted.breaker.fit(player.now, &policy);
        prop_assert_eq!(&restarted.breaker, &player.breaker);
        for (after, happening) in &story[cut..] {
            player.play(&policy, *after, happening);
            restarted.play(&policy, *after, happening);
        }
        prop_assert_eq!(player.said, restarted.said);
        prop_assert_eq!(player.answers, restarted.answers);
    }

    #[test]
    fn no_more_calls_are_counted_than_were_made(reports in vec((0..200_usize, 0..400_usize), 0..80)) {
        let policy = Policy { failure_threshold: u16::MAX, ..Policy::default() };
        let mut breaker = Breaker::new(at(0));
        let (mut permits, mut counted, mut out) = (Vec::new(), 0, Vec::new());
        for (more, nth) in reports {
            permits.extend((0..more).filter_map(|_| breaker.acquire(at(1), &policy, &mut out).ok()));
            let Some(permit) = permits.iter().rev().nth(nth) else { continue };
            let failed = CallResult::Failed.into();
            let reported = breaker.report(at(1), *permit, failed, &policy, &mut out);
            counted += usize::from(reported == Reported::Counted);
            if nth < 128 {
                let again = breaker.report(at(1), *permit, failed, &policy, &mut out);
                prop_assert_eq!(again, Reported::Repeated);
            }
        }
        prop_assert_eq!(usize::from(breaker.streak), counted);
        prop_assert_eq!(breaker.outstanding() as usize + counted, permits.len());
    }

    #[test]
    fn a_damaged_row_is_refused_or_has_a_way_back(
        times in any::<[u64; 6]>(),
        numbers in any::<[u8; 6]>(),
        wide in any::<(u128, u32, u32, u16)>(),
        policy in policy(),
        story in story(20),
    ) {
        let [one, two, three, failed, slow, next] = times;
        let time = Timestamp::from_millis;
        let phase = match numbers[0] % 3 {
            0 => Phase::Closed { since: time(one) },
            1 => Phase::Open { since: time(one), until: time(two) },
            _ => Phase::HalfOpen {
                opened_at: time(one),
                since: time(two),
                probe_until: (numbers[1] % 2 == 0).then_some(time(three)),
                good: numbers[2] % 4,
            },
        };
        let modes = [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::MetricsOnly];
        let breaker = Breaker {
            phase,
            mode: modes[usize::from(numbers[3] % 4)],
            openings: numbers[4],
            streak: wide.3,
            window: Window { failed, slow, calls: numbers[5] },
            last_failure: Some(time(three)),
            last_failure_kind: FailureKind::Slow,
            used: time(two),
            next,
            given: wide.1,
            pending: wide.0,
            older: wide.2,
        };
        let mut read: Breaker = from_row(&to_row(&breaker)).expect("every value can be read");
        prop_assert_eq!(&read, &breaker);
        read.fit(at(1_000), &policy);
        prop_assert!(read.mode() == Mode::Normal || read.deadline().is_none(), "a person's word needs no time");
        let mut player = Player::new(read, at(1_000));
        for (after, happening) in &story {
            player.play(&policy, *after, happening);
        }
        player.breaker.set_mode(player.now, Mode::Normal, &mut Vec::new());
        let well = recover(&mut player.breaker, player.now, &policy);
        prop_assert_eq!(player.breaker.state(), State::Closed);
        prop_assert!(well.since(player.now) <= slowest(&policy), "it took {}", well.since(player.now));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..80)) {
        if let Ok(mut breaker) = from_row::<Breaker>(&bytes) {
            breaker.fit(at(5), &Policy::default());
            recover(&mut breaker, at(5), &Policy::default());
        }
    }
}
