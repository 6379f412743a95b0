//! What is learnt of the way to an agent: its channel, and what became of pings and questions.

use super::{Agent, Step};
use crate::effect::{EffectKey, Outcome};
use crate::event::Fact;
use crate::liveness::Reach;
use crate::signal::Channel;

impl Agent {
    pub(super) fn on_channel(&mut self, step: &mut Step<'_>, channel: Channel) {
        match channel {
            Channel::Opened => self.liveness.on_channel_opened(step.now),
            Channel::Left => self.liveness.on_channel_left(),
            Channel::Closed => {
                let ask = self.liveness.on_channel_closed(step.now, &step.role.liveness);
                self.on_ask(step, ask);
            }
        }
    }

    pub(super) fn on_outcome(&mut self, step: &mut Step<'_>, key: &EffectKey, outcome: Outcome) {
        if key.incarnation != self.incarnation || key.agent != self.id {
            return;
        }
        self.on_question_outcome(key.seq, outcome);
        let reach = match outcome {
            Outcome::Delivered => Reach::Delivered,
            Outcome::Refused => Reach::Refused,
            Outcome::Unreachable => Reach::Unreachable,
            Outcome::Stopped | Outcome::Failed | Outcome::Unreadable | Outcome::Rejected => Reach::Unknown,
        };
        // What the ladder sends may go to people, and then says nothing about the way to the agent.
        if !self.belongs_to_case(key.seq) {
            self.on_reach(step, key.seq, reach);
        }
        self.on_case_outcome(step, key, outcome);
    }

    fn on_reach(&mut self, step: &mut Step<'_>, number: u32, reach: Reach) {
        match reach {
            Reach::Unknown => return,
            Reach::Unreachable => self.on_unreachable_inquiry(step, number),
            Reach::Delivered if !self.beats => self.on_way_back(step),
            Reach::Delivered | Reach::Refused => {}
        }
        let busy = self.is_busy();
        self.liveness.on_reach(step.now, number, reach, &step.role.liveness, busy);
    }

    /// Who neither beats nor answers pings, and cannot be asked either, is cut off.
    fn on_unreachable_inquiry(&mut self, step: &mut Step<'_>, number: u32) {
        let inquiry = self.past.as_mut().and_then(|past| past.inquiry.as_mut());
        let Some(inquiry) = inquiry.filter(|inquiry| inquiry.seq == number) else { return };
        if inquiry.on_unreachable(step.now) {
            let ask = self.liveness.on_no_way(step.now, &step.role.liveness);
            self.on_ask(step, ask);
        }
    }

    fn on_way_back(&mut self, step: &mut Step<'_>) {
        if let Some(downtime) = self.liveness.on_way_back(step.now) {
            self.forget_inquiry();
            self.close_question();
            self.progress.on_resumed(step.now);
            self.record(step, Fact::Reconnected { downtime });
        }
    }
}
