//! What the monitor brings to agents: messages, reminders of them, and news of what became of them.
//!
//! Who is wrapped or remote gets them within seconds; who has hooks or the SDK with its next call or heartbeat. Two in
//! a hundred fail for reasons of their own. People who are told that a message is unacknowledged take care of half.

use verger_core::effect::{Action, Effect, Outcome};
use verger_core::event::Fact;
use verger_core::id::Actor;
use verger_core::messages::Decision;
use verger_core::notice::{Notice, Speaker};

use super::{Content, Mail, PostMoment, letter_of};
use crate::world::agent::Agent;
use crate::world::connection::Connection;
use crate::world::effects::tell;
use crate::world::moment::Moment;
use crate::world::run::Delivery;
use crate::world::stage::Stage;
use crate::world::time::{SECOND, SimTime, millis};

/// How often it fails for reasons of its own.
const FAILS: f64 = 0.02;

/// The monitor carries out what concerns a message. Answers whether it was that.
pub(crate) fn carry_out(agent: &mut Agent, stage: &mut Stage, now: SimTime, effect: &Effect) -> bool {
    let (message, content): (_, fn(u32) -> Content) = match &effect.action {
        Action::Deliver { message, .. } => (message, Content::Letter),
        Action::RemindOfMessage { message, .. } => (message, Content::Reminder),
        Action::TellSender { message, .. } => (message, |_| Content::News),
        _ => return false,
    };
    let Some(letter) = letter_of(message) else { return true };
    let mail = Mail { key: effect.key.clone(), agent: agent.place, what: content(letter) };
    let rng = &mut stage.post.rng;
    if !stage.calm && rng.chance(FAILS) {
        let wait = rng.range(50, 10 * SECOND);
        if rng.chance(0.7) {
            tell(stage, now + wait, &mail.key, Outcome::Failed);
        }
        return true;
    }
    match agent.link.connection {
        Connection::Wrapped => send_off(stage, now, (0.1, 30.0), mail),
        Connection::Remote => send_off(stage, now, (0.1, 5.0), mail),
        Connection::Hook | Connection::Sdk => match agent.obstacle(stage, &mail.key, false) {
            Some(outcome) => tell(stage, now + 200, &mail.key, outcome),
            None => agent.mail.push(mail),
        },
    }
    true
}

/// It gets there after a while between these seconds.
fn send_off(stage: &mut Stage, now: SimTime, (least, most): (f64, f64), mail: Mail) {
    let wait = millis(stage.post.rng.log_between(least, most));
    stage.queue.set(now + wait, Moment::Mail(Box::new(mail)));
}

/// It is there.
pub(crate) fn arrive(agents: &mut [Agent], stage: &mut Stage, now: SimTime, mail: &Mail) {
    agents[mail.agent as usize].receive(stage, now, mail);
}

impl Agent {
    /// The agent takes what was kept for it.
    pub(crate) fn take_mail(&mut self, stage: &mut Stage, now: SimTime) {
        for mail in std::mem::take(&mut self.mail) {
            self.receive(stage, now, &mail);
        }
    }

    /// What was kept for this life will never be read.
    pub(crate) fn refuse_mail(&mut self, stage: &mut Stage, now: SimTime) {
        for mail in std::mem::take(&mut self.mail) {
            tell(stage, now + 100, &mail.key, Outcome::Refused);
        }
    }

    fn receive(&mut self, stage: &mut Stage, now: SimTime, mail: &Mail) {
        if let Some(outcome) = self.obstacle(stage, &mail.key, false) {
            return tell(stage, now + 20, &mail.key, outcome);
        }
        if self.frozen {
            return tell(stage, now + 30 * SECOND, &mail.key, Outcome::Failed);
        }
        tell(stage, now, &mail.key, Outcome::Delivered);
        let (letter, reminded, pace) = match mail.what {
            Content::Letter(letter) => {
                stage.truth.letters_mut()[letter as usize].delivered.get_or_insert(now);
                (letter, false, 45.0)
            }
            Content::Reminder(letter) => (letter, true, 20.0),
            Content::News => return,
        };
        let wait = millis(stage.post.rng.log_normal(pace, 1.2).min(3_600.0)).max(SECOND);
        stage.queue.set(now + wait, Moment::Post(PostMoment::Read { letter, reminded }));
    }
}

/// People are told that somebody leaves messages unacknowledged, and take care of some.
pub(crate) fn hear_fact(stage: &mut Stage, now: SimTime, fact: &Fact) {
    let Fact::Message(decided) = fact else { return };
    let rng = &mut stage.post.rng;
    if !matches!(decided.decision, Decision::Escalate { .. }) || !(stage.calm || rng.chance(0.5)) {
        return;
    }
    let looked = millis(rng.log_between(600.0, 14_400.0));
    let awake = stage.calm || (7..22).contains(&now.hour());
    let at = if awake { now + looked } else { now.next_hour(8) + looked };
    let by = Speaker::Person(Actor::from("operator"));
    let notice = Notice::Acknowledge { message: decided.message.clone(), by };
    stage.deliver_at(at, Delivery::Notice(notice));
}
