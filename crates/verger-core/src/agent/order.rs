//! What people order, and when an order is refused.

use std::sync::Arc;

use super::{Agent, Step};
use crate::command::{Command, CommandError, Decision, Order};
use crate::event::Fact;
use crate::evidence::Sign;
use crate::health::HealthState;
use crate::id::Actor;
use crate::intervention::{Granted, Ladder};
use crate::verdicts::Answer;

impl Agent {
    /// Carries an order out. The fleet handles those that concern its own books.
    pub(crate) fn order(&mut self, step: &mut Step<'_>, command: &Command) -> Result<(), CommandError> {
        if let Some(asked) = command.incarnation.filter(|asked| *asked != self.incarnation) {
            return Err(CommandError::Superseded { asked, present: self.incarnation });
        }
        let by = &command.by;
        match &command.order {
            Order::Nudge { text } => {
                self.must_be_free()?;
                self.within_limit(step)?;
                self.nudge(step, Some(by), text.clone());
            }
            Order::Escalate { reason } => {
                self.must_be_free()?;
                self.escalate(step, Arc::clone(reason), Some(by));
            }
            Order::Decide { decision, reason } => self.decide(step, *decision, reason, by)?,
            Order::Terminate { reason } => {
                self.must_live()?;
                self.stop(step, Arc::clone(reason), false, Some(by));
            }
            Order::SetMode(mode) => self.mode = *mode,
            Order::SetRole(_) | Order::Unregister => {}
        }
        Ok(())
    }

    fn must_live(&self) -> Result<(), CommandError> {
        if self.state == HealthState::Terminated { Err(CommandError::Ended) } else { Ok(()) }
    }

    /// Neither ended nor about to be.
    fn must_be_free(&self) -> Result<(), CommandError> {
        self.must_live()?;
        match self.case.as_ref().map(|case| &case.ladder) {
            Some(Ladder::Stopping(_) | Ladder::HandingOff { .. }) => Err(CommandError::Stopping),
            _ => Ok(()),
        }
    }

    /// People may remind more often than the monitor does, but a script in a loop may not.
    fn within_limit(&self, step: &Step<'_>) -> Result<(), CommandError> {
        let mut limit = step.role.intervention.nudge_limit;
        limit.count = limit.count.saturating_mul(10);
        let spent =
            self.case.as_ref().is_some_and(|case| step.now < case.nudge_budget.allows_at(step.now, limit));
        if spent { Err(CommandError::AgentBudget { limit: limit.count, per: limit.window }) } else { Ok(()) }
    }

    fn decide(
        &mut self,
        step: &mut Step<'_>,
        decision: Decision,
        reason: &Arc<str>,
        by: &Actor,
    ) -> Result<(), CommandError> {
        self.must_be_free()?;
        let escalated =
            self.case.as_ref().is_some_and(|case| matches!(case.ladder, Ladder::Escalated { .. }));
        if !escalated {
            return Err(CommandError::NothingToDecide);
        }
        let decided = Fact::EscalationDecided { decision, reason: Arc::clone(reason), by: Some(by.clone()) };
        self.record(step, decided);
        self.carry_out(step, decision, reason, by);
        Ok(())
    }

    /// What a person decided about a ticket. The ladder stays where it is unless people were asked there, too, or
    /// want it ended; and who ends already ends as it was told to.
    pub(crate) fn answer(&mut self, step: &mut Step<'_>, answer: &Answer) {
        let Answer { by, decision, reason } = answer;
        let answered = self.decide(step, *decision, reason, by);
        let nobody_asked = answered == Err(CommandError::NothingToDecide);
        if nobody_asked && !matches!(decision, Decision::AllowMoreTime(_)) {
            self.carry_out(step, *decision, reason, by);
        }
    }

    fn carry_out(&mut self, step: &mut Step<'_>, decision: Decision, reason: &Arc<str>, by: &Actor) {
        match decision {
            Decision::AllowMoreTime(span) => {
                let until = step.now + span.unwrap_or(step.role.intervention.escalation_timeout);
                if let Some(case) = &mut self.case {
                    case.ladder = Ladder::Granted(Granted { until });
                }
                if self.evidence.iter().any(|found| found.sign == Sign::IdleWithWork) {
                    // They know that it idles, and let it.
                    self.progress.on_unassigned();
                }
            }
            Decision::ForceHandoff => self.hand_off(step, Arc::clone(reason)),
            Decision::TerminateAndRecover => self.stop(step, Arc::clone(reason), true, Some(by)),
        }
    }
}
