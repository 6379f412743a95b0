//! All agents, and the one way in.

use crate::effect::Effect;
use crate::event::Event;

/// What one step of the core has to say: facts to record and things to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collector {
    /// Facts to record, in order.
    pub events: Vec<Event>,
    /// Things to do once the facts are on disk, in order.
    pub effects: Vec<Effect>,
}

/// All agents.
#[derive(Debug, Default)]
pub struct Fleet {}
