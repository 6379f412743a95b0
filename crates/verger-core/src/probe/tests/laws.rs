//! What holds whatever happens, in whatever order.

use proptest::prelude::*;

use super::*;
use crate::record::{from_row, to_row};

/// What may happen to the probes of an agent.
#[derive(Clone, Debug)]
enum Deed {
    Wake,
    /// The result of a run: of the one that is awaited, or of any.
    Result {
        probe: usize,
        run: Option<u64>,
        life: u32,
        outcome: Outcome,
    },
    Configure(Vec<ProbeSpec>),
    Begin(u32),
    End,
    Hurry(bool),
}

const NAMES: [&str; 4] = ["http", "tcp", "custom", "grpc"];

fn spec() -> impl Strategy<Value = ProbeSpec> {
    (0..4_usize, 1_000..20_000_u64, 100..25_000_u64, 0..12_u8, 1..6_u8, any::<bool>(), 0..2_u64).prop_map(
        |(name, interval, timeout, failures, passes, included, target)| ProbeSpec {
            interval: Span::millis(interval),
            timeout: Span::millis(timeout.min(interval - 1)),
            failure_threshold: failures,
            success_threshold: passes,
            included,
            ..ProbeSpec::new(NAMES[name], target)
        },
    )
}

fn deed() -> impl Strategy<Value = Deed> {
    let outcome = prop::sample::select(vec![
        Outcome::Passed,
        Outcome::Passed,
        Outcome::Failed,
        Outcome::Failed,
        Outcome::TimedOut,
        Outcome::Inconclusive,
    ]);
    prop_oneof![
        10 => Just(Deed::Wake),
        14 => (0..4_usize, prop_oneof![8 => Just(None), 1 => (0..50_u64).prop_map(Some)], 1..3_u32, outcome)
            .prop_map(|(probe, run, life, outcome)| Deed::Result { probe, run, life, outcome }),
        2 => prop::collection::vec(spec(), 0..4).prop_map(Deed::Configure),
        1 => (1..3_u32).prop_map(Deed::Begin),
        1 => Just(Deed::End),
        1 => any::<bool>().prop_map(Deed::Hurry),
    ]
}

fn happen(probes: &mut ProbeHealth, now: Timestamp, deed: &Deed) -> (Vec<Change>, bool) {
    let mut out = Vec::new();
    let mut taken = true;
    match deed {
        Deed::Wake => probes.wake(now, &mut out),
        Deed::Result { probe, run, life, outcome } => {
            let awaited = match probes.probe(&NAMES[*probe].into()).map(|probe| probe.run) {
                Some(Run::Running { run, .. }) => run,
                Some(Run::Due { .. }) | None => 0,
            };
            let result = ProbeResult {
                probe: NAMES[*probe].into(),
                run: run.unwrap_or(awaited),
                incarnation: Incarnation(*life),
                outcome: *outcome,
                description: None,
                error: None,
                duration: Span::ZERO,
                data: None,
            };
            taken = probes.on_result(now, &result, &mut out).is_ok();
        }
        Deed::Configure(specs) => taken = probes.configure(now, specs, &mut out).is_ok(),
        Deed::Begin(life) => probes.begin(now, Incarnation(*life), 3, &mut out),
        Deed::End => probes.end(now),
        Deed::Hurry(hurried) => probes.hurry(now, *hurried),
    }
    (out, taken)
}

fn life() -> impl Strategy<Value = Vec<(u64, Deed)>> {
    let first = spec().prop_map(|spec| (0, Deed::Configure(vec![spec])));
    let rest = prop::collection::vec((0..6_000_u64, deed()), 1..150);
    (first, rest).prop_map(|(first, rest)| [vec![(0, Deed::Begin(1)), first], rest].concat())
}

proptest! {
    #[test]
    fn p04_probes_bear_anything_and_a_restart_changes_nothing(deeds in life()) {
        let mut probes = ProbeHealth::default();
        let mut now = Timestamp::ZERO;
        let mut runs = std::collections::BTreeSet::new();
        for (pause, deed) in deeds {
            now += Span::millis(pause);
            let mut restored: ProbeHealth = from_row(&to_row(&probes)).expect("its own row");
            let before = probes.clone();
            let (changes, taken) = happen(&mut probes, now, &deed);
            prop_assert_eq!((&changes, taken), (&happen(&mut restored, now, &deed).0, taken));
            prop_assert_eq!(&probes, &restored);
            prop_assert!(taken || (probes == before && changes.is_empty()), "ignored means unchanged");
            prop_assert!(probes.probes.len() <= PROBES_MAX);
            for change in &changes {
                match change {
                    Change::Start { run, .. } => prop_assert!(runs.insert(*run), "a number used twice"),
                    Change::StateChanged { from, to, .. } => prop_assert!(from != to && probes.state() == *to),
                    Change::ProbeChanged { from, to, .. } => prop_assert_ne!(from, to),
                    Change::Lost { .. } => {}
                }
            }
            for probe in &probes.probes {
                let Track { state, failures, passes } = probe.track;
                prop_assert!(failures == 0 || passes == 0);
                prop_assert!(state != State::Unknown || failures + passes == 0);
                prop_assert!(state != State::Healthy || failures == 0);
                prop_assert!(state != State::Unhealthy || failures > 0);
            }
            prop_assert!(probes.view().is_none_or(|view| view.summary.chars().count() <= 500));
        }
    }

    #[test]
    fn p04_waking_early_changes_nothing_and_in_time_something(deeds in life()) {
        let mut probes = ProbeHealth::default();
        let mut now = Timestamp::ZERO;
        let mut out = Vec::new();
        for (pause, deed) in deeds {
            now += Span::millis(pause);
            happen(&mut probes, now, &deed);
            probes.wake(now, &mut out);
            let Some(due) = probes.deadline(now) else { continue };
            prop_assert!(now < due);
            let before = probes.clone();
            out.clear();
            probes.wake(due - Span::millis(1), &mut out);
            prop_assert_eq!((&probes, out.len()), (&before, 0));
            before.clone().wake(due, &mut out);
            prop_assert!(!out.is_empty());
        }
    }

    #[test]
    fn p04_whatever_happened_probes_that_pass_make_an_agent_healthy(deeds in life()) {
        let mut probes = ProbeHealth::default();
        let mut now = Timestamp::ZERO;
        for (pause, deed) in deeds {
            now += Span::millis(pause);
            happen(&mut probes, now, &deed);
        }
        happen(&mut probes, now, &Deed::Begin(9));
        let counts = probes.probes.iter().any(|probe| probe.spec.included);
        for _ in 0..200 {
            let Some(due) = probes.deadline(now) else { break };
            now = due;
            happen(&mut probes, now, &Deed::Wake);
            for probe in 0..NAMES.len() {
                happen(&mut probes, now, &Deed::Result { probe, run: None, life: 9, outcome: Outcome::Passed });
            }
        }
        let expected = if counts { State::Healthy } else { State::Unknown };
        prop_assert_eq!(probes.state(), expected);
    }

    #[test]
    fn p04_no_row_of_noise_does_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(mut probes) = from_row::<ProbeHealth>(&bytes) {
            let now = Timestamp::from_millis(9);
            probes.wake(now, &mut Vec::new());
            probes.hurry(now, true);
            probes.deadline(Timestamp::NEVER);
            probes.view();
        }
    }

    #[test]
    fn p04_a_row_with_impossible_numbers_does_no_harm(
        interval in any::<u64>(), timeout in any::<u64>(), thresholds in any::<(u8, u8)>(), next_run in any::<u64>(),
    ) {
        let mut agent = Agent::new();
        agent.probes.next_run = next_run;
        let spec = &mut agent.probes.probes[0].spec;
        (spec.interval, spec.timeout) = (Span::millis(interval), Span::millis(timeout));
        (spec.failure_threshold, spec.success_threshold) = thresholds;
        let mut probes: ProbeHealth = from_row(&to_row(&agent.probes)).expect("a row");
        for deed in [Deed::Wake, Deed::Hurry(true), Deed::Wake] {
            happen(&mut probes, at(60), &deed);
            happen(&mut probes, at(60), &Deed::Result { probe: 0, run: None, life: 1, outcome: Outcome::Failed });
            probes.deadline(at(60));
        }
    }
}
