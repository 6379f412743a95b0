//! What the wire types promise, seen from outside.

mod redact;
