//! What the wire types promise, seen from outside.

mod events;
mod heartbeats;
mod hostile;
mod openapi;
mod redact;
mod signals;
mod spelling;
