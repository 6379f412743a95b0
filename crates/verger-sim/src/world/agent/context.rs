//! The context window fills up: it is compacted, or the agent hands its work over.
//!
//! A compaction takes a model request over the whole window: half a minute to two minutes.

use verger_core::signal::Body;

use super::kit::Kit;
use super::plan::Act;
use crate::world::time::SECOND;

/// Makes room in the window, or leaves the rest of the work to a successor.
pub(crate) fn round(kit: &mut Kit<'_>, may_leave: bool) {
    if may_leave && kit.rng.chance(0.2) {
        kit.send(Body::Handoff { reason: "the context window is nearly full".into() });
        kit.think();
        kit.plan.then(Act::Leave);
        return;
    }
    kit.send(Body::ModelStarted);
    let latency = kit.rng.range(30 * SECOND, 120 * SECOND);
    kit.wait(latency);
    kit.send(Body::ModelFinished);
    kit.plan.then(Act::Compact);
    kit.wait(SECOND);
}
