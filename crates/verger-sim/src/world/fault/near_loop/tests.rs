//! Every manner of going round is found by the judgement that serves the live monitor, and none at once.

use verger_core::stuck::{Detector, Level};

use super::*;
use crate::rng::Rng;

/// After how many calls each of some loops of this manner is found.
fn found_after(draw: fn(&mut Voice) -> Manner) -> Vec<Option<u32>> {
    (0..40)
        .map(|stream| {
            let mut voice = Voice::of(Rng::stream(9, stream));
            let mut manner = draw(&mut voice);
            let (mut detector, mut step) = (Detector::default(), 0);
            (1..=60).find(|_| {
                let Round { said, told } = manner.next(&mut voice);
                let mut stuck = false;
                for (author, text) in said {
                    let Body::Message { step: Some(print), .. } = words(author, &text) else { continue };
                    stuck |= Level::Stuck <= detector.observe(step, &print).level;
                    step += 1;
                }
                stuck |= Level::Stuck <= detector.observe(step, &told.step(None, None)).level;
                step += 1;
                stuck
            })
        })
        .collect()
}

use crate::world::agent::words;
use verger_core::signal::Body;

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
        let after = found_after(draw);
        eprintln!("{name} {after:?}");
    }
}
