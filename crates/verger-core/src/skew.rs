//! How far an agent's clock is from ours. It is shown, and decides nothing.
//!
//! Liveness is judged on receipt time (L53). The skew is a moving average that a single late signal hardly
//! moves; a jump of more than five minutes replaces it at once, for then the clock was set.

use crate::time::{AgentTime, WallTime};

/// A reading this far from the average replaces it.
const JUMP_MS: i64 = 300_000;

/// The measured skew of one agent's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skew {
    pub(crate) average_ms: Option<i64>,
}

impl Skew {
    /// Compares what the agent's clock showed with ours at receipt.
    pub(crate) fn observe(&mut self, sent: AgentTime, received: WallTime) {
        let reading = sent.0.saturating_sub(received.0);
        self.average_ms = Some(match self.average_ms {
            Some(average) if reading.saturating_sub(average).saturating_abs() < JUMP_MS => {
                average + (reading - average) / 8
            }
            _ => reading,
        });
    }

    /// Milliseconds by which the agent's clock is ahead of ours, once measured.
    pub fn millis(self) -> Option<i64> {
        self.average_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l53_skew_is_measured_and_a_clock_that_was_set_is_followed_at_once() {
        let mut skew = Skew::default();
        assert_eq!(skew.millis(), None);
        skew.observe(AgentTime(61_000), WallTime(1_000));
        assert_eq!(skew.millis(), Some(60_000));
        skew.observe(AgentTime(65_000), WallTime(13_000));
        assert_eq!(skew.millis(), Some(59_000), "one late signal moves it by an eighth");
        skew.observe(AgentTime(-1_000_000), WallTime(1_000));
        assert_eq!(skew.millis(), Some(-1_001_000));
        skew.observe(AgentTime(i64::MIN), WallTime(i64::MAX));
        assert_eq!(skew.millis(), Some(i64::MIN), "hostile clocks saturate");
    }
}
