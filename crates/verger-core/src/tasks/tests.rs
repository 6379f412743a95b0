//! Tasks: 001 §1.5 row by row, what agents say, limits, and any order of events.

mod board;
mod hostile;
mod inquiries;
mod lives;
mod random;
mod stalls;
