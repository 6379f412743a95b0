//! The engine's port: what a restart finds is what was committed, once.

use std::collections::VecDeque;

use verger_core::command::{Command, Order};
use verger_core::effect::Effect;
use verger_core::fleet::{Fleet, Row, RowKey};
use verger_core::policy::Policies;
use verger_core::signal::{Body, Content, Heartbeat, Signal, Trust};
use verger_core::time::{Span, Timestamp, WallTime};
use verger_engine::{
    Answer, Blind, BlindCause, Clock, Engine, Inbox, Input, Message, Outbox, Reading, Settings, Store, Ticket,
};
use verger_store::EngineStore;

use crate::desk::{Desk, WALL, at, batch, checkpoint, interrupted, nudge, row, save};

#[test]
fn l41_a_restart_finds_mark_rows_and_unfinished_effects() {
    let desk = Desk::new();
    let mut first = batch(1, 10);
    first.rows =
        vec![row("a", b"old"), row("b", b"b"), Row { key: RowKey::Fleet, bytes: Some(vec![7]) }].into();
    first.effects = vec![nudge("b", 2), nudge("b", 10), nudge("a", 1)];
    let mut second = batch(2, 20);
    second.rows = vec![row("a", b"new"), Row { key: RowKey::Agent("b".into()), bytes: None }].into();
    second.finished = vec![nudge("b", 2).key];
    second.retried = vec![nudge("b", 10).key];
    {
        let (mut store, _archive) = desk.open();
        store.commit(&first).expect("committed");
        store.commit(&second).expect("committed");
    }
    let (mut store, _archive) = desk.open();
    let loaded = store.load().expect("loaded");
    assert_eq!(loaded.mark, Some(second.mark));
    let mut rows = loaded.rows;
    rows.sort();
    assert_eq!(rows, [(RowKey::Agent("a".into()), b"new".to_vec()), (RowKey::Fleet, vec![7])]);
    let left: Vec<_> = loaded.unfinished.iter().map(|left| (left.effect.clone(), left.attempts)).collect();
    assert_eq!(left, [(nudge("a", 1), 1), (nudge("b", 10), 2)], "in the order of their keys");
    assert_eq!(loaded.unfinished[0].decided, first.mark.taken);
}

#[test]
fn a_batch_that_is_committed_again_is_there_once() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let mut once = batch(1, 10);
    once.events = vec![interrupted("a", 10)];
    once.effects = vec![nudge("a", 1)];
    once.blind = vec![Blind { at: at(10).observed, lasted: Span::secs(3), cause: BlindCause::Paused }];
    store.commit(&once).expect("committed");
    let mut retried = batch(2, 20);
    retried.retried = vec![nudge("a", 1).key];
    for _ in 0..3 {
        store.commit(&once).expect("nothing to do");
        store.commit(&retried).expect("committed, then nothing to do");
    }
    assert_eq!(store.load().expect("loaded").unfinished[0].attempts, 2);
    assert_eq!(archive.newest_event().expect("a number"), 1);
    assert_eq!(archive.blind_times(9).expect("times").len(), 1);
    let mut next = batch(3, 30);
    next.events = vec![interrupted("a", 30)];
    store.commit(&next).expect("committed");
    assert_eq!(archive.event(2).expect("read").expect("there").body, r#"{"id":2,"type":"INTERRUPTED"}"#);
}

#[test]
fn blind_times_are_kept_with_their_cause() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let mut blind = batch(1, 10);
    let causes = [BlindCause::Down, BlindCause::Paused, BlindCause::Behind, BlindCause::Store];
    blind.blind = causes.map(|cause| Blind { at: at(10).observed, lasted: Span::secs(3), cause }).to_vec();
    store.commit(&blind).expect("committed");
    let kept = archive.blind_times(9).expect("times");
    let words: Vec<_> = kept.iter().rev().map(|time| time.cause.as_str()).collect();
    assert_eq!(words, ["down", "paused", "behind", "store"]);
    assert_eq!((kept[0].until, kept[0].lasted), (at(10), Span::secs(3)));
}

#[test]
fn whoever_writes_at_one_moment_is_answered_by_itself() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let writers: Vec<_> = (0..16)
        .map(|number| {
            let archive = archive.clone();
            std::thread::spawn(move || {
                let parent = (number % 2 == 1).then_some("nowhere");
                save(&archive, checkpoint(&format!("c{number}"), "t", parent, b"state")).is_ok()
            })
        })
        .collect();
    for number in 1..=50 {
        store.commit(&batch(number, number)).expect("a refused checkpoint fails nobody else");
    }
    let saved: Vec<_> = writers.into_iter().map(|writer| writer.join().expect("it ends")).collect();
    assert_eq!(saved, [true, false].repeat(8));
    assert_eq!(archive.checkpoints(&"t".into(), None, 99).expect("listed").len(), 8);
    assert_eq!(store.load().expect("loaded").mark.expect("a mark").number, 50);
}

struct Still;

impl Clock for Still {
    fn read(&self) -> Reading {
        Reading { boot: 1_000, wall: WallTime(WALL) }
    }
}

#[derive(Default)]
struct Released(Vec<Effect>);

impl Outbox for Released {
    fn release(&mut self, effect: &Effect) {
        self.0.push(effect.clone());
    }
}

struct Queue(VecDeque<Input>);

impl Inbox for Queue {
    fn next(&mut self) -> Option<Input> {
        self.0.pop_front()
    }

    fn answer(&mut self, _: Ticket, _: Answer) {}
}

fn engine(store: EngineStore) -> Engine<Still, EngineStore, Released> {
    let restore = |rows, now: Timestamp| Fleet::restore(Policies::default(), 7, rows, now);
    Engine::open(Still, store, Released::default(), Settings::default(), restore).expect("it opens")
}

#[test]
fn l41_the_real_engine_goes_on_where_it_was() {
    let desk = Desk::new();
    let content = Content {
        incarnation: None,
        sent_at: None,
        received_at: WallTime(WALL),
        trust: Trust::Verified,
        body: Body::Heartbeat(Heartbeat::default()),
    };
    let signal = Message::Signal(Signal { agent: "a".into(), content });
    let order = Order::Nudge { text: Some("look up".into()) };
    let command = Command { agent: "a".into(), incarnation: None, by: "ops".into(), order };
    let inputs = [signal, Message::Command(command)].map(|message| Input { ticket: None, message });
    {
        let (store, archive) = desk.open();
        let mut engine = engine(store);
        let turn = engine.turn(&mut Queue(inputs.into()));
        assert!(turn.committed);
        assert_eq!(engine.outbox_mut().0.len(), 1, "the nudge has left");
        assert!(archive.newest_event().expect("a number") >= 2);
    }
    let (store, _archive) = desk.open();
    let mut engine = engine(store);
    assert!(engine.fleet().view(Timestamp::ZERO, &"a".into()).is_some(), "it knows the agent");
    engine.turn(&mut Queue(VecDeque::new()));
    assert_eq!(engine.outbox_mut().0.len(), 1, "and the nudge leaves once more");
}
