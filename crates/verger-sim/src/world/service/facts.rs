//! What was really the case with a service, and everything that was asked about it: the measure of its breaker.

use verger_core::breaker::{BreakerName, Refused};
use verger_core::time::Span;

use crate::world::time::SimTime;

/// One service.
#[derive(Clone, Debug)]
pub struct ServiceFacts {
    /// The breaker before it.
    pub breaker: BreakerName,
    /// What went wrong with it, in order of time.
    pub troubles: Vec<Trouble>,
    /// Every time a call to it was wanted, in order of time.
    pub asks: Vec<Ask>,
}

/// One stretch in which a service was not well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// How it showed.
    pub kind: TroubleKind,
    /// Since when.
    pub began: SimTime,
    /// Until when, if it is over.
    pub ended: Option<SimTime>,
}

/// How a service that is not well shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TroubleKind {
    /// Every call fails at once.
    Fails,
    /// Every call is told that the service is down or limits calls.
    Unavailable,
    /// No call is ever answered; callers give up after their own time.
    Hangs,
    /// Calls succeed and take many times as long.
    Slow,
    /// It fails and works in quick succession.
    Flaps,
    /// About half of the calls fail.
    FailsPartly,
}

impl TroubleKind {
    /// Whether every call fails while it lasts.
    pub const fn is_outright(self) -> bool {
        match self {
            Self::Fails | Self::Unavailable | Self::Hangs => true,
            Self::Slow | Self::Flaps | Self::FailsPartly => false,
        }
    }
}

/// One call that was wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// The place of whoever wanted it.
    pub agent: u32,
    /// When the monitor was asked, or would have been.
    pub at: SimTime,
    /// What the monitor answered and when, if it did; possibly when nobody waited for it any more.
    pub answer: Option<(SimTime, Answered)>,
    /// When the call was made, if it was.
    pub called: Option<SimTime>,
    /// Whether it was made with a permit. Who gets no answer calls without one, and reports nothing.
    pub permitted: bool,
    /// When the monitor first heard how it went, if it did.
    pub heard: Option<SimTime>,
}

/// What the monitor answers who wants to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It may.
    Permitted,
    /// It may not.
    Denied {
        /// Why.
        because: Refused,
        /// When asking again makes sense.
        retry_after: Span,
    },
    /// Nobody watches.
    Unwatched,
}

/// Names one [`Ask`] within a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskId {
    pub(crate) service: u32,
    pub(crate) nth: u32,
}

impl ServiceFacts {
    pub(crate) const fn new(breaker: BreakerName) -> Self {
        Self { breaker, troubles: Vec::new(), asks: Vec::new() }
    }

    /// What was wrong with it at this moment, if anything was.
    pub fn trouble_at(&self, at: SimTime) -> Option<&Trouble> {
        let after = self.troubles.partition_point(|trouble| trouble.began <= at);
        let last = after.checked_sub(1).map(|place| &self.troubles[place])?;
        last.ended.is_none_or(|ended| at < ended).then_some(last)
    }

    /// Somebody wants to call it. Answers how that is called.
    pub(crate) fn want(&mut self, service: u32, agent: u32, at: SimTime) -> AskId {
        let nth = self.asks.len() as u32;
        self.asks.push(Ask { agent, at, answer: None, called: None, permitted: false, heard: None });
        AskId { service, nth }
    }
}
