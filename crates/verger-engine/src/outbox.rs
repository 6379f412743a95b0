//! The outbox port: the way effects leave.

use verger_core::effect::{Action, Effect, EffectKey};

/// Takes effects that may be carried out now.
///
/// The engine calls it only after the commit that holds the effect, once, and after a crash at most once
/// more. What becomes of the effect returns through the inbox as a signal. It must not block: it hands the
/// effect to whoever carries it out.
pub trait Outbox {
    /// Carry this out.
    fn release(&mut self, effect: &Effect);

    /// Carry this out, which an earlier life of the monitor was told to, and of which nothing was heard.
    fn release_again(&mut self, effect: &Effect) {
        self.release(effect);
    }

    /// Whether what is released of this kind waits until it is fetched.
    ///
    /// Then its release is not yet its doing, and it is released again after any number of restarts. What was
    /// [released again](Self::release_again) must not be handed over before the engine has answered
    /// [`Message::Handing`](crate::Message::Handing): so it is done at most once more.
    fn holds(&self, _action: &Action) -> bool {
        false
    }

    /// This need not be done any more: its agent began another life, or is not watched any more.
    fn withdraw(&mut self, _key: &EffectKey) {}
}
