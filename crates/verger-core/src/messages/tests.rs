//! Messages: 001 §1.4 row by row, receivers of every kind, limits, and any order of events.

mod desk;
mod hostile;
mod names_and_limits;
mod random;
mod receivers;
mod timeouts;
