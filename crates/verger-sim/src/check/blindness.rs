//! Blindness is never held against an agent: the monitor's own absence explains no alarm.
//!
//! A false alarm for a silence in which the monitor was blind for a while rests on what it could not see.

use verger_core::time::Span;

use super::{Broken, Checker, End};
use crate::trace::Moment;

/// A silence that begins so soon after blindness, in seen time, may still rest on it: what was sent
/// meanwhile is lost, and clients connect again.
const AFTERMATH: Span = Span::secs(30);

/// Reads the judgement at the end.
#[derive(Debug)]
pub(super) struct Blindness;

impl Checker for Blindness {
    fn name(&self) -> &'static str {
        "blindness-never-held-against-an-agent"
    }

    fn observe(&mut self, _moment: &Moment<'_>) {}

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        let mut broken = Broken::default();
        for alarm in end.judgement.false_alarms() {
            let (Some(silence), Some(blind)) =
                (alarm.silence, end.seen.last_blind(alarm.told.unwrap_or(alarm.began)))
            else {
                continue;
            };
            let told = alarm.told.unwrap_or(alarm.began);
            if end.seen.between(blind, told) <= (silence + AFTERMATH).as_millis() {
                broken.note(alarm.began, || {
                    format!("{} {}, and the monitor was blind until {blind}", alarm.agent, alarm.reason)
                });
            }
        }
        broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use verger_core::id::{AgentId, Incarnation};
    use verger_core::time::Timestamp;

    use super::super::testing::Trace;
    use super::*;
    use crate::harness::Alarm;
    use crate::world::SimTime;

    fn run(touched: bool, minute: u64) -> Result<(), String> {
        let mut trace = Trace::new();
        trace.seen.on_turn(SimTime(3_600_000), Timestamp::from_millis(1_000));
        let alarm = Alarm {
            agent: AgentId::from("a"),
            incarnation: Incarnation::FIRST,
            began: SimTime(3_600_000 + minute * 60_000),
            observed: Timestamp::ZERO,
            told: Some(SimTime(3_600_000 + minute * 60_000)),
            ended: None,
            reason: "DEGRADED".into(),
            silence: Some(Span::minutes(10)),
        };
        trace.judgement.episodes.push((alarm, touched));
        trace.finish(&mut Blindness)
    }

    #[test]
    fn an_alarm_that_holds_a_pause_of_the_monitor_against_an_agent_is_caught() {
        assert_eq!(run(false, 1), Err("at 1h1m: a DEGRADED, and the monitor was blind until 1h".into()));
    }

    #[test]
    fn a_real_fault_may_be_found_at_once_after_a_pause() {
        assert_eq!(run(true, 1), Ok(()));
        assert_eq!(run(false, 40), Ok(()), "that one has nothing to do with the pause");
    }
}
