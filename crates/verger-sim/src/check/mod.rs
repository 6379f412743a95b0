//! What must hold in every run: one checker per file, over the stream of what happened.
//!
//! A checker looks at the monitor from outside and knows only what it committed, what it released and what
//! was really the case. Each is shown to work by a doctored trace that it must refuse. That equal seeds give
//! equal bytes cannot be seen in one run; it is checked by running twice (`tests/determinism.rs`).

mod at_most_twice;
mod blast_radius;
mod blindness;
mod budgets;
mod checkpoints;
mod evidence;
mod found;
mod incarnations;
mod latching;
mod marks;
mod messages;
mod notifications;
mod redone;
mod refusals;
mod restarts;
mod restore;
mod spared;
mod terminations;
mod transitions;
mod write_ahead;

#[cfg(test)]
mod testing;

use std::collections::BTreeMap;

use verger_core::policy::Policies;

use crate::harness::{BreakerLog, Judgement, SeenTime};
use crate::trace::Moment;
use crate::world::{SimTime, Truth};

/// One thing that must hold in every run.
pub trait Checker {
    /// The name in reports.
    fn name(&self) -> &'static str;

    /// Something happened.
    fn observe(&mut self, moment: &Moment<'_>);

    /// The run is over. Says what broke first, if anything did.
    fn finish(&mut self, end: &End<'_>) -> Result<(), String>;
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// When.
    pub at: SimTime,
    /// What was really the case.
    pub truth: &'a Truth,
    /// Every alarm and every fault, measured against the truth.
    pub judgement: &'a Judgement,
    /// How much of true time the monitor had seen by when.
    pub seen: &'a SeenTime,
    /// Every change of every circuit breaker.
    pub breakers: &'a BreakerLog,
}

/// All checkers of a run.
pub struct Checkers(Vec<Box<dyn Checker>>);

/// Every checker there is, for a monitor with these policies.
pub fn all(policies: &Policies) -> Checkers {
    Checkers(vec![
        Box::new(at_most_twice::AtMostTwice::default()),
        Box::new(blast_radius::BlastRadius::new(policies)),
        Box::new(blindness::Blindness),
        Box::new(budgets::Budgets::new(policies.clone())),
        Box::new(checkpoints::NewestCheckpoint::default()),
        Box::new(evidence::NoAlarmWithoutEvidence::default()),
        Box::new(found::FoundInTime),
        Box::new(incarnations::Incarnations::default()),
        Box::new(latching::NothingLatched::default()),
        Box::new(marks::Marks::default()),
        Box::new(messages::MessagesEnd::new(policies)),
        Box::new(notifications::OneNotification::default()),
        Box::new(redone::NotRedone::default()),
        Box::new(refusals::NoEndlessRefusal::new(policies.clone())),
        Box::new(restarts::RecoveryLimits::new(policies.clone())),
        Box::new(restore::RestartChangesNothing::default()),
        Box::new(spared::FailingIsSpared::new(policies.clone())),
        Box::new(terminations::NoHealthyTermination::default()),
        Box::new(transitions::Transitions::default()),
        Box::new(write_ahead::WriteAhead::default()),
    ])
}

impl Checkers {
    /// Something happened.
    pub fn observe(&mut self, moment: &Moment<'_>) {
        for checker in &mut self.0 {
            checker.observe(moment);
        }
    }

    /// The run is over: each checker's name, and `ok` or what broke.
    pub fn finish(&mut self, end: &End<'_>) -> BTreeMap<String, String> {
        let verdict = |checker: &mut Box<dyn Checker>| match checker.finish(end) {
            Ok(()) => "ok".to_owned(),
            Err(broken) => broken,
        };
        self.0.iter_mut().map(|checker| (checker.name().to_owned(), verdict(checker))).collect()
    }
}

/// The first thing that broke.
#[derive(Clone, Debug, Default)]
struct Broken(Option<String>);

impl Broken {
    fn note(&mut self, at: SimTime, what: impl FnOnce() -> String) {
        if self.0.is_none() {
            self.0 = Some(format!("at {at}: {}", what()));
        }
    }

    fn verdict(&self) -> Result<(), String> {
        self.0.clone().map_or(Ok(()), Err)
    }
}
