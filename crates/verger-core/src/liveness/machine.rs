//! Whether one agent is there, from everything that shows life: the first of the two clocks.
//!
//! ```text
//!          silent for an interval            missed misses_max times, each at once after the last
//! Heard ───────────────────────────► Pinging ───────────────────────────────────────────────────► Lost
//!   ▲  └── no channel: heartbeats missing ────────────────────────────────────────────────────────► │
//!   └──────────────────────────────── any sign of life ─────────────────────────────────────────────┘
//! ```
//!
//! Lost is not dead. The way the last ping went tells a freeze (delivered, unanswered) from a crash (nobody
//! listens) and a partition (no way there); a status inquiry follows where there is a way (001 §1.7), and
//! only then is the silence classified. A ping whose sending the monitor could not confirm is inconclusive
//! and counts for nothing (X01).

use super::{Cause, FailureClass, LivenessStatus, Policy};
use crate::evidence::{Measure, Severity, Sign};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// A ping whose sending is not confirmed within this time was lost on our side.
const CONFIRM_WITHIN: Span = Span::secs(10);
/// Nobody listens: ask again this soon, whatever the role's interval.
const REFUSED_AGAIN: Span = Span::millis(100);
/// Refusals in a row that mean that nobody is there.
const REFUSALS_MAX: u8 = 2;
/// An answer may be late by this much: until then a silence that pings found is no news for people.
const LATE_ANSWER: Span = Span::secs(10);
/// A lost agent is pinged ever more rarely, down to this.
const LOST_PING_MAX: Span = Span::secs(60);

/// Whether one agent is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Liveness {
    pub(crate) last_sign: Timestamp,
    /// Silence before this moment is not the agent's: the monitor was away.
    pub(crate) forgiven_until: Timestamp,
    pub(crate) channel: ChannelState,
    pub(crate) phase: Phase,
    /// Whether heartbeats are known to come by a timer of their own, even while the agent waits on something.
    pub(crate) beats_through_waits: bool,
}

/// The connection over which pings go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChannelState {
    /// It never had one.
    #[default]
    Never,
    /// Pings can be sent.
    Open,
    /// It had one.
    Closed,
}

/// Where the machine stands.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) enum Phase {
    /// There was a sign of life within the limits.
    #[default]
    Heard,
    /// A ping is out.
    Pinging(Pinging),
    /// Silent beyond the limits.
    Lost(Lost),
}

/// A ping is out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pinging {
    pub(crate) seq: u32,
    pub(crate) misses: u8,
    /// Whether the channel confirmed that it left.
    pub(crate) sent: bool,
    pub(crate) reach: Reach,
    pub(crate) deadline: Timestamp,
}

/// How the last ping went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nothing is known of the way.
    Unknown,
    /// It arrived.
    Delivered,
    /// Nobody listens.
    Refused,
    /// No way there.
    Unreachable,
}

/// Silent beyond the limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lost {
    pub(crate) since: Timestamp,
    pub(crate) reach: Reach,
    pub(crate) class: Option<FailureClass>,
    /// When the inquiry's answer is due, or the class is decided.
    pub(crate) classify_at: Option<Timestamp>,
    pub(crate) ping_at: Option<Timestamp>,
    pub(crate) pings: u8,
    pub(crate) refusals: u8,
}

/// What the machine wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Send a ping; the caller numbers it and tells [`Liveness::on_ping_numbered`].
    Ping,
    /// Ask it how it is.
    Inquire,
    /// The agent has just become silent; `inquire` if there may be a way to ask it.
    Lost { inquire: bool },
    /// The silence was classified.
    Classified(FailureClass),
}

/// What a sign of life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Nothing.
    Usual,
    /// A silence, this long.
    Back(Span),
}

impl Liveness {
    /// There is somebody.
    pub(crate) fn on_sign(&mut self, now: Timestamp) -> Heard {
        let before = std::mem::replace(&mut self.phase, Phase::Heard);
        let downtime = now.since(self.last_sign);
        self.last_sign = now;
        self.forgiven_until = Timestamp::ZERO;
        match before {
            Phase::Heard | Phase::Pinging(_) => Heard::Usual,
            Phase::Lost(_) => Heard::Back(downtime),
        }
    }

    /// The monitor was away: a ping that was out may have been answered to nobody, and the agent has to connect again.
    pub(crate) fn on_monitor_back(&mut self, forgiven_until: Timestamp) {
        self.forgiven_until = forgiven_until;
        if let Phase::Pinging(_) = self.phase {
            self.phase = Phase::Heard;
        }
    }

    /// Whether it was gone when the monitor came back: nobody has been heard since, and nobody listens.
    pub(crate) fn left_unseen(&self) -> bool {
        let unheard = self.forgiven_until != Timestamp::ZERO;
        unheard && self.lost().is_some_and(|lost| lost.reach == Reach::Refused)
    }

    /// When a silence is certain enough to tell people of it, if there is one.
    pub(crate) fn certain_at(&self) -> Option<Timestamp> {
        let lost = self.lost()?;
        let unheard_since_back = self.forgiven_until != Timestamp::ZERO;
        Some(match lost.reach {
            Reach::Delivered => lost.since + LATE_ANSWER,
            // It may have ended well while the monitor was away: what it says when asked is waited for.
            Reach::Unknown | Reach::Refused if unheard_since_back && lost.class.is_none() => {
                lost.classify_at?
            }
            // What has no answer to wait for has had its time.
            Reach::Unknown | Reach::Refused | Reach::Unreachable => lost.since,
        })
    }

    /// The ping channel came; a channel is no sign of life by itself.
    pub(crate) fn on_channel_opened(&mut self, now: Timestamp) {
        self.channel = ChannelState::Open;
        self.last_sign = self.last_sign.max(now);
    }

    /// The ping channel went: ask at once whether anybody is there.
    pub(crate) fn on_channel_closed(&mut self, now: Timestamp, policy: &Policy) -> Option<Ask> {
        self.channel = ChannelState::Closed;
        match self.phase {
            Phase::Heard if policy.pings.is_some() => Some(self.ping(now, 0, Reach::Unknown)),
            Phase::Heard | Phase::Pinging(_) | Phase::Lost(_) => None,
        }
    }

    /// It no longer listens, and is judged like one that never did. A ping under way means nothing any more.
    pub(crate) fn on_channel_left(&mut self) {
        self.channel = ChannelState::Never;
        if matches!(self.phase, Phase::Pinging(_)) {
            self.phase = Phase::Heard;
        }
    }

    /// There is no way to it by which it could be asked.
    pub(crate) fn on_no_way(&mut self, now: Timestamp, policy: &Policy) -> Option<Ask> {
        (self.phase == Phase::Heard).then(|| {
            let ask = self.lose(now, Reach::Unreachable, policy);
            if let Phase::Lost(lost) = &mut self.phase {
                // It cannot be pinged: it is asked again from time to time.
                lost.ping_at.get_or_insert(now + policy.inquiry_timeout);
            }
            ask
        })
    }

    /// A question reached it that was cut off and cannot be pinged; tells how long it was. More than that the way is
    /// open again is not known, nor needed: nobody answers for it.
    pub(crate) fn on_way_back(&mut self, now: Timestamp) -> Option<Span> {
        let cut_off = self.lost().is_some_and(|lost| lost.reach == Reach::Unreachable);
        (cut_off && self.channel == ChannelState::Never).then(|| {
            self.phase = Phase::Heard;
            now.since(std::mem::replace(&mut self.last_sign, now))
        })
    }

    /// The ping just asked for got this number.
    pub(crate) fn on_ping_numbered(&mut self, number: u32) {
        if let Phase::Pinging(pinging) = &mut self.phase {
            pinging.seq = number;
        }
    }

    /// How the ping with this number went. Only the present one counts.
    pub(crate) fn on_reach(
        &mut self,
        now: Timestamp,
        number: u32,
        reach: Reach,
        policy: &Policy,
        busy: bool,
    ) {
        match &mut self.phase {
            Phase::Pinging(pinging) if pinging.seq == number => {
                pinging.reach = reach;
                pinging.sent = true;
                let Some(pings) = &policy.pings else { return };
                pinging.deadline = now
                    + match reach {
                        Reach::Refused => REFUSED_AGAIN,
                        Reach::Unreachable => pings.interval,
                        Reach::Delivered | Reach::Unknown => stretched(pings.timeout, policy, busy),
                    };
            }
            Phase::Lost(lost) if reach != Reach::Unknown => {
                lost.reach = reach;
                lost.refusals = if reach == Reach::Refused { lost.refusals.saturating_add(1) } else { 0 };
            }
            Phase::Heard | Phase::Pinging(_) | Phase::Lost(_) => {}
        }
    }

    /// Advances past an expired deadline; calling early is harmless.
    ///
    /// `excused` says that silence means nothing now (a wait, a start); pings still do.
    pub(crate) fn on_deadline(&mut self, now: Timestamp, policy: &Policy, limits: Limits) -> Option<Ask> {
        if self.deadline(policy, limits).is_none_or(|due| now < due) {
            return None;
        }
        match self.phase {
            Phase::Heard if self.ping_due(policy, limits).is_some_and(|due| due <= now) => {
                Some(self.ping(now, 0, Reach::Unknown))
            }
            Phase::Heard => Some(self.lose(now, Reach::Unknown, policy)),
            Phase::Pinging(pinging) => Some(self.on_no_pong(now, pinging, policy)),
            Phase::Lost(lost) => self.on_lost_deadline(now, lost, policy),
        }
    }

    fn on_no_pong(&mut self, now: Timestamp, pinging: Pinging, policy: &Policy) -> Ask {
        if !pinging.sent {
            // We could not even send it: that says something about us and nothing about the agent.
            return self.ping(now, pinging.misses, pinging.reach);
        }
        let misses = pinging.misses.saturating_add(1);
        let misses_max = policy.pings.as_ref().map_or(1, |pings| pings.misses_max);
        let is_lost = match pinging.reach {
            Reach::Unknown | Reach::Delivered => misses_max <= misses,
            Reach::Refused => misses_max.min(REFUSALS_MAX) <= misses,
            Reach::Unreachable => misses_max <= misses && policy.route_patience <= now.since(self.last_sign),
        };
        if is_lost { self.lose(now, pinging.reach, policy) } else { self.ping(now, misses, pinging.reach) }
    }

    fn ping(&mut self, now: Timestamp, misses: u8, reach: Reach) -> Ask {
        let deadline = now + CONFIRM_WITHIN;
        self.phase = Phase::Pinging(Pinging { seq: 0, misses, sent: false, reach, deadline });
        Ask::Ping
    }

    fn lose(&mut self, now: Timestamp, reach: Reach, policy: &Policy) -> Ask {
        let (inquire, wait) = match reach {
            Reach::Unknown | Reach::Delivered => (true, policy.inquiry_timeout),
            Reach::Refused => (false, policy.gone_after),
            Reach::Unreachable => (false, Span::ZERO),
        };
        let ping_at = self.lost_ping_after(0, policy).map(|span| now + span);
        self.phase = Phase::Lost(Lost {
            since: now,
            reach,
            class: None,
            classify_at: Some(now + wait),
            ping_at,
            pings: 0,
            refusals: 0,
        });
        Ask::Lost { inquire }
    }

    fn lost_ping_after(&self, pings: u8, policy: &Policy) -> Option<Span> {
        let interval = policy.pings.as_ref()?.interval;
        let growing = interval.times(1 << pings.min(6));
        (self.channel != ChannelState::Never).then(|| growing.min(LOST_PING_MAX.max(interval)))
    }

    fn on_lost_deadline(&mut self, now: Timestamp, mut lost: Lost, policy: &Policy) -> Option<Ask> {
        let ask = if lost.classify_at.is_some_and(|due| due <= now) {
            classify(now, &mut lost, policy)
        } else {
            lost.pings = lost.pings.saturating_add(1);
            let cannot_be_pinged = self.channel == ChannelState::Never;
            let again = if cannot_be_pinged {
                Some(policy.inquiry_timeout)
            } else {
                self.lost_ping_after(lost.pings, policy)
            };
            lost.ping_at = again.map(|span| now + span);
            Some(if cannot_be_pinged { Ask::Inquire } else { Ask::Ping })
        };
        self.phase = Phase::Lost(lost);
        ask
    }

    /// When something is next due.
    pub(crate) fn deadline(&self, policy: &Policy, limits: Limits) -> Option<Timestamp> {
        match self.phase {
            Phase::Heard => {
                [self.ping_due(policy, limits), self.beat_due(policy, limits)].into_iter().flatten().min()
            }
            Phase::Pinging(pinging) => Some(pinging.deadline),
            Phase::Lost(lost) => [lost.classify_at, lost.ping_at].into_iter().flatten().min(),
        }
    }

    fn ping_due(&self, policy: &Policy, limits: Limits) -> Option<Timestamp> {
        let pings = policy.pings.as_ref()?;
        let interval = if limits.hurried { pings.interval.half() } else { pings.interval };
        (self.channel == ChannelState::Open).then(|| self.quiet_since(limits) + interval)
    }

    /// Since when silence counts.
    fn quiet_since(&self, limits: Limits) -> Timestamp {
        self.last_sign.max(limits.not_before).max(self.forgiven_until)
    }

    fn beat_due(&self, policy: &Policy, limits: Limits) -> Option<Timestamp> {
        if !limits.beats_expected {
            return None;
        }
        let due = self.quiet_since(limits) + stretched(policy.beats.timeout, policy, limits.busy);
        Some(match limits.excused_until {
            Some(until) if !self.beats_through_waits => due.max(until),
            _ => due,
        })
    }

    /// Whether the agent is lost, and how.
    pub(crate) fn lost(&self) -> Option<&Lost> {
        match &self.phase {
            Phase::Lost(lost) => Some(lost),
            Phase::Heard | Phase::Pinging(_) => None,
        }
    }

    /// Whether the way to the agent is known to work, or nothing speaks against it.
    pub(crate) fn way_is_open(&self) -> bool {
        self.lost().is_none_or(|lost| lost.reach == Reach::Delivered)
    }

    /// Consecutive pings that went unanswered.
    pub fn misses(&self) -> u8 {
        match &self.phase {
            Phase::Heard => 0,
            Phase::Pinging(pinging) => pinging.misses,
            Phase::Lost(lost) => lost.pings,
        }
    }

    /// What seems to have happened to a silent agent.
    pub fn cause(&self) -> Option<Cause> {
        self.lost().and_then(|lost| match lost.reach {
            Reach::Unknown => None,
            Reach::Delivered => Some(Cause::EventLoopFreeze),
            Reach::Refused => Some(Cause::ProcessCrash),
            Reach::Unreachable => Some(Cause::NetworkPartition),
        })
    }

    /// Offline or unresponsive, if it is silent.
    pub fn lost_status(&self) -> Option<LivenessStatus> {
        self.lost().map(|lost| match lost.reach {
            Reach::Refused | Reach::Unreachable => LivenessStatus::Offline,
            Reach::Unknown | Reach::Delivered => LivenessStatus::Unresponsive,
        })
    }

    /// What its silence says about its health.
    pub(crate) fn finding(&self, now: Timestamp, policy: &Policy) -> Option<Finding> {
        let lost = self.lost()?;
        let severity = match lost.class {
            None | Some(FailureClass::Transient) => Severity::Degraded,
            Some(FailureClass::Recoverable) => Severity::Stuck,
            Some(FailureClass::Terminal) => Severity::Failing,
        };
        let silence = Measure::Span(now.since(self.last_sign));
        let (sign, value, threshold) = match (lost.reach, lost.class) {
            (Reach::Unreachable, _) => (Sign::Route, silence, Measure::Span(policy.partition_patience)),
            (Reach::Refused, _) => {
                (Sign::Connection, Measure::Count(u64::from(lost.refusals) + 1), Measure::Count(1))
            }
            (_, Some(_)) => {
                (Sign::Inquiry, Measure::Span(now.since(lost.since)), Measure::Span(policy.inquiry_timeout))
            }
            (Reach::Delivered, None) => {
                let max = policy.pings.as_ref().map_or(1, |pings| pings.misses_max);
                (Sign::Ping, Measure::Count(u64::from(max)), Measure::Count(u64::from(max)))
            }
            (Reach::Unknown, None) => (Sign::Heartbeat, silence, Measure::Span(policy.beats.timeout)),
        };
        Some(Finding { sign, value, threshold, severity })
    }
}

/// What else bears on the machine's deadlines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Silence before this moment means nothing (startup grace).
    pub(crate) not_before: Timestamp,
    /// Silence until then is explained by a wait.
    pub(crate) excused_until: Option<Timestamp>,
    /// Heartbeats are expected: it has sent some, or its role requires them.
    pub(crate) beats_expected: bool,
    /// It announced to be busy.
    pub(crate) busy: bool,
    /// It is degraded: look twice as often (L03).
    pub(crate) hurried: bool,
}

fn stretched(limit: Span, policy: &Policy, busy: bool) -> Span {
    if busy { limit.times(u64::from(policy.busy_factor)) } else { limit }
}

fn classify(now: Timestamp, lost: &mut Lost, policy: &Policy) -> Option<Ask> {
    let (class, again) = match lost.reach {
        Reach::Unreachable if now.since(lost.since) < policy.partition_patience => {
            (FailureClass::Transient, Some(lost.since + policy.partition_patience))
        }
        Reach::Unreachable | Reach::Delivered | Reach::Unknown => (FailureClass::Recoverable, None),
        Reach::Refused => (FailureClass::Terminal, None),
    };
    lost.classify_at = again;
    let changed = lost.class != Some(class);
    lost.class = Some(class);
    changed.then_some(Ask::Classified(class))
}
