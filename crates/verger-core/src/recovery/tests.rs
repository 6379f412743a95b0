//! What recovery does, told as scripts; and what it never does, whatever comes.

mod chain;
mod closing;
mod counts;
mod late;
mod limits;
mod lives;
mod orders;
mod properties;
mod survey;
mod world;
