//! What is stored of an agent's probes.

use super::{Damaged, Stored};
use crate::probe::{Outcome, Probe, ProbeHealth, ProbeSpec, Reported, Run, State, Track};

fields!(ProbeHealth {
    incarnation,
    seed,
    probes,
    state,
    state_changed_at,
    last_checked_at,
    next_run,
    hurried,
});
fields!(Probe { spec, track, last, unreported, run });
fields!(ProbeSpec { name, interval, timeout, failure_threshold, success_threshold, included, target });
fields!(Track { state, failures, passes });
fields!(Reported { outcome, description, error, duration, checked_at, data });

variants!(State { 0 = Unknown, 1 = Healthy, 2 = Degraded, 3 = Unhealthy });
variants!(Outcome { 0 = Passed, 1 = Failed, 2 = TimedOut, 3 = Inconclusive });
variants!(Run { 0 = Due { due }, 1 = Running { run, due, lost_at } });
