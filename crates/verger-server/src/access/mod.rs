//! Who asks, and what they may do.
//!
//! Four scopes: nobody in particular on this machine, an agent by its token, a reader, an admin. Only hashes of tokens
//! are kept, and they are what is compared. Before anybody is asked who they are, the request's host and origin are
//! looked at: no web page and no rebound name reaches a local monitor.

mod caller;
mod doorkeeper;
mod origin;
mod secret;
mod session;

pub use caller::{Caller, Denied, Right};
pub use doorkeeper::Doorkeeper;
pub use origin::{Origin, Stranger};
pub use secret::{Secret, SecretError, admin_secret};
pub use session::{LINK_LASTS, SESSION_LASTS, Sessions};
