//! When an agent must be looked at again, and what happens then.

use std::sync::Arc;

use super::{Agent, Ending, Question, Step};
use crate::effect::Action;
use crate::event::Fact;
use crate::health::HealthState;
use crate::liveness::{Ask, Limits};
use crate::policy::Role;
use crate::time::{Span, Timestamp};

/// More than this many steps of liveness at one moment cannot be due.
const STEPS_MAX: usize = 4;

impl Agent {
    /// Does what is due; calling early is harmless.
    pub(crate) fn wake(&mut self, step: &mut Step<'_>) {
        if self.state == HealthState::Terminated {
            return;
        }
        for _ in 0..STEPS_MAX {
            let limits = self.limits(step.now, step.role);
            match self.liveness.on_deadline(step.now, &step.role.liveness, limits) {
                Some(ask) => self.on_ask(step, Some(ask)),
                None => break,
            }
        }
        if self.state != HealthState::Terminated {
            self.wake_probes(step);
            self.judge(step);
        }
    }

    pub(crate) fn on_ask(&mut self, step: &mut Step<'_>, ask: Option<Ask>) {
        match ask {
            None => {}
            Some(Ask::Ping) => {
                let key = self.act(step, Action::Ping);
                self.liveness.on_ping_numbered(key.seq);
            }
            Some(Ask::Inquire) => {
                self.ask(step.now, step.role, Question::of_itself(true), &mut step.out.effects);
            }
            Some(Ask::Lost { .. }) if self.liveness.left_unseen() => self.end_unseen_life(step),
            Some(Ask::Classified(_)) if self.liveness.left_unseen() && self.waiting.idle_since.is_some() => {
                self.end_unseen_life(step);
            }
            Some(Ask::Lost { inquire }) => {
                self.metrics.disconnections = self.metrics.disconnections.saturating_add(1);
                if let Some(status) = self.liveness.lost_status() {
                    let (cause, last_seen) = (self.liveness.cause(), self.liveness.last_sign);
                    self.record(step, Fact::Disconnected { status, cause, last_seen });
                }
                if inquire {
                    self.ask(step.now, step.role, Question::of_itself(false), &mut step.out.effects);
                }
            }
            Some(Ask::Classified(class)) => {
                let cause = self.liveness.cause();
                self.record(step, Fact::Classified { class, cause });
            }
        }
    }

    /// How it ended nobody could see, so it is not held against it; its next life will say.
    fn end_unseen_life(&mut self, step: &mut Step<'_>) {
        let reason = "it ended while the monitor was away".into();
        self.end_life(step, Ending { reason, recover: false, seen: false, evidence: Arc::new([]) });
    }

    /// When this agent must be looked at again if nothing comes in.
    pub(crate) fn deadline(&self, now: Timestamp, role: &Role) -> Option<Timestamp> {
        let used = self.usage_deadline(now);
        if self.state == HealthState::Terminated {
            return used;
        }
        let liveness = self.liveness.deadline(&role.liveness, self.limits(now, role));
        let grace = Some(self.grace_until).filter(|until| now < *until);
        let others = [
            self.liveness.certain_at(),
            self.absence_deadline(now, role),
            self.presence_deadline(now, role),
            self.case_deadline(now, role),
            used,
        ];
        let soonest = soonest_after(now, &others);
        [liveness, grace, soonest].into_iter().flatten().min()
    }

    fn absence_deadline(&self, now: Timestamp, role: &Role) -> Option<Timestamp> {
        let waiting = self.waiting.deadline(now, &role.patience);
        let idle_since = self.waiting.idle_since.or_else(|| (!self.heard).then_some(self.grace_until));
        let idle = idle_since
            .zip(self.progress.assigned_at)
            .map(|(idle_since, assigned_at)| idle_since.max(assigned_at) + role.progress.idle_with_work);
        let resting = self.waiting.is_resting();
        let work =
            if resting { None } else { self.progress.deadline(now, self.slack(now, role), &role.progress) };
        let asked =
            self.past.as_ref().and_then(|past| past.inquiry).and_then(|inquiry| inquiry.deadline(now, role));
        let exhausted = self.exhaustion_deadline(now, role);
        // Where the model may have answered unseen, its patience is that of a call.
        let answered_unseen = self.waiting.model_waits().filter(|_| self.progress.unsure);
        let unsure = answered_unseen.map(|since| since + role.patience.tool).filter(|due| now < *due).min();
        // Where nothing else is seen of it, it counts as at work for as long as it uses tokens.
        let unused = self.uses_tokens_until(role).map(|last| last + Span::millis(1));
        // Where a beat is missed, absence is no longer judged as a standstill.
        let missed = self
            .beats
            .then(|| self.liveness.last_sign + role.liveness.beats.interval.times(2) + Span::millis(1));
        soonest_after(now, &[waiting, idle, work, asked, exhausted, unsure, unused, missed])
    }

    /// When a full window becomes worth a word, or exhaustion, if nothing lasting comes of it until then.
    fn exhaustion_deadline(&self, now: Timestamp, role: &Role) -> Option<Timestamp> {
        let context = self.signs.as_ref()?.context.as_ref()?;
        let full = context.deadline(&role.context)?;
        let stages = [role.progress.stuck_after, role.context.standstill, role.patience.lease_max];
        let due = stages.into_iter().map(|stage| full.max(self.progress.last_lasting + stage));
        due.filter(|due| now < *due).min()
    }

    fn presence_deadline(&self, now: Timestamp, role: &Role) -> Option<Timestamp> {
        let flapping = self.past.as_ref().and_then(|past| past.flapping.deadline(&role.flapping));
        let Some(signs) = &self.signs else { return flapping };
        let context = signs.context.as_ref().and_then(|context| context.deadline(&role.context));
        let errors = signs.errors.as_ref().and_then(|errors| errors.deadline(now, &role.errors));
        let tokens = signs.tokens.as_ref().and_then(|tokens| tokens.deadline(now, &role.tokens));
        let repetition = signs.repetition.as_ref().and_then(|sign| sign.deadline(&role.repetition));
        let steps = signs.steps.as_ref().and_then(|steps| steps.deadline(&role.repetition));
        // Detectors name the last moment that is still borne.
        let borne = [context, errors, tokens, repetition, steps];
        let [context, errors, tokens, repetition, steps] =
            borne.map(|last| last.map(|last| last + Span::millis(1)));
        // What is no longer believed is dropped at the next run.
        let check = signs.probes.as_ref().and_then(|probes| probes.deadline(now));
        soonest_after(now, &[context, errors, tokens, repetition, steps, flapping, check])
    }

    pub(crate) fn limits(&self, now: Timestamp, role: &Role) -> Limits {
        Limits {
            not_before: self.grace_until,
            excused_until: self.waiting.excused_until(now, &role.patience),
            beats_expected: self.beats || role.requires_heartbeats,
            busy: self.is_busy(),
            hurried: HealthState::Degraded <= self.state,
        }
    }
}

/// The first of these moments that is still to come. It is asked after every signal.
fn soonest_after(now: Timestamp, moments: &[Option<Timestamp>]) -> Option<Timestamp> {
    let mut soonest = None;
    for due in moments.iter().flatten() {
        if now < *due && soonest.is_none_or(|found| *due < found) {
            soonest = Some(*due);
        }
    }
    soonest
}
