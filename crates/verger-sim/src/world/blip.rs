//! Short failures of the network, which happen to everybody and mean nothing.
//!
//! Once a day or so an agent behind a network cannot reach the monitor for some seconds, half a minute at
//! most. Connections outlive it. SDK clients send later what they could not send then;
//! remote agents lose it.

use super::agent::Agent;
use super::moment::Moment;
use super::stage::Stage;
use super::time::{SimTime, millis};

impl Agent {
    /// Milliseconds until the next one.
    pub(crate) fn next_blip(&mut self) -> u64 {
        millis(self.wire.exponential(86_400.0))
    }

    /// The network fails, or is back.
    pub(crate) fn blip(&mut self, stage: &mut Stage, now: SimTime, over: bool) {
        if stage.healed && !over {
            return;
        }
        let wait = if over {
            self.cut = self.cut.saturating_sub(1);
            self.resend(stage, now);
            self.next_blip()
        } else {
            self.cut += 1;
            millis(self.wire.log_normal(4.0, 0.9).clamp(0.5, 30.0))
        };
        stage.queue.set(now + wait, Moment::Blip { agent: self.place, over: !over });
    }
}
