//! One fleet, watched: the loop on its thread, and the handle by which the rest of the program reaches it.

mod calendar;
mod clock;
mod counters;
mod door;
mod figures;
mod heard;
mod outlet;
mod pending;
mod presence;
mod queue;
mod turning;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use verger_core::effect::{Effect, EffectKey, Outcome};
use verger_core::fleet::Fleet;
use verger_core::id::{AgentId, Incarnation};
use verger_core::policy::Policies;
use verger_core::signal::{Body, Content, Signal};
use verger_engine::{Answer, Engine, Message, OpenError, Settings};
use verger_store::{Archive, EngineStore};

pub use calendar::Calendar;
pub use clock::{SystemClock, wall_now};
pub use counters::{Counted, Counters};
pub(crate) use figures::place;
pub use figures::{Figures, Histogram};
pub use heard::{Heard, HeardBeat};
pub use pending::{Handover, Item, Kind, Listener, Pending};
pub use presence::{Manner, Presence};
pub use queue::Unavailable;
pub(crate) use turning::told;
pub use turning::{Pulse, Trouble};

use door::Door;
use outlet::Outlet;
use queue::{Delivery, Queue};
use turning::Turning;

use crate::trace::{self, Tracer};

/// Blind times that are read back after a restart.
const BLIND_TIMES: usize = 4_096;
/// How long somebody waits for an answer. Only a disk that is full, broken or very slow takes longer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The handle to a running monitor. Clones reach the same one.
#[derive(Clone)]
pub struct Monitor {
    queue: Arc<Queue>,
    pending: Arc<Pending>,
    pulse: Arc<Pulse>,
    counters: Arc<Counters>,
    tracer: Arc<Tracer>,
    archive: Archive,
    heard: Arc<Heard>,
    patience: Duration,
    /// Vital signs wait for the disk too.
    strict: Arc<AtomicBool>,
}

/// What became of messages that were handed in, once it is known.
type Answers = oneshot::Receiver<Result<Vec<Answer>, Unavailable>>;

/// A monitor that was started, in the hands of whoever ends it.
pub struct Started {
    /// The handle.
    pub monitor: Monitor,
    /// Effects that somebody has to carry out, and to [report](Monitor::report) on.
    pub effects: mpsc::UnboundedReceiver<Effect>,
    thread: JoinHandle<()>,
}

/// Why a monitor could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// What it remembers cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] verger_store::Error),
    /// The operating system gave no thread.
    #[error("could not start the monitor's thread")]
    Thread(#[from] io::Error),
}

impl Monitor {
    /// Restores the fleet and begins to watch it. `seed` is any number: it spreads what would happen at one moment.
    pub fn start(
        store: (EngineStore, Archive),
        policies: Policies,
        settings: Settings,
        seed: u64,
    ) -> Result<Started, StartError> {
        Self::start_traced(store, policies, settings, seed, Arc::new(Tracer::new(seed)))
    }

    /// The same, with what is known of traces in the hands of whoever writes events, too.
    pub fn start_traced(
        store: (EngineStore, Archive),
        policies: Policies,
        settings: Settings,
        seed: u64,
        tracer: Arc<Tracer>,
    ) -> Result<Started, StartError> {
        let (store, archive) = store;
        let strict = Arc::new(AtomicBool::new(settings.strict));
        let blind =
            archive.blind_times(BLIND_TIMES)?.into_iter().map(|time| (time.until.observed, time.lasted));
        let calendar = Calendar::new(blind);
        let (queue, pending, pulse) =
            (Arc::<Queue>::default(), Arc::<Pending>::default(), Arc::<Pulse>::default());
        let counters = Arc::<Counters>::default();
        let (carried, effects) = mpsc::unbounded_channel();
        let outlet = Outlet {
            pending: Arc::clone(&pending),
            queue: Arc::clone(&queue),
            counters: Arc::clone(&counters),
            tracer: Arc::clone(&tracer),
            carried,
        };
        let restore = |rows, at| Fleet::restore(policies, seed, rows, at);
        let engine = Engine::open(SystemClock, store, outlet, settings, restore)?;
        let door = Door::new(Arc::clone(&queue), Arc::clone(&counters), Arc::clone(&tracer));
        let turning = Turning {
            engine,
            door,
            queue: Arc::clone(&queue),
            calendar,
            pulse: Arc::clone(&pulse),
            counters: Arc::clone(&counters),
            tracer: Arc::clone(&tracer),
        };
        let closed = Closed(Arc::clone(&queue));
        let thread = std::thread::Builder::new().name("verger-engine".to_owned()).spawn(move || {
            // However the loop ends, nobody waits for an answer that never comes.
            let _closed = closed;
            turning.run();
        })?;
        let heard = Arc::default();
        let monitor =
            Self { queue, pending, pulse, counters, tracer, archive, heard, patience: ANSWER_WITHIN, strict };
        Ok(Started { monitor, effects, thread })
    }

    /// The same monitor, for somebody who waits no longer than this for an answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Hands messages over, and waits for what becomes of each: facts and orders until they are on disk.
    ///
    /// Nobody waits for a disk without end. While it cannot be written vital signs are taken and judged all the same;
    /// facts and orders are refused. Who sends a fact is alive, and that much is judged of it.
    pub async fn tell(&self, messages: Vec<Message>) -> Result<Vec<Answer>, Unavailable> {
        let answers = self.hand_in(messages)?;
        self.answered(answers).await?
    }

    /// The same for somebody who must know in the end what became of them, however long the disk takes.
    pub async fn tell_to_the_end(&self, messages: Vec<Message>) -> Result<Vec<Answer>, Unavailable> {
        self.hand_in(messages)?.await.map_err(|_| Unavailable::Stopping)?
    }

    fn hand_in(&self, messages: Vec<Message>) -> Result<Answers, Unavailable> {
        let waits = self.strict.load(Ordering::Relaxed) || messages.iter().any(Message::waits_for_disk);
        if let Err(refusal) = self.is_taking().and_then(|()| if waits { self.is_writable() } else { Ok(()) })
        {
            self.send_lives(&messages);
            return Err(refusal);
        }
        let (tell, answers) = oneshot::channel();
        self.queue.push(Delivery { messages, answers: Some(tell), context: trace::current() })?;
        Ok(answers)
    }

    /// Whether the loop takes anything: not if too much waits to be written already.
    fn is_taking(&self) -> Result<(), Unavailable> {
        if self.pulse.is_stalled() { Err(Unavailable::Unwritable) } else { Ok(()) }
    }

    /// Has the loop know that those are alive whose facts were refused. Nothing else of them is judged: they are sent
    /// again, and would count twice.
    fn send_lives(&self, refused: &[Message]) {
        let signals = refused.iter().filter_map(|message| match message {
            Message::Signal(signal) => Some(signal),
            _ => None,
        });
        let lives: BTreeMap<_, _> = signals.map(|signal| (&signal.agent, signal)).collect();
        let alive = |signal: &Signal| {
            let content = Content { body: Body::Activity, ..signal.content.clone() };
            Message::Signal(Signal { agent: signal.agent.clone(), content })
        };
        // A loop that has no room for this has others to judge.
        let _ = self.send(lives.into_values().map(alive).collect());
    }

    /// Waits for something that the disk does, as long as for any answer.
    pub async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, Unavailable> {
        tokio::time::timeout(self.patience, work).await.map_err(|_| Unavailable::Late)
    }

    /// A disk that could not be written for so long is not waited for.
    pub fn is_writable(&self) -> Result<(), Unavailable> {
        match self.pulse.failing_for() {
            Some(failing) if failing >= self.patience => Err(Unavailable::Unwritable),
            _ => Ok(()),
        }
    }

    async fn answered<T>(&self, answer: oneshot::Receiver<T>) -> Result<T, Unavailable> {
        let answer = tokio::time::timeout(self.patience, answer).await.map_err(|_| Unavailable::Late)?;
        answer.map_err(|_| Unavailable::Stopping)
    }

    /// Hands messages over without waiting for what becomes of them.
    pub fn send(&self, messages: Vec<Message>) -> Result<(), Unavailable> {
        self.queue.push(Delivery { messages, answers: None, context: trace::current() })
    }

    /// Looks at the fleet between two turns of the loop. States and decisions that are seen are on disk, unless
    /// [trouble](Pulse::trouble) with it is told; counters of vital signs may be up to a second ahead of it. It must be
    /// quick: nothing is decided meanwhile.
    pub async fn look<R, F>(&self, look: F) -> Result<R, Unavailable>
    where
        R: Send + 'static,
        F: FnOnce(&Fleet, &Calendar) -> R + Send + 'static,
    {
        self.is_taking()?;
        let (tell, seen) = oneshot::channel();
        self.queue.look(Box::new(move |fleet, calendar| {
            // Who hung up does not want to know.
            let _ = tell.send(look(fleet, calendar));
        }))?;
        self.answered(seen).await
    }

    /// Has the fleet judged by these policies, and the loop paced by these settings, from its next turn on.
    pub fn reconfigure(&self, policies: Policies, settings: Settings) {
        self.strict.store(settings.strict, Ordering::Relaxed);
        self.queue.change(Box::new((policies, settings)));
    }

    /// Whether the loop turns, now: it is asked to, and has this long to do so.
    pub async fn turns_within(&self, longest: Duration) -> bool {
        // What it answers does not matter: one that cannot write takes no questions, and turns all the same.
        let _ = tokio::time::timeout(longest, self.look(|_, _| ())).await;
        self.pulse.age() < longest
    }

    /// Takes what waits for this life of an agent, to be handed over now.
    ///
    /// What an earlier life of the monitor may have handed over is written down first. If that cannot be done now it
    /// waits on, and the rest is handed over all the same.
    pub async fn hand_over(&self, agent: &AgentId, life: Incarnation) -> Handover {
        let mut handover = self.pending.take(agent, life);
        let again = handover.again();
        if again.is_empty() {
            return handover;
        }
        if self.pulse.store_failed() {
            // A heartbeat is not held up by a disk.
            handover.leave_again();
            return handover;
        }
        match self.tell(again.iter().cloned().map(Message::Handing).collect()).await {
            Ok(answers) => {
                let is_out = |answer| matches!(answer, Answer::Handing(true));
                let written: Vec<_> = again.into_iter().zip(answers.into_iter().map(is_out)).collect();
                handover.on_written(&written);
            }
            Err(_) => handover.leave_again(),
        }
        handover
    }

    /// Tells what became of an effect.
    pub fn report(&self, key: EffectKey, outcome: Outcome) {
        outlet::report(&self.queue, key, outcome);
    }

    /// Tells what the monitor itself found out for an effect, as for a survey.
    pub fn found(&self, key: &EffectKey, body: Body) {
        outlet::tell_own(&self.queue, key, body);
    }

    /// This life of an agent listens, and can be pinged, until this is dropped.
    pub fn listen(&self, agent: &AgentId, life: Incarnation, manner: Manner) -> Presence {
        Presence::begin(&self.queue, &self.pending, agent, life, manner)
    }

    /// What waits for agents.
    pub fn pending(&self) -> &Arc<Pending> {
        &self.pending
    }

    /// Heartbeats as they come.
    pub fn heard(&self) -> &Heard {
        &self.heard
    }

    /// How the loop is doing.
    pub fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// What the loop has taken in and given out.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Which trace each thing belongs to.
    pub fn tracer(&self) -> &Arc<Tracer> {
        &self.tracer
    }

    /// How long the oldest message has waited for the loop.
    pub fn queue_age(&self) -> Duration {
        self.queue.age()
    }

    /// Messages that wait for the loop.
    pub fn queued(&self) -> usize {
        self.queue.waiting()
    }

    /// Vital signs that were dropped because too much waited.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// How often somebody was turned away because too much waited.
    pub fn turned_away(&self) -> u64 {
        self.queue.turned_away()
    }

    /// What is remembered.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }
}

impl Started {
    /// Ends the monitor: what it took is done and written first. Blocks until then.
    pub fn stop(self) {
        self.monitor.queue.stop();
        // A panic was reported by its thread.
        let _ = self.thread.join();
    }

    /// The effects, for somebody who outlives this hand; it has none from then on.
    pub fn take_effects(&mut self) -> mpsc::UnboundedReceiver<Effect> {
        std::mem::replace(&mut self.effects, mpsc::unbounded_channel().1)
    }

    /// Whether the loop has ended, by itself or because it was told to.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }
}

/// Turns everybody away once the loop is no more.
struct Closed(Arc<Queue>);

impl Drop for Closed {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
