//! Signals that wait to be sent, in order and bounded.
//!
//! Of too many the oldest vital signs are given up first: that a tool was called an hour ago matters little, that the
//! agent met an error it cannot recover from matters still.

use std::collections::VecDeque;
use std::sync::Arc;

use verger_api::Signal;
use verger_api::signal::SignalBody;

/// Signals that go out in one body.
const BATCH_MAX: usize = 256;
/// What one body may weigh, unless a single signal weighs more.
const BATCH_BYTES_MAX: usize = 1 << 20;
/// What a signal weighs apart from its texts.
const WEIGHT: usize = 200;

#[derive(Debug)]
struct Entry {
    number: u64,
    weight: usize,
    signal: Arc<Signal<'static>>,
}

/// Signals that wait to be sent.
#[derive(Debug)]
pub(super) struct Buffer {
    entries: VecDeque<Entry>,
    weight: usize,
    next: u64,
    entries_max: usize,
    weight_max: usize,
    dropped: u64,
}

/// Some of them, on their way.
pub(super) struct Batch {
    signals: Vec<Arc<Signal<'static>>>,
    /// How many.
    pub(super) count: u64,
    /// The number of the last one.
    last: u64,
}

impl Batch {
    /// What it is called, among all that this buffer gives out.
    pub(super) fn number(&self) -> u64 {
        self.last
    }

    /// One signal a line. It may take milliseconds, so the agent must not have to wait for it.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for signal in &self.signals {
            // Texts and numbers can always be written; a signal that could not would be left out.
            if serde_json::to_writer(&mut body, &**signal).is_ok() {
                body.push(b'\n');
            }
        }
        body
    }
}

impl Buffer {
    pub(super) fn new(entries_max: usize, weight_max: usize) -> Self {
        Self { entries: VecDeque::new(), weight: 0, next: 0, entries_max, weight_max, dropped: 0 }
    }

    pub(super) fn push(&mut self, signal: Signal<'static>) {
        let weight = weight(&signal);
        if self.weight_max < weight || self.entries_max == 0 {
            self.dropped += 1;
            return;
        }
        while self.entries_max <= self.entries.len() || self.weight_max < self.weight + weight {
            self.give_up_one();
        }
        self.entries.push_back(Entry { number: self.next, weight, signal: Arc::new(signal) });
        self.weight += weight;
        self.next += 1;
    }

    /// The oldest ones, as many as go out at once. They stay here until they are known to have arrived.
    pub(super) fn batch(&self) -> Option<Batch> {
        let (mut signals, mut weight, mut last) = (Vec::new(), 0, 0);
        for entry in self.entries.iter().take(BATCH_MAX) {
            weight += entry.weight;
            if !signals.is_empty() && BATCH_BYTES_MAX < weight {
                break;
            }
            signals.push(Arc::clone(&entry.signal));
            last = entry.number;
        }
        let count = signals.len() as u64;
        (count > 0).then_some(Batch { signals, count, last })
    }

    /// These need not be sent again. Some may have been given up meanwhile.
    pub(super) fn settle(&mut self, batch: &Batch) {
        while self.entries.front().is_some_and(|entry| entry.number <= batch.last) {
            if let Some(entry) = self.entries.pop_front() {
                self.weight -= entry.weight;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many were given up for want of room.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn give_up_one(&mut self) {
        let is_vital = |entry: &Entry| !entry.signal.body.kind().needs_token();
        let at = self.entries.iter().position(is_vital).unwrap_or(0);
        if let Some(entry) = self.entries.remove(at) {
            self.weight -= entry.weight;
            self.dropped += 1;
        }
    }
}

/// About how many bytes a signal takes.
fn weight(signal: &Signal<'_>) -> usize {
    let texts = match &signal.body {
        SignalBody::ToolCall(call) => {
            let json = [&call.args, &call.result].into_iter().flatten().map(|json| json.get().len());
            json.sum::<usize>() + call.error.as_ref().map_or(0, |error| error.len()) + call.tool.len()
        }
        SignalBody::Message(message) => message.text.len(),
        SignalBody::Error(failure) => failure.message.len(),
        SignalBody::Handoff(said) | SignalBody::Blocker(said) => said.reason.len(),
        SignalBody::Status(said) => said.reason.as_ref().map_or(0, |reason| reason.len()),
        SignalBody::Spawn(spawn) => spawn.command.as_ref().map_or(0, |command| command.len()),
        SignalBody::Exit(exit) => exit.reason.as_ref().map_or(0, |reason| reason.len()),
        SignalBody::Heartbeat(_)
        | SignalBody::Activity
        | SignalBody::ModelRequest(_)
        | SignalBody::Subagent(_)
        | SignalBody::Compaction
        | SignalBody::Tokens(_)
        | SignalBody::Output(_)
        | SignalBody::Pong(_) => 0,
    };
    WEIGHT + texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use verger_api::signal::{Message, Reason};

    use super::*;

    fn signal(body: SignalBody<'static>) -> Signal<'static> {
        Signal { agent_id: "a".into(), task_id: None, at: None, incarnation: None, body }
    }

    fn said(text: &str) -> Signal<'static> {
        signal(SignalBody::Message(Message { role: "assistant".into(), text: text.to_owned().into() }))
    }

    fn blocked(why: &str) -> Signal<'static> {
        signal(SignalBody::Blocker(Reason { reason: why.to_owned().into() }))
    }

    /// The texts that would go out, in order.
    fn texts(buffer: &Buffer) -> Vec<String> {
        let batch = buffer.batch().map_or_else(Vec::new, |batch| batch.body());
        let lines = String::from_utf8(batch).expect("text");
        let read = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let text = if value["text"].is_null() { &value["reason"] } else { &value["text"] };
            text.as_str().expect("a text").to_owned()
        };
        lines.lines().map(read).collect()
    }

    #[test]
    fn of_too_many_the_oldest_vital_signs_go_first_and_the_rest_stays_in_order() {
        let mut buffer = Buffer::new(3, 1 << 20);
        for signal in [blocked("1"), said("2"), blocked("3"), said("4"), said("5")] {
            buffer.push(signal);
        }
        assert_eq!((texts(&buffer), buffer.dropped()), (["1", "3", "5"].map(ToOwned::to_owned).into(), 2));
        buffer.push(blocked("6"));
        buffer.push(blocked("7"));
        assert_eq!(texts(&buffer), ["3", "6", "7"], "of facts alone the oldest goes");
    }

    #[test]
    fn what_arrived_goes_and_what_came_meanwhile_stays() {
        let mut buffer = Buffer::new(3, 1 << 20);
        buffer.push(said("1"));
        buffer.push(said("2"));
        let batch = buffer.batch().expect("two");
        // While it is on its way the buffer runs over.
        for text in ["3", "4"] {
            buffer.push(said(text));
        }
        buffer.settle(&batch);
        assert_eq!(texts(&buffer), ["3", "4"]);
    }

    #[test]
    fn what_alone_is_too_large_is_not_kept() {
        let mut buffer = Buffer::new(10, 10_000);
        buffer.push(said("small"));
        buffer.push(said(&"x".repeat(20_000)));
        assert_eq!((texts(&buffer), buffer.dropped()), (vec!["small".to_owned()], 1));
    }

    proptest! {
        #[test]
        fn it_never_holds_more_than_it_may_and_its_sum_is_right(
            steps in prop::collection::vec((0..4_usize, 0..3_000_usize, any::<bool>()), 0..80)
        ) {
            let mut buffer = Buffer::new(5, 4_000);
            let mut taken = None;
            for (step, length, is_fact) in steps {
                match step {
                    0 => taken = buffer.batch(),
                    1 => if let Some(batch) = taken.take() { buffer.settle(&batch) },
                    _ => {
                        let text = "x".repeat(length);
                        buffer.push(if is_fact { blocked(&text) } else { said(&text) });
                    }
                }
                prop_assert!(buffer.len() <= 5 && buffer.weight <= 4_000);
                prop_assert_eq!(buffer.weight, buffer.entries.iter().map(|entry| entry.weight).sum::<usize>());
                let numbers: Vec<_> = buffer.entries.iter().map(|entry| entry.number).collect();
                prop_assert!(numbers.is_sorted());
            }
        }
    }
}
