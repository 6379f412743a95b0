//! The outbox port: the way effects leave.

use verger_core::effect::Effect;

/// Takes effects that may be carried out now.
///
/// The engine calls it only after the commit that holds the effect, once, and after a crash at most once
/// more. What becomes of the effect returns through the inbox as a signal. It must not block: it hands the
/// effect to whoever carries it out.
pub trait Outbox {
    /// Carry this out.
    fn release(&mut self, effect: &Effect);
}
