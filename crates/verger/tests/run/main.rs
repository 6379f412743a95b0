//! `verger run` as people use it: the real program around real programs, with a real monitor.

#[expect(dead_code, reason = "what other tests of the monitor need is not needed here")]
#[path = "../serve/program.rs"]
mod program;

mod bytes;
mod comebacks;
mod endings;
mod freezes;
mod healthy;
mod killed;
mod limits;
mod reminders;
mod screens;
mod terminal;
mod terminations;
mod unwatched;
mod wrapped;
