//! Every manner of going round is found by the judgement that serves the live monitor, and none at once.

use verger_core::signal::Body;
use verger_core::stuck::{Detector, Level, StepPrint};

use super::*;
use crate::rng::Rng;
use crate::world::agent::words;

/// Two laps and a half of the longest: within so many calls each is found.
const FOUND_WITHIN: u32 = 20;

/// After how many calls a loop of this manner is found, if it is.
fn found_after(mut manner: Manner, voice: &mut Voice) -> Option<u32> {
    let (mut detector, mut number) = (Detector::default(), 0);
    let mut is_stuck = |print: &StepPrint| {
        number += 1;
        Level::Stuck <= detector.observe(number, print).level
    };
    (1..=60).find(|_| {
        let Round { said, told } = manner.next(voice);
        let mut stuck = false;
        for (author, text) in said {
            let Body::Message { step: Some(print), .. } = words(author, &text) else { continue };
            stuck |= is_stuck(&print);
        }
        stuck | is_stuck(&told.step(None, None))
    })
}

#[test]
fn every_manner_of_going_round_is_found() {
    let manners: [(&str, fn(&mut Voice) -> Manner); 10] = [
        ("search", |voice| Manner::Search(search::Search::draw(voice))),
        ("files", |voice| Manner::Files(files::Files::draw(voice))),
        ("setup", |voice| Manner::Setup(setup::Setup::draw(voice))),
        ("refusal", |voice| Manner::Refusal(refusal::Refusal::draw(voice))),
        ("reapply", |voice| Manner::Reapply(reapply::Reapply::draw(voice))),
        ("tweak", |voice| Manner::Tweak(tweak::Tweak::draw(voice))),
        ("lap", |voice| Manner::Lap(lap::Lap::draw(voice))),
        ("reread", |voice| Manner::Reread(reread::Reread::draw(voice))),
        ("monologue", |voice| Manner::Monologue(monologue::Monologue::draw(voice))),
        ("dialogue", |voice| Manner::Dialogue(dialogue::Dialogue::draw(voice))),
    ];
    for (name, draw) in manners {
        for stream in 0..100 {
            let voice = &mut Voice::of(Rng::stream(9, stream));
            let manner = draw(voice);
            let after = found_after(manner, voice);
            assert!(
                after.is_some_and(|calls| (3..=FOUND_WITHIN).contains(&calls)),
                "{name} {stream}: {after:?}"
            );
        }
    }
}

#[test]
fn a_seed_decides_how_an_agent_goes_round() {
    let said = |seed| {
        let voice = &mut Voice::draw(seed, 1);
        let mut manner = Manner::draw(voice, true);
        (0..30).map(|_| manner.next(voice).told).collect::<Vec<_>>()
    };
    assert_eq!(said(1), said(1));
    assert_ne!(said(1), said(2));
}

#[test]
fn talk_goes_in_circles_only_where_it_is_heard() {
    let talks = |heard| {
        (0..500).filter(move |stream| {
            matches!(Manner::draw(&mut Voice::of(Rng::stream(1, *stream)), heard), Manner::Dialogue(_))
        })
    };
    assert_eq!(talks(false).count(), 0);
    assert!(talks(true).count() > 10);
}
