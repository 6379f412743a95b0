//! Asking before judging: what was asked of a silent agent, and what its answer is worth.

use crate::policy::Role;
use crate::progress;
use crate::time::Timestamp;

/// Answers without any work behind them that are believed.
const BELIEVED: u8 = 8;

/// What was asked of an agent whose silence could mean that it has nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inquiry {
    /// The number of the last question.
    pub(crate) seq: u32,
    /// When it was last asked.
    pub(crate) asked_at: Option<Timestamp>,
    /// When it answered that.
    pub(crate) answered_at: Option<Timestamp>,
    /// How often it was asked since it last worked.
    pub(crate) times: u8,
}

impl Inquiry {
    /// Whether it is to be asked, for the first time or again.
    pub(crate) fn is_due(&self, now: Timestamp, policy: &progress::Policy) -> bool {
        match (self.asked_at, self.answered_at) {
            (None, _) => true,
            (Some(asked_at), Some(answered_at)) => {
                let answered = asked_at <= answered_at;
                answered && self.times < BELIEVED && now.since(answered_at) >= policy.tool_silence
            }
            (Some(_), None) => false,
        }
    }

    /// Whether silence is explained for now: the answer is outstanding, or was given not long ago.
    pub(crate) fn explains(&self, now: Timestamp, role: &Role) -> bool {
        self.until(role).is_some_and(|until| now < until)
    }

    /// Until when it explains silence.
    pub(crate) fn until(&self, role: &Role) -> Option<Timestamp> {
        match (self.asked_at, self.answered_at) {
            (Some(asked_at), Some(answered_at)) if asked_at <= answered_at => {
                Some(answered_at + role.progress.tool_silence)
            }
            (Some(asked_at), _) => Some(asked_at + role.liveness.inquiry_timeout),
            (None, _) => None,
        }
    }

    /// The question could not reach it: then nothing it does would be heard either.
    pub(crate) fn on_unreachable(&mut self, now: Timestamp) {
        self.answered_at = Some(now);
    }

    /// The agent said something.
    pub(crate) fn on_word(&mut self, now: Timestamp) {
        self.answered_at = Some(now);
    }
}
