//! The real program as a child process: what a new user, an operator and an orchestrator see of `verger serve`.

mod access;
mod checkpoints;
mod circles;
mod clocks;
mod collector;
mod described;
mod doctor;
mod encrypted;
mod herd;
mod hostile;
mod life;
mod metrics;
mod outward;
mod program;
mod receiver;
mod reload;
mod retention;
mod standing;
mod supervised;
mod tools;
mod traces;
