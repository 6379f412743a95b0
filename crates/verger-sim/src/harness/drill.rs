//! A restart that does not happen: the fleet is restored beside the running one, and the two are compared.

use verger_core::fleet::Fleet;
use verger_core::policy::Policies;
use verger_core::time::Timestamp;

use super::monitor::Simulated;
use crate::world::Truth;

/// How a fleet restored from the disk differs from the running one, of which everything is on disk.
pub(super) fn difference(
    engine: &Simulated,
    policies: &Policies,
    now: Timestamp,
    truth: &Truth,
) -> Option<String> {
    let restored = match Fleet::restore(policies.clone(), 0, engine.store().rows(), now) {
        Ok(restored) => restored,
        Err(error) => return Some(format!("the rows cannot be read: {error}")),
    };
    let running = engine.fleet();
    if running.len() != restored.len() {
        return Some(format!("{} agents became {}", running.len(), restored.len()));
    }
    truth.agents().iter().find_map(|agent| {
        let before = format!("{:?}", running.view(now, &agent.id));
        let after = format!("{:?}", restored.view(now, &agent.id));
        (before != after).then(|| format!("{before} became {after}"))
    })
}
