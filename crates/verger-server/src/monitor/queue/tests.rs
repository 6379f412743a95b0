//! What waits, what makes room, and what is turned away.

use super::*;
use verger_core::command::{Command, Order};
use verger_core::id::{CheckpointId, Incarnation};
use verger_core::signal::{Content, Heartbeat, Signal, Trust};
use verger_core::time::WallTime;

fn delivery(messages: usize) -> Delivery {
    let order = Command { agent: "a".into(), incarnation: None, by: "ada".into(), order: Order::Unregister };
    Delivery { messages: vec![Message::Command(order); messages], answers: None, context: None }
}

#[test]
fn what_does_not_fit_is_turned_away_and_fits_when_the_loop_has_caught_up() {
    let queue = Queue::default();
    assert_eq!(queue.push(delivery(MESSAGES_MAX + 1)), Ok(()), "nothing else waits");
    assert_eq!(queue.push(delivery(1)), Err(Unavailable::Overloaded));
    assert_eq!(queue.drain().len(), 1);
    assert_eq!(queue.push(delivery(1)), Err(Unavailable::Overloaded), "handed over is not yet taken");
    queue.took(MESSAGES_MAX + 1);
    assert_eq!(queue.push(delivery(1)), Ok(()));
}

#[test]
fn after_the_last_order_nothing_is_taken_and_what_waits_is_kept() {
    let queue = Queue::default();
    queue.push(delivery(3)).expect("there is room");
    queue.stop();
    assert_eq!(queue.push(delivery(1)), Err(Unavailable::Stopping));
    assert_eq!(queue.look(Box::new(|_, _| ())), Err(Unavailable::Stopping));
    assert_eq!(queue.drain().len(), 1);
}

#[test]
fn what_cannot_be_taken_does_not_keep_the_loop_busy() {
    let queue = Queue::default();
    assert!(queue.lock().is_idle(true));
    queue.push(delivery(1)).expect("there is room");
    queue.look(Box::new(|_, _| ())).expect("there is room");
    assert!(!queue.lock().is_idle(true) && queue.lock().is_idle(false), "the store cannot be written");
    queue.stop();
    assert!(!queue.lock().is_idle(false), "the end is not waited for");
}

#[test]
fn what_the_monitor_tells_itself_after_its_end_is_not_kept() {
    let queue = Queue::default();
    queue.stop();
    queue.push_own(delivery(1).messages.remove(0));
    assert_eq!(queue.drain().len(), 1, "before it, it is");
    queue.close();
    queue.push_own(delivery(1).messages.remove(0));
    assert!(queue.drain().is_empty());
}

#[test]
fn so_many_may_want_to_look_and_no_more() {
    let queue = Queue::default();
    for _ in 0..LOOKS_MAX {
        queue.look(Box::new(|_, _| ())).expect("there is room");
    }
    assert_eq!(queue.look(Box::new(|_, _| ())), Err(Unavailable::Overloaded));
    assert_eq!(queue.looks().len(), LOOKS_MAX);
    assert_eq!(queue.look(Box::new(|_, _| ())), Ok(()));
}

/// Signals of one agent, and who hears of them.
fn sent(
    agent: &str,
    body: &Body,
    count: usize,
) -> (Delivery, oneshot::Receiver<Result<Vec<Answer>, Unavailable>>) {
    let content = Content {
        incarnation: Some(Incarnation::FIRST),
        sent_at: None,
        received_at: WallTime(0),
        trust: Trust::Unverified,
        body: body.clone(),
    };
    let signal = Message::Signal(Signal { agent: agent.into(), content });
    let (tell, answers) = oneshot::channel();
    (Delivery { messages: vec![signal; count], answers: Some(tell), context: None }, answers)
}

#[test]
fn x13_when_it_is_full_the_oldest_heartbeats_make_room_and_their_senders_are_told() {
    let queue = Queue::default();
    let beat = Body::Heartbeat(Heartbeat::default());
    let mut waiting: Vec<_> = (0..64)
        .map(|n| {
            let (delivery, answers) = sent(&n.to_string(), &beat, MESSAGES_MAX / 64);
            queue.push(delivery).expect("there is room");
            answers
        })
        .collect();
    let (delivery, mut last) = sent("last", &Body::ModelStarted, 1);
    assert_eq!(queue.push(delivery), Ok(()));
    let told: Vec<_> = waiting.iter_mut().map(oneshot::Receiver::try_recv).collect();
    let (dropped, kept) = told.split_at(9);
    assert!(dropped.iter().all(|told| *told == Ok(Err(Unavailable::Overloaded))), "{dropped:?}");
    assert!(kept.iter().all(|told| *told == Err(oneshot::error::TryRecvError::Empty)), "{kept:?}");
    assert!(last.try_recv().is_err(), "it waits");
    assert_eq!(queue.dropped(), 9 * MESSAGES_MAX as u64 / 64);
    assert_eq!(queue.waiting(), 55 * MESSAGES_MAX / 64 + 1);
}

#[test]
fn x13_one_noisy_agent_loses_its_own_heartbeats_and_nobody_elses() {
    let queue = Queue::default();
    let beat = Body::Heartbeat(Heartbeat::default());
    let mut quiet: Vec<_> = (0..100)
        .map(|n| {
            let (delivery, answers) = sent(&n.to_string(), &beat, 1);
            queue.push(delivery).expect("there is room");
            answers
        })
        .collect();
    let mut noisy = 0;
    for _ in 0..4 * MESSAGES_MAX / 100 {
        let (delivery, _) = sent("noisy", &beat, 100);
        noisy += usize::from(queue.push(delivery).is_ok());
    }
    assert_eq!(noisy, 4 * MESSAGES_MAX / 100, "its newest are always taken");
    assert!(queue.dropped() > 0 && queue.turned_away() == 0);
    assert!(quiet.iter_mut().all(|answers| answers.try_recv().is_err()), "those of others wait on");
}

#[test]
fn x13_facts_never_make_room_and_what_does_not_fit_is_turned_away() {
    let queue = Queue::default();
    let facts = [Body::Checkpoint { id: CheckpointId::from("c") }, Body::ModelFinished, Body::Compaction];
    for fact in &facts {
        let (delivery, _) = sent("a", fact, MESSAGES_MAX / 3);
        queue.push(delivery).expect("there is room");
    }
    let (delivery, _) = sent("b", &Body::Activity, 2);
    assert_eq!(queue.push(delivery), Err(Unavailable::Overloaded));
    let (delivery, _) = sent("b", &Body::Compaction, 2);
    assert_eq!(queue.push(delivery), Err(Unavailable::Overloaded));
    assert_eq!((queue.dropped(), queue.turned_away()), (0, 2));
    let mut taken = 0;
    loop {
        let handful: usize = queue.drain().iter().map(|delivery| delivery.messages.len()).sum();
        queue.took(handful);
        if handful == 0 {
            break;
        }
        taken += handful;
    }
    assert_eq!((taken, queue.waiting()), (MESSAGES_MAX / 3 * 3, 0), "nothing is lost");
}
