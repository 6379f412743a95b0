//! The loop's end of the queue: hands messages over one by one, and gathers the answers of each delivery.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;
use verger_engine::{Answer, Inbox, Input, Message, Ticket};

use super::counters::{Counters, Tally};
use super::queue::{Delivery, Queue, Unavailable};
use crate::trace::{Context, Tracer};

/// A ticket is the delivery's number and, in its last bits, the message's place there. The largest body has a million items,
/// and an item may be several messages.
const PLACE_BITS: u32 = 24;

/// The loop's end.
pub(crate) struct Door {
    queue: Arc<Queue>,
    deliveries: VecDeque<Delivery>,
    /// What is left of the delivery at hand.
    messages: std::vec::IntoIter<Message>,
    /// The trace in which it came.
    context: Option<Context>,
    number: u64,
    place: u64,
    /// Deliveries whose answers are not all known yet.
    open: BTreeMap<u64, Open>,
    taken: usize,
    tally: Tally,
    counters: Arc<Counters>,
    tracer: Arc<Tracer>,
}

struct Open {
    answers: Vec<Option<Answer>>,
    left: usize,
    tell: oneshot::Sender<Result<Vec<Answer>, Unavailable>>,
}

impl Door {
    pub(crate) fn new(queue: Arc<Queue>, counters: Arc<Counters>, tracer: Arc<Tracer>) -> Self {
        Self {
            queue,
            deliveries: VecDeque::new(),
            messages: Vec::new().into_iter(),
            context: None,
            number: 0,
            place: 0,
            open: BTreeMap::new(),
            taken: 0,
            tally: Tally::default(),
            counters,
            tracer,
        }
    }

    /// The turn is over: there is room again for what it took.
    pub(crate) fn end_turn(&mut self) {
        self.queue.took(std::mem::take(&mut self.taken));
        self.tally.add_to(&self.counters);
    }

    /// Begins with the next delivery; tells whether there is one.
    fn begin(&mut self) -> bool {
        if self.deliveries.is_empty() {
            self.deliveries = self.queue.drain();
        }
        let Some(Delivery { messages, answers, context }) = self.deliveries.pop_front() else {
            return false;
        };
        self.context = context;
        (self.number, self.place) = (self.number + 1, 0);
        let left = messages.len();
        match answers {
            Some(tell) if left == 0 => drop(tell.send(Ok(Vec::new()))),
            Some(tell) => {
                let answers = vec![None; left];
                self.open.insert(self.number, Open { answers, left, tell });
            }
            None => {}
        }
        self.messages = messages.into_iter();
        true
    }
}

impl Inbox for Door {
    fn next(&mut self) -> Option<Input> {
        loop {
            if let Some(message) = self.messages.next() {
                let ticket = Ticket(self.number << PLACE_BITS | self.place);
                let is_awaited = self.open.contains_key(&self.number);
                self.place += 1;
                self.taken += 1;
                self.tally.on_input(&message);
                self.tracer.on_message(&message, self.context.as_ref());
                return Some(Input { ticket: is_awaited.then_some(ticket), message });
            }
            if !self.begin() {
                return None;
            }
        }
    }

    fn answer(&mut self, ticket: Ticket, answer: Answer) {
        self.tally.on_answer(&answer);
        let (number, place) = (ticket.0 >> PLACE_BITS, ticket.0 & ((1 << PLACE_BITS) - 1));
        let Some(open) = self.open.get_mut(&number) else { return };
        let Some(slot) = open.answers.get_mut(place as usize).filter(|slot| slot.is_none()) else { return };
        *slot = Some(answer);
        open.left -= 1;
        if open.left == 0
            && let Some(Open { answers, tell, .. }) = self.open.remove(&number)
        {
            // Who hung up does not want to know.
            let _ = tell.send(Ok(answers.into_iter().flatten().collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_core::command::{Command, Order};

    fn order(agent: &str) -> Message {
        let order = Order::Unregister;
        Message::Command(Command { agent: agent.into(), incarnation: None, by: "ada".into(), order })
    }

    #[test]
    fn answers_come_back_together_in_the_order_of_the_messages() {
        let queue = Arc::new(Queue::default());
        let mut door = Door::new(Arc::clone(&queue), Arc::default(), Arc::default());
        let (tell, mut answers) = oneshot::channel();
        queue.push(Delivery { messages: vec![order("x")], answers: None, context: None }).expect("room");
        queue
            .push(Delivery { messages: vec![order("a"), order("b")], answers: Some(tell), context: None })
            .expect("room");
        assert_eq!(door.next().expect("x").ticket, None, "nobody waits for it");
        let tickets =
            [door.next(), door.next()].map(|input| input.and_then(|input| input.ticket).expect("awaited"));
        assert!(door.next().is_none());
        door.answer(tickets[1], Answer::Accepted(None));
        door.answer(tickets[1], Answer::Ordered(Ok(())));
        assert!(answers.try_recv().is_err(), "one is missing");
        door.answer(tickets[0], Answer::Ordered(Ok(())));
        assert_eq!(answers.try_recv(), Ok(Ok(vec![Answer::Ordered(Ok(())), Answer::Accepted(None)])));
    }

    #[test]
    fn the_largest_body_is_answered_in_full() {
        let queue = Arc::new(Queue::default());
        let mut door = Door::new(Arc::clone(&queue), Arc::default(), Arc::default());
        let (tell, mut answers) = oneshot::channel();
        // A million items, the most that can be configured, of two messages each.
        let messages = vec![order("a"); 2_000_000];
        queue.push(Delivery { messages, answers: Some(tell), context: None }).expect("room");
        while let Some(input) = door.next() {
            door.answer(input.ticket.expect("awaited"), Answer::Ordered(Ok(())));
        }
        assert_eq!(answers.try_recv().map(|answers| answers.map(|answers| answers.len())), Ok(Ok(2_000_000)));
    }

    #[test]
    fn a_delivery_of_nothing_is_answered_with_nothing() {
        let queue = Arc::new(Queue::default());
        let mut door = Door::new(Arc::clone(&queue), Arc::default(), Arc::default());
        let (tell, mut answers) = oneshot::channel();
        queue.push(Delivery { messages: vec![], answers: Some(tell), context: None }).expect("room");
        assert!(door.next().is_none());
        assert_eq!(answers.try_recv(), Ok(Ok(vec![])));
    }
}
