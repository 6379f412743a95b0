//! Asking before judging: what was asked of a silent agent, and what its answer is worth.
//!
//! An agent is asked because it is silent, because a task of it stands still, or because it leaves a message
//! unacknowledged. Whoever wants to know, it is one question to the agent, and one answer is for all ([`Asked`]).

use super::Agent;
use crate::effect::{Action, Effect, Outcome};
use crate::id::TaskId;
use crate::intervention::inquiry_text;
use crate::policy::Role;
use crate::time::{Span, Timestamp};

/// How long it takes until an unanswered question is asked once more.
fn repeat_after(role: &Role) -> Span {
    role.liveness.inquiry_timeout.half()
}

/// Answers without any work behind them that are believed.
const BELIEVED: u8 = 8;

/// What was asked of an agent whose silence could mean that it has nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inquiry {
    /// The number of the last question.
    pub(crate) seq: u32,
    /// When it was last asked.
    pub(crate) asked_at: Option<Timestamp>,
    /// Whether that was the second try: a question may be lost, and so may its answer.
    pub(crate) repeated: bool,
    /// Whether the last question found no way there.
    pub(crate) no_way: bool,
    /// When it answered that.
    pub(crate) answered_at: Option<Timestamp>,
    /// How often it was asked since it last worked.
    pub(crate) times: u8,
}

impl Inquiry {
    /// Whether it is to be asked, for the first time or again.
    pub(crate) fn is_due(&self, now: Timestamp, role: &Role) -> bool {
        match (self.asked_at, self.answered_at) {
            (None, _) => true,
            (Some(asked_at), Some(answered_at)) if asked_at <= answered_at => {
                let patience = if self.no_way { repeat_after(role) } else { role.progress.tool_silence };
                self.times < BELIEVED && now.since(answered_at) >= patience
            }
            (Some(asked_at), _) => !self.repeated && asked_at + repeat_after(role) <= now,
        }
    }

    /// Whether it has not answered the last question.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.asked_at.is_some_and(|asked_at| self.answered_at.is_none_or(|at| at < asked_at))
    }

    /// It is asked now, under this number.
    pub(crate) fn on_asked(&mut self, now: Timestamp, seq: u32) {
        let unanswered = self.asked_at.filter(|_| self.is_unanswered());
        self.repeated = unanswered.is_some();
        self.asked_at = unanswered.or(Some(now));
        self.times = self.times.saturating_add(u8::from(!self.repeated));
        self.seq = seq;
    }

    /// When it is to be asked again, or what it said explains nothing any more.
    pub(crate) fn deadline(&self, now: Timestamp, role: &Role) -> Option<Timestamp> {
        let last = self.asked_at.max(self.answered_at.filter(|_| self.no_way));
        let again = last.map(|at| at + repeat_after(role));
        [again, self.until(role)].into_iter().flatten().filter(|due| now < *due).min()
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

    /// The question could not reach it: then nothing it does would be heard either. Tells whether that is certain,
    /// because it happened twice in a row.
    pub(crate) fn on_unreachable(&mut self, now: Timestamp) -> bool {
        self.answered_at = Some(now);
        std::mem::replace(&mut self.no_way, true)
    }

    /// The agent said something.
    pub(crate) fn on_word(&mut self, now: Timestamp) {
        self.answered_at = Some(now);
        self.no_way = false;
    }
}

/// A question to an agent, how it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    /// Whether it is the second try of whoever asks.
    pub(crate) again: bool,
    /// The task that it is about, if it is about one.
    pub(crate) task: Option<&'a TaskId>,
}

impl Question<'_> {
    /// One about the agent itself.
    pub(crate) fn of_itself(again: bool) -> Self {
        Self { again, task: None }
    }
}

/// The question that an agent has not answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asked {
    /// The number of the last one.
    pub(crate) seq: u32,
    /// When it was asked first.
    pub(crate) at: Timestamp,
    /// Whether it was asked the second time.
    pub(crate) repeated: bool,
    /// Whether it fell silent and came back since, without an answer.
    pub(crate) over: bool,
}

impl Asked {
    /// Whether it serves whoever wants to know now, for the first time or `again`.
    fn serves(&self, now: Timestamp, again: bool, role: &Role) -> bool {
        let is_repeat_due = again && !self.repeated && self.at + repeat_after(role) <= now;
        self.stands(now, role) && !is_repeat_due
    }

    /// Whether it still has time to answer.
    pub(super) fn stands(&self, now: Timestamp, role: &Role) -> bool {
        now < self.at + role.liveness.inquiry_timeout && !self.over
    }
}

impl Agent {
    /// Asks it how it is, unless it has been asked and still has time to answer. Gives the number of the question
    /// that stands.
    pub(crate) fn ask(
        &mut self,
        now: Timestamp,
        role: &Role,
        question: Question<'_>,
        effects: &mut Vec<Effect>,
    ) -> u32 {
        let Question { again, task } = question;
        let before = self.past.as_ref().and_then(|past| past.asked);
        if let Some(asked) = before.filter(|asked| asked.serves(now, again, role)) {
            return asked.seq;
        }
        let within = role.liveness.inquiry_timeout;
        let text = inquiry_text(task, within);
        let seq = self.put_out(Action::Inquire { task: task.cloned(), within, text }, effects).seq;
        let first = before.filter(|asked| asked.stands(now, role));
        let at = first.map_or(now, |asked| asked.at);
        let asked = Asked { seq, at, repeated: first.is_some(), over: false };
        self.past.get_or_insert_default().asked = Some(asked);
        seq
    }

    /// What became of a question: who was not reached was not asked.
    pub(super) fn on_question_outcome(&mut self, number: u32, outcome: Outcome) {
        let not_reached = matches!(outcome, Outcome::Refused | Outcome::Unreachable | Outcome::Failed);
        if let Some(past) = &mut self.past
            && not_reached
        {
            past.asked.take_if(|asked| asked.seq == number);
        }
    }

    /// It is there again. It may answer yet; but whoever wants to know next asks anew.
    pub(super) fn close_question(&mut self) {
        if let Some(asked) = self.past.as_mut().and_then(|past| past.asked.as_mut()) {
            asked.over = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(minutes: u64) -> Timestamp {
        Timestamp::ZERO + Span::minutes(minutes)
    }

    #[test]
    fn r07_a_question_without_an_answer_is_repeated_once_also_when_earlier_ones_were_answered() {
        let role = Role::named("default");
        let mut inquiry = Inquiry::default();
        inquiry.on_asked(minutes(0), 1);
        inquiry.on_word(minutes(1));
        inquiry.on_asked(minutes(16), 2);
        assert!(!inquiry.is_due(minutes(17), &role), "it has its time to answer");
        assert!(inquiry.is_due(minutes(19), &role));
        inquiry.on_asked(minutes(19), 3);
        assert!(inquiry.repeated);
        assert_eq!(inquiry.asked_at, Some(minutes(16)), "its time runs from the first question");
        assert!(!inquiry.is_due(minutes(60), &role));
    }

    #[test]
    fn r07_an_answer_within_the_same_moment_is_an_answer() {
        let mut inquiry = Inquiry::default();
        inquiry.on_asked(minutes(0), 1);
        inquiry.on_word(minutes(0));
        inquiry.on_asked(minutes(15), 2);
        assert!(!inquiry.repeated);
        assert_eq!(inquiry.asked_at, Some(minutes(15)));
    }

    #[test]
    fn r07_one_question_serves_all_who_want_to_know_and_is_repeated_once_at_half_its_time() {
        let role = Role::named("default");
        let (half, whole) = (repeat_after(&role), role.liveness.inquiry_timeout);
        let asked = Asked { seq: 1, at: minutes(10), repeated: false, over: false };
        let just_before = |span: Span| asked.at + Span::millis(span.as_millis() - 1);
        assert!(asked.serves(asked.at + half, false, &role), "who asks for the first time is served by it");
        assert!(asked.serves(just_before(half), true, &role), "it is not time yet");
        assert!(!asked.serves(asked.at + half, true, &role), "now it is");
        let repeated = Asked { repeated: true, ..asked };
        assert!(repeated.serves(asked.at + half, true, &role), "there is no third");
        assert!(asked.stands(just_before(whole), &role));
        assert!(!asked.stands(asked.at + whole, &role), "its time is over");
        assert!(!Asked { over: true, ..asked }.stands(asked.at, &role), "it came back without an answer");
    }
}
