//! Which alarms were false, and which faults were found.

use std::collections::BTreeMap;

use verger_core::id::AgentId;
use verger_core::policy::Policies;
use verger_core::time::Span;

use super::alarm::Alarm;
use super::allowance::{Circumstances, Pace, allowance};
use super::heard::Heard;
use super::known::{Known, LOOK_EVERY, is_shown};
use super::seen::SeenTime;
use crate::world::{AgentFacts, Condition, FaultKind, Injection, SimTime, Truth};

/// Evidence may have begun this long, in seen time, before the alarm that rests on it.
///
/// Half an hour is the patience for most waits, and the time after which windows of errors and repeats have
/// moved on. A fault that ended earlier than that excuses no alarm.
const LOOK_BACK: Span = Span::minutes(30);
/// A fault that ends at the moment of its verdict still counts as found.
const SLACK: Span = Span::secs(60);

/// An absence of the monitor after which it forgives every silence.
pub(super) const FORGIVEN: Span = Span::secs(30);

/// What the run showed, measured against the truth.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Every episode, and whether something was wrong with or around that agent.
    pub episodes: Vec<(Alarm, bool)>,
    /// Every fault, and what became of it.
    pub findings: Vec<Finding>,
}

/// What became of one fault.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What went wrong.
    pub fault: Injection,
    /// From which moment of seen time after its beginning the policy allows a verdict; `None` if no
    /// verdict is expected.
    pub allowance: Option<Span>,
    /// How long it could be seen.
    pub lasted: Span,
    /// It ended before any verdict was allowed.
    pub too_short: bool,
    /// How long after the allowance the alarm was raised, if it was.
    pub found: Option<Span>,
    /// How long after the allowance somebody did something about it, if anybody did.
    pub intervened: Option<Span>,
}

impl Finding {
    /// It could not be told from rest, or from a good end that nobody saw, and was not.
    pub fn is_hidden(&self) -> bool {
        !self.fault.kind.is_endured() && self.allowance.is_none() && self.found.is_none()
    }

    /// It should have been found and was not.
    pub fn is_missed(&self) -> bool {
        self.allowance.is_some() && !self.too_short && self.found.is_none()
    }
}

/// What is judged.
pub(super) struct Evidence<'a> {
    pub(super) truth: &'a Truth,
    pub(super) policies: &'a Policies,
    pub(super) seen: &'a SeenTime,
    pub(super) heard: &'a Heard,
    pub(super) known: &'a Known,
    pub(super) alarms: &'a [Alarm],
    /// When something was done about each agent.
    pub(super) interventions: &'a BTreeMap<AgentId, Vec<SimTime>>,
    pub(super) until: SimTime,
}

impl Judgement {
    pub(super) fn of(evidence: &Evidence<'_>) -> Self {
        let mut faults: BTreeMap<&AgentId, Vec<&Injection>> = BTreeMap::new();
        for fault in evidence.truth.injected() {
            faults.entry(&fault.agent).or_default().push(fault);
        }
        let mut alarms: BTreeMap<&AgentId, Vec<&Alarm>> = BTreeMap::new();
        for alarm in evidence.alarms {
            alarms.entry(&alarm.agent).or_default().push(alarm);
        }
        let touched = |alarm: &Alarm| {
            let at = alarm.told.unwrap_or(alarm.began);
            faults.get(&alarm.agent).is_some_and(|faults| evidence.touched(faults, at))
                || evidence.left_without_proof(&alarm.agent, at)
        };
        Self {
            episodes: evidence.alarms.iter().map(|alarm| (alarm.clone(), touched(alarm))).collect(),
            findings: evidence
                .truth
                .injected()
                .iter()
                .map(|fault| evidence.finding(fault, alarms.get(&fault.agent).map_or(&[], Vec::as_slice)))
                .collect(),
        }
    }

    /// Episodes in which people were told, and whether something was wrong.
    pub fn alarms(&self) -> impl Iterator<Item = &(Alarm, bool)> {
        self.episodes.iter().filter(|(alarm, _)| alarm.told.is_some())
    }

    /// Episodes in which nobody was told, and whether something was wrong.
    pub fn warnings(&self) -> impl Iterator<Item = &(Alarm, bool)> {
        self.episodes.iter().filter(|(alarm, _)| alarm.told.is_none())
    }

    /// Alarms about agents with and around whom nothing was wrong.
    pub fn false_alarms(&self) -> impl Iterator<Item = &Alarm> {
        self.alarms().filter(|(_, touched)| !touched).map(|(alarm, _)| alarm)
    }
}

impl Evidence<'_> {
    /// Whether one of these faults was under way within the look-back before `at`.
    fn touched(&self, faults: &[&Injection], at: SimTime) -> bool {
        faults.iter().filter(|fault| excuses(fault.kind) && fault.began <= at).any(|fault| {
            fault.ended.is_none_or(|ended| self.seen.between(ended, at) <= LOOK_BACK.as_millis())
        })
    }

    /// Whether this agent is gone, and could not say so: who proved nothing may come, and cannot take its leave.
    fn left_without_proof(&self, agent: &AgentId, at: SimTime) -> bool {
        let verified = self.truth.agent(agent).is_none_or(|facts| facts.verified);
        !verified && matches!(self.truth.condition_at(agent, at), Condition::Gone | Condition::Starting)
    }

    fn finding(&self, fault: &Injection, alarms: &[&Alarm]) -> Finding {
        let ended = fault.ended.unwrap_or(self.until);
        let in_time = |at: SimTime| at <= ended || self.seen.between(ended, at) <= SLACK.as_millis();
        let told = alarms
            .iter()
            .filter(|alarm| alarm.ended.is_none_or(|over| fault.began < over))
            .find_map(|alarm| noticed(fault.kind, alarm).filter(|at| in_time(*at)));
        let done = self.interventions.get(&fault.agent).map_or(&[][..], Vec::as_slice);
        let first = done.partition_point(|at| *at < fault.began);
        let intervened = done.get(first).copied().filter(|at| in_time(*at));
        let found = if is_shown(fault.kind) {
            self.known.since(fault.id).filter(|at| in_time(*at))
        } else {
            // What was done something about was noticed, even where it helped before anybody had to be told.
            [told, intervened].into_iter().flatten().min()
        };
        let from = self.counts_from(fault, found.unwrap_or(ended));
        let allowance = allowance(fault.kind, &self.circumstances(fault, from), self.policies);
        let after = |at: SimTime| {
            let since = Span::millis(self.seen.between(from, at.max(from)));
            since.less(allowance.unwrap_or(Span::ZERO))
        };
        let lasted = self.seen.between(from, ended.max(from));
        let look = if is_shown(fault.kind) { LOOK_EVERY } else { 0 };
        let too_short =
            found.is_none() && allowance.is_some_and(|allowance| lasted < allowance.as_millis() + look);
        let (found, intervened) = (found.map(after), intervened.map(after));
        let lasted = Span::millis(lasted);
        Finding { fault: fault.clone(), allowance, lasted, too_short, found, intervened }
    }

    /// From when on a fault counts that was noticed, or ended, at `at`. Who was away gives every silence its time anew.
    fn counts_from(&self, fault: &Injection, at: SimTime) -> SimTime {
        let back = self.seen.last_absence(at, FORGIVEN).filter(|_| is_silence(fault.kind));
        back.map_or(fault.began, |back| back.max(fault.began))
    }

    /// Whether the monitor came back so shortly before that this agent need not have beaten since.
    fn is_unheard(&self, facts: &AgentFacts, at: SimTime) -> bool {
        let back = self.seen.last_absence(at, FORGIVEN);
        back.zip(facts.beat_ms).is_some_and(|(back, beat)| at.since(back) < beat + beat / 16)
    }

    /// What the agent was like when it was hit.
    fn circumstances<'a>(&'a self, fault: &'a Injection, from: SimTime) -> Circumstances<'a> {
        let Injection { agent, began, .. } = fault;
        let facts = self.truth.agent(agent).expect("only agents of the world have faults");
        let before = *began - 1;
        let born = self.truth.changes(agent).iter().rev().find(|(at, condition)| {
            *at <= before && matches!(condition, Condition::Gone | Condition::Starting)
        });
        Circumstances {
            facts,
            tells_tokens: self.heard.tells_tokens(agent),
            announces_calls: self.heard.announces_calls(agent),
            before: self.truth.condition_at(agent, before),
            unsure: *began < from,
            unseen: self.seen.is_blind(*began) || self.is_unheard(facts, *began),
            busy: self.heard.busy_at(agent, *began),
            pace: Pace {
                heard: self.heard,
                seen: self.seen,
                agent,
                began: *began,
                ended: fault.ended.unwrap_or(self.until),
            },
            age: Span::millis(began.since(born.map_or(SimTime::ZERO, |(at, _)| *at))),
        }
    }
}

/// When an episode shows that this kind of fault was noticed: when people are told, or, where the policy asks for
/// no more than a warning, when it is given.
fn noticed(kind: FaultKind, alarm: &Alarm) -> Option<SimTime> {
    if kind == FaultKind::TokenRunaway { Some(alarm.began) } else { alarm.told }
}

/// Whether this kind of fault shows in that nothing is heard.
fn is_silence(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Freeze | FaultKind::Crash | FaultKind::HostLoss | FaultKind::Partition)
}

/// Whether an agent under this condition may rightly cause an alarm.
///
/// A wrong clock may not: liveness is judged on receipt. Signals that are lost, doubled or late may not
/// either, nor may effects that fail: a monitor has to live with them.
fn excuses(kind: FaultKind) -> bool {
    !matches!(kind, FaultKind::ClockSkew | FaultKind::Transport | FaultKind::EffectFailure)
}
