//! `verger.yaml` → sections → checked policies.
//!
//! A file, the environment and flags go in; a [`Configuration`] comes out, or [`Problems`]: everything that is wrong,
//! at once, each with its place, a snippet and the name that was probably meant. Nothing is half applied.
//!
//! ```text
//!  text ──► tree with places ──► values that fit ──► policies, settings ──► Configuration
//!  source   yaml                 shape, kind         apply, sections        or Problems
//!                                  ▲
//!                                keys: one list of names, types, ranges and meanings;
//!                                also read by the JSON Schema and the page of documentation
//! ```
//!
//! Deliberately absent: defaults that the core has (they are read from it), I/O other than [`Source::read`], the
//! process's environment (it is an argument), and colours (the caller's affair).
//!
//! The text may be anybody's. Its size, depth, aliases and numbers are bounded before they are looked at, and what is
//! quoted from it cannot steer a terminal.

mod apply;
mod check;
mod effective;
mod keys;
mod kind;
mod load;
mod nearest;
mod page;
mod place_of_data;
mod problem;
mod quantity;
mod schema;
mod sections;
mod settings;
mod shape;
mod show;
mod source;
mod telemetry;
mod value;
mod yaml;

pub use check::{Report, check};
pub use load::{Flags, LISTEN, Surroundings, load, read_and_load};
pub use nearest::nearest;
pub use page::reference;
pub use place_of_data::{Environment, NoDataDir, data_dir};
pub use problem::{Place, Problem, Problems};
pub use schema::schema;
pub use settings::{
    AgentSettings, Alert, Client, Command, Configuration, Means, MeansBook, MeansPair, Notify, Orchestrator,
    Outward, Retention, Secret, Server, Storage, Tls, Traffic, Webhook,
};
pub use show::{Detail, Effective, Origin};
pub use source::{BYTES_MAX, Source};
pub use telemetry::{DeadMan, LogFormat, LogLevel, LogSettings, Telemetry, Traces};
