//! Carries effects out: runs programs and calls webhooks, each within its time and none without bound.
//!
//! ```text
//!            Full ◄─┐                            ┌─► Program: a process group of its own
//! Job ─► Carrier ───┴─► its lane ─► a free slot ─┤
//!                       (in order)  (few at once)└─► Post: a signed request
//!   ◄──────────────────────────────── Done, with a sentence for people
//! ```
//!
//! What it promises:
//!
//! - **Nothing outlives its time.** A program that is late is asked to end, with all of its process group, and then
//!   made to. A receiver that does not answer is given up. Dropping the [`Carrier`] ends what still runs.
//! - **Nothing grows.** Jobs in hand, jobs at once, what is kept of an output and what is read of an answer are
//!   bounded; a job too many is refused at once.
//! - **One at a time for each agent.** Two jobs of a lane never overlap and keep their order.
//! - **No secret leaks.** A program gets a short list of variables and what was configured; a report names the
//!   host of a webhook, never its path, and never a secret.
//! - **No stranger is touched.** A group is signalled only while its first process is still ours to reap, so its
//!   number cannot have become another's. The trees of agents that Verger starts itself are in [`process`].
//!
//! Deliberately absent: what to do and when to try again (the core decides), the words of a document (the server
//! writes them), terminals (the binary has them). A program that is run for an effect and moves its children to a
//! session of their own takes them out of reach.

mod bounded;
mod carrier;
mod final_states;
pub mod process;
mod program;
mod run_record;
mod secret;
mod signature;
mod tail;
mod webhook;
mod webhook_reply;

pub use bounded::{Bounded, NotTaken};
pub use carrier::{Carrier, Done, Job, Options, Work};
pub use final_states::FinalStateFile;
pub use program::{Program, RunEnd, RunReport, StartError};
pub use run_record::{RunEnded, RunRecord};
pub use secret::{LengthError, Secret, SecretError};
pub use signature::{SignatureError, Stamp, Verifier, sign};
pub use tail::Tail;
pub use webhook::{ClientError, Post, Target, TargetError, Webhooks};
pub use webhook_reply::{Answer, Delivery, Reply, Unreachable};
