//! Distributed traces (L48): whose trace a decision belongs to, and the way of its spans to a receiver.
//!
//! ```text
//! traceparent ─► request ─► delivery ─► door ──► Tracer: the newest trace of each agent
//!                                                  │  ▲
//!      webhooks, programs, events ◄─ traceparent ──┘  │ effects out, outcomes in, events written
//!                                                  └──┴─► spans ─► bounded queue ─► exporter ─► OTLP
//! ```
//!
//! The core knows nothing of it: what comes in and what goes out is matched by agent, effect and number of event. All
//! of it is memory of this life of the monitor; after a restart, what is done once more begins a trace of its own.
//! Nothing waits for a receiver: a span that finds no room displaces the oldest, and is counted.

mod context;
mod exporter;
mod otlp;
mod queue;
mod recent;
mod request;
mod span;
mod tracer;

pub use context::Context;
pub(crate) use exporter::{Exporter, Receiver, flush};
pub use queue::Exported;
pub(crate) use recent::Recent;
pub(crate) use request::{Begun, current, within};
pub use tracer::Tracer;
