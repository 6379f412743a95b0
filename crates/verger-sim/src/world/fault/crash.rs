//! The process ends by itself in the midst of its work.
//!
//! A wrapper sees its exit at once. Of a remote agent only the closing of its connection is seen, of others
//! nothing at all. The fault is over when the orchestrator has started the next life.

use super::FaultKind;
use crate::world::agent::{Active, Agent, End, Temper};
use crate::world::stage::Stage;
use crate::world::time::SimTime;

impl Agent {
    /// The agent's process ends.
    pub(crate) fn crash(&mut self, stage: &mut Stage, now: SimTime) {
        if !stage.calm && self.cursed == 0 && stage.luck.chance(0.1) {
            // Whatever killed it is still there, and kills the next ones too.
            self.cursed = stage.luck.range(1, 6) as u8;
        }
        self.end_process(stage, now, End::Crash);
        let injection = self.inject(stage, now, FaultKind::Crash, None);
        self.fault = Some(Active { injection, kind: FaultKind::Crash, temper: Temper::Deaf });
    }
}
