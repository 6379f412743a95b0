//! Blindness is never held against an agent: the monitor's own absence explains no alarm.
//!
//! A false alarm for silence shortly after the monitor was blind rests on what it could not see.

use verger_core::time::Span;

use super::{Broken, Checker, End};
use crate::trace::Moment;

/// An accusation that comes so soon, in seen time, after blindness rests on it.
const SOON: Span = Span::minutes(15);

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
        for alarm in end.judgement.false_alarms().filter(|alarm| alarm.silence) {
            let Some(blind) = end.seen.last_blind(alarm.began) else { continue };
            if end.seen.between(blind, alarm.began) <= SOON.as_millis() {
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
            ended: None,
            reason: "DEGRADED".into(),
            silence: true,
        };
        trace.judgement.alarms.push((alarm, touched));
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
