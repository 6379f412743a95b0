//! The core through its one way in: timelines in, readable logs out. One file for each group of requirements.

mod timeline;

mod breakers;
mod cardinality;
mod checkpoint_writes;
mod circles;
mod health;
mod incarnations;
mod inquiries;
mod interventions;
mod ladder;
mod liveness;
mod messages;
mod modes_and_budgets;
mod monitor_away;
mod no_time;
mod one_life;
mod probes;
mod readiness;
mod recovery;
mod recovery_hears;
mod reload;
mod resources;
mod restore;
mod rests;
mod roles;
mod storms;
mod tasks;
mod together;
mod verdicts;
mod waiting;
mod waste;
mod work;
