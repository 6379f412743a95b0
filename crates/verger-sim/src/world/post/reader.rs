//! Who reads messages, and when: at their own pace, later while busy, never while frozen or going round in circles.
//!
//! Of a hundred messages that are read, 88 are acknowledged and seven answered, which acknowledges them too; five are
//! forgotten, and a reminder helps with three of four. Of a hundred acknowledgements two are lost, two come minutes
//! late and two twice. With a process its messages are lost in half of the cases; the others lie in a file.

use verger_core::messages::Acknowledgement;
use verger_core::notice::{Notice, NoticeError, Reply, Speaker};
use verger_core::signal::Trust;

use super::PostMoment;
use super::facts::Letter;
use super::sender::{blank, write};
use crate::world::agent::Agent;
use crate::world::condition::Condition;
use crate::world::moment::Moment;
use crate::world::request::Request;
use crate::world::stage::Stage;
use crate::world::time::{MINUTE, SimTime, millis};

/// How often an acknowledgement is tried while the monitor cannot be reached.
const TRIES: u8 = 3;

impl Agent {
    /// The agent reads a message, if it can just now.
    pub(super) fn read(&mut self, stage: &mut Stage, now: SimTime, letter: u32, reminded: bool) {
        let rng = &mut stage.post.rng;
        if !self.alive && rng.chance(0.5) {
            return;
        }
        if !self.is_reading() {
            let wait = rng.range(MINUTE, 5 * MINUTE);
            let again = Moment::Post(PostMoment::Read { letter, reminded });
            return stage.queue.set(now + wait, again);
        }
        let fate = if reminded { rng.weighted(&[75, 0, 25]) } else { rng.weighted(&[88, 7, 5]) };
        let it = &mut stage.truth.letters_mut()[letter as usize];
        it.read.get_or_insert(now);
        match fate {
            1 if self.link.verified => {
                let answer = Letter { reply_to: Some(letter), ..blank(self.place, Some(it.from), now) };
                write(stage, answer);
            }
            0 | 1 => self.acknowledge(stage, now, letter, 1),
            _ => {}
        }
    }

    /// Whether it turns to what others have to say.
    fn is_reading(&self) -> bool {
        match self.condition {
            Condition::Working
            | Condition::Polling
            | Condition::Paging
            | Condition::Testing
            | Condition::Idle => self.alive && !self.frozen,
            Condition::LongTool
            | Condition::Thinking
            | Condition::Subagent
            | Condition::WaitingPerson
            | Condition::WaitingProvider
            | Condition::Starting
            | Condition::Gone
            | Condition::Faulty(_) => false,
        }
    }

    /// The agent acknowledges a message, if it gets through.
    pub(super) fn acknowledge(&mut self, stage: &mut Stage, now: SimTime, letter: u32, tries: u8) {
        if !self.alive || self.frozen {
            return;
        }
        if !stage.up || self.cut > 0 {
            if tries < TRIES {
                let wait = stage.post.rng.range(MINUTE, 5 * MINUTE);
                let again = PostMoment::Acknowledge { letter, tries: tries + 1 };
                stage.queue.set(now + wait, Moment::Post(again));
            }
            return;
        }
        let trust = if self.link.verified { Trust::Verified } else { Trust::Unverified };
        let message = stage.truth.letters()[letter as usize].id.clone();
        let by = Speaker::Agent { id: self.id.clone(), trust };
        let delivery = Request::Acknowledge(letter).delivery(Notice::Acknowledge { message, by });
        let rng = &mut stage.post.rng;
        match rng.weighted(&[94, 2, 2, 2]) {
            _ if stage.calm => stage.out.push(delivery),
            0 => stage.out.push(delivery),
            1 => {}
            2 => {
                let late = now + millis(rng.log_between(10.0, 600.0));
                stage.deliver_at(late, delivery);
            }
            _ => {
                let again = now + millis(rng.log_between(0.1, 60.0));
                stage.deliver_at(again, delivery.clone());
                stage.out.push(delivery);
            }
        }
    }
}

/// The monitor answers who acknowledged a message.
pub(crate) fn hear_acknowledged(
    stage: &mut Stage,
    at: SimTime,
    letter: u32,
    answer: &Result<Reply, NoticeError>,
) {
    if let Ok(Reply::Acknowledged(Acknowledgement::Over { .. } | Acknowledgement::Again)) = answer {
        stage.truth.letters_mut()[letter as usize].acknowledged.get_or_insert(at);
    }
}
