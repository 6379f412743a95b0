//! From a checked configuration to a monitor that serves, and to its orderly end.
//!
//! ```text
//! Configuration ─► lock and open the store ─► listen ─► watch ─► serve … shutdown
//!                                                                   │
//!      exit ◄─ store closed ◄─ engine flushed ◄─ answers finished ◄─┘
//! ```
//!
//! Whatever cannot be had is said before anything is watched: a second monitor on the same directory, an address that
//! is taken, a certificate that cannot be read.

mod background;
mod body;
mod connections;
mod fatal;
mod files;
mod listener;
mod local;
mod log;
mod pace;
mod reload;
mod service;
mod systemd;
mod tls;
mod welcome;

pub use fatal::ServeError;
pub use local::serve_locally;
pub use log::{About, Log};
pub use reload::{Load, Reload};
pub use service::{Options, Serving};
pub use systemd::Systemd;
