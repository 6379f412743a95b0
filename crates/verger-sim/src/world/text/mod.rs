//! What simulated agents ask of their tools, are answered, and say: whole texts, as an edge would hand them over.
//!
//! Nothing here is copied from recordings; what the texts look like is: coding agents with tools, with a shell alone,
//! or with an editor of commands, whose arguments are JSON or plain, whose answers are pages, hits, logs and constant
//! words of success. Every agent has a [`Voice`], with chance of its own: what is said decides nothing about when.

mod build;
mod code;
mod edit;
mod poll;
mod read;
mod report;
mod search;
mod shell;
mod suite;
mod talk;
mod told;
mod trouble;
mod voice;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use build::build;
pub(crate) use code::{Source, block, line};
pub(crate) use edit::{Sweep, edit, shown, write};
pub(crate) use poll::Job;
pub(crate) use read::{Pager, read};
pub(crate) use report::{brief, report};
pub(crate) use search::{find, nothing, search};
pub(crate) use shell::command;
pub(crate) use suite::Suite;
pub(crate) use talk::{answer, next, question, reply, request, stop};
pub(crate) use told::{Brings, Told, json};
pub(crate) use trouble::{KINDS, outage, trouble};
pub(crate) use voice::{Dialect, Voice};
