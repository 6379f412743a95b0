//! What was spent and saved, by hand and at random.

use proptest::prelude::*;

use super::{Delta, Ending, Policy, Waste};
use crate::record::{from_row, to_row};
use crate::resources::Used;
use crate::time::{Span, Timestamp};

const UNLIMITED: Used = Used { tokens: u64::MAX, cost_micros: u64::MAX };

fn at(minutes: u64) -> Timestamp {
    Timestamp::ZERO + Span::minutes(minutes)
}

fn tokens(tokens: u64) -> Used {
    Used { tokens, cost_micros: tokens * 3 }
}

/// An agent that used 100 tokens a minute for half an hour, all in vain.
fn stuck_for_half_an_hour() -> Waste {
    let mut waste = Waste::new(at(0));
    for minute in 1..=30 {
        waste.on_used(at(minute), tokens(100));
    }
    waste.on_stuck(at(30), at(0));
    waste
}

#[test]
fn x17_what_was_used_since_the_trouble_began_was_spent_in_vain() {
    let mut waste = Waste::new(at(0));
    waste.on_used(at(5), tokens(500));
    waste.on_progress(at(5));
    for minute in 6..=35 {
        waste.on_used(at(minute), tokens(100));
    }
    assert_eq!(waste.total(at(35)).spent, tokens(0), "nobody knows yet");
    assert_eq!(waste.on_stuck(at(35), at(5)).spent, tokens(3_000), "all since the last progress");
    assert_eq!(waste.on_stuck(at(35), at(5)), Delta::default(), "once");
    waste.on_used(at(40), tokens(70));
    assert_eq!(waste.total(at(40)).spent, tokens(3_070));
    waste.on_ended(at(41), Ending::ByItself, UNLIMITED, &Policy::default());
    waste.on_used(at(45), tokens(900));
    assert_eq!(waste.total(at(500)), Delta { spent: tokens(3_070), saved: tokens(0) });
}

#[test]
fn x17_a_trouble_that_began_after_the_last_progress_takes_its_part() {
    let mut waste = Waste::new(at(0));
    waste.on_used(at(30), tokens(3_000));
    assert_eq!(waste.on_stuck(at(30), at(20)).spent, tokens(1_000), "evenly over the half hour");
}

#[test]
fn x17_what_is_used_idle_or_waiting_belongs_to_no_trouble() {
    let mut waste = Waste::new(at(0));
    waste.on_rest(at(0), true);
    waste.on_used(at(10), tokens(100));
    waste.on_rest(at(20), false);
    waste.on_used(at(21), tokens(7));
    assert_eq!(waste.on_stuck(at(30), at(0)).spent, tokens(7));
    waste.on_rest(at(30), true);
    waste.on_used(at(40), tokens(100));
    waste.on_ended(at(90), Ending::Stopped, UNLIMITED, &Policy::default());
    assert_eq!(waste.total(at(90)).spent, tokens(7));
    assert_eq!(waste.total(at(150)).saved, tokens(14), "7 in 30 min of work, for an hour");
}

#[test]
fn x17_savings_are_an_estimate_over_a_persons_absence_and_no_longer() {
    let mut waste = stuck_for_half_an_hour();
    waste.on_ended(at(30), Ending::Stopped, UNLIMITED, &Policy::default());
    assert_eq!(waste.total(at(30)).saved, tokens(0));
    assert_eq!(waste.total(at(60)).saved, tokens(3_000), "as far as it has come");
    assert_eq!(waste.deadline(at(60)), Some(at(90)));
    assert_eq!(waste.wake(at(89)), Delta::default());
    assert_eq!(waste.wake(at(90)).saved, tokens(6_000));
    assert_eq!(waste.total(at(1_000)).saved, tokens(6_000), "and not beyond");
    assert_eq!(waste.deadline(at(90)), None);
}

#[test]
fn x17_how_a_trouble_ended_decides_whether_anything_was_saved() {
    let saved = |ending, left| {
        let mut waste = stuck_for_half_an_hour();
        waste.on_ended(at(30), ending, left, &Policy::default());
        waste.total(at(90)).saved
    };
    assert_eq!(saved(Ending::ByItself, UNLIMITED), tokens(0));
    assert_eq!(saved(Ending::Died, UNLIMITED), tokens(0));
    assert_eq!(saved(Ending::Stopped, UNLIMITED), tokens(6_000));
    assert_eq!(saved(Ending::AfterIntervention, UNLIMITED), tokens(6_000));
    assert_eq!(saved(Ending::Stopped, tokens(250)), tokens(250), "its limit would have ended it");
}

#[test]
fn x17_a_trouble_that_comes_back_ends_the_savings() {
    let mut waste = stuck_for_half_an_hour();
    waste.on_ended(at(30), Ending::AfterIntervention, UNLIMITED, &Policy::default());
    waste.on_used(at(50), tokens(2_000));
    let delta = waste.on_stuck(at(50), at(40));
    assert_eq!(delta.saved, tokens(1_000), "ten minutes of peace");
    assert_eq!(delta.spent, tokens(1_000), "and ten of trouble");
    assert_eq!(waste.deadline(at(50)), None);
}

#[test]
fn x17_a_burst_of_seconds_is_no_rate() {
    let mut waste = Waste::new(at(0));
    waste.on_stuck(at(0), at(0));
    waste.on_used(at(0), tokens(100));
    waste.on_ended(at(0), Ending::Stopped, UNLIMITED, &Policy::default());
    assert_eq!(waste.total(at(60)).saved, tokens(6_000), "100 a minute, not 100 a moment");
}

#[derive(Clone, Debug)]
enum Deed {
    Used(u64),
    Progress,
    Rest(bool),
    Stuck(u64),
    Ended(u8, u64),
    Wake,
    Forgotten,
    Restart,
}

fn deeds() -> impl Strategy<Value = Vec<(u64, Deed)>> {
    let deed = prop_oneof![
        4 => prop_oneof![0..10_000_u64, any::<u64>()].prop_map(Deed::Used),
        1 => Just(Deed::Progress),
        1 => any::<bool>().prop_map(Deed::Rest),
        2 => (0..20_000_000_u64).prop_map(Deed::Stuck),
        2 => (0..4_u8, any::<u64>()).prop_map(|(ending, left)| Deed::Ended(ending, left)),
        1 => Just(Deed::Wake),
        1 => Just(Deed::Forgotten),
        1 => Just(Deed::Restart),
    ];
    prop::collection::vec((0..3_000_000_u64, deed), 0..60)
}

fn perform(waste: &mut Waste, now: Timestamp, deed: &Deed) -> Delta {
    const ENDINGS: [Ending; 4] = [Ending::ByItself, Ending::AfterIntervention, Ending::Stopped, Ending::Died];
    match *deed {
        Deed::Used(used) => waste.on_used(now, Used { tokens: used, cost_micros: used }),
        Deed::Progress => {
            waste.on_progress(now);
            Delta::default()
        }
        Deed::Rest(resting) => {
            waste.on_rest(now, resting);
            Delta::default()
        }
        Deed::Stuck(ago) => waste.on_stuck(now, now - Span::millis(ago)),
        Deed::Ended(ending, left) => {
            let left = Used { tokens: left, cost_micros: left };
            waste.on_ended(now, ENDINGS[usize::from(ending)], left, &Policy::default())
        }
        Deed::Wake => waste.wake(now),
        Deed::Forgotten => waste.on_forgotten(now),
        Deed::Restart => {
            *waste = from_row(&to_row(waste)).expect("a row that was just written");
            Delta::default()
        }
    }
}

proptest! {
    #[test]
    fn x17_nothing_is_counted_twice(deeds in deeds()) {
        let (mut waste, mut now) = (Waste::new(Timestamp::ZERO), Timestamp::ZERO);
        let (mut used, mut fleet, mut shown) = (0_u64, Delta::default(), Delta::default());
        for (millis, deed) in &deeds {
            now += Span::millis(*millis);
            let early = waste.clone();
            if waste.claim.is_none_or(|claim| now < claim.until) {
                prop_assert_eq!(waste.wake(now), Delta::default());
                prop_assert_eq!(&early, &waste, "waking early is harmless");
            }
            if let Deed::Used(tokens) = deed {
                used = used.saturating_add(*tokens);
            }
            fleet = fleet.plus(perform(&mut waste, now, deed));
            let total = waste.total(now);
            prop_assert!(total.spent.tokens <= used, "no more was spent than used");
            prop_assert!(shown.spent.tokens <= total.spent.tokens, "nothing is taken back");
            if let (Some(spell), None) = (waste.spell, waste.claim) {
                prop_assert!(waste.saved_until <= spell.since, "no moment is both saved and spent");
            }
            prop_assert!(waste.spell.is_none() || waste.claim.is_none());
            prop_assert!(waste.deadline(now).is_none_or(|due| now < due));
            shown = total;
        }
        fleet = fleet.plus(waste.wake(now + Span::hours(2)));
        prop_assert_eq!(fleet, waste.total(now + Span::hours(2)), "the fleet's sum is the agents'");
        prop_assert_eq!(waste.deadline(now), None);
    }

    #[test]
    fn x17_a_restart_at_any_point_changes_nothing(deeds in deeds()) {
        let (mut steady, mut restarted) = (Waste::new(Timestamp::ZERO), Waste::new(Timestamp::ZERO));
        let mut now = Timestamp::ZERO;
        for (millis, deed) in &deeds {
            now += Span::millis(*millis);
            restarted = from_row(&to_row(&restarted)).expect("a row that was just written");
            prop_assert_eq!(perform(&mut steady, now, deed), perform(&mut restarted, now, deed));
        }
    }

    #[test]
    fn x17_a_damaged_row_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut waste: Waste = from_row(&bytes).unwrap_or_default();
        waste.on_used(at(1), UNLIMITED);
        waste.on_stuck(at(2), at(0));
        waste.on_ended(at(3), Ending::Stopped, UNLIMITED, &Policy::default());
        waste.wake(at(900));
    }
}
