//! The process is alive and does nothing: no step, no heartbeat, no pong.
//!
//! "A wedged process sits in epoll exactly like an idle one; only a probe with a timed answer can tell":
//! its connection stays open, so pings leave and nothing comes back. No word reaches it either.

use super::FaultKind;
use crate::world::agent::Agent;
use crate::world::stage::Stage;
use crate::world::time::SimTime;

impl Agent {
    /// The agent freezes in whatever it is doing.
    pub(super) fn freeze(&mut self, stage: &mut Stage, now: SimTime) {
        self.go_wrong(stage, now, FaultKind::Freeze);
        self.frozen = true;
        self.epoch += 1;
    }
}
