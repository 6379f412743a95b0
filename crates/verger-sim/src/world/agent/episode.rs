//! What an agent is up to: a stretch of one behaviour, planned round by round.

use super::batch::Batch;
use super::build::Build;
use super::burst::Burst;
use super::failures::Failures;
use super::kit::Kit;
use super::paging::Paging;
use super::person::Person;
use super::polling::Polling;
use super::provider::Hiccup;
use super::repeat::Repeat;
use super::subagent::Subagent;
use super::testing::Testing;
use crate::rng::Rng;
use crate::world::condition::Condition;
use crate::world::fault::{Alternation, ErrorLoop, ExactLoop, Exhaustion, FaultKind, NearLoop, Runaway};
use crate::world::time::SimTime;

/// A stretch of one behaviour.
#[derive(Debug)]
pub(crate) enum Episode {
    Burst(Burst),
    Build(Build),
    Polling(Polling),
    Paging(Paging),
    Testing(Testing),
    Batch(Batch),
    Subagent(Subagent),
    Person(Person),
    Repeat(Repeat),
    Failures(Failures),
    Hiccup(Hiccup),
    ExactLoop(ExactLoop),
    Alternation(Alternation),
    NearLoop(NearLoop),
    ErrorLoop(ErrorLoop),
    Runaway(Runaway),
    Exhaustion(Exhaustion),
}

impl Episode {
    /// What a healthy agent does next within a task.
    ///
    /// Ordinary bursts of some nine calls are most of it. Short repeats make up 130 of 17,201 recorded
    /// calls; with some 15 calls an episode that is one episode in nine.
    pub(crate) fn draw(rng: &mut Rng, now: SimTime) -> Self {
        match rng.weighted(&[480, 25, 30, 45, 110, 40, 50, 18, 110, 35, 25]) {
            0 => Self::Burst(Burst::draw(rng)),
            1 => Self::Build(Build::draw(rng)),
            2 => Self::Polling(Polling::draw(rng, now)),
            3 => Self::Paging(Paging::draw(rng)),
            4 => Self::Testing(Testing::draw(rng)),
            5 => Self::Batch(Batch::draw(rng)),
            6 => Self::Subagent(Subagent::draw(rng)),
            7 => Self::Person(Person::draw(rng, now)),
            8 => Self::Repeat(Repeat::draw(rng)),
            9 => Self::Failures(Failures::draw(rng)),
            _ => Self::Hiccup(Hiccup::draw(rng)),
        }
    }

    /// What an agent does that this fault has befallen, unless it does nothing at all.
    pub(crate) fn faulty(kind: FaultKind, rng: &mut Rng) -> Option<Self> {
        match kind {
            FaultKind::ExactLoop => Some(Self::ExactLoop(ExactLoop::draw(rng))),
            FaultKind::Alternation => Some(Self::Alternation(Alternation::draw(rng))),
            FaultKind::NearLoop => Some(Self::NearLoop(NearLoop::new())),
            FaultKind::ErrorLoop => Some(Self::ErrorLoop(ErrorLoop::draw(rng))),
            FaultKind::TokenRunaway => Some(Self::Runaway(Runaway::draw(rng))),
            FaultKind::ContextExhaustion => Some(Self::Exhaustion(Exhaustion)),
            FaultKind::Freeze
            | FaultKind::Crash
            | FaultKind::HostLoss
            | FaultKind::Partition
            | FaultKind::ProviderOutage
            | FaultKind::ClockSkew
            | FaultKind::Transport
            | FaultKind::EffectFailure => None,
        }
    }

    /// What is the case meanwhile.
    pub(crate) fn condition(&self) -> Condition {
        match self {
            Self::Burst(_) | Self::Build(_) | Self::Batch(_) | Self::Repeat(_) | Self::Failures(_) => {
                Condition::Working
            }
            Self::Polling(_) => Condition::Polling,
            Self::Paging(_) => Condition::Paging,
            Self::Testing(_) => Condition::Testing,
            Self::Subagent(_) => Condition::Subagent,
            Self::Person(_) => Condition::WaitingPerson,
            Self::Hiccup(_) => Condition::WaitingProvider,
            Self::ExactLoop(_) => Condition::Faulty(FaultKind::ExactLoop),
            Self::Alternation(_) => Condition::Faulty(FaultKind::Alternation),
            Self::NearLoop(_) => Condition::Faulty(FaultKind::NearLoop),
            Self::ErrorLoop(_) => Condition::Faulty(FaultKind::ErrorLoop),
            Self::Runaway(_) => Condition::Faulty(FaultKind::TokenRunaway),
            Self::Exhaustion(_) => Condition::Faulty(FaultKind::ContextExhaustion),
        }
    }

    /// Plans one more round; `false` if it was the last.
    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        match self {
            Self::Burst(burst) => burst.round(kit),
            Self::Build(build) => build.round(kit),
            Self::Polling(polling) => polling.round(kit),
            Self::Paging(paging) => paging.round(kit),
            Self::Testing(testing) => testing.round(kit),
            Self::Batch(batch) => batch.round(kit),
            Self::Subagent(subagent) => subagent.round(kit),
            Self::Person(person) => person.round(kit),
            Self::Repeat(repeat) => repeat.round(kit),
            Self::Failures(failures) => failures.round(kit),
            Self::Hiccup(hiccup) => hiccup.round(kit),
            Self::ExactLoop(repeat) => repeat.round(kit),
            Self::Alternation(alternation) => alternation.round(kit),
            Self::NearLoop(near) => near.round(kit),
            Self::ErrorLoop(errors) => errors.round(kit),
            Self::Runaway(runaway) => runaway.round(kit),
            Self::Exhaustion(exhaustion) => exhaustion.round(kit),
        }
    }
}
