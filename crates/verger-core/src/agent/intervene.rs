//! The ladder: remind, ask people, stop. See [`Case`] for the picture.
//!
//! Nothing here is done twice for one reason: a step is taken when its moment is due and the trouble still
//! holds. A limit that holds a step back sets the moment when there is room again, and says so once.

use std::sync::Arc;

use super::{Agent, Step};
use crate::command::Decision;
use crate::effect::{Action, Escalation};
use crate::event::Fact;
use crate::evidence::{Evidence, Family, Measure, Severity, Sign};
use crate::fleet::Spending;
use crate::health::HealthState;
use crate::id::Actor;
use crate::intervention::{Delivery, Ladder, Nudging, Stopping, nudge_text};
use crate::policy::{Mode, RestartPolicy, Role};
use crate::stretch::Stretch;
use crate::time::{Span, Timestamp};

/// An undelivered reminder or escalation is tried again after this.
pub(super) const RETRY_AFTER: Span = Span::secs(60);
/// An agent that was reminded or interrupted has this long to take another course before anything final is done.
const REACTION: Span = Span::minutes(5);
/// Who was interrupted and repeated itself as often again did not react; a call that was under way may still end.
const GOES_ON: u32 = 3;
/// How much longer than the clean-up limit the stopping itself may take.
pub(super) const STOP_SLACK: Span = Span::secs(10);
/// What was told to stop in vain may still end for so long, and then did what it was told.
pub(super) const STILL_STOPS: Span = Span::hours(1);
/// An unreachable orchestrator is tried ever more rarely, down to once in this many minutes.
pub(super) const RETRY_MAX: u64 = 30;

impl Agent {
    /// Does what the present judgement asks for.
    pub(crate) fn intervene(&mut self, step: &mut Step<'_>) {
        if self.state <= HealthState::Degraded {
            self.forget_vain_stop(step.now);
        }
        let over_limit = self.enforce_limit(step);
        match self.state {
            _ if over_limit => {}
            HealthState::Stuck | HealthState::Failing => {
                self.case.get_or_insert_default().well_since = None;
                self.interrupt_if_due(step);
                self.climb(step);
            }
            HealthState::Degraded if self.is_worth_a_word(step) => self.remind(step),
            HealthState::Unknown | HealthState::Healthy | HealthState::Degraded | HealthState::Terminated => {
                self.stand_down(step);
            }
        }
        self.finish_what_is_under_way(step);
    }

    /// It could not be stopped, people were told, it did not end late either, and it is out of that trouble: what comes
    /// next is a new one.
    fn forget_vain_stop(&mut self, now: Timestamp) {
        let Some(case) = &mut self.case else { return };
        let waited = case.held_until.is_none_or(|until| until <= now);
        if waited && matches!(&case.ladder, Ladder::Stopping(stopping) if stopping.deadline.is_none()) {
            case.begin_anew();
        }
    }

    /// People were asked about an agent that idles with work, and did not mind: then there is none, and the word of it
    /// was lost.
    pub(crate) fn let_idleness_be(&mut self, step: &mut Step<'_>) {
        let Some(case) = &mut self.case else { return };
        let Ladder::Escalated { deadline: Some(due), .. } = &case.ladder else { return };
        let idles = self.evidence.iter().any(|found| found.sign == Sign::IdleWithWork);
        if step.now < *due || self.state != HealthState::Degraded || !idles {
            return;
        }
        case.ladder = Ladder::Rest;
        self.progress.on_unassigned();
        let (decision, reason) = (Decision::AllowMoreTime(None), "nobody decided in time".into());
        self.record(step, Fact::EscalationDecided { decision, reason, by: None });
    }

    /// When the ladder's next step is due.
    pub(crate) fn case_deadline(&self, now: Timestamp, role: &Role) -> Option<Timestamp> {
        self.case.as_ref().and_then(|case| case.deadline(now, role.intervention.stable_after))
    }

    /// The agent is out of trouble: no more steps. What was used stays used until health has lasted.
    fn stand_down(&mut self, step: &mut Step<'_>) {
        let repeats = self.repeats(step);
        let silent = self.liveness.lost().is_some();
        let Some(case) = &mut self.case else { return };
        if repeats == 0 {
            case.interrupted_at = 0;
        }
        if silent && matches!(case.ladder, Ladder::Escalated { .. }) {
            // Silence is no progress: whom people were asked about is still theirs to decide on.
            return;
        }
        let well_since = *case.well_since.get_or_insert(step.now);
        let withdrawn = match &case.ladder {
            Ladder::Nudging(nudging) if !nudging.by_hand => Some(false),
            Ladder::Escalated { by_hand: false, .. } => Some(true),
            Ladder::Granted(_) => Some(false),
            Ladder::Rest
            | Ladder::Nudging(_)
            | Ladder::Escalated { .. }
            | Ladder::HandingOff { .. }
            | Ladder::Stopping(_) => None,
        };
        if withdrawn.is_some() {
            case.ladder = Ladder::Rest;
            case.held_until = None;
        }
        case.nudge_held_until = None;
        let patience = case.closes_after(step.role.intervention.stable_after);
        if withdrawn == Some(true) {
            self.record(step, Fact::EscalationWithdrawn);
        }
        if step.now.since(well_since) >= patience {
            self.close_case(step.now, step.role);
        }
    }

    /// Health has lasted: a later trouble is a new one. What was spent of the limits stays spent.
    fn close_case(&mut self, now: Timestamp, role: &Role) {
        let Some(case) = &mut self.case else { return };
        if case.ladder != Ladder::Rest {
            return;
        }
        case.begin_anew();
        if case.spent_nothing_since(now, role) {
            self.case = None;
        }
    }

    /// Whether a degraded agent is to be reminded: it begins to repeat itself, leaves its work, or has got nowhere for
    /// so long that it would be stuck if its work could be seen; with a full window it should make room.
    fn is_worth_a_word(&self, step: &Step<'_>) -> bool {
        let (now, role) = (step.now, step.role);
        let limit = self.progress.stuck_after(self.slack(now, role), &role.progress);
        step.findings.iter().any(|found| match found.sign {
            Sign::Repeats | Sign::Cycle | Sign::Loop(_) | Sign::IdleWithWork => true,
            Sign::Progress => matches!(found.value, Measure::Span(age) if limit < age),
            Sign::Context => role.progress.stuck_after <= now.since(self.progress.last_lasting),
            _ => false,
        })
    }

    /// What is not yet trouble may be worth a word, and nothing else.
    fn remind(&mut self, step: &mut Step<'_>) {
        let case = self.case.get_or_insert_default();
        case.well_since = None;
        let free = case.held_until.is_none_or(|until| until <= step.now)
            && match &case.ladder {
                Ladder::Rest => true,
                Ladder::Nudging(nudging) => nudging.deadline <= step.now,
                _ => false,
            };
        let mode = self.mode(step.role);
        if !free || mode < Mode::Nudge {
            return;
        }
        self.note_vain_nudge();
        if self.has_nudges_left(step) {
            self.nudge_if_allowed(step);
        } else if mode >= Mode::Escalate && is_idle_with_work(step) {
            self.escalate_for(step);
        }
    }

    /// Takes the next step up, if there is one and it is due.
    fn climb(&mut self, step: &mut Step<'_>) {
        let mode = self.mode(step.role);
        let Some(case) = &self.case else { return };
        let held = case.held_until.is_some_and(|until| step.now < until);
        // A limit on reminders holds back no question to people.
        if mode == Mode::Observe || (held && !(mode >= Mode::Escalate && self.cannot_wait(step))) {
            return;
        }
        let due = |deadline: Timestamp| deadline <= step.now;
        match &case.ladder {
            Ladder::Rest => self.first_step(step, mode),
            Ladder::Nudging(_) if mode >= Mode::Escalate && self.cannot_wait(step) => self.escalate_for(step),
            Ladder::Nudging(nudging) if due(nudging.deadline) => self.after_nudge(step, mode),
            Ladder::Escalated { deadline: Some(deadline), .. } if due(*deadline) && mode == Mode::Full => {
                self.after_escalation(step);
            }
            Ladder::Granted(granted) if due(granted.until) => {
                self.set_ladder(Ladder::Rest);
                self.first_step(step, mode);
            }
            Ladder::Nudging(_)
            | Ladder::Escalated { .. }
            | Ladder::Granted(_)
            | Ladder::HandingOff { .. }
            | Ladder::Stopping(_) => {}
        }
    }

    fn first_step(&mut self, step: &mut Step<'_>, mode: Mode) {
        if self.state == HealthState::Failing {
            return self.on_failing(step, mode);
        }
        if mode >= Mode::Escalate && (self.cannot_wait(step) || self.was_reminded_enough(step)) {
            self.escalate_for(step);
        } else {
            self.nudge_if_allowed(step);
        }
    }

    fn has_nudges_left(&self, step: &Step<'_>) -> bool {
        let policy = &step.role.intervention;
        policy.nudge_enabled && self.nudges_used() < policy.nudges_max
    }

    /// Whether people are to be asked rather than the agent reminded: one that wants to hand over is reminded once.
    fn was_reminded_enough(&self, step: &Step<'_>) -> bool {
        let hands_over = self.handoff_wanted_at(step.now).is_some() && self.nudges_used() > 0;
        hands_over || !self.has_nudges_left(step)
    }

    /// Reminds an agent that can read it. One that was well for a moment is not reminded more often for it.
    fn nudge_if_allowed(&mut self, step: &mut Step<'_>) {
        if !self.has_nudges_left(step) || self.liveness.lost().is_some() {
            return;
        }
        let nudged_at = self.case.as_ref().and_then(|case| case.nudged_at);
        let next = nudged_at.map(|at| at + step.role.intervention.nudge_interval);
        match next.filter(|next| step.now < *next) {
            Some(next) => self.case.get_or_insert_default().nudge_held_until = Some(next),
            None => self.nudge(step, None, None),
        }
    }

    /// FAILING skips reminders: people decide, or the mode and two independent findings do.
    fn on_failing(&mut self, step: &mut Step<'_>, mode: Mode) {
        match step.role.restart {
            RestartPolicy::Recover
                if mode == Mode::Full && self.proven_families(step.now, step.findings) >= 2 =>
            {
                self.stop(step, "it fails, and two independent findings agree".into(), true, None);
            }
            RestartPolicy::Escalate | RestartPolicy::Recover if mode >= Mode::Escalate => {
                self.escalate_for(step);
            }
            RestartPolicy::None | RestartPolicy::Escalate | RestartPolicy::Recover => {}
        }
    }

    /// Reminding would be useless: nobody is there to read, it said that it cannot go on, or it repeats itself
    /// so often that it will not stop by itself.
    fn cannot_wait(&self, step: &Step<'_>) -> bool {
        self.state == HealthState::Failing
            || self.blocked
            || self.answered_with_handoff(step.now)
            || self.liveness.lost().is_some()
            || self.repeats(step) >= step.role.intervention.repeats_escalate
    }

    /// Whether it was reminded, and asked to hand its work over since.
    fn answered_with_handoff(&self, now: Timestamp) -> bool {
        let nudged_at = self.case.as_ref().and_then(|case| case.nudged_at);
        let handoff_at = self.handoff_wanted_at(now);
        nudged_at.zip(handoff_at).is_some_and(|(nudged_at, handoff_at)| nudged_at <= handoff_at)
    }

    fn after_nudge(&mut self, step: &mut Step<'_>, mode: Mode) {
        self.note_vain_nudge();
        if mode >= Mode::Escalate && self.was_reminded_enough(step) {
            self.escalate_for(step);
        } else if self.has_nudges_left(step) {
            self.nudge(step, None, None);
        } else {
            // All that the mode allows was done. The case stays open until the agent gets on.
            self.hold(step.now + step.role.intervention.nudge_interval);
        }
    }

    /// A reminder has had its time.
    fn note_vain_nudge(&mut self) {
        let Some(case) = &mut self.case else { return };
        if let Ladder::Nudging(nudging) = &case.ladder {
            let arrived = matches!(nudging.delivery, Delivery::Delivered | Delivery::Answered);
            case.nudged_in_vain |= arrived && !case.progressed;
        }
    }

    fn after_escalation(&mut self, step: &mut Step<'_>) {
        if self.may_be_stopped(step) {
            self.stop(step, "nobody decided in time".into(), true, None);
        } else if let Some(Ladder::Escalated { deadline, .. }) =
            self.case.as_mut().map(|case| &mut case.ladder)
        {
            // One kind of finding kills nobody, nor do old ones: it stays with people, and is looked at again.
            *deadline = Some(step.now + RETRY_AFTER);
        }
    }

    /// No single signal kills: two independent proven findings, or one and reminders that arrived in vain. Who
    /// answers them, or does its work unseen, is not ended for what is merely not seen and said.
    fn may_be_stopped(&self, step: &Step<'_>) -> bool {
        let Some(case) = &self.case else { return false };
        let touched = case.touched_at.is_some_and(|at| step.now.since(at) < REACTION);
        let went_on =
            case.interrupted_at > 0 && case.interrupted_at.saturating_add(GOES_ON) <= self.repeats(step);
        let reacting = touched && !went_on;
        // Whatever it got done since somebody last spoke to it, it is no longer where it was.
        if reacting || case.progressed || self.waiting.is_resting() {
            return false;
        }
        let proven = self.proven_families(step.now, step.findings);
        let only_unseen = step.findings.iter().all(|found| {
            found.severity == Severity::Note
                || found.sign.family() == Family::Progress
                || matches!(found.sign, Sign::SelfReport | Sign::ErrorCount)
        });
        let talks = case.answered || !self.progress.shows_work;
        let in_vain = case.nudged_in_vain && !(talks && only_unseen);
        proven >= 2 || (proven == 1 && in_vain)
    }

    /// Reminds the agent, within the limits. `by` is set when a person asks.
    pub(crate) fn nudge(&mut self, step: &mut Step<'_>, by: Option<&Actor>, text: Option<Arc<str>>) {
        if by.is_none() && !self.may_spend(step, Spending::Nudge) {
            return;
        }
        self.spend(step, Spending::Nudge, by);
        let attempt = self.nudges_used().saturating_add(1);
        let policy = &step.role.intervention;
        let idle_for = step.now.since(self.progress.last);
        let text = text.unwrap_or_else(|| {
            let stretch = self.evidence.iter().find_map(|found| found.stretch.as_deref());
            let in_vain = stretch.map_or(Span::ZERO, Stretch::lasted);
            nudge_text(policy.nudge_template.as_deref(), idle_for.max(in_vain), stretch)
        });
        let key = self.act(step, Action::Nudge { attempt, text: Arc::clone(&text) });
        let nudging = Nudging {
            attempt,
            seq: key.seq,
            sent_at: step.now,
            delivery: Delivery::Queued,
            deadline: step.now + policy.nudge_interval,
            by_hand: by.is_some(),
        };
        let case = self.case.get_or_insert_default();
        case.nudges = attempt;
        case.well_since = None;
        case.nudge_held_until = None;
        case.nudged_at = Some(step.now);
        case.progressed = false;
        case.ladder = Ladder::Nudging(nudging);
        case.held_until = None;
        self.record(step, Fact::NudgeSent { key, attempt, text, by: by.cloned() });
    }

    fn escalate_for(&mut self, step: &mut Step<'_>) {
        let reason: Arc<str> = match self.evidence.iter().max_by_key(|found| found.severity) {
            Some(gravest) if self.nudges_used() > 0 => {
                let nudges = self.nudges_used();
                format!("{gravest}; after {nudges} {}", if nudges == 1 { "nudge" } else { "nudges" }).into()
            }
            Some(gravest) => gravest.to_string().into(),
            None => "it asks to hand its work over".into(),
        };
        self.escalate(step, reason, None);
    }

    /// Asks people, within the limits. `by` is set when a person wants it.
    pub(crate) fn escalate(&mut self, step: &mut Step<'_>, reason: Arc<str>, by: Option<&Actor>) {
        if by.is_none() && !self.may_spend(step, Spending::Escalation) {
            return;
        }
        self.spend(step, Spending::Escalation, by);
        self.case.get_or_insert_default().progressed = false;
        self.send_escalation(step, Arc::clone(&reason), 1, by.is_some());
        self.record(step, Fact::EscalationTriggered { reason, by: by.cloned() });
    }

    fn send_escalation(&mut self, step: &mut Step<'_>, reason: Arc<str>, attempt: u8, by_hand: bool) {
        let timeout = step.role.intervention.escalation_timeout;
        let escalation = Escalation {
            reason: Arc::clone(&reason),
            evidence: Arc::clone(&self.evidence),
            task: self.task.clone(),
            checkpoint: self.checkpoint.clone(),
            nudges: self.nudges_used(),
            timeout,
        };
        let key = self.act(step, Action::Escalate(escalation));
        let deadline = (self.mode(step.role) == Mode::Full).then(|| step.now + timeout);
        let (since, seq, retry_at) = (step.now, key.seq, None);
        self.set_ladder(Ladder::Escalated { since, seq, attempt, deadline, retry_at, reason, by_hand });
    }

    fn interrupt_if_due(&mut self, step: &mut Step<'_>) {
        let repeats = self.repeats(step);
        let every = step.role.intervention.repeats_stop;
        let Some(case) = &mut self.case else { return };
        if repeats == 0 {
            case.interrupted_at = 0;
        }
        // Who is being stopped is not told to turn elsewhere as well.
        let stops = matches!(case.ladder, Ladder::Stopping(_));
        let due = every > 0 && !stops && repeats >= case.interrupted_at.saturating_add(every);
        if !due || self.mode(step.role) < Mode::Escalate {
            return;
        }
        if let Some(case) = &mut self.case {
            case.interrupted_at = repeats;
            case.touched_at = Some(step.now);
            case.progressed = false;
        }
        self.act(step, Action::Interrupt { repeats });
        self.record(step, Fact::Interrupted { repeats });
    }

    /// Asks the agent to save its work and stop.
    pub(crate) fn hand_off(&mut self, step: &mut Step<'_>, reason: Arc<str>) {
        let within = step.role.intervention.cleanup_timeout;
        let key = self.act(step, Action::RequestHandoff { within });
        self.set_ladder(Ladder::HandingOff { seq: key.seq, deadline: step.now + within, reason });
    }

    /// Ends the agent, within the limits. `by` is set when a person ordered it.
    pub(crate) fn stop(&mut self, step: &mut Step<'_>, reason: Arc<str>, recover: bool, by: Option<&Actor>) {
        if by.is_none() && !self.may_spend(step, Spending::Termination) {
            return;
        }
        self.spend(step, Spending::Termination, by);
        let evidence: Arc<[Evidence]> = if by.is_some() { Arc::new([]) } else { Arc::clone(&self.evidence) };
        self.record(
            step,
            Fact::TerminationOrdered { reason: Arc::clone(&reason), by: by.cloned(), evidence },
        );
        // Who used more than it may is ended for that, however well it is.
        let judged_at = Some(step.now).filter(|_| by.is_none() && recover);
        self.send_stop(step, Stopping::new(reason, recover, judged_at));
    }

    fn send_stop(&mut self, step: &mut Step<'_>, stopping: Stopping) {
        let within = step.role.intervention.cleanup_timeout;
        let seq = self.act(step, Action::Stop { within }).seq;
        let deadline = Some(step.now + within + STOP_SLACK);
        self.set_ladder(Ladder::Stopping(Stopping { seq, deadline, ..stopping }));
    }

    /// Whether it is out of the trouble for which it was to be stopped since then: it is well, got on, or waits for
    /// something else.
    fn took_another_course(&self, since: Timestamp) -> bool {
        let progressed = self.case.as_ref().is_some_and(|case| case.progressed);
        self.state <= HealthState::Degraded || progressed || self.waiting.turned_to_others(since)
    }

    /// The stop that Verger decided on is due again, and its reason is gone.
    fn is_stop_needless(&self, now: Timestamp) -> bool {
        let Some(Ladder::Stopping(stopping)) = self.case.as_ref().map(|case| &case.ladder) else {
            return false;
        };
        stopping.deadline.is_some_and(|due| due <= now)
            && stopping.judged_at.is_some_and(|since| self.took_another_course(since))
    }

    /// What people ordered goes on whatever the agent's state has become. What Verger decided on is not tried again
    /// when its reason is gone.
    fn finish_what_is_under_way(&mut self, step: &mut Step<'_>) {
        let needless = self.is_stop_needless(step.now);
        let Some(case) = &mut self.case else { return };
        match &mut case.ladder {
            Ladder::HandingOff { deadline, reason, .. } if *deadline <= step.now => {
                let stopping = Stopping::new(Arc::clone(reason), true, None);
                self.send_stop(step, stopping);
            }
            Ladder::Stopping(_) if needless => {
                case.begin_anew();
                self.record(step, Fact::TerminationCalledOff);
            }
            Ladder::Stopping(stopping) if stopping.deadline.is_some_and(|due| due <= step.now) => {
                if stopping.attempt < step.role.intervention.stops_max {
                    let next = Stopping { attempt: stopping.attempt + 1, ..stopping.clone() };
                    self.send_stop(step, next);
                } else {
                    stopping.deadline = None;
                    let attempts = stopping.attempt;
                    case.held_until = Some(step.now + STILL_STOPS);
                    self.record(step, Fact::TerminationFailed { attempts });
                }
            }
            Ladder::Escalated { attempt, retry_at: Some(due), reason, by_hand, .. } if *due <= step.now => {
                let (reason, attempt, by_hand) = (Arc::clone(reason), attempt.saturating_add(1), *by_hand);
                self.send_escalation(step, reason, attempt, by_hand);
            }
            Ladder::Nudging(nudging) if nudging.by_hand && nudging.deadline <= step.now => {
                case.ladder = Ladder::Rest;
            }
            Ladder::Rest
            | Ladder::Nudging(_)
            | Ladder::Escalated { .. }
            | Ladder::Granted(_)
            | Ladder::HandingOff { .. }
            | Ladder::Stopping(_) => {}
        }
    }

    fn nudges_used(&self) -> u8 {
        self.case.as_ref().map_or(0, |case| case.nudges)
    }

    pub(super) fn hold(&mut self, until: Timestamp) {
        self.case.get_or_insert_default().held_until = Some(until);
    }

    /// What a limit held back may be allowed by now.
    pub(crate) fn on_other_limits(&mut self, now: Timestamp) {
        if let Some(case) = &mut self.case {
            case.on_other_limits(now);
        }
    }

    fn set_ladder(&mut self, ladder: Ladder) {
        let case = self.case.get_or_insert_default();
        case.ladder = ladder;
        case.held_until = None;
    }
}

fn is_idle_with_work(step: &Step<'_>) -> bool {
    step.findings.iter().any(|found| found.sign == Sign::IdleWithWork)
}
