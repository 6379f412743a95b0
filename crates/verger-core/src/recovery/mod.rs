//! Recovery: a task whose agent ended goes on from its last valid checkpoint, within limits.

mod backoff;
mod chain;
mod closing;
mod counts;
mod decision;
mod doubt;
mod limits;
mod machine;
mod notes;
mod orders;
mod policy;
mod rows;
mod survey;
mod task;
mod turns;
mod view;
mod words;

#[cfg(test)]
mod tests;

pub use chain::{Break, BrokenLink, Candidate, Chain, Checkpoint, Content, ContentHash, Skipped, walk};
pub(crate) use counts::{Count, Counts};
pub use decision::{
    CallOff, Change, Collector, Condition, Context, Decision, Failure, Lost, Neglect, Review, Spawn,
};
pub(crate) use doubt::{AskedToEnd, Doubt, Doubted};
pub(crate) use limits::Budgets;
pub use machine::{Ended, Recoveries, Step};
pub use notes::{Closing, Life};
pub(crate) use notes::{Note, Notes, Word};
pub use orders::{Order, OrderError};
pub use policy::Policy;
pub use rows::RowKey;
pub(crate) use rows::{Counted, Kept};
pub(crate) use task::{Blame, Held, Hold, Phase, Recovery, Shared};
pub use turns::Started;
pub use view::{RecoveryView, Status};
