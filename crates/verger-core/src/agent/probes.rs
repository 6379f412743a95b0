//! What probes find of an agent from outside (P04).
//!
//! The number of a run is that of its effect. So it is never used again, not even by other probes of the same
//! name, and a result that comes late finds nothing that it could be taken for.

use super::{Agent, Signs, Step};
use crate::effect::{Action, ProbeStart};
use crate::event::Fact;
use crate::fingerprint::mix;
use crate::health::HealthState;
use crate::probe::{Change, Ignored, Outcome, ProbeHealth, ProbeResult, ProbeSpec, SpecRefusal, State};
use crate::time::Timestamp;

impl Agent {
    /// Gives it these probes and no others.
    pub(crate) fn set_probes(&mut self, step: &mut Step<'_>, specs: &[ProbeSpec]) -> Result<(), SpecRefusal> {
        let mut probes = self.signs.as_mut().and_then(|signs| signs.probes.take()).unwrap_or_default();
        let mut changes = Vec::new();
        if self.state != HealthState::Terminated {
            probes.begin(step.now, self.incarnation, self.probe_seed(), &mut changes);
            probes.hurry(step.now, HealthState::Degraded <= self.state);
        }
        let result = probes.configure(step.now, specs, &mut changes);
        if !probes.is_empty() {
            self.signs().probes = Some(probes);
        }
        self.on_probe_changes(step, changes);
        self.judge_by_probes(step);
        result
    }

    /// What a run found. Failures while it starts say nothing, until that probe has passed once (X05).
    pub(crate) fn on_probe_result(
        &mut self,
        step: &mut Step<'_>,
        result: &ProbeResult,
    ) -> Result<(), Ignored> {
        let starts = self.in_grace(step.now);
        let probes = self.signs.as_mut().and_then(|signs| signs.probes.as_mut());
        let probes = probes.ok_or(Ignored::UnknownProbe)?;
        let untried = probes.probe(&result.probe).is_some_and(|probe| probe.track.state == State::Unknown);
        let outcome = match result.outcome {
            Outcome::Failed | Outcome::TimedOut if starts && untried => Outcome::Inconclusive,
            Outcome::Passed | Outcome::Failed | Outcome::TimedOut | Outcome::Inconclusive => result.outcome,
        };
        let mut changes = Vec::new();
        probes.on_result(step.now, &ProbeResult { outcome, ..result.clone() }, &mut changes)?;
        self.on_probe_changes(step, changes);
        self.judge_by_probes(step);
        Ok(())
    }

    pub(super) fn wake_probes(&mut self, step: &mut Step<'_>) {
        let next = u64::from(self.next_effect);
        let Some(probes) = self.signs.as_mut().and_then(|signs| signs.probes.as_mut()) else { return };
        let mut changes = Vec::new();
        probes.number_from(next);
        probes.wake(step.now, &mut changes);
        self.on_probe_changes(step, changes);
    }

    /// They outlive the life that ends, and nothing else of what was seen does.
    pub(super) fn take_what_outlives(&mut self) -> Option<Box<Signs>> {
        let signs = self.signs.as_mut()?;
        let (probes, steps) = (signs.probes.take(), signs.steps.take());
        (probes.is_some() || steps.is_some()).then(|| Box::new(Signs { probes, steps, ..Signs::default() }))
    }

    pub(super) fn begin_probes(&mut self, step: &mut Step<'_>) {
        let (life, seed) = (self.incarnation, self.probe_seed());
        let Some(probes) = self.signs.as_mut().and_then(|signs| signs.probes.as_mut()) else { return };
        let mut changes = Vec::new();
        probes.begin(step.now, life, seed, &mut changes);
        self.on_probe_changes(step, changes);
    }

    pub(super) fn end_probes(&mut self, now: Timestamp) {
        if let Some(probes) = self.signs.as_mut().and_then(|signs| signs.probes.as_mut()) {
            probes.end(now);
        }
    }

    /// Who is degraded is looked at twice as often (L03).
    pub(super) fn hurry_probes(&mut self, now: Timestamp) {
        let hurried = HealthState::Degraded <= self.state;
        if let Some(probes) = self.signs.as_mut().and_then(|signs| signs.probes.as_mut()) {
            probes.hurry(now, hurried);
        }
    }

    /// Its probes, if it has any.
    pub(super) fn probes(&self) -> Option<&ProbeHealth> {
        self.signs.as_ref()?.probes.as_deref()
    }

    fn judge_by_probes(&mut self, step: &mut Step<'_>) {
        if self.state != HealthState::Terminated {
            self.judge(step);
        }
    }

    fn on_probe_changes(&mut self, step: &mut Step<'_>, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Start { probe, run, timeout, failures, incarnation: _ } => {
                    let known = self.probes().and_then(|probes| probes.probe(&probe));
                    let last = known.and_then(|probe| probe.last.clone());
                    let start = ProbeStart { probe, run, timeout, failures, last };
                    self.act(step, Action::Probe(Box::new(start)));
                }
                // The monitor's own affair. How many there were in a row is shown; to write each down would
                // fill the journal for as long as nobody runs the probes.
                Change::Lost { .. } => {}
                Change::ProbeChanged { .. } | Change::StateChanged { .. } => {
                    self.record(step, Fact::Probed(Box::new(change)));
                }
            }
        }
    }

    /// Spreads the probes of different agents over their intervals, and those of one agent alike in all its lives.
    fn probe_seed(&self) -> u64 {
        self.id.as_str().bytes().fold(0, |digest, byte| mix(digest, u64::from(byte)))
    }
}
