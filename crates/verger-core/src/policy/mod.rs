//! The thresholds, by role.

/// What may be done to an agent without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing: only look.
    Observe,
    /// Remind it.
    Nudge,
    /// Remind it, then ask people; they decide about stopping.
    Escalate,
    /// All of that, and stop it when nobody answers.
    Full,
}
