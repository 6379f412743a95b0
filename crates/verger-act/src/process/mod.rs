//! Processes that Verger started: who they are, who belongs to them, how they fare, how they end (L12, L22, X10).
//!
//! The one place that touches the operating system's processes, by `/proc` and pidfds. Nothing here decides about an
//! agent: it tells what is so, and ends a tree when it is told to.
//!
//! ```text
//! Mark ──► in the child's environment          Tree ──► sample() ──► look() ──► Aliveness
//! Identity ──► Handle (a pidfd, checked)        │  └──► stop() ──► Stopped: who ended, how, who is left
//!      └── root of a ───────────────────────────┘
//!                         FinalState: last output, names of variables, open files, git
//! ```
//!
//! What it promises:
//!
//! - **No stranger is touched.** A process is its number, the time it was started at and the boot of the machine.
//!   Signals go through a pidfd that was checked after it was opened; a number that became another's is never hit.
//! - **No orphan is left.** Who moved to another session, forked twice or lost its parent is found: by descent, by the
//!   mark in its environment, by its control group, and because a subreaper inherits it.
//! - **Nothing waits without bound.** Every call that may take long has a limit, and says who is left after it.

mod aliveness;
mod apart;
mod archive;
mod cgroup;
mod doing;
mod enter;
mod exit;
mod git;
mod group;
mod handle;
mod identity;
mod kin;
mod mark;
mod memory_end;
mod proc;
mod sample;
mod stop;
mod tree;

pub use aliveness::{Aliveness, Seen, Sign, look};
pub use apart::{become_subreaper, spawn_apart};
pub use archive::{FinalState, OpenFile, ProcessAtEnd};
pub use cgroup::Cgroup;
pub use doing::{Doing, doing};
pub use enter::{Entry, enter};
pub use exit::End;
pub use git::GitState;
pub(crate) use group::Group;
pub use handle::{Handle, OpenError, SignalError};
pub use identity::{Boot, Identity};
pub use mark::{AGENT_VARIABLE, Mark, MarkError, RUN_VARIABLE};
pub use memory_end::MemoryWatch;
pub use proc::State;
pub use rustix::process::Signal;
pub use sample::{RootSample, Sample};
pub use stop::{Ended, How, Left, Patience, Stopped};
pub use tree::{Tree, TreeRecord};
