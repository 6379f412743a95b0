//! Steps that brought nothing since something last did. Whatever is new ends it.

use super::gain::{Loss, Reason};
use super::judgement::{Evidence, Kind};

/// Points for one look after the other: about a hundred and seventy with the very same answer are a verdict.
const LOOKS_POINTS: [u32; 5] = [0, 1, 0, 1, 1];

/// Steps alike from which on they are called the same.
const ALIKE_MIN: u32 = 3;

/// Steps that brought nothing since something last did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standstill {
    pub(super) evidence: Evidence,
    pub(super) since: u32,
    /// Looks that were no haste.
    pub(super) looks: u32,
    /// The call of its first step, and whether another one came since.
    pub(super) call: u64,
    pub(super) varied: bool,
    /// Points by what they are for.
    pub(super) shares: [u32; Reason::COUNT],
}

impl Standstill {
    pub(super) fn add(&mut self, step: u32, call: u64, loss: Loss) {
        if self.evidence.count == 0 {
            (self.since, self.call) = (step, call);
        }
        self.varied |= call != self.call;
        self.evidence.push(step);
        self.evidence.alike = self.evidence.alike.max(loss.alike + 1);
        self.evidence.points = self.evidence.points.saturating_add(loss.points);
        self.shares[loss.reason as usize] = self.shares[loss.reason as usize].saturating_add(loss.points);
    }

    /// A look at something that takes its time: three points for five of them.
    pub(super) fn add_look(&mut self, step: u32, call: u64, loss: Loss) {
        self.looks += 1;
        let points = LOOKS_POINTS[self.looks as usize % LOOKS_POINTS.len()];
        self.add(step, call, Loss { points, ..loss });
    }

    /// What most of the points are for.
    pub(super) fn kind(&self) -> Kind {
        let share = |reason: Reason| self.shares[reason as usize];
        let half = self.evidence.points / 2;
        if share(Reason::Redone) + share(Reason::Rewritten) >= half {
            Kind::ReappliedEdit
        } else if share(Reason::Prose) >= half {
            Kind::Monologue
        } else if !self.varied {
            Kind::IdenticalCall
        } else if share(Reason::Repeated) >= half {
            Kind::Cycle
        } else if share(Reason::Failed) >= half && self.evidence.alike >= ALIKE_MIN {
            Kind::SameError
        } else if share(Reason::FoundNothing) + share(Reason::Repeated) >= half {
            Kind::FruitlessSearch
        } else {
            Kind::Standstill
        }
    }
}
