//! Who writes to whom, how often, and how long it tries to get rid of it.
//!
//! An agent at work writes to another every two hours. Six in ten messages are of the usual kind, seven in a
//! hundred are urgent. One in two hundred is for somebody whom nobody knows. A client sends again what was not
//! acknowledged, under the same name, ever more seldom, and gives up after eight times.

use verger_core::id::AgentId;
use verger_core::messages::{Acknowledgement, NewMessage, Priority};
use verger_core::notice::{Notice, NoticeError, Reply};

use super::facts::{self, Letter};
use super::{PostMoment, STREAM};
use crate::rng::Rng;
use crate::world::agent::Agent;
use crate::world::moment::Moment;
use crate::world::request::Request;
use crate::world::stage::Stage;
use crate::world::time::{SECOND, SimTime, millis};

/// Mean seconds between two messages of one agent.
const PAUSE: f64 = 7_200.0;
/// How often a message is sent in vain before it is given up.
const TRIES: u8 = 8;

impl Agent {
    /// The chance by which the agent of this number writes.
    pub(crate) fn pen(seed: u64, place: u32) -> Rng {
        Rng::stream(seed, STREAM + 1 + u64::from(place))
    }

    /// Sets the time of the agent's next message.
    pub(crate) fn begin_post(&mut self, stage: &mut Stage, now: SimTime) {
        // Nobody takes messages from who does not prove who it is.
        if self.link.verified {
            let wait = millis(self.pen.exponential(PAUSE)).max(SECOND);
            stage.queue.set(now + wait, Moment::Post(PostMoment::Compose { agent: self.place }));
        }
    }
}

/// An agent has something to say to another, if it is at work.
pub(super) fn compose(agents: &mut [Agent], from: u32, stage: &mut Stage, now: SimTime) {
    let count = agents.len() as u64;
    let agent = &mut agents[from as usize];
    agent.begin_post(stage, now);
    if !agent.alive || agent.frozen || !agent.working || count < 2 {
        return;
    }
    let other = agent.pen.range(0, count - 1) as u32;
    let to = (!agent.pen.chance(0.005)).then_some(other + u32::from(from <= other));
    let priorities = [Priority::Low, Priority::Normal, Priority::High, Priority::Urgent];
    let priority = priorities[agent.pen.weighted(&[15, 60, 18, 7])];
    write(stage, Letter { priority, ..blank(from, to, now) });
}

/// A message that says nothing yet.
pub(super) fn blank(from: u32, to: Option<u32>, now: SimTime) -> Letter {
    Letter {
        id: facts::name(0),
        from,
        to,
        priority: Priority::Normal,
        reply_to: None,
        sent: now,
        taken: None,
        refused: None,
        delivered: None,
        read: None,
        acknowledged: None,
    }
}

/// A message is written, and sent at once.
pub(super) fn write(stage: &mut Stage, mut letter: Letter) {
    let number = stage.truth.letters().len() as u32;
    let now = letter.sent;
    letter.id = facts::name(number);
    stage.truth.letters_mut().push(letter);
    stage.queue.set(now, Moment::Post(PostMoment::Send { letter: number, tries: 1 }));
}

/// A message is sent, if it was not taken yet.
pub(super) fn send(agents: &[Agent], stage: &mut Stage, now: SimTime, letter: u32, tries: u8) {
    let it = &stage.truth.letters()[letter as usize];
    let agent = &agents[it.from as usize];
    if it.taken.is_some() || it.refused.is_some() || !agent.alive || TRIES < tries {
        return;
    }
    if stage.up && agent.cut == 0 && !agent.frozen {
        let to = it.to.map_or_else(|| AgentId::from("agent-unknown"), |to| agents[to as usize].id.clone());
        let notice = Notice::Send(Box::new(NewMessage {
            id: it.id.clone(),
            from: agent.id.clone(),
            to,
            priority: it.priority,
            reply_to: it.reply_to.map(facts::name),
            task: agent.task.clone(),
        }));
        let delivery = Request::Send(letter).delivery(notice);
        if !stage.calm && stage.post.rng.chance(0.01) {
            stage.out.push(delivery.clone());
        }
        stage.out.push(delivery);
    }
    let again = now + 10 * SECOND * (1 << tries);
    stage.queue.set(again, Moment::Post(PostMoment::Send { letter, tries: tries + 1 }));
}

/// The monitor answers who sent a message.
pub(crate) fn hear_receipt(stage: &mut Stage, at: SimTime, letter: u32, answer: &Result<Reply, NoticeError>) {
    let letters = stage.truth.letters_mut();
    let it = &mut letters[letter as usize];
    let reply_to = it.reply_to;
    match answer {
        Ok(Reply::Sent(receipt)) => {
            it.taken.get_or_insert(at);
            if let (Some(first), Some(Acknowledgement::Over { .. } | Acknowledgement::Again)) =
                (reply_to, receipt.reply)
            {
                letters[first as usize].acknowledged.get_or_insert(at);
            }
        }
        Ok(_) => {}
        Err(_) => {
            it.refused.get_or_insert(at);
        }
    }
}
