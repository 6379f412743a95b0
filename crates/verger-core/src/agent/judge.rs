//! The composite judgement: every sign is asked, the gravest finding decides, and its evidence goes with it.
//!
//! A kind of signal that an agent never sent is no evidence: a detector that was never fed has no finding.
//! Signs of absence (no progress, no calls) mean something only while the agent can be heard and is at work;
//! signs of presence (repeats, failures) always do. A mere note counts only beside a finding of another family.

use std::sync::Arc;

use super::{Agent, Signs, Step};
use crate::event::{Fact, Incident};
use crate::evidence::{Evidence, Family, Measure, Severity, Sign};
use crate::health::HealthState;
use crate::policy::Role;
use crate::signal::{Status, Trust};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

impl Agent {
    /// Judges the agent as of now, publishes what changed and does what follows.
    pub(crate) fn judge(&mut self, step: &mut Step<'_>) {
        let mut findings = std::mem::take(step.findings);
        findings.clear();
        self.collect(step.now, step.role, &mut findings);
        self.watch_for_flapping(step, &mut findings);
        let state = self.composite(&findings);
        if state != self.state {
            let evidence = self.evidence_of(&findings);
            self.change_state(step, state, evidence);
        } else if !same_signs(&self.evidence, &findings) {
            self.evidence = self.evidence_of(&findings);
        }
        *step.findings = findings;
        self.settle_incidents(step);
        self.intervene(step);
    }

    fn collect(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        findings.extend(self.liveness.finding(now, &role.liveness));
        if self.liveness.way_is_open() && !self.in_grace(now) {
            self.collect_absence(now, role, findings);
        }
        self.collect_presence(now, role, findings);
    }

    fn collect_absence(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        findings.extend(self.idleness(now, role));
        findings.extend(self.waiting.finding(now, self.progress.last_work, &role.patience));
        if self.waiting.is_resting(now, &role.patience) {
            return;
        }
        let stopped_at = self.waiting.stopped_at(now, &role.patience);
        let excused = stopped_at.map_or(Span::ZERO, |stopped_at| now.since(stopped_at));
        findings.extend(self.progress.staleness(now, excused, &role.progress));
        findings.extend(self.progress.tool_silence(now, excused, &role.progress));
        let Some(signs) = &self.signs else { return };
        findings.extend(signs.context.as_ref().and_then(|sign| sign.finding(now, &role.context)));
        if stopped_at.is_none() {
            findings.extend(signs.tokens.as_ref().and_then(|tokens| tokens.stop(now, &role.tokens)));
        }
    }

    fn collect_presence(&self, now: Timestamp, role: &Role, findings: &mut Vec<Finding>) {
        if let Some(signs) = &self.signs {
            signs.collect(now, role, findings);
        }
        let said =
            |sign, severity| Finding { sign, value: Measure::Said, threshold: Measure::Said, severity };
        findings.extend(self.blocked.then(|| said(Sign::Blocked, Severity::Stuck)));
        let degraded = self.waiting.status == Some(Status::Degraded);
        findings.extend(degraded.then(|| said(Sign::SelfReport, Severity::Degraded)));
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

    fn watch_for_flapping(&mut self, step: &Step<'_>, findings: &mut Vec<Finding>) {
        let unwell = findings.iter().any(|found| Severity::Degraded <= found.severity);
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
        findings.iter().map(|found| self.stamped(found)).collect()
    }

    fn stamped(&self, found: &Finding) -> Evidence {
        // What the monitor's own pings found needs nobody's word.
        let own = matches!(found.sign, Sign::Ping | Sign::Connection | Sign::Route | Sign::Inquiry);
        let trust = if self.unverified && !own { Trust::Unverified } else { Trust::Verified };
        let Finding { sign, value, threshold, severity } = *found;
        Evidence { sign, value, threshold, severity, trust }
    }

    /// Independent families of grave, proven findings: no termination rests on fewer than two.
    pub(crate) fn proven_families(&self, findings: &[Finding]) -> usize {
        let grave = findings.iter().filter(|found| Severity::Degraded <= found.severity);
        families(grave.filter(|found| self.stamped(found).trust == Trust::Verified).map(|found| found.sign))
    }

    pub(crate) fn change_state(&mut self, step: &mut Step<'_>, to: HealthState, evidence: Arc<[Evidence]>) {
        debug_assert!(self.state.may_become(to), "{} cannot become {to}", self.state);
        let from = std::mem::replace(&mut self.state, to);
        self.state_since = step.now;
        self.evidence = Arc::clone(&evidence);
        self.record(step, Fact::StateChanged { from, to, evidence });
    }

    /// One notification for each condition, and one when it ends.
    fn settle_incidents(&mut self, step: &mut Step<'_>) {
        let conditions = [
            (Incident::Silent, self.liveness.lost().is_some()),
            (Incident::Stuck, self.state == HealthState::Stuck),
            (Incident::Failing, self.state == HealthState::Failing),
            (Incident::Flapping, self.past.as_ref().is_some_and(|past| past.flapping.raised)),
        ];
        for (incident, holds) in conditions {
            let open = self.open_incidents().iter().any(|(known, _)| *known == incident);
            match (open, holds) {
                (false, true) => self.open_incident(step, incident),
                (true, false) => self.resolve_incident(step, incident),
                (true, true) | (false, false) => {}
            }
        }
    }

    fn open_incidents(&self) -> &[(Incident, Timestamp)] {
        self.past.as_ref().map_or(&[], |past| &past.incidents)
    }

    pub(crate) fn open_incident(&mut self, step: &mut Step<'_>, incident: Incident) {
        self.past.get_or_insert_default().incidents.push((incident, step.now));
        self.record(step, Fact::IncidentOpened { incident, since: step.now });
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
        findings.extend(self.repetition.as_ref().and_then(|sign| sign.finding(now, &role.repetition)));
        if let Some(errors) = &self.errors {
            findings.extend(errors.findings(now, &role.errors));
        }
        findings.extend(self.tokens.as_ref().and_then(|sign| sign.spike(now, &role.tokens)));
        if let Some(output) = &self.output {
            findings.extend(output.findings(now, &role.output));
        }
    }
}

fn families(signs: impl Iterator<Item = Sign>) -> usize {
    let mut seen: Vec<Family> = signs.map(Sign::family).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len()
}

fn same_signs(evidence: &[Evidence], findings: &[Finding]) -> bool {
    evidence.len() == findings.len()
        && evidence.iter().zip(findings).all(|(known, found)| {
            known.sign == found.sign && known.severity == found.severity && known.threshold == found.threshold
        })
}
