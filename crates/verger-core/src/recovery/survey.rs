//! Which checkpoints a task has is asked when a life of it ends. Nothing is started before that is known: a task that
//! began anew because nobody could say what was saved would lose everything that was.

use super::task::{Held, Hold, Phase, Recovery, Scope};
use super::{Chain, Condition, Decision};
use crate::time::Span;

/// A survey that brings nothing is asked for again after this.
const AGAIN: Span = Span::minutes(1);

impl Recovery {
    /// Asks which checkpoints there are.
    pub(crate) fn survey(&mut self, scope: &mut Scope<'_, '_>) {
        self.surveyed = false;
        scope.decide(|task| Decision::Survey { task });
    }

    /// A start is due, and nobody has said which checkpoints there are.
    pub(crate) fn survey_again(&mut self, scope: &mut Scope<'_, '_>) {
        let now = scope.step.now;
        self.hold(now + AGAIN, Held::Survey);
        if scope.step.policy.doubt_patience <= now.since(self.ended_at) {
            self.raise(scope, Condition::ChainUnknown);
        }
        self.survey(scope);
    }

    /// These are the task's checkpoints.
    pub(crate) fn on_checkpoints(&mut self, scope: &mut Scope<'_, '_>, chain: Chain) {
        self.chain = chain;
        self.surveyed = true;
        self.clear(scope, Condition::ChainUnknown);
        if let Phase::Waiting { held: held @ Some(Hold { why: Held::Survey, .. }), .. } = &mut self.phase {
            *held = None;
        }
    }
}
