//! What is stored of an agent's steps.

use super::{Damaged, Stored};
use crate::signs::steps::{Kept, Moment, What};
use crate::stretch::{NamedStep, Stretch};
use crate::stuck::Kind;

fields!(Kept { number, at, what });
fields!(Moment { now, wall });
fields!(Stretch { kind, since_step, since, count, alike, steps });
fields!(NamedStep { number, at, tool });

variants!(What { 0 = Beginning, 1 = Step { tool, print } });
variants!(Kind {
    0 = IdenticalCall, 1 = Cycle, 2 = ReappliedEdit, 3 = SameError, 4 = FruitlessSearch, 5 = Monologue,
    6 = DialogueLoop, 7 = Standstill,
});
