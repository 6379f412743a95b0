//! The probes of one agent: when each is due, what became of its runs, and what they say together.
//!
//! ```text
//! due ──wake──► running ──result──► due, an interval after it was last due
//!                  └──nothing came back in time──► due; no counter changes
//! ```
//!
//! Every start has a number that is never used again, so a result that comes late, twice, out of order, for a
//! probe that was removed or changed, or from a life that is over is recognised and changes nothing. The first
//! starts are spread over the interval, and every probe keeps its place in it.

use super::aggregate;
use super::outcome::{Outcome, ProbeResult, Reported};
use super::policy::{ProbeSpec, SpecRefusal, check};
use super::track::{State, Track};
use crate::fingerprint::mix;
use crate::id::{Incarnation, ProbeName};
use crate::time::{Span, Timestamp};

/// Time that a result may take to come back when the probe's own time is up. What is later than that was lost
/// by the monitor.
pub(super) const SLACK: Span = Span::secs(2);
/// No probe is hurried beyond this (004 §4.4).
const INTERVAL_MIN: Span = Span::secs(1);

/// The probes of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeHealth {
    /// The life that is looked at; none while there is none.
    pub(crate) incarnation: Option<Incarnation>,
    /// Spreads the probes of different agents.
    pub(crate) seed: u64,
    pub(crate) probes: Vec<Probe>,
    pub(crate) state: State,
    pub(crate) state_changed_at: Timestamp,
    pub(crate) last_checked_at: Option<Timestamp>,
    /// The number of the next start.
    pub(crate) next_run: u64,
    /// Whether checks come twice as often.
    pub(crate) hurried: bool,
}

/// One probe, and what it found.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// What it is held to.
    pub spec: ProbeSpec,
    /// Its counters.
    pub track: Track,
    /// Its last result that said something.
    pub last: Option<Reported>,
    /// Runs in a row of which nothing was learned, through no fault of the agent.
    pub unreported: u32,
    pub(crate) run: Run,
}

/// Where a probe is between two checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// It starts at `due`.
    Due {
        /// When.
        due: Timestamp,
    },
    /// It was started.
    Running {
        /// The number of this run.
        run: u64,
        /// When it was due.
        due: Timestamp,
        /// When its result is lost.
        lost_at: Timestamp,
    },
}

/// What happened, for the fleet to record and to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A probe is to be run now, once.
    Start {
        /// Which.
        probe: ProbeName,
        /// The number that its result must bear.
        run: u64,
        /// The life that is looked at.
        incarnation: Incarnation,
        /// The time it may take.
        timeout: Span,
        /// Failures in a row so far.
        failures: u32,
    },
    /// Nothing came back from a run. That is the monitor's fault.
    Lost {
        /// Which probe.
        probe: ProbeName,
        /// Which run.
        run: u64,
    },
    /// One probe's state changed.
    ProbeChanged {
        /// Which.
        probe: ProbeName,
        /// From this.
        from: State,
        /// To that.
        to: State,
    },
    /// The agent's state by its probes changed.
    StateChanged {
        /// From this.
        from: State,
        /// To that.
        to: State,
        /// For how long it had been the other.
        lasted: Span,
        /// Why.
        summary: String,
    },
}

/// Why a result changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ignored {
    /// It is about a life that is over.
    #[error("the result is about a life of the agent that is over")]
    FormerLife,
    /// No such probe is configured, or not any more.
    #[error("no such probe is configured")]
    UnknownProbe,
    /// That run is not awaited: it was answered already, is lost, or was given up.
    #[error("that run of the probe is not awaited")]
    NotAwaited,
}

/// What people see of an agent's probes.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbesView {
    /// The agent's state by its probes.
    pub state: State,
    /// Since when.
    pub state_changed_at: Timestamp,
    /// When a result that said something last came.
    pub last_checked_at: Option<Timestamp>,
    /// Failures in a row of the probe that counts and has most of them.
    pub failure_count: u32,
    /// What a person reads.
    pub summary: String,
    /// The probes, the primary one first.
    pub probes: Vec<Probe>,
}

impl ProbesView {
    /// How long the state has lasted (004's `StateAge`, from its change and not from the last check).
    pub fn state_age(&self, now: Timestamp) -> Span {
        now.since(self.state_changed_at)
    }
}

impl ProbeHealth {
    /// A life of the agent begins: nothing is known of it, and every probe takes its place in its interval.
    /// One that has begun already changes nothing.
    pub fn begin(&mut self, now: Timestamp, incarnation: Incarnation, seed: u64, out: &mut Vec<Change>) {
        if self.incarnation.replace(incarnation) == Some(incarnation) {
            return;
        }
        self.seed = seed;
        self.hurried = false;
        self.last_checked_at = None;
        for probe in &mut self.probes {
            *probe = Probe::new(now, probe.spec.clone(), seed);
        }
        self.reconsider(now, out);
        self.state_changed_at = now;
    }

    /// The life is over. Nothing is probed, and what was found last stays to be seen.
    pub fn end(&mut self, now: Timestamp) {
        self.incarnation = None;
        for probe in &mut self.probes {
            probe.run = Run::Due { due: now };
        }
    }

    /// The probes that the agent is to have from now on. One that looks at the same thing under the same name
    /// goes on with what it knows; one that looks at another begins anew. Refused as a whole if one is wrong.
    pub fn configure(
        &mut self,
        now: Timestamp,
        specs: &[ProbeSpec],
        out: &mut Vec<Change>,
    ) -> Result<(), SpecRefusal> {
        check(specs)?;
        let mut before = std::mem::take(&mut self.probes);
        if before.is_empty() {
            self.state_changed_at = now;
        }
        for spec in specs {
            let same = |probe: &Probe| probe.spec.name == spec.name && probe.spec.target == spec.target;
            let kept = before.iter().position(same).map(|at| before.swap_remove(at));
            self.probes.push(match kept {
                Some(probe) => probe.retimed(now, spec.clone()),
                None => Probe::new(now, spec.clone(), self.seed),
            });
        }
        self.reconsider(now, out);
        Ok(())
    }

    /// Whether checks are to come twice as often: while the agent is degraded.
    pub fn hurry(&mut self, now: Timestamp, hurried: bool) {
        if self.hurried == hurried {
            return;
        }
        self.hurried = hurried;
        for probe in &mut self.probes {
            let interval = interval(&probe.spec, hurried);
            if let Run::Due { due } = &mut probe.run {
                *due = (*due).min(now + interval);
            }
        }
    }

    /// The number that the next start bears. It must be higher than that of every earlier one, of probes that were
    /// taken away meanwhile, too.
    pub(crate) fn number_from(&mut self, next: u64) {
        self.next_run = next;
    }

    /// Starts what is due and gives up what was lost. Calling early is harmless.
    pub fn wake(&mut self, now: Timestamp, out: &mut Vec<Change>) {
        let Some(incarnation) = self.incarnation else { return };
        for probe in &mut self.probes {
            if let Run::Running { run, due, lost_at } = probe.run
                && lost_at <= now
            {
                out.push(Change::Lost { probe: probe.spec.name.clone(), run });
                probe.unreported = probe.unreported.saturating_add(1);
                probe.run = Run::Due { due: next_slot(due, interval(&probe.spec, self.hurried), now) };
            }
            if let Run::Due { due } = probe.run
                && due <= now
            {
                let (run, timeout) = (self.next_run, probe.spec.timeout);
                self.next_run = self.next_run.wrapping_add(1);
                probe.run = Run::Running { run, due, lost_at: now + timeout + SLACK };
                let (name, failures) = (probe.spec.name.clone(), probe.track.failures);
                out.push(Change::Start { probe: name, run, incarnation, timeout, failures });
            }
        }
    }

    /// When something is due.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.incarnation?;
        let due = self.probes.iter().map(|probe| match probe.run {
            Run::Due { due } => due,
            Run::Running { lost_at, .. } => lost_at,
        });
        due.min().map(|due| due.max(now + Span::millis(1)))
    }

    /// What a run found.
    pub fn on_result(
        &mut self,
        now: Timestamp,
        result: &ProbeResult,
        out: &mut Vec<Change>,
    ) -> Result<(), Ignored> {
        if self.incarnation != Some(result.incarnation) {
            return Err(Ignored::FormerLife);
        }
        let probe = self.probes.iter_mut().find(|probe| probe.spec.name == result.probe);
        let probe = probe.ok_or(Ignored::UnknownProbe)?;
        let due = match probe.run {
            Run::Running { run, due, .. } if run == result.run => due,
            Run::Running { .. } | Run::Due { .. } => return Err(Ignored::NotAwaited),
        };
        probe.run = Run::Due { due: next_slot(due, interval(&probe.spec, self.hurried), now) };
        let from = probe.track.state;
        match result.outcome {
            Outcome::Passed => probe.track.on_pass(&probe.spec),
            Outcome::Failed | Outcome::TimedOut => probe.track.on_failure(&probe.spec),
            Outcome::Inconclusive => {
                probe.unreported = probe.unreported.saturating_add(1);
                return Ok(());
            }
        }
        probe.unreported = 0;
        probe.last = Some(Reported::new(now, result));
        self.last_checked_at = Some(now);
        let to = probe.track.state;
        if from != to {
            out.push(Change::ProbeChanged { probe: probe.spec.name.clone(), from, to });
        }
        self.reconsider(now, out);
        Ok(())
    }

    /// What people see; nothing if the agent has no probes.
    pub fn view(&self) -> Option<ProbesView> {
        (!self.probes.is_empty()).then(|| ProbesView {
            state: self.state,
            state_changed_at: self.state_changed_at,
            last_checked_at: self.last_checked_at,
            failure_count: aggregate::failure_count(&self.probes),
            summary: aggregate::summary(&self.probes),
            probes: self.probes.clone(),
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.probes.is_empty()
    }

    /// One probe: what it found last is what its next run gets to see.
    pub fn probe(&self, name: &ProbeName) -> Option<&Probe> {
        self.probes.iter().find(|probe| probe.spec.name == *name)
    }

    /// The agent's state by its probes.
    pub fn state(&self) -> State {
        self.state
    }

    fn reconsider(&mut self, now: Timestamp, out: &mut Vec<Change>) {
        let (from, to) = (self.state, aggregate::state(&self.probes));
        if from == to {
            return;
        }
        let lasted = now.since(self.state_changed_at);
        out.push(Change::StateChanged { from, to, lasted, summary: aggregate::summary(&self.probes) });
        self.state = to;
        self.state_changed_at = now;
    }
}

impl Probe {
    fn new(now: Timestamp, spec: ProbeSpec, seed: u64) -> Self {
        let named = spec.name.as_str().bytes().fold(seed, |digest, byte| mix(digest, u64::from(byte)));
        let due = now + spread(named, spec.interval);
        Self { spec, track: Track::default(), last: None, unreported: 0, run: Run::Due { due } }
    }

    /// The same probe, held to something else.
    fn retimed(mut self, now: Timestamp, spec: ProbeSpec) -> Self {
        if let Run::Due { due } = &mut self.run {
            *due = (*due).min(now + spec.interval);
        }
        self.spec = spec;
        self
    }
}

/// Where in its first interval a probe starts: evenly spread over different seeds, so that the probes of a
/// fleet that starts at once do not.
pub fn spread(seed: u64, interval: Span) -> Span {
    let share = u128::from(mix(seed, 1)) * u128::from(interval.as_millis());
    Span::millis((share >> 64) as u64)
}

fn interval(spec: &ProbeSpec, hurried: bool) -> Span {
    if hurried { spec.interval.half().max(INTERVAL_MIN) } else { spec.interval.max(INTERVAL_MIN) }
}

/// The first moment after now that is a whole number of intervals after `due`.
fn next_slot(due: Timestamp, interval: Span, now: Timestamp) -> Timestamp {
    let passed = now.since(due).as_millis() / interval.as_millis().max(1);
    due + interval.times(passed.saturating_add(1))
}
