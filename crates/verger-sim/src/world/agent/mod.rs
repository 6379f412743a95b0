//! Agents: how they work, wait and rest. One behaviour per file.

mod batch;
mod build;
mod burst;
mod context;
mod day;
mod draw;
mod episode;
mod failures;
mod heartbeat;
mod kit;
mod life;
mod manner;
mod paging;
mod person;
mod plan;
mod polling;
mod provider;
mod repeat;
mod state;
mod step;
mod subagent;
mod testing;

pub(crate) use burst::ordinary;
pub(crate) use draw::hosts;
pub(crate) use episode::Episode;
pub(crate) use kit::Kit;
pub(crate) use life::End;
pub(crate) use state::{Active, Agent, Temper};
pub(crate) use step::words;
