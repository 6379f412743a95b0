//! Messages between agents, with a hand that carries them in the monitor's place.

use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::id::{AgentId, Incarnation};
use verger_core::messages::{Acknowledgement, NewMessage, Receipt, Taken};
use verger_core::notice::{Notice, Reply};

use super::world;
use crate::world::time::{DAY, HOUR};
use crate::world::{Condition, Delivery, SimTime, World};

/// Lets a world run with a monitor that takes every message, and delivers each once if it is to.
fn run_post(world: &mut World, until: SimTime, delivers: bool) {
    let (mut out, mut seq) = (Vec::new(), 0);
    while let Some(now) = world.next().filter(|next| *next <= until) {
        world.advance(now, &mut out);
        for delivery in std::mem::take(&mut out) {
            let Delivery::Request { number, notice } = delivery else { continue };
            match notice {
                Notice::Send(message) => {
                    let reply = message.reply_to.is_some().then_some(Acknowledgement::Over { late: false });
                    let receipt = Receipt { taken: Taken::Sent, reply };
                    world.answered(now, number, &Ok(Reply::Sent(receipt)));
                    seq += 1;
                    let life = world.truth().present_incarnation(&message.to, now);
                    if let Some(life) = life.filter(|_| delivers) {
                        world.carry_out(now, &deliver(&message, life, seq));
                    }
                }
                Notice::Acknowledge { .. } => {
                    let over = Acknowledgement::Over { late: false };
                    world.answered(now, number, &Ok(Reply::Acknowledged(over)));
                }
                _ => {}
            }
        }
    }
}

fn deliver(message: &NewMessage, incarnation: Incarnation, seq: u32) -> Effect {
    let key = EffectKey { agent: message.to.clone(), incarnation, seq };
    let (id, from) = (message.id.clone(), message.from.clone());
    Effect { key, action: Action::Deliver { message: id, from, attempt: 1 } }
}

fn share(part: usize, all: usize) -> f64 {
    part as f64 / all.max(1) as f64
}

#[test]
fn most_messages_are_read_and_acknowledged_and_some_are_forgotten() {
    let mut world = world(41, 40, 2.0, false);
    run_post(&mut world, SimTime(2 * DAY), true);
    let letters = world.truth().letters();
    assert!(letters.len() > 200, "{}", letters.len());
    let count = |done: fn(&crate::world::Letter) -> bool| letters.iter().filter(|it| done(it)).count();
    assert!(share(count(|it| it.taken.is_some()), letters.len()) > 0.98);
    let (read, acknowledged) = (count(|it| it.read.is_some()), count(|it| it.acknowledged.is_some()));
    assert!(share(read, letters.len()) > 0.85, "{read} of {}", letters.len());
    assert!((0.88..0.99).contains(&share(acknowledged, read)), "{acknowledged} of {read}");
    assert!(letters.iter().any(|it| it.reply_to.is_some()) && letters.iter().any(|it| it.to.is_none()));
}

#[test]
fn what_is_not_delivered_is_not_read() {
    let mut world = world(42, 40, 1.0, false);
    run_post(&mut world, SimTime(DAY), false);
    assert!(world.truth().letters().iter().all(|letter| letter.read.is_none()));
}

#[test]
fn whoever_is_busy_or_gone_does_not_read() {
    let mut world = world(43, 40, 3.0, true);
    run_post(&mut world, SimTime(3 * DAY), true);
    let truth = world.truth();
    for letter in truth.letters() {
        let (Some(read), Some(to)) = (letter.read, letter.to) else { continue };
        let to: &AgentId = &truth.agents()[to as usize].id;
        let condition = truth.condition_at(to, read);
        assert!(
            condition.is_healthy() && !matches!(condition, Condition::WaitingPerson | Condition::LongTool),
            "{letter:?}: {condition}"
        );
        assert!(letter.sent <= read && read <= SimTime(3 * DAY + HOUR));
    }
}
