//! Keeps the score of a run while it happens.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::command::Decision;
use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::event::{Event, Fact};
use verger_core::id::{AgentId, Incarnation, TaskId};
use verger_core::policy::Policies;
use verger_core::recovery::{Change, Review};

use super::alarm::Alarms;
use super::breakers::BreakerLog;
use super::heard::Heard;
use super::judgement::{Evidence, Judgement};
use super::known::Known;
use super::messages::MessageReport;
use super::report::{MonitorReport, NudgeReport, RecoveryReport, Report};
use super::seen::SeenTime;
use crate::trace::{Moment, What};
use crate::world::{SimTime, Truth};

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Score {
    alarms: Alarms,
    pub(super) seen: SeenTime,
    pub(super) heard: Heard,
    pub(super) known: Known,
    pub(super) breakers: BreakerLog,
    messages: MessageReport,
    interventions: BTreeMap<AgentId, Vec<SimTime>>,
    nudges: NudgeReport,
    recovering: BTreeSet<TaskId>,
    recovery: RecoveryReport,
    /// Stops that should not have been, with what was really the case.
    pub(super) wrong: BTreeMap<EffectKey, String>,
    /// Stops that a person ordered.
    ordered: BTreeSet<(AgentId, Incarnation)>,
}

/// Whether a person wants this life to end.
pub(crate) fn is_ordered_end(fact: &Fact) -> bool {
    match fact {
        Fact::TerminationOrdered { by, .. } => by.is_some(),
        Fact::EscalationDecided { by, decision, .. } => {
            by.is_some() && matches!(decision, Decision::ForceHandoff | Decision::TerminateAndRecover)
        }
        _ => false,
    }
}

impl Score {
    pub(super) fn observe(&mut self, moment: &Moment<'_>) {
        match moment.what {
            What::Committed { batch, decided } => {
                for event in &batch.events {
                    self.alarms.on_event(decided, event);
                    self.breakers.on_event(event);
                    self.messages.on_event(event);
                    self.on_event(event);
                }
                for effect in &batch.effects {
                    self.on_decision(decided, effect, moment.truth);
                }
            }
            What::Released(effect) => self.on_release(moment.at, effect),
            What::Paused | What::Died | What::Restarted | What::Drilled { .. } | What::Healed => {}
        }
    }

    pub(super) fn judge(&self, truth: &Truth, policies: &Policies, until: SimTime) -> Judgement {
        Judgement::of(&Evidence {
            truth,
            policies,
            seen: &self.seen,
            heard: &self.heard,
            known: &self.known,
            alarms: self.alarms.raised(),
            interventions: &self.interventions,
            until,
        })
    }

    /// Fills in what was counted.
    pub(super) fn report(&self, report: &mut Report, truth: &Truth, monitor: (u64, u64), until: SimTime) {
        report.services = self.breakers.report(truth, &self.seen);
        report.messages = self.messages.with_truth(truth, until);
        report.nudges = self.nudges.clone();
        report.recovery = self.recovery.clone();
        report.wrong_terminations = self.wrong.len() as u64;
        let blind_seconds = self.seen.blind(until) as f64 / 1_000.0;
        report.monitor = MonitorReport { restarts: monitor.0, pauses: monitor.1, blind_seconds };
    }

    fn on_event(&mut self, event: &Event) {
        let Some((agent, incarnation)) = &event.agent else { return };
        match &event.fact {
            Fact::NudgeSent { .. } => self.nudges.sent += 1,
            Fact::NudgeAnswered { .. } => self.nudges.answered += 1,
            fact if is_ordered_end(fact) => {
                self.ordered.insert((agent.clone(), *incarnation));
            }
            Fact::Recovery(change) => self.on_recovery(change),
            _ => {}
        }
    }

    /// A recovery counts when it came to an end of its own, and had a valid checkpoint to go on from. What was called off
    /// because the work was done or taken over meanwhile does not.
    fn on_recovery(&mut self, change: &Change) {
        match change {
            Change::Initiated { task, from: Some(_), .. } => {
                self.recovering.insert(task.clone());
            }
            Change::Completed { task, .. } if self.recovering.remove(task) => {
                self.recovery.attempted += 1;
                self.recovery.succeeded += 1;
            }
            // That nobody has a way to start an agent is no failure of recovery.
            Change::Failed { task, why: Review::Refused, .. } | Change::CalledOff { task, .. } => {
                self.recovering.remove(task);
            }
            Change::Failed { task, .. } if self.recovering.remove(task) => self.recovery.attempted += 1,
            _ => {}
        }
    }

    /// A stop of an agent that was well is wrong, unless a person wanted it.
    fn on_decision(&mut self, decided: SimTime, effect: &Effect, truth: &Truth) {
        let EffectKey { agent, incarnation, .. } = &effect.key;
        if !matches!(effect.action, Action::Stop { .. })
            || self.ordered.contains(&(agent.clone(), *incarnation))
        {
            return;
        }
        let condition = truth.condition_at(agent, decided);
        if condition.is_healthy() {
            let why = format!("at {decided}: {} stops an agent that is {condition}", effect.key);
            self.wrong.insert(effect.key.clone(), why);
        }
    }

    fn on_release(&mut self, at: SimTime, effect: &Effect) {
        match effect.action {
            Action::Nudge { .. } | Action::Escalate(_) | Action::Stop { .. } | Action::Interrupt { .. } => {
                self.interventions.entry(effect.key.agent.clone()).or_default().push(at);
            }
            Action::Ping
            | Action::Inquire { .. }
            | Action::RequestHandoff { .. }
            | Action::Survey { .. }
            | Action::Spawn(_)
            | Action::Withdraw { .. }
            | Action::Deliver { .. }
            | Action::RemindOfMessage { .. }
            | Action::TellSender { .. }
            | Action::WriteCheckpoint { .. }
            | Action::Probe(_)
            | Action::AskAdvice(_) => {}
        }
    }
}
