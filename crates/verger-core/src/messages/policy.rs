//! How long a message may stay unacknowledged, and how many there may be.

use super::Priority;
use crate::time::Span;

/// However it is configured, a failed delivery is not tried again before: the monitor would do nothing else.
const REDELIVER_MIN: Span = Span::secs(1);

/// When an unacknowledged message counts, and how many are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Time to acknowledge an urgent message before people are told. Default 2 min (001 §1.4.3).
    pub urgent: Span,
    /// Time to acknowledge an important message before the receiver is reminded. Default 5 min (001 §1.4.3).
    pub high: Span,
    /// Time that this reminder has before people are told. Default 5 min: the document says "then", and this is what
    /// the message had at first.
    pub high_reminded: Span,
    /// Time to acknowledge an ordinary message before the receiver is reminded. Default 15 min (001 §1.4.3).
    pub normal: Span,
    /// Time to acknowledge an unimportant message before that is logged. Default 1 h (001 §1.4.3).
    pub low: Span,
    /// Factor by which a busy receiver stretches the time before people are told. Default 3, as for heartbeats.
    pub busy_factor: u8,
    /// An answer to a status inquiry may take so long; until then it is not asked again. Default 5 min (001 §1.5.3).
    pub inquiry_timeout: Span,
    /// Messages whose time is over within this time of a reminder need no second one. Default 1 min: a reminder names
    /// how many there are, and a pile of reminders is read by nobody.
    pub gather: Span,
    /// Time before a failed delivery is tried again; doubled each time, and 1 s at least. Default 30 s.
    pub redeliver_after: Span,
    /// The longest such time. Default 1 h: nobody who comes back unnoticed waits longer for their messages.
    pub redeliver_max: Span,
    /// An unacknowledged message is given up after this. Default 7 days: nobody acts on an older one.
    pub keep: Span,
    /// Time for which the name of a message that is over is known, so that a repeat of it is recognised. Default 1 h.
    pub forget_after: Span,
    /// Messages to one receiver. Default 500. Beyond it the oldest of the least important make room.
    pub per_receiver_max: u32,
    /// Messages in all. Default 10,000, some 5 MB.
    pub total_max: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            urgent: Span::minutes(2),
            high: Span::minutes(5),
            high_reminded: Span::minutes(5),
            normal: Span::minutes(15),
            low: Span::hours(1),
            busy_factor: 3,
            inquiry_timeout: Span::minutes(5),
            gather: Span::minutes(1),
            redeliver_after: Span::secs(30),
            redeliver_max: Span::hours(1),
            keep: Span::hours(7 * 24),
            forget_after: Span::hours(1),
            per_receiver_max: 500,
            total_max: 10_000,
        }
    }
}

impl Policy {
    /// How long a message of this priority may stay unacknowledged.
    pub fn timeout(&self, priority: Priority) -> Span {
        match priority {
            Priority::Urgent => self.urgent,
            Priority::High => self.high,
            Priority::Normal => self.normal,
            Priority::Low => self.low,
        }
    }

    /// How long after so many failed deliveries the next is tried.
    pub(super) fn redeliver_in(&self, attempts: u8) -> Span {
        let doublings = u32::from(attempts.saturating_sub(1)).min(20);
        self.redeliver_after.times(1 << doublings).min(self.redeliver_max).max(REDELIVER_MIN)
    }
}
