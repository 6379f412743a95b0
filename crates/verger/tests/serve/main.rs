//! The real program as a child process: what a new user, an operator and an orchestrator see of `verger serve`.

mod checkpoints;
mod life;
mod outward;
mod program;
mod receiver;
