//! What agents that fail together lead to, in scripts and in properties.

mod incidents;
mod outages;
mod properties;
mod stops;
mod world;

use world::World;
