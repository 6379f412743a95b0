//! The composite judgement: every sign is asked, the gravest finding decides, and its evidence goes with it.
//!
//! A kind of signal that an agent never sent is no evidence: a detector that was never fed has no finding.
//! Signs of absence (no progress, no calls) mean something only while the agent can be heard and is at work;
//! signs of presence (repeats, failures) always do. A mere note counts only beside a finding of another family.

use std::sync::Arc;

use super::{Agent, Question, Signs, Step};
use crate::event::{Fact, Incident};
use crate::evidence::{Evidence, Family, Measure, Severity, Sign};
use crate::health::HealthState;
use crate::liveness::ChannelState;
use crate::policy::Role;
use crate::progress::Slack;
use crate::signal::{Awaited, Status, Trust};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// Findings about calls prove something for this long after the last call that shows them.
const FRESH: Span = Span::secs(15);

impl Agent {
    /// Judges the agent as of now, publishes what changed and does what follows.
    pub(crate) fn judge(&mut self, step: &mut Step<'_>) {
        let mut findings = std::mem::take(step.findings);
        findings.clear();
        self.let_idleness_be(step);
        self.collect(step.now, step.role, &mut findings);
        self.ask_first(step, &mut findings);
        self.watch_for_flapping(step, &mut findings);
        let state = self.composite(&findings);
        if state != self.state {
            let evidence = self.evidence_of(&findings);
            self.change_state(step, state, evidence);
        } else if !findings.is_empty() || !self.evidence.is_empty() || self.breach().is_some() {
            // The state stands; whoever looks now, or is asked to decide, gets what is true now.
            self.evidence = self.evidence_of(&findings);
        }
        *step.findings = findings;
        self.settle_incidents(step);
        self.intervene(step);
    }

    fn collect(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        findings.extend(self.liveness.finding(now, &role.liveness));
        if self.liveness.way_is_open() && !self.in_grace(now) {
            let before = findings.len();
            self.collect_absence(now, role, findings);
            if !(self.beats_on_time(now, role) || self.is_known_to_stand_still(&findings[before..])) {
                findings.truncate(before);
            }
        }
        self.collect_presence(now, role, findings);
    }

    /// Whether it would be heard if it did something: where beats are expected, none has been missed. Otherwise its
    /// silence is a question of life, which is judged elsewhere.
    fn beats_on_time(&self, now: Timestamp, role: &Role) -> bool {
        let expected = self.beats && self.liveness.channel != ChannelState::Open;
        !expected || now.since(self.liveness.last_sign) <= role.liveness.beats.interval.times(2)
    }

    /// What was found before a beat was missed stands until it is heard again, or is lost.
    fn is_known_to_stand_still(&self, absent: &[Finding]) -> bool {
        let progress = |sign: Sign| sign.family() == Family::Progress;
        self.evidence.iter().any(|found| progress(found.sign))
            && absent.iter().any(|found| progress(found.sign))
    }

    fn collect_absence(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        findings.extend(self.idleness(now, role));
        if !self.cannot_say_that_it_rests() {
            let overdue = self.waiting.finding(now, self.progress.last_work, &role.patience);
            findings.extend(overdue.filter(|found| !self.may_have_gone_on(found, role)));
        }
        if self.waiting.is_resting() {
            return;
        }
        let slack = self.slack(now, role);
        findings.extend(self.progress.staleness(now, slack, &role.progress));
        // Who never says when it rests, and was given no work, may rest now.
        if self.waiting.tells || self.progress.assigned_at.is_some() {
            findings.extend(self.progress.tool_silence(now, slack, &role.progress));
        }
        let Some(signs) = &self.signs else { return };
        findings.extend(self.exhaustion(now, role));
        if slack.stopped_at.is_none() {
            findings.extend(signs.tokens.as_ref().and_then(|tokens| tokens.stop(now, &role.tokens)));
        }
    }

    /// Whether it was found to stand still. That holds until something else is heard of it, whoever was away meanwhile.
    pub(crate) fn stands_still(&self) -> bool {
        let standstill = |found: &Evidence| matches!(found.sign, Sign::ToolSilence | Sign::Progress);
        self.evidence.iter().any(|found| standstill(found) && found.severity == Severity::Stuck)
    }

    /// Whether the model may have answered while the monitor was away, and a call have begun.
    fn may_have_gone_on(&self, found: &Finding, role: &Role) -> bool {
        let within = |limit| matches!(found.value, Measure::Span(waited) if waited < limit);
        self.progress.unsure && found.sign == Sign::Patience(Awaited::Model) && within(role.patience.tool)
    }

    /// Whether all that is known of it are calls and words that prove nothing. The end of a call may have been lost,
    /// and that it rests it may not say: its silence means nothing.
    fn cannot_say_that_it_rests(&self) -> bool {
        self.unverified && !self.beats && self.liveness.channel != ChannelState::Open
    }

    /// What explains its standstill, if it does not rest.
    pub(crate) fn slack(&self, now: Timestamp, role: &Role) -> Slack {
        Slack {
            stopped_at: self.waiting.stopped_at(now, &role.patience),
            unseen_call: role.patience.tool,
            // Who does not beat is asked before it is judged, which serves as well.
            unseen_thought: if self.beats { role.patience.model } else { Span::ZERO },
            seems_at_work: self.is_busy() || self.uses_tokens_until(role).is_some_and(|until| now <= until),
            news_every: if self.beats { role.liveness.beats.interval } else { Span::ZERO },
        }
    }

    /// Until when the tokens it last used show that it is at work.
    pub(crate) fn uses_tokens_until(&self, role: &Role) -> Option<Timestamp> {
        let last = self.signs.as_ref()?.tokens.as_ref()?.last_used()?;
        Some(last + role.progress.degraded_after.max(role.liveness.beats.interval.times(2)))
    }

    fn collect_presence(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        if let Some(signs) = &self.signs {
            signs.collect(now, role, findings);
        }
        let said =
            |sign, severity| Finding { sign, value: Measure::Said, threshold: Measure::Said, severity };
        findings.extend(self.blocked.then(|| said(Sign::Blocked, Severity::Stuck)));
        // In an outage it says so, too; but then it is the provider that is.
        let degraded =
            self.waiting.status == Some(Status::Degraded) && !self.waiting.awaits(Awaited::Provider);
        findings.extend(degraded.then(|| said(Sign::SelfReport, Severity::Degraded)));
    }

    /// A full window is exhaustion when the agent goes on and on with it and nothing lasting comes of that. Before
    /// that it is a warning: an agent may well finish what it is about.
    fn exhaustion(&self, now: Timestamp, role: &Role) -> Option<Finding> {
        let context = self.signs.as_ref()?.context.as_ref()?;
        let mut found = context.finding(now, &role.context)?;
        let standstill = now.since(self.progress.last_lasting);
        let goes_on = if self.progress.shows_work {
            standstill >= role.context.standstill && context.steps() >= role.context.steps
        } else {
            // It may wait for something with its window full, which cannot be seen.
            standstill >= role.patience.lease_max
        };
        let repeats_itself = context.same_words() >= role.context.same_words;
        if !(repeats_itself || goes_on) {
            found.severity = Severity::Degraded;
        }
        Some(found)
    }

    /// Idle with work: it says that it has nothing to do, or was started for work and never heard.
    fn idleness(&self, now: Timestamp, role: &Role) -> Option<Finding> {
        if self.waiting.is_excused(now, &role.patience) {
            return None;
        }
        let since = match self.waiting.idle_since {
            Some(since) => since,
            None if !self.heard => self.grace_until,
            None => return None,
        };
        self.progress.idleness(now, since, &role.progress)
    }

    /// Who neither beats nor answers pings may have nothing to do, or be in a call, and the word of it was lost: such
    /// an agent is asked before its silence is called a standstill (001 §1.5.3), and believed while it answers.
    fn ask_first(&mut self, step: &mut Step<'_>, findings: &mut Vec<Finding>) {
        if self.beats || self.liveness.channel == ChannelState::Open {
            return;
        }
        if !findings.iter().any(|found| rests_on_silence(found) && found.severity == Severity::Stuck) {
            return;
        }
        let mut inquiry = self.past.as_ref().and_then(|past| past.inquiry).unwrap_or_default();
        if inquiry.is_due(step.now, step.role) {
            let again = inquiry.is_unanswered();
            let seq = self.ask(step.now, step.role, Question::of_itself(again), &mut step.out.effects);
            inquiry.on_asked(step.now, seq);
            self.past.get_or_insert_default().inquiry = Some(inquiry);
        }
        if inquiry.explains(step.now, step.role) {
            findings.retain(|found| !rests_on_silence(found));
        }
    }

    /// What speaks against it as of now. The evidence at hand is as old as the last judgement.
    pub(crate) fn evidence_now(&self, now: Timestamp, role: &Role) -> Arc<[Evidence]> {
        let mut findings = Vec::new();
        self.collect(now, role, &mut findings);
        if let Some(past) = &self.past {
            if past.inquiry.is_some_and(|inquiry| inquiry.explains(now, role)) {
                findings.retain(|found| !rests_on_silence(found));
            }
            findings.extend(past.flapping.finding(&role.flapping));
        }
        self.evidence_of(&findings)
    }

    fn watch_for_flapping(&mut self, step: &Step<'_>, findings: &mut Vec<Finding>) {
        let unwell =
            findings.iter().any(|found| Severity::Stuck <= found.severity) || self.liveness.lost().is_some();
        if !unwell && self.past.is_none() {
            return;
        }
        let flapping = &mut self.past.get_or_insert_default().flapping;
        flapping.observe(step.now, unwell, &step.role.flapping);
        findings.extend(flapping.finding(&step.role.flapping));
    }

    fn composite(&self, findings: &[Finding]) -> HealthState {
        let Some(worst) = findings.iter().map(|found| found.severity).max() else {
            return if self.heard { HealthState::Healthy } else { self.state };
        };
        match worst {
            Severity::Failing => HealthState::Failing,
            Severity::Stuck => HealthState::Stuck,
            Severity::Degraded => HealthState::Degraded,
            Severity::Note if families(findings.iter().map(|found| found.sign)) >= 2 => HealthState::Degraded,
            Severity::Note => HealthState::Healthy,
        }
    }

    fn evidence_of(&self, findings: &[Finding]) -> Arc<[Evidence]> {
        findings.iter().map(|found| self.stamped(found)).chain(self.breach_evidence()).collect()
    }

    fn stamped(&self, found: &Finding) -> Evidence {
        // What the monitor's own pings and probes found needs nobody's word.
        let own =
            matches!(found.sign, Sign::Ping | Sign::Connection | Sign::Route | Sign::Inquiry | Sign::Probes);
        let trust = if self.unverified && !own { Trust::Unverified } else { Trust::Verified };
        let Finding { sign, value, threshold, severity } = *found;
        let stretch = if matches!(sign, Sign::Loop(_)) { self.stretch() } else { None };
        Evidence { sign, value, threshold, severity, trust, stretch }
    }

    /// Independent families of grave, proven findings: no termination rests on fewer than two. Where an agent's work
    /// cannot be seen, that nothing is seen of it proves nothing.
    pub(crate) fn proven_families(&self, now: Timestamp, findings: &[Finding]) -> usize {
        let is_wrong = |found: &Finding| matches!(found.sign.family(), Family::Repetition | Family::Errors);
        let does_wrong = findings.iter().any(|found| is_wrong(found) && Severity::Degraded <= found.severity);
        let seen = |sign: Sign| match sign.family() {
            // Who cannot be reached may be well where it is; that findings come and go is no other finding; and
            // nobody is ended for a port that is closed.
            Family::Life => !matches!(sign, Sign::Route | Sign::Flapping | Sign::Probes),
            // Its word confirms what it is seen to do; beside what is merely not seen it is no second witness.
            _ if sign == Sign::SelfReport => does_wrong,
            // What was found before it could no longer be reached says nothing about now.
            _ if !self.liveness.way_is_open() => false,
            Family::Progress | Family::Consumption => self.progress.shows_work,
            // An agent that has left its loop is often not heard of again before its next call ends.
            Family::Repetition | Family::Errors => self.is_still_at_it(now, sign.family()),
            Family::Word | Family::Process => true,
        };
        let grave = findings.iter().filter(|found| Severity::Degraded <= found.severity && seen(found.sign));
        families(grave.filter(|found| self.stamped(found).trust == Trust::Verified).map(|found| found.sign))
    }

    /// Whether it did just now what was found of it: went round once more, or failed once more. That some other call
    /// ended says rather that it left its loop.
    fn is_still_at_it(&self, now: Timestamp, family: Family) -> bool {
        let Some(signs) = &self.signs else { return false };
        let last = match family {
            Family::Repetition => {
                let equal = signs.repetition.as_ref().and_then(|sign| sign.last_step());
                equal.max(signs.steps.as_ref().and_then(|steps| steps.last_step()))
            }
            _ => signs.errors.as_ref().and_then(|sign| sign.last_failure()),
        };
        last.is_some_and(|at| now.since(at) <= FRESH)
    }

    pub(crate) fn change_state(&mut self, step: &mut Step<'_>, to: HealthState, evidence: Arc<[Evidence]>) {
        debug_assert!(self.state.may_become(to), "{} cannot become {to}", self.state);
        let from = std::mem::replace(&mut self.state, to);
        self.state_since = step.now;
        self.evidence = Arc::clone(&evidence);
        self.record(step, Fact::StateChanged { from, to, evidence });
        self.hurry_probes(step.now);
    }

    /// One notification for each condition, and one when it ends.
    fn settle_incidents(&mut self, step: &mut Step<'_>) {
        let flapping = self.past.as_ref().is_some_and(|past| past.flapping.raised);
        let conditions = [
            (Incident::Silent, self.is_silent(step)),
            (Incident::Stuck, self.state == HealthState::Stuck),
            (Incident::Failing, self.state == HealthState::Failing),
            (Incident::Flapping, flapping),
            (Incident::OverLimit, self.breach().is_some()),
        ];
        for (incident, holds) in conditions {
            // While a state keeps changing, that is the one thing people are told of it.
            if flapping && !matches!(incident, Incident::Flapping | Incident::OverLimit) {
                continue;
            }
            let open = self.open_incidents().iter().any(|(known, _)| *known == incident);
            match (open, holds) {
                (false, true) => self.open_incident(step, incident),
                (true, false) => self.resolve_incident(step, incident),
                (true, true) | (false, false) => {}
            }
        }
    }

    /// Whether people are to be told that it is silent. An answer that is late by seconds is none of their business.
    fn is_silent(&self, step: &Step<'_>) -> bool {
        let told = self.open_incidents().iter().any(|(known, _)| *known == Incident::Silent);
        self.liveness.certain_at().is_some_and(|at| told || at <= step.now)
    }

    pub(super) fn open_incidents(&self) -> &[(Incident, Timestamp)] {
        self.past.as_ref().map_or(&[], |past| &past.incidents)
    }

    pub(crate) fn open_incident(&mut self, step: &mut Step<'_>, incident: Incident) {
        self.past.get_or_insert_default().incidents.push((incident, step.now));
        let covers = |kind| step.together.covering(&self.membership(), kind);
        let part_of = incident.kind().and_then(covers);
        self.record(step, Fact::IncidentOpened { incident, since: step.now, part_of });
    }

    fn resolve_incident(&mut self, step: &mut Step<'_>, incident: Incident) {
        let Some(past) = &mut self.past else { return };
        let Some(at) = past.incidents.iter().position(|(known, _)| *known == incident) else { return };
        let (_, since) = past.incidents.remove(at);
        self.record(step, Fact::IncidentResolved { incident, lasted: step.now.since(since) });
    }

    pub(crate) fn resolve_all_incidents(&mut self, step: &mut Step<'_>) {
        while let Some((incident, _)) = self.open_incidents().first().copied() {
            self.resolve_incident(step, incident);
        }
    }
}

impl Signs {
    fn collect(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        findings.extend(self.again_and_again(now, &role.repetition));
        if let Some(errors) = &self.errors {
            findings.extend(errors.findings(now, &role.errors));
        }
        findings.extend(self.tokens.as_ref().and_then(|sign| sign.spike(now, &role.tokens)));
        if let Some(output) = &self.output {
            findings.extend(output.findings(now, &role.output));
        }
        findings.extend(self.probes.as_ref().and_then(|probes| probes.finding(now)));
    }
}

fn rests_on_silence(found: &Finding) -> bool {
    matches!(found.sign, Sign::ToolSilence | Sign::Patience(_) | Sign::Progress)
}

fn families(signs: impl Iterator<Item = Sign>) -> usize {
    let mut seen: Vec<Family> = signs.map(Sign::family).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len()
}
