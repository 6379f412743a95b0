//! `verger.sock`: the same addresses for local clients, over a socket that knows who is at its other end.
//!
//! The file is its owner's alone (0600), and the kernel says which process connected. So an admin's token that is used
//! from inside a watched process tree is found out: an agent must not decide about itself. This stops accidents, not
//! malice under the same user.

mod ancestry;
mod peer;
mod socket;

pub use ancestry::{AGENT_ID, AncestryError, watched_by};
pub use peer::LocalPeer;
pub use socket::{BindError, Socket};
