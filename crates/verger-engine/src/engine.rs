//! The loop: take all inputs, wake what is due, commit, answer, release.
//!
//! A store that cannot be written, or takes long, does not stop it: what comes in is judged from memory, and what is
//! decided waits behind the batch that is not on disk, up to a bound.

use std::sync::Arc;

use verger_core::effect::{Effect, EffectKey, Outcome};
use verger_core::fleet::{Collector, Fleet, RestoreError, RowKey};
use verger_core::policy::Policies;
use verger_core::signal::{Body, Content, Signal, Trust};
use verger_core::time::{Span, Timestamp};

use crate::clock::{Clock, Reading};
use crate::durability::{is_ephemeral, is_fact, keeps, lasts};
use crate::inbox::{Answer, Inbox, Message};
use crate::ledger::Ledger;
use crate::observed::{Blind, BlindCause, ObservedTime};
use crate::outbox::Outbox;
use crate::parcel::Parcel;
use crate::settings::Settings;
use crate::store::{Loaded, Mark, Store, StoreError, Unfinished};

/// One fleet and the loop that drives it. Owned by one thread.
#[derive(Debug)]
pub struct Engine<C, S, O> {
    clock: C,
    store: S,
    outbox: O,
    settings: Settings,
    fleet: Fleet,
    time: ObservedTime,
    ledger: Ledger,
    /// The last batch that was begun.
    mark: Mark,
    /// What the next commit holds.
    next: Parcel,
    /// What could not be written yet, and is to be tried again.
    sealed: Option<Sealed>,
    /// Why it could not.
    trouble: Option<StoreError>,
    /// On the boot clock, when the last batch was committed.
    committed_boot: u64,
    /// Ephemeral effects, which leave after the commit if there is one.
    pings: Vec<Effect>,
    /// Effects that came too late; the core is told so with the next inputs.
    late: Vec<EffectKey>,
    /// Why the next gap, if there is one, came about.
    excuse: BlindCause,
    /// What holds from the next turn on.
    reconfigured: Option<Box<(Policies, Settings)>>,
    out: Collector,
}

/// A commit that failed, to be tried again.
#[derive(Debug)]
struct Sealed {
    parcel: Parcel,
    /// When, on the boot clock.
    retry: u64,
    /// How long that is after the last failure.
    wait: Span,
}

/// What one turn of the loop did, and when the next is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The moment at which it took place.
    pub now: Timestamp,
    /// On the boot clock: turn again by then, or earlier if something comes in.
    pub sleep_until: u64,
    /// The monitor was blind before this turn. After a restart the first turn says for how long it was down.
    pub blind: Option<Blind>,
    /// How much later than asked it was turned.
    pub late: Span,
    /// Inputs taken.
    pub taken: usize,
    /// All inputs were read and deadlines were woken.
    pub complete: bool,
    /// A batch reached the disk.
    pub committed: bool,
    /// A batch could not be written yet; nothing in it was released or answered.
    pub store_failed: bool,
    /// The store was tried in this turn, in vain.
    pub refused: bool,
    /// Too much waits to be written: nothing was taken, and this time counts as blindness.
    pub stalled: bool,
}

/// Why an engine could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A state row cannot be understood.
    #[error("could not restore the fleet from its state rows")]
    Restore(#[from] RestoreError),
}

impl<C: Clock, S: Store, O: Outbox> Engine<C, S, O> {
    /// Restores the fleet from the store. Nothing is released before the first turn.
    ///
    /// `restore` makes the fleet out of its rows and the moment at which observed time goes on.
    pub fn open<R>(
        clock: C,
        mut store: S,
        outbox: O,
        settings: Settings,
        restore: R,
    ) -> Result<Self, OpenError>
    where
        R: FnOnce(Vec<(RowKey, Vec<u8>)>, Timestamp) -> Result<Fleet, RestoreError>,
    {
        let Loaded { mark, rows, unfinished } = store.load()?;
        let reading = clock.read();
        let time = ObservedTime::resume(mark.map(|mark| mark.observed), reading.boot, settings.tolerance);
        let resumed = mark.map_or(Timestamp::ZERO, |mark| mark.observed);
        let mut engine = Self {
            clock,
            store,
            outbox,
            settings,
            fleet: restore(rows, resumed)?,
            time,
            ledger: Ledger::default(),
            mark: mark.unwrap_or_default(),
            next: Parcel::default(),
            sealed: None,
            trouble: None,
            committed_boot: reading.boot,
            pings: Vec::new(),
            late: Vec::new(),
            excuse: BlindCause::Paused,
            reconfigured: None,
            out: Collector::default(),
        };
        if let Some(mark) = mark {
            let lasted = Span::millis(reading.millis_since(mark.taken).unwrap_or(0));
            engine.next.batch.blind.push(Blind { at: resumed, lasted, cause: BlindCause::Down });
            engine.fleet.forgive(resumed, engine.settings.restart_grace);
        }
        for left in unfinished {
            engine.take_up(left, reading);
        }
        Ok(engine)
    }

    /// Turns the loop once. Calling early is harmless.
    pub fn turn(&mut self, inbox: &mut impl Inbox) -> Turn {
        let reading = self.clock.read();
        let now = self.time.read(reading.boot);
        let late = self.time.lateness(reading.boot);
        let mut turn = Turn {
            now,
            sleep_until: reading.boot,
            blind: None,
            late,
            taken: 0,
            complete: false,
            committed: false,
            store_failed: false,
            refused: false,
            stalled: false,
        };
        self.try_again(reading, &mut turn, inbox);
        if self.sealed.is_some() && self.next.len() >= self.settings.unwritten_max {
            self.stall(&mut turn);
            return turn;
        }
        if let Some(reconfigured) = self.reconfigured.take() {
            let policies;
            (policies, self.settings) = *reconfigured;
            self.fleet.set_policies(now, policies);
        }
        let drained = self.take(now, reading, &mut turn, inbox);
        if drained {
            self.settle(now, reading, &mut turn);
            self.fleet.wake(now, &mut self.out);
            self.collect(reading);
        } else {
            self.excuse = BlindCause::Behind;
        }
        if self.sealed.is_none() && self.commit_is_due(reading) {
            let parcel = self.seal(now, reading);
            self.commit(parcel, reading, &mut turn, inbox);
        }
        // Vital signs and pings wait for the disk where people asked for that.
        if !(self.settings.strict && self.sealed.is_some()) {
            self.release_pings();
        }
        turn.store_failed = self.sealed.is_some();
        if drained {
            turn.sleep_until = self.sleep_until(now, reading);
            self.time.ask(turn.sleep_until);
        }
        turn
    }

    /// Turns the loop and writes down all that is known, whether or not it is due: the last thing before an end.
    pub fn flush(&mut self, inbox: &mut impl Inbox) -> Turn {
        self.next.fact = true;
        self.turn(inbox)
    }

    /// Has the fleet judged by these policies, and the loop paced by these settings, from the next turn on. A batch that
    /// could not be written goes first: it was decided before.
    pub fn reconfigure(&mut self, policies: Policies, settings: Settings) {
        self.reconfigured = Some(Box::new((policies, settings)));
    }

    /// The fleet as it stands, for views. What is not committed yet must not be shown.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// The outbox.
    pub fn outbox_mut(&mut self) -> &mut O {
        &mut self.outbox
    }

    /// Why nothing can be written, while that is so.
    pub fn trouble(&self) -> Option<&StoreError> {
        self.trouble.as_ref()
    }

    /// How much waits to be written since the last batch that was: events, and things to be done.
    pub fn unwritten(&self) -> (usize, usize) {
        let waiting = self.sealed.iter().map(|sealed| &sealed.parcel).chain([&self.next]);
        waiting.fold((0, 0), |(events, effects), parcel| {
            (events + parcel.batch.events.len(), effects + parcel.batch.effects.len())
        })
    }

    /// Whether a restart would find everything as it is: all is on disk, and nothing is left to tell the core.
    pub fn is_at_rest(&self) -> bool {
        let told = self.late.is_empty() && self.next.len() == 0;
        self.sealed.is_none() && told && !self.fleet.has_changes()
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Gives the store back and forgets the rest, as a crash does.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Decides what becomes of an effect whose outcome an earlier life of the monitor did not hear.
    fn take_up(&mut self, left: Unfinished, reading: Reading) {
        let age = reading.millis_since(left.decided);
        let fresh = age.is_some_and(|age| age <= self.settings.stale_after.as_millis());
        // What waits to be fetched was not done by being released, nor is it done by being released again.
        let held = self.outbox.holds(&left.effect.action);
        self.ledger.open(&left.effect);
        if left.attempts < 2 && (held || fresh || keeps(&left.effect.action)) {
            if !held {
                self.next.batch.retried.push(left.effect.key.clone());
            }
            self.next.again.push(left.effect);
        } else {
            self.late.push(left.effect.key);
        }
    }

    /// Takes what came in, up to the limit. Answers whether all of it was read.
    fn take(&mut self, now: Timestamp, reading: Reading, turn: &mut Turn, inbox: &mut impl Inbox) -> bool {
        while turn.taken < self.settings.inputs_max {
            let Some(input) = inbox.next() else {
                self.report_late(now, reading);
                return true;
            };
            turn.taken += 1;
            let (fact, answer) = self.step(now, &input.message);
            self.next.fact |= fact;
            self.collect(reading);
            let Some(ticket) = input.ticket else { continue };
            if (fact || self.settings.strict) && !matches!(answer, Answer::Refused(_)) {
                self.next.held.push((ticket, answer));
            } else {
                inbox.answer(ticket, answer);
            }
        }
        false
    }

    /// Steps the core. Answers also whether the input must be on disk before it is acknowledged.
    fn step(&mut self, now: Timestamp, message: &Message) -> (bool, Answer) {
        match message {
            Message::Signal(signal) => {
                let finishes = self.hear(&signal.content);
                let answer = match self.fleet.observe(now, signal, &mut self.out) {
                    Ok(handle) => Answer::Accepted(Some(handle)),
                    Err(refusal) => Answer::Refused(refusal),
                };
                (finishes || is_fact(&signal.content.body), answer)
            }
            Message::At(handle, content) => {
                let finishes = self.hear(content);
                let answer = match self.fleet.observe_at(now, *handle, content, &mut self.out) {
                    Ok(()) => Answer::Accepted(Some(*handle)),
                    Err(refusal) => Answer::Refused(refusal),
                };
                (finishes || is_fact(&content.body), answer)
            }
            Message::Command(command) => {
                (true, Answer::Ordered(self.fleet.command(now, command, &mut self.out)))
            }
            Message::Notice(notice) => {
                let answer = Answer::Noticed(self.fleet.notice(now, notice, &mut self.out));
                // What came of it is relied on, as a breaker that trips, though most reports are not.
                (lasts(notice) || !self.out.events.is_empty(), answer)
            }
            Message::Handing(key) => {
                let is_out = self.ledger.is_out(key);
                if is_out && !self.next.batch.retried.contains(key) {
                    self.next.batch.retried.push(key.clone());
                }
                (is_out, Answer::Handing(is_out))
            }
        }
    }

    /// An outcome finishes its effect, whatever the core makes of it. Answers whether one was finished.
    fn hear(&mut self, content: &Content) -> bool {
        let (key, outcome) = match &content.body {
            Body::Outcome { key, outcome } => (key, *outcome),
            Body::Surveyed { key, .. } => (key, Outcome::Delivered),
            _ => return false,
        };
        let finishes = self.ledger.on_outcome(key, outcome);
        if finishes {
            self.next.batch.finished.push(key.clone());
        }
        finishes
    }

    /// Tells the core, after everything that it could learn from its inputs, what was not done any more.
    fn report_late(&mut self, now: Timestamp, reading: Reading) {
        for key in std::mem::take(&mut self.late) {
            let content = Content {
                incarnation: Some(key.incarnation),
                sent_at: None,
                received_at: reading.wall,
                trust: Trust::Verified,
                body: Body::Outcome { key: key.clone(), outcome: Outcome::Failed },
            };
            self.step(now, &Message::Signal(Signal { agent: key.agent, content }));
            self.collect(reading);
            self.next.fact = true;
        }
    }

    /// Everything was read: observed time is settled up to here.
    fn settle(&mut self, now: Timestamp, reading: Reading, turn: &mut Turn) {
        turn.complete = true;
        let cause = std::mem::replace(&mut self.excuse, BlindCause::Paused);
        if let Some(lasted) = self.time.settle(reading.boot) {
            self.next.batch.blind.push(Blind { at: now, lasted, cause });
            if lasted >= self.settings.forgive_after {
                // Connections may have broken meanwhile, and signals been lost: agents get time to come back.
                self.fleet.forgive(now, self.settings.restart_grace);
            }
        }
        turn.blind = self.next.batch.blind.last().copied();
    }

    /// Moves what one step of the core said into the batch.
    fn collect(&mut self, reading: Reading) {
        for event in self.out.events.drain(..) {
            let before = self.next.batch.finished.len();
            self.ledger.on_event(&event, &mut self.next.batch.finished);
            self.next.batch.events.push(event);
            let closed = self.next.batch.finished[before..].to_vec();
            if !closed.is_empty() {
                self.next.withdraw(&closed);
            }
        }
        for effect in self.out.effects.drain(..) {
            if is_ephemeral(&effect.action) {
                self.pings.push(effect);
            } else {
                self.ledger.open(&effect);
                self.next.decide(effect, reading.boot);
            }
        }
    }

    fn commit_is_due(&self, reading: Reading) -> bool {
        let since = Span::millis(reading.boot.saturating_sub(self.committed_boot));
        self.next.fact
            || self.next.batch.is_urgent()
            || (since >= self.settings.vitals_every && self.has_vitals())
            || self.fleet.agents_changed() >= self.settings.rows_max
            || since >= self.settings.mark_every
            || (self.settings.strict && (self.has_vitals() || !self.pings.is_empty()))
    }

    fn has_vitals(&self) -> bool {
        self.fleet.has_changes() || !self.next.batch.finished.is_empty()
    }

    /// Completes the batch; it does not change any more.
    fn seal(&mut self, now: Timestamp, reading: Reading) -> Parcel {
        let mut parcel = std::mem::take(&mut self.next);
        let rows = Arc::make_mut(&mut parcel.batch.rows);
        self.fleet.take_changed_rows(&mut |row| rows.push(row));
        parcel.batch.look(now, &self.fleet);
        self.mark = Mark { number: self.mark.number + 1, observed: now, taken: reading };
        parcel.batch.mark = self.mark;
        parcel
    }

    /// Tries to write what could not be written, if it is time for that.
    fn try_again(&mut self, reading: Reading, turn: &mut Turn, inbox: &mut impl Inbox) {
        if self.sealed.as_ref().is_some_and(|sealed| sealed.retry <= reading.boot)
            && let Some(Sealed { parcel, wait, .. }) = self.sealed.take()
        {
            let wait = wait.times(2).min(self.settings.vitals_every);
            self.commit_or_wait(parcel, wait, reading, turn, inbox);
        }
    }

    fn commit(&mut self, parcel: Parcel, reading: Reading, turn: &mut Turn, inbox: &mut impl Inbox) {
        self.commit_or_wait(parcel, self.settings.retry_after, reading, turn, inbox);
    }

    /// Puts the sealed batch on disk and lets out what waited for it; or keeps it, to be tried again after a while.
    ///
    /// Meanwhile the loop goes on: what comes in is judged, what is decided waits behind it.
    fn commit_or_wait(
        &mut self,
        mut parcel: Parcel,
        wait: Span,
        reading: Reading,
        turn: &mut Turn,
        inbox: &mut impl Inbox,
    ) {
        if let Err(error) = self.store.commit(&parcel.batch) {
            self.trouble = Some(error);
            turn.refused = true;
            self.sealed = Some(Sealed { parcel, retry: reading.boot + wait.as_millis(), wait });
            return;
        }
        turn.committed = true;
        self.trouble = None;
        self.committed_boot = reading.boot;
        for (ticket, answer) in parcel.held.drain(..) {
            inbox.answer(ticket, answer);
        }
        let late = parcel.release(self.clock.read(), &self.settings, &self.ledger, &mut self.outbox);
        self.late.extend(late);
    }

    /// So much waits to be written that no more is taken: the inbox is bounded, and what comes is turned away.
    fn stall(&mut self, turn: &mut Turn) {
        (turn.store_failed, turn.stalled) = (true, true);
        self.excuse = BlindCause::Store;
        turn.sleep_until = self.sealed.as_ref().map_or(turn.sleep_until, |sealed| sealed.retry);
    }

    fn release_pings(&mut self) {
        for ping in self.pings.drain(..) {
            self.outbox.release(&ping);
        }
    }

    /// When the loop must be turned again even if nothing comes in.
    fn sleep_until(&self, now: Timestamp, reading: Reading) -> u64 {
        let wait = if self.has_vitals() { self.settings.vitals_every } else { self.settings.mark_every };
        let commit = self.committed_boot.saturating_add(wait.as_millis());
        let commit = self.sealed.as_ref().map_or(commit, |sealed| sealed.retry);
        let wake = self.fleet.next_wake().map_or(u64::MAX, |due| reading.boot + due.since(now).as_millis());
        let soon = if self.late.is_empty() { u64::MAX } else { reading.boot };
        commit.min(wake).min(soon).max(reading.boot + 1)
    }
}
