//! What decides a run, and who hears how far it is.

pub use verger_core::policy::Mode;
use verger_core::policy::Policies;

/// What decides a run. Equal options give equal reports, byte for byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// For how many days agents work and faults begin. A few hours of healing follow.
    pub days: f64,
    /// How many agents there are.
    pub agents: u32,
    /// Whether anything goes wrong, in the world or with the monitor.
    pub faults: bool,
    /// What the monitor may do without a person.
    pub mode: Mode,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, days: 7.0, agents: 100, faults: true, mode: Mode::Full }
    }
}

impl Options {
    /// The product's own policies, in this run's mode.
    pub(crate) fn policies(&self) -> Policies {
        let mut policies = Policies::default();
        policies.each(|role| role.mode = self.mode);
        policies
    }
}

/// Hears how far a run is.
pub trait Progress {
    /// So many days of the run are over.
    fn advanced(&mut self, done_days: f64);
}

/// Nobody listens.
impl Progress for () {
    fn advanced(&mut self, _done_days: f64) {}
}
