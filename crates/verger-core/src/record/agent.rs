//! What is stored of an agent.

use super::{Damaged, Stored};
use crate::agent::{Agent, Asked, Inquiry, Metrics, Past, Place, Signs, Spawned};
use crate::event::Incident;
use crate::evidence::{Evidence, Measure, Severity, Sign};
use crate::flapping::Flapping;
use crate::health::HealthState;
use crate::intervention::{Budget, Case, Delivery, Granted, Ladder, Nudging, Stopping};
use crate::liveness::{ChannelState, FailureClass, Liveness, Lost, Phase, Pinging, Reach};
use crate::policy::Mode;
use crate::progress::Progress;
use crate::signal::{Awaited, Status, Trust};
use crate::signs::{ContextUse, Errors, Outputs, Repetition, TokenUse, errors, output, repetition};
use crate::skew::Skew;
use crate::waiting::{Announced, InFlight, Waiting};

fields!(Agent {
    id,
    incarnation,
    role,
    mode,
    state,
    state_since,
    evidence,
    born_at,
    spawned,
    grace_until,
    heard,
    beats,
    unverified,
    stale_reported,
    blocked,
    next_effect,
    task,
    place,
    checkpoint,
    liveness,
    waiting,
    progress,
    skew,
    metrics,
    signs,
    past,
    case,
    usage,
});
fields!(Past { incidents, inquiry, handoff_at, flapping, ended_at, asked });
fields!(Asked { seq, at, repeated, over });
fields!(Place { host, provider, membership });
fields!(Inquiry { seq, asked_at, repeated, no_way, answered_at, times });
fields!(Metrics {
    heartbeats,
    last_heartbeat,
    last_activity,
    tool_calls,
    tokens,
    errors,
    cost_micros,
    interventions,
    disconnections,
});
fields!(Liveness { last_sign, forgiven_until, channel, phase, beats_through_waits });
fields!(Pinging { seq, misses, sent, reach, deadline });
fields!(Lost { since, reach, class, classify_at, ping_at, pings, refusals });
fields!(Waiting {
    in_flight,
    model_since,
    announced,
    answered,
    idle_since,
    lease_since,
    status,
    tells,
    said_at,
});
fields!(InFlight { id, awaited, since, limit });
fields!(Announced { awaited, since, until });
fields!(Progress {
    last,
    last_lasting,
    reports,
    last_call,
    last_work,
    indicator,
    assigned_at,
    task_proven,
    shows_work,
    announces_calls,
    announces_thought,
    unsure,
});
fields!(Skew { average_ms });
fields!(Flapping { changes, raised, unwell });
fields!(Case {
    ladder,
    nudges,
    nudged_in_vain,
    answered,
    nudged_at,
    progressed,
    interrupted_at,
    touched_at,
    well_since,
    held_until,
    nudge_held_until,
    nudge_budget,
    escalation_budget,
    termination_budget,
});
fields!(Nudging { attempt, seq, sent_at, delivery, deadline, by_hand });
fields!(Granted { until });
fields!(Stopping { seq, attempt, deadline, recover, judged_at, reason });
fields!(Budget { spent });
fields!(Repetition { memory, next, recent, steps, runs, held });
fields!(repetition::Step { pair, call, waiting, at });
fields!(repetition::Run { equal, since });
fields!(repetition::Held { period, lap, steps, waiting, since, last, fresh_in_a_row, fresh_in_all });
fields!(Errors { results, last_at, samples, worst, calls, reports, unrecoverable, total, growth });
fields!(errors::Streak { length, call, text, identical, at });
fields!(TokenUse {
    usual,
    next,
    median,
    limit,
    minute,
    in_minute,
    high_limit,
    lately,
    highs,
    recent,
    raised,
    high_rate,
    last_used,
    pauses,
    finer_at,
    total,
    total_at,
});
fields!(ContextUse { share, used, full_since, steps, words, same_words, relieved_at });
fields!(Outputs { changes_files, calls, reports, falls });
fields!(output::Tests { passed, failed });

variants!(Mode { 0 = Observe, 1 = Nudge, 2 = Escalate, 3 = Full });
variants!(HealthState { 0 = Unknown, 1 = Healthy, 2 = Degraded, 3 = Stuck, 4 = Failing, 5 = Terminated });
variants!(Spawned { 0 = Unannounced, 1 = Announced(sent_at) });
variants!(Incident { 0 = Silent, 1 = Stuck, 2 = Failing, 3 = Died, 4 = Flapping, 5 = Storm, 6 = OverLimit });
variants!(Severity { 0 = Note, 1 = Degraded, 2 = Stuck, 3 = Failing });
variants!(Trust { 0 = Verified, 1 = Unverified });
variants!(Measure { 0 = Span(span), 1 = Count(count), 2 = PerMille(share), 3 = Code(code), 4 = Said });
variants!(Sign {
    0 = Heartbeat, 1 = Ping, 2 = Inquiry, 3 = Connection, 4 = Route, 5 = Progress, 6 = ToolSilence,
    7 = Patience(awaited), 8 = Repeats, 9 = Cycle, 10 = ErrorRate, 11 = FailureStreak, 12 = Unrecoverable,
    13 = Blocked, 14 = ErrorCount, 15 = TokenSpike, 16 = TokenStop, 17 = Context, 18 = FallingTests, 19 = NoOutput,
    20 = IdleWithWork, 21 = SelfReport, 22 = Flapping, 23 = Exit, 24 = Limit { level, resource }, 25 = Probes,
    26 = Loop(kind),
});
variants!(Awaited { 0 = Tool, 1 = Model, 2 = Subagent, 3 = Person, 4 = Provider, 5 = Timer });
variants!(Status { 0 = Healthy, 1 = Busy, 2 = Degraded, 3 = Idle, 4 = Waiting });
variants!(ChannelState { 0 = Never, 1 = Open, 2 = Closed });
variants!(Phase { 0 = Heard, 1 = Pinging(pinging), 2 = Lost(lost) });
variants!(Reach { 0 = Unknown, 1 = Delivered, 2 = Refused, 3 = Unreachable });
variants!(FailureClass { 0 = Transient, 1 = Recoverable, 2 = Terminal });
variants!(Delivery { 0 = Queued, 1 = Delivered, 2 = Answered, 3 = Failed });
variants!(Ladder {
    0 = Rest, 1 = Nudging(nudging), 2 = Escalated { since, seq, attempt, deadline, retry_at, reason, by_hand },
    3 = Granted(granted), 4 = HandingOff { seq, deadline, reason }, 5 = Stopping(stopping),
});

/// The steps of an agent have rows of their own.
impl Stored for Signs {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { finished, last_poll, repetition, errors, tokens, context, output, probes, steps: _ } =
            self;
        finished.put(row);
        last_poll.put(row);
        repetition.put(row);
        errors.put(row);
        tokens.put(row);
        context.put(row);
        output.put(row);
        probes.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(Self {
            finished: Stored::take(row)?,
            last_poll: Stored::take(row)?,
            repetition: Stored::take(row)?,
            errors: Stored::take(row)?,
            tokens: Stored::take(row)?,
            context: Stored::take(row)?,
            output: Stored::take(row)?,
            probes: Stored::take(row)?,
            steps: None,
        })
    }
}

/// Only a loop has steps to show.
impl Stored for Evidence {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { sign, value, threshold, severity, trust, stretch } = self;
        sign.put(row);
        value.put(row);
        threshold.put(row);
        severity.put(row);
        trust.put(row);
        if matches!(sign, Sign::Loop(_)) {
            stretch.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let sign = Sign::take(row)?;
        let (value, threshold) = (Stored::take(row)?, Stored::take(row)?);
        let (severity, trust) = (Stored::take(row)?, Stored::take(row)?);
        let stretch = if matches!(sign, Sign::Loop(_)) { Stored::take(row)? } else { None };
        Ok(Self { sign, value, threshold, severity, trust, stretch })
    }
}
