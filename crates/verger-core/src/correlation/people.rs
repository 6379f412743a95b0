//! What people order about incidents. Each order is visible as a change.

use super::incident::{Change, Ending, Thaw};
use super::{Correlation, Scope, Step};
use crate::time::Span;

/// What a person orders about an incident of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Go on as if each failed for itself; the incident stays open.
    Thaw,
    /// End nobody for so long from now on.
    Freeze(Span),
    /// These are not one failure.
    Dismiss,
}

impl Correlation {
    /// Carries out what a person ordered. Tells whether there was anything to order it about.
    pub fn order(&mut self, step: &mut Step<'_>, scope: &Scope, order: Order) -> bool {
        match order {
            Order::Thaw => self.thaw(step, scope),
            Order::Freeze(lasting) => self.freeze(step, scope, lasting),
            Order::Dismiss => self.dismiss(step, scope),
        }
    }

    /// Ends the freeze of a scope. Tells whether it was frozen.
    pub fn thaw(&mut self, step: &mut Step<'_>, scope: &Scope) -> bool {
        let frozen = self.incidents.get(scope).is_some_and(|incident| incident.frozen_until.is_some());
        if frozen {
            self.thaw_by(step, scope, Thaw::Person);
        }
        frozen
    }

    /// Freezes a scope for so long from now on, within the policy's longest freeze, while its incident is open.
    /// Tells whether there is one.
    pub fn freeze(&mut self, step: &mut Step<'_>, scope: &Scope, lasting: Span) -> bool {
        if !self.incidents.contains_key(scope) {
            return false;
        }
        let until = step.now + lasting.min(step.policy.freeze_max);
        let ask_at = step.now + step.policy.asks_after();
        self.amend(scope, |incident| {
            incident.frozen_until = Some(until);
            incident.ask_at = Some(ask_at);
        });
        step.out.push(Change::Frozen { scope: scope.clone(), until });
        true
    }

    /// Ends an incident: these are not one failure. Tells whether there was one.
    pub fn dismiss(&mut self, step: &mut Step<'_>, scope: &Scope) -> bool {
        let open = self.incidents.contains_key(scope);
        self.resolve(step, scope, Ending::Person);
        open
    }
}
