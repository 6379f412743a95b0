//! What became of a step of the ladder, and what counts as the agent's answer to it.

use std::sync::Arc;

use super::intervene::{RETRY_AFTER, RETRY_MAX, STILL_STOPS, STOP_SLACK};
use super::{Agent, Ending, Step};
use crate::effect::{EffectKey, Outcome};
use crate::event::Fact;
use crate::intervention::{Delivery, Ladder};
use crate::time::Span;

impl Agent {
    /// Whether an effect with this number was a step of the ladder rather than a ping.
    pub(crate) fn belongs_to_case(&self, number: u32) -> bool {
        self.case.as_ref().is_some_and(|case| case.ladder.seq() == Some(number))
    }

    /// What became of a step.
    pub(crate) fn on_case_outcome(&mut self, step: &mut Step<'_>, key: &EffectKey, outcome: Outcome) {
        let Some(case) = self.case.as_mut().filter(|case| case.ladder.seq() == Some(key.seq)) else { return };
        match &mut case.ladder {
            Ladder::Nudging(nudging) => match outcome {
                Outcome::Delivered if nudging.delivery == Delivery::Queued => {
                    nudging.delivery = Delivery::Delivered;
                    case.touched_at = Some(step.now);
                    nudging.deadline = step.now + step.role.intervention.nudge_interval;
                    self.record(step, Fact::NudgeDelivered { key: key.clone() });
                }
                Outcome::Delivered | Outcome::Stopped => {}
                Outcome::Refused
                | Outcome::Unreachable
                | Outcome::Failed
                | Outcome::Unreadable
                | Outcome::Rejected => {
                    if nudging.delivery == Delivery::Queued {
                        nudging.delivery = Delivery::Failed;
                        nudging.deadline = step.now + RETRY_AFTER;
                        self.record(step, Fact::NudgeFailed { key: key.clone() });
                    }
                }
            },
            Ladder::Escalated { attempt, deadline, retry_at, .. } => {
                if matches!(
                    outcome,
                    Outcome::Refused
                        | Outcome::Unreachable
                        | Outcome::Failed
                        | Outcome::Unreadable
                        | Outcome::Rejected
                ) {
                    // Who was not reached cannot fail to decide.
                    *deadline = None;
                    let wait = RETRY_AFTER.times(1 << (*attempt - 1).min(5)).min(Span::minutes(RETRY_MAX));
                    *retry_at = Some(step.now + wait);
                }
            }
            Ladder::Stopping(stopping) => match outcome {
                Outcome::Stopped => {
                    let (reason, recover) = (Arc::clone(&stopping.reason), stopping.recover);
                    let evidence = self.evidence_now(step.now, step.role);
                    self.end_life(step, Ending { reason, recover, seen: true, evidence });
                }
                Outcome::Delivered => {}
                // Nothing can stop it, and trying again would not help: people are told at once.
                Outcome::Rejected => {
                    let attempts = stopping.attempt;
                    if stopping.deadline.take().is_some() {
                        case.held_until = Some(step.now + STILL_STOPS);
                        self.record(step, Fact::TerminationFailed { attempts });
                    }
                }
                Outcome::Refused | Outcome::Unreachable | Outcome::Failed | Outcome::Unreadable => {
                    stopping.deadline = stopping.deadline.map(|_| step.now + STOP_SLACK);
                }
            },
            Ladder::Rest | Ladder::Granted(_) | Ladder::HandingOff { .. } => {}
        }
    }

    /// The agent reacted to a reminder. That is recorded, and is not progress by itself.
    pub(crate) fn on_answer(&mut self, step: &mut Step<'_>) {
        let Some(case) = &mut self.case else { return };
        let Ladder::Nudging(nudging) = &mut case.ladder else { return };
        if nudging.delivery != Delivery::Delivered {
            return;
        }
        nudging.delivery = Delivery::Answered;
        case.answered = true;
        if self.waiting.idle_since.is_some() {
            // Reminded of its work it answers and stays idle: then there is none, and the word of it was lost.
            self.progress.on_unassigned();
        }
        let (seq, after) = (nudging.seq, step.now.since(nudging.sent_at));
        let key = EffectKey { agent: self.id.clone(), incarnation: self.incarnation, seq };
        self.record(step, Fact::NudgeAnswered { key, after });
    }
}
