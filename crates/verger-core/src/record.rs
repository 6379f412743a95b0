//! The one encoding of an agent's state: a row of bytes, versioned, read back at a restart.
//!
//! Every stored type is listed here with all its fields. A field that is added to a type and not to its list stops
//! the build, and a row that does not read to its last byte is refused, so nothing is ever half restored.
//! Integers are stored as variable-length numbers: most are small, and a row is written every second.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::agent::{Agent, Inquiry, Metrics, Past, Signs, Spawned};
use crate::event::Incident;
use crate::evidence::{Evidence, Measure, Severity, Sign};
use crate::flapping::Flapping;
use crate::health::HealthState;
use crate::id::{AgentId, CheckpointId, HostId, Incarnation, RoleName, TaskId};
use crate::intervention::{Budget, Case, Delivery, Granted, Ladder, Nudging, Stopping};
use crate::liveness::{ChannelState, FailureClass, Liveness, Lost, Phase, Pinging, Reach};
use crate::policy::{Mode, RoleIndex};
use crate::progress::Progress;
use crate::signal::{Awaited, Status, Trust};
use crate::signs::{ContextUse, Errors, Outputs, Repetition, TokenUse, errors, output, repetition};
use crate::skew::Skew;
use crate::time::{AgentTime, Span, Timestamp, WallTime};
use crate::waiting::{Announced, InFlight, Waiting};

/// A row that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the row is damaged")]
pub struct Damaged;

/// A value that a row holds.
pub(crate) trait Stored: Sized {
    fn put(&self, row: &mut Vec<u8>);
    fn take(row: &mut &[u8]) -> Result<Self, Damaged>;
}

/// Writes a value as a row of its own.
pub(crate) fn to_row(value: &impl Stored) -> Vec<u8> {
    let mut row = Vec::with_capacity(192);
    value.put(&mut row);
    row
}

/// Reads a row to its last byte.
pub(crate) fn from_row<T: Stored>(mut row: &[u8]) -> Result<T, Damaged> {
    let value = T::take(&mut row)?;
    if row.is_empty() { Ok(value) } else { Err(Damaged) }
}

/// Lists all fields of a struct.
macro_rules! fields {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.put(row);)*
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                Ok(Self { $($field: Stored::take(row)?),* })
            }
        }
    };
}

/// Lists all variants of an enum, each with the number it is stored under for ever.
macro_rules! variants {
    ($type:ty { $($tag:literal = $variant:ident $(($inner:ident))? $({ $($field:ident),* })?),* $(,)? }) => {
        impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($inner))? $({ $($field),* })? => {
                        row.push($tag);
                        $($inner.put(row);)?
                        $($($field.put(row);)*)?
                    })*
                }
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                Ok(match u8::take(row)? {
                    $($tag => Self::$variant
                        $(({ let $inner = Stored::take(row)?; $inner }))?
                        $({ $($field: Stored::take(row)?),* })?,)*
                    _ => return Err(Damaged),
                })
            }
        }
    };
}

/// Stores a name as its text.
macro_rules! names {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                put_text(self.as_str(), row);
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                take_text(row).map(Self::from)
            }
        })*
    };
}

/// Stores an unsigned number in as many bytes as it needs.
macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                put_number(u64::from(*self), row);
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                Self::try_from(take_number(row)?).map_err(|_| Damaged)
            }
        })*
    };
}

numbers!(u16, u32, u64);
names!(AgentId, CheckpointId, HostId, RoleName, TaskId);

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
    host,
    checkpoint,
    liveness,
    waiting,
    progress,
    skew,
    metrics,
    signs,
    past,
    case,
});
fields!(Signs { finished, last_poll, repetition, errors, tokens, context, output });
fields!(Past { incidents, inquiry, handoff_at, flapping, ended_at });
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
fields!(Evidence { sign, value, threshold, severity, trust });
fields!(Liveness { last_sign, forgiven_until, channel, phase, beats_through_waits });
fields!(Pinging { seq, misses, sent, reach, deadline });
fields!(Lost { since, reach, class, classify_at, ping_at, pings, refusals });
fields!(Waiting { in_flight, model_since, announced, idle_since, lease_since, status, tells, said_at });
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
fields!(Stopping { seq, attempt, deadline, recover, reason });
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
variants!(Incident { 0 = Silent, 1 = Stuck, 2 = Failing, 3 = Died, 4 = Flapping, 5 = Storm });
variants!(Severity { 0 = Note, 1 = Degraded, 2 = Stuck, 3 = Failing });
variants!(Trust { 0 = Verified, 1 = Unverified });
variants!(Measure { 0 = Span(span), 1 = Count(count), 2 = PerMille(share), 3 = Code(code), 4 = Said });
variants!(Sign {
    0 = Heartbeat, 1 = Ping, 2 = Inquiry, 3 = Connection, 4 = Route, 5 = Progress, 6 = ToolSilence,
    7 = Patience(awaited), 8 = Repeats, 9 = Cycle, 10 = ErrorRate, 11 = FailureStreak, 12 = Unrecoverable,
    13 = Blocked, 14 = ErrorCount, 15 = TokenSpike, 16 = TokenStop, 17 = Context, 18 = FallingTests, 19 = NoOutput,
    20 = IdleWithWork, 21 = SelfReport, 22 = Flapping, 23 = Exit,
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

/// Stores a type as the one value that it wraps.
macro_rules! wrapped {
    ($($type:ty: $inner:ty, $get:expr, $make:expr;)*) => {
        $(impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                let get: fn($type) -> $inner = $get;
                get(*self).put(row);
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                <$inner>::take(row).map($make)
            }
        })*
    };
}

wrapped! {
    Timestamp: u64, |at| at.as_millis(), Timestamp::from_millis;
    Span: u64, |span| span.as_millis(), Span::millis;
    WallTime: i64, |at| at.0, WallTime;
    AgentTime: i64, |at| at.0, AgentTime;
    Incarnation: u32, |life| life.0, Incarnation;
    RoleIndex: u8, |role| role.0, RoleIndex;
}

impl Stored for u8 {
    fn put(&self, row: &mut Vec<u8>) {
        row.push(*self);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let (first, rest) = row.split_first().ok_or(Damaged)?;
        *row = rest;
        Ok(*first)
    }
}

impl Stored for bool {
    fn put(&self, row: &mut Vec<u8>) {
        row.push(u8::from(*self));
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        match u8::take(row)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }
}

impl Stored for i64 {
    fn put(&self, row: &mut Vec<u8>) {
        // Zigzag: small numbers of either sign stay short.
        put_number(((*self << 1) ^ (*self >> 63)).cast_unsigned(), row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let number = take_number(row)?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

impl Stored for i32 {
    fn put(&self, row: &mut Vec<u8>) {
        i64::from(*self).put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Self::try_from(i64::take(row)?).map_err(|_| Damaged)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, row: &mut Vec<u8>) {
        self.is_some().put(row);
        if let Some(value) = self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        if bool::take(row)? { T::take(row).map(Some) } else { Ok(None) }
    }
}

impl<T: Stored> Stored for Box<T> {
    fn put(&self, row: &mut Vec<u8>) {
        T::put(self, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        T::take(row).map(Self::new)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, row: &mut Vec<u8>) {
        self.0.put(row);
        self.1.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok((A::take(row)?, B::take(row)?))
    }
}

impl<T: Stored + Copy + Default, const N: usize> Stored for [T; N] {
    fn put(&self, row: &mut Vec<u8>) {
        for value in self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::take(row)?;
        }
        Ok(values)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for value in self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let length = take_number(row)?;
        // Every value takes a byte at least: a length beyond that is a lie, and must not reserve memory.
        if length > row.len() as u64 {
            return Err(Damaged);
        }
        (0..length).map(|_| T::take(row)).collect()
    }
}

impl<T: Stored> Stored for VecDeque<T> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for value in self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Vec::take(row).map(Self::from)
    }
}

impl Stored for Arc<[Evidence]> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for value in self.iter() {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Vec::take(row).map(Self::from)
    }
}

impl Stored for Arc<str> {
    fn put(&self, row: &mut Vec<u8>) {
        put_text(self, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        take_text(row).map(Self::from)
    }
}

fn put_number(mut number: u64, row: &mut Vec<u8>) {
    while number >= 0x80 {
        row.push(number as u8 | 0x80);
        number >>= 7;
    }
    row.push(number as u8);
}

fn take_number(row: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = u8::take(row)?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Err(Damaged);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damaged)
}

fn put_text(text: &str, row: &mut Vec<u8>) {
    put_number(text.len() as u64, row);
    row.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(row: &mut &'a [u8]) -> Result<&'a str, Damaged> {
    let length = usize::try_from(take_number(row)?).map_err(|_| Damaged)?;
    let (text, rest) = row.split_at_checked(length).ok_or(Damaged)?;
    *row = rest;
    std::str::from_utf8(text).map_err(|_| Damaged)
}
