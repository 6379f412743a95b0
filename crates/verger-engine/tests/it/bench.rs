//! A bench: the production loop, a store and an outbox in memory, a clock set by hand.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use verger_core::breaker::Permit;
use verger_core::command::{Command, Order};
use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::fleet::{Fleet, RowKey};
use verger_core::messages::{NewMessage, Priority};
use verger_core::notice::{Notice, Reply};
use verger_core::policy::Policies;
use verger_core::signal::{Body, Content, Heartbeat, Signal, Spawn, Trust};
use verger_core::time::WallTime;
use verger_engine::{
    Answer, Batch, Clock, Engine, Inbox, Input, Loaded, Mark, Message, Outbox, Reading, Settings, Store,
    StoreError, Ticket, Unfinished,
};

/// One step of a schedule.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// The loop runs for so long.
    Work(u64),
    /// An agent shows life.
    Heartbeat(u8),
    /// Somebody orders a nudge.
    Nudge(u8),
    /// Somebody orders an escalation.
    Escalate(u8),
    /// An agent begins a new life.
    Respawn(u8),
    /// An agent sends a message to the next.
    Send(u8),
    /// What was released is carried out and reported.
    Outcomes,
    /// From now on reminders wait until they are fetched.
    Hold,
    /// What waits is about to be handed over to its agent; nobody hears whether it was.
    Fetch,
    /// The process is stopped for so long.
    Pause(u64),
    /// Commits fail; the last of them may have been written all the same.
    FailCommits { times: u8, written: bool },
    /// The next commit takes so long.
    SlowCommit(u64),
    /// Somebody sets the wall clock.
    StepWall(i64),
    /// The process dies after so many releases of its last turn, and is started again later.
    Crash { down: u64, releases: u8 },
}

/// What the outside saw.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) released: BTreeMap<String, u32>,
    pub(crate) released_unwritten: Vec<String>,
    pub(crate) to_do: Vec<EffectKey>,
    /// Reminders that wait, and whether an earlier life of the monitor had released them too.
    pub(crate) held: BTreeMap<EffectKey, bool>,
    /// How often each was handed over.
    pub(crate) handed: BTreeMap<String, u32>,
    pub(crate) asked: usize,
    pub(crate) answered: usize,
    pub(crate) answered_unwritten: Vec<u64>,
    /// The last permit that was given.
    pub(crate) permit: Option<Permit>,
}

#[derive(Default)]
struct Shared {
    boot: Cell<u64>,
    wall: Cell<i64>,
    /// Releases that still reach the outside; the process is dead when it is used up.
    lives: Cell<Option<u8>>,
    dead: Cell<bool>,
    holds: Cell<bool>,
    world: RefCell<World>,
    disk: RefCell<Disk>,
}

#[derive(Default)]
struct Disk {
    mark: Option<Mark>,
    rows: BTreeMap<RowKey, Vec<u8>>,
    effects: BTreeMap<EffectKey, Unfinished>,
    /// Everything that was ever written.
    keys: BTreeSet<EffectKey>,
    failures: u8,
    written: bool,
    slow: u64,
}

#[derive(Clone)]
struct Port(Rc<Shared>);

impl Clock for Port {
    fn read(&self) -> Reading {
        Reading { boot: self.0.boot.get(), wall: WallTime(self.0.wall.get()) }
    }
}

impl Store for Port {
    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let mut disk = self.0.disk.borrow_mut();
        let failed = || StoreError { doing: "write to", is_slow: false, cause: "the disk is full".into() };
        if self.0.dead.get() {
            return Err(failed());
        }
        let slow = std::mem::take(&mut disk.slow);
        self.0.boot.set(self.0.boot.get() + slow);
        if disk.failures > 0 {
            disk.failures -= 1;
            if disk.failures == 0 && disk.written {
                disk.write(batch);
            }
            return Err(failed());
        }
        disk.write(batch);
        Ok(())
    }

    fn load(&mut self) -> Result<Loaded, StoreError> {
        let disk = self.0.disk.borrow();
        Ok(Loaded {
            mark: disk.mark,
            rows: disk.rows.iter().map(|(key, bytes)| (key.clone(), bytes.clone())).collect(),
            unfinished: disk.effects.values().cloned().collect(),
        })
    }
}

impl Disk {
    fn write(&mut self, batch: &Batch) {
        if self.mark.is_some_and(|mark| mark.number >= batch.mark.number) {
            return;
        }
        self.mark = Some(batch.mark);
        for effect in &batch.effects {
            assert!(!matches!(effect.action, Action::Ping), "pings are not kept");
            let left = Unfinished { effect: effect.clone(), attempts: 1, decided: batch.mark.taken };
            assert!(self.keys.insert(effect.key.clone()), "{} was used twice", effect.key);
            self.effects.insert(effect.key.clone(), left);
        }
        for key in &batch.retried {
            self.effects.get_mut(key).expect("only unfinished effects are tried again").attempts += 1;
        }
        for key in &batch.finished {
            self.effects.remove(key);
        }
        for row in batch.rows.iter() {
            match &row.bytes {
                Some(bytes) => drop(self.rows.insert(row.key.clone(), bytes.clone())),
                None => drop(self.rows.remove(&row.key)),
            }
        }
    }
}

impl Outbox for Port {
    fn release(&mut self, effect: &Effect) {
        match self.0.lives.get() {
            Some(0) => self.0.dead.set(true),
            Some(lives) => self.0.lives.set(Some(lives - 1)),
            None => {}
        }
        if self.0.dead.get() || matches!(effect.action, Action::Ping) {
            return;
        }
        let mut world = self.0.world.borrow_mut();
        if !self.0.disk.borrow().keys.contains(&effect.key) {
            world.released_unwritten.push(effect.key.to_string());
        }
        if self.holds(&effect.action) {
            world.held.insert(effect.key.clone(), false);
            return;
        }
        *world.released.entry(effect.key.to_string()).or_default() += 1;
        world.to_do.push(effect.key.clone());
    }

    fn release_again(&mut self, effect: &Effect) {
        self.release(effect);
        if let Some(again) = self.0.world.borrow_mut().held.get_mut(&effect.key) {
            *again = true;
        }
    }

    fn holds(&self, action: &Action) -> bool {
        self.0.holds.get() && matches!(action, Action::Nudge { .. })
    }

    fn withdraw(&mut self, key: &EffectKey) {
        self.0.world.borrow_mut().held.remove(key);
    }
}

struct Queue {
    shared: Rc<Shared>,
    waiting: VecDeque<Input>,
    /// The batch number that must be on disk before a ticket may be answered.
    asked: BTreeMap<u64, u64>,
    /// What somebody wants to hand over.
    fetched: BTreeMap<u64, EffectKey>,
}

impl Inbox for Queue {
    fn next(&mut self) -> Option<Input> {
        let input = self.waiting.pop_front()?;
        if let Some(Ticket(ticket)) = input.ticket {
            let number = self.shared.disk.borrow().mark.map_or(0, |mark| mark.number);
            self.asked.insert(ticket, number);
        }
        Some(input)
    }

    fn answer(&mut self, Ticket(ticket): Ticket, answer: Answer) {
        let mut world = self.shared.world.borrow_mut();
        world.answered += 1;
        let written = self.shared.disk.borrow().mark.map_or(0, |mark| mark.number);
        if let Answer::Noticed(Ok(Reply::Permit(permit))) = &answer {
            world.permit = Some(*permit);
        }
        let ordered = matches!(answer, Answer::Ordered(Ok(())));
        if let Answer::Handing(true) = answer
            && let Some(key) = self.fetched.remove(&ticket)
        {
            *world.handed.entry(key.to_string()).or_default() += 1;
        }
        if ordered && self.asked.get(&ticket).is_none_or(|before| written <= *before) {
            world.answered_unwritten.push(ticket);
        }
    }
}

/// The production loop on a bench.
pub(crate) struct Bench {
    shared: Rc<Shared>,
    settings: Settings,
    engine: Engine<Port, Port, Port>,
    queue: Queue,
    now: u64,
    sleep_until: u64,
    tickets: u64,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let shared = Rc::new(Shared::default());
        shared.wall.set(1_700_000_000_000);
        let queue = Queue {
            shared: Rc::clone(&shared),
            waiting: VecDeque::new(),
            asked: BTreeMap::new(),
            fetched: BTreeMap::new(),
        };
        let engine = open(&shared, settings);
        let mut bench = Self { shared, settings, engine, queue, now: 0, sleep_until: 0, tickets: 0 };
        for agent in 0..6 {
            bench.heartbeat(agent);
        }
        bench.turn();
        bench
    }

    pub(crate) fn run(&mut self, op: &Op) {
        match *op {
            Op::Work(millis) => self.work(millis),
            Op::Heartbeat(agent) => self.heartbeat(agent),
            Op::Nudge(agent) => self.order(agent, Order::Nudge { text: None }),
            Op::Escalate(agent) => self.order(agent, Order::Escalate { reason: "look".into() }),
            Op::Respawn(agent) => self.signal(agent, Body::Spawn(Spawn::default())),
            Op::Send(agent) => self.send(agent),
            Op::Outcomes => self.outcomes(),
            Op::Hold => self.shared.holds.set(true),
            Op::Fetch => self.fetch(),
            Op::Pause(millis) => {
                self.settle();
                self.pass(millis);
            }
            Op::FailCommits { times, written } => {
                let mut disk = self.shared.disk.borrow_mut();
                (disk.failures, disk.written) = (times, written);
                return;
            }
            Op::SlowCommit(millis) => {
                self.shared.disk.borrow_mut().slow = millis;
                return;
            }
            Op::StepWall(millis) => self.shared.wall.set(self.shared.wall.get() + millis),
            Op::Crash { down, releases } => return self.crash(down, releases),
        }
        self.turn();
    }

    /// Somebody tells the fleet of something, and waits for the answer.
    pub(crate) fn notice(&mut self, notice: Notice) {
        self.tickets += 1;
        self.shared.world.borrow_mut().asked += 1;
        let ticket = Some(Ticket(self.tickets));
        self.queue.waiting.push_back(Input { ticket, message: Message::Notice(notice) });
        self.turn();
    }

    /// Lets the loop run until nothing is left to be written.
    pub(crate) fn heal(&mut self) {
        self.settle();
    }

    pub(crate) fn world(&self) -> std::cell::Ref<'_, World> {
        self.shared.world.borrow()
    }

    /// Effects on disk whose outcome is not known.
    pub(crate) fn unfinished(&self) -> Vec<String> {
        self.shared.disk.borrow().effects.keys().map(ToString::to_string).collect()
    }

    pub(crate) fn observed(&self) -> u64 {
        self.now
    }

    pub(crate) fn durable(&self) -> u64 {
        self.shared.disk.borrow().mark.map_or(0, |mark| mark.observed.as_millis())
    }

    /// Batches that reached the disk.
    pub(crate) fn commits(&self) -> u64 {
        self.shared.disk.borrow().mark.map_or(0, |mark| mark.number)
    }

    pub(crate) fn boot(&self) -> u64 {
        self.shared.boot.get()
    }

    fn turn(&mut self) {
        let turn = self.engine.turn(&mut self.queue);
        self.now = turn.now.as_millis();
        self.sleep_until = turn.sleep_until;
    }

    /// Turns the loop as it asks to be turned.
    fn work(&mut self, millis: u64) {
        let end = self.boot() + millis;
        while self.sleep_until < end {
            self.pass(self.sleep_until.saturating_sub(self.boot()));
            self.turn();
        }
        self.pass(end.saturating_sub(self.boot()));
    }

    /// Before a pause no commit is pending, so that all of the gap is the pause.
    fn settle(&mut self) {
        self.shared.disk.borrow_mut().failures = 0;
        self.shared.disk.borrow_mut().slow = 0;
        self.work(2_500);
        self.turn();
    }

    fn pass(&self, millis: u64) {
        self.shared.boot.set(self.boot() + millis);
        self.shared.wall.set(self.shared.wall.get() + millis.cast_signed());
    }

    fn crash(&mut self, down: u64, releases: u8) {
        self.shared.lives.set(Some(releases));
        self.turn();
        self.shared.lives.set(None);
        self.shared.dead.set(false);
        self.queue.waiting.clear();
        self.queue.fetched.clear();
        self.shared.world.borrow_mut().held.clear();
        self.pass(down);
        self.engine = open(&self.shared, self.settings);
        self.now = self.durable();
        self.sleep_until = self.boot();
    }

    fn heartbeat(&mut self, agent: u8) {
        self.signal(agent, Body::Heartbeat(Heartbeat::default()));
    }

    fn signal(&mut self, agent: u8, body: Body) {
        let content = Content {
            incarnation: None,
            sent_at: None,
            received_at: WallTime(0),
            trust: Trust::Verified,
            body,
        };
        let agent = format!("a{agent}").as_str().into();
        self.queue
            .waiting
            .push_back(Input { ticket: None, message: Message::Signal(Signal { agent, content }) });
    }

    fn order(&mut self, agent: u8, order: Order) {
        let command =
            Command { agent: format!("a{agent}").into(), incarnation: None, by: "ops".into(), order };
        self.tickets += 1;
        self.shared.world.borrow_mut().asked += 1;
        let ticket = Some(Ticket(self.tickets));
        self.queue.waiting.push_back(Input { ticket, message: Message::Command(command) });
    }

    fn send(&mut self, agent: u8) {
        self.tickets += 1;
        let message = NewMessage {
            id: format!("m{}", self.tickets).into(),
            from: format!("a{agent}").into(),
            to: format!("a{}", (agent + 1) % 6).into(),
            priority: Priority::Urgent,
            reply_to: None,
            task: None,
        };
        let message = Message::Notice(Notice::Send(Box::new(message)));
        self.queue.waiting.push_back(Input { ticket: None, message });
    }

    fn fetch(&mut self) {
        let held = std::mem::take(&mut self.shared.world.borrow_mut().held);
        for (key, again) in held {
            if again {
                self.tickets += 1;
                self.shared.world.borrow_mut().asked += 1;
                self.queue.fetched.insert(self.tickets, key.clone());
                let ticket = Some(Ticket(self.tickets));
                self.queue.waiting.push_back(Input { ticket, message: Message::Handing(key) });
            } else {
                *self.shared.world.borrow_mut().handed.entry(key.to_string()).or_default() += 1;
            }
        }
    }

    fn outcomes(&mut self) {
        let done = std::mem::take(&mut self.shared.world.borrow_mut().to_do);
        for key in done {
            let agent = key.agent.as_str()[1..].parse().expect("agents are named a0, a1, …");
            self.signal(agent, Body::Outcome { key, outcome: Outcome::Delivered });
        }
    }
}

fn open(shared: &Rc<Shared>, settings: Settings) -> Engine<Port, Port, Port> {
    let port = || Port(Rc::clone(shared));
    Engine::open(port(), port(), port(), settings, |rows, now| {
        Fleet::restore(Policies::default(), 7, rows, now)
    })
    .expect("what was written can be read")
}
