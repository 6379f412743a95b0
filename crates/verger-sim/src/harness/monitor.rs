//! The simulated monitor: the production engine in a process that is paused, dies and comes back.

use std::collections::VecDeque;
use std::rc::Rc;

use verger_core::fleet::Fleet;
use verger_core::notice::{NoticeError, Reply};
use verger_core::policy::Policies;
use verger_core::time::Span;
use verger_engine::{Answer, Engine, Inbox, Input, Message, Settings, Ticket, Turn};

use super::disk::Disk;
use super::machine::{Machine, Port};
use super::monitor_faults::{CrashPoint, MonitorFault};
use crate::world::{Delivery, SimTime};

/// What waits in the sockets of a monitor that does not read. The rest is turned away.
const SOCKET_MAX: usize = 16_384;
/// Vital signs are written this often instead of every second: encoding them is half of a run, and a crash
/// that loses five seconds of them is the harder test.
const VITALS_EVERY: Span = Span::secs(5);
/// A crash in the middle of a decision waits this long for one, then takes place anyway.
const DOOM_PATIENCE: u64 = 30 * 60_000;

/// The monitor's process and its sockets.
pub(super) struct Monitor {
    machine: Rc<Machine>,
    policies: Policies,
    pub(super) seed: u64,
    process: Process,
    socket: Socket,
    doomed: Option<Doomed>,
    /// How often it was started again, and how often it was stopped.
    pub(super) restarts: u64,
    pub(super) pauses: u64,
}

enum Process {
    /// It turns again at `due` or when something comes in; `stuck` while it cannot write and reads nothing.
    Up {
        engine: Box<Simulated>,
        due: SimTime,
        stuck: bool,
    },
    Paused {
        engine: Box<Simulated>,
        until: SimTime,
    },
    Down {
        disk: Disk,
        until: SimTime,
    },
    /// Between two of the others.
    Changing,
}

/// The production engine on simulated ports.
pub(super) type Simulated = Engine<Port, Disk, Port>;

#[derive(Clone, Copy)]
struct Doomed {
    by: SimTime,
    down: u64,
    reboot: bool,
}

/// How the process changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Paused,
    Died,
    Restarted,
}

impl Monitor {
    pub(super) fn new(machine: Rc<Machine>, policies: Policies, seed: u64) -> Self {
        let disk = Disk::new(Rc::clone(&machine));
        let socket =
            Socket { machine: Rc::clone(&machine), queue: VecDeque::new(), answers: Vec::new(), taken: None };
        let mut monitor = Self {
            machine,
            policies,
            seed,
            process: Process::Changing,
            socket,
            doomed: None,
            restarts: 0,
            pauses: 0,
        };
        monitor.open(disk);
        monitor
    }

    /// When it must be looked at again even if nothing comes in.
    pub(super) fn due(&self) -> SimTime {
        let due = match &self.process {
            Process::Up { due, stuck: true, .. } => *due,
            Process::Up { .. } if !self.socket.queue.is_empty() => self.machine.now(),
            Process::Up { due, .. } => *due,
            Process::Paused { until, .. } | Process::Down { until, .. } => *until,
            Process::Changing => unreachable!("the process is something by the time anybody asks"),
        };
        self.doomed.map_or(due, |doomed| due.min(doomed.by))
    }

    pub(super) fn is_up(&self) -> bool {
        !matches!(self.process, Process::Down { .. })
    }

    /// The engine, while it runs.
    pub(super) fn engine(&self) -> Option<&Simulated> {
        match &self.process {
            Process::Up { engine, .. } => Some(engine),
            _ => None,
        }
    }

    /// Something arrives at its sockets. Without a process there are none; what finds no room is lost, unless its
    /// sender tries until it is acknowledged.
    pub(super) fn receive(&mut self, deliveries: &mut Vec<Delivery>) {
        let up = self.is_up();
        for delivery in deliveries.drain(..).filter(|_| up) {
            if self.socket.queue.len() < SOCKET_MAX || delivery.is_retried() {
                self.socket.queue.push_back(delivery);
            }
        }
    }

    /// Something goes wrong with it. Nothing more does while it is down or paused.
    pub(super) fn suffer(&mut self, fault: MonitorFault) -> Option<Change> {
        let now = self.machine.now();
        if !matches!(self.process, Process::Up { .. }) || self.doomed.is_some() {
            return None;
        }
        match fault {
            MonitorFault::Pause(millis) => {
                self.pause(now + millis);
                return Some(Change::Paused);
            }
            MonitorFault::Crash { point, down, reboot } => {
                self.machine.doom.set(Some(point));
                let patience = if point == CrashPoint::Idle { 0 } else { DOOM_PATIENCE };
                self.doomed = Some(Doomed { by: now + patience, down, reboot });
            }
            MonitorFault::StepWall(millis) => self.machine.step_wall(millis),
            MonitorFault::SlowDisk(commits) => *self.machine.slow.borrow_mut() = commits,
            MonitorFault::FailingDisk { times, written } => {
                self.machine.failing.set(times);
                self.machine.failed_written.set(written);
            }
        }
        None
    }

    /// Lets it come back, or die, if the time has come.
    pub(super) fn step(&mut self) -> Option<Change> {
        let now = self.machine.now();
        if self.machine.dead.get() || self.doomed.is_some_and(|doomed| doomed.by <= now) {
            self.die();
            return Some(Change::Died);
        }
        match std::mem::replace(&mut self.process, Process::Changing) {
            Process::Paused { engine, until } if until <= now => {
                self.process = Process::Up { engine, due: now, stuck: false };
                None
            }
            Process::Down { disk, until } if until <= now => {
                self.restarts += 1;
                self.open(disk);
                Some(Change::Restarted)
            }
            other => {
                self.process = other;
                None
            }
        }
    }

    /// Turns the loop if it is due.
    pub(super) fn turn(&mut self) -> Option<Turn> {
        let now = self.machine.now();
        let Process::Up { engine, due, stuck } = &mut self.process else { return None };
        if now < *due && (self.socket.queue.is_empty() || *stuck) {
            return None;
        }
        let turn = engine.turn(&mut self.socket);
        *due = self.machine.true_time(turn.sleep_until);
        *stuck = turn.stalled;
        Some(turn)
    }

    /// What requests were answered since it was last asked, in order of time.
    pub(super) fn answers(&mut self) -> Vec<Reaction> {
        std::mem::take(&mut self.socket.answers)
    }

    /// From now on, remember what is taken; or forget it.
    pub(super) fn remember(&mut self, wanted: bool) {
        self.socket.taken = wanted.then(Vec::new);
    }

    /// What was taken since it was last asked, if it is remembered.
    pub(super) fn taken(&mut self) -> Vec<Delivery> {
        self.socket.taken.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Everything works from now on.
    pub(super) fn heal(&mut self) {
        let now = self.machine.now();
        self.machine.slow.borrow_mut().clear();
        self.machine.failing.set(0);
        self.machine.doom.set(None);
        self.doomed = None;
        match &mut self.process {
            Process::Paused { until, .. } | Process::Down { until, .. } => *until = now,
            Process::Up { .. } | Process::Changing => {}
        }
    }

    fn pause(&mut self, until: SimTime) {
        let Process::Up { engine, .. } = std::mem::replace(&mut self.process, Process::Changing) else {
            unreachable!("only a running process is paused")
        };
        self.process = Process::Paused { engine, until };
        self.pauses += 1;
    }

    /// Everything in memory is lost, and so is what waited in the sockets.
    fn die(&mut self) {
        let now = self.machine.now();
        let Some(Doomed { down, reboot, .. }) = self.doomed.take() else {
            unreachable!("a crash is planned")
        };
        let (Process::Up { engine, .. } | Process::Paused { engine, .. }) =
            std::mem::replace(&mut self.process, Process::Changing)
        else {
            unreachable!("only a running process dies")
        };
        self.socket.queue.clear();
        self.machine.doom.set(None);
        self.machine.dead.set(false);
        if reboot {
            self.machine.reboot();
        }
        self.process = Process::Down { disk: engine.into_store(), until: now + down };
    }

    fn open(&mut self, disk: Disk) {
        let port = || Port(Rc::clone(&self.machine));
        let settings = Settings { vitals_every: VITALS_EVERY, ..Settings::default() };
        let engine = Engine::open(port(), disk, port(), settings, |rows, now| {
            Fleet::restore(self.policies.clone(), self.seed, rows, now)
        })
        .expect("the rows that this fleet wrote can be read");
        self.process = Process::Up { engine: Box::new(engine), due: self.machine.now(), stuck: false };
    }
}

/// The answer to a request, when it left, and the number of the request.
pub(super) type Reaction = (SimTime, u64, Result<Reply, NoticeError>);

/// What waits to be read. Whatever is read gets the monitor's own wall clock, right or wrong, as production
/// does it at the edge.
struct Socket {
    machine: Rc<Machine>,
    queue: VecDeque<Delivery>,
    answers: Vec<Reaction>,
    /// What was taken out of it, while somebody wants to know.
    taken: Option<Vec<Delivery>>,
}

impl Inbox for Socket {
    fn next(&mut self) -> Option<Input> {
        let mut delivery = self.queue.pop_front()?;
        if let Delivery::Signal(signal) = &mut delivery {
            signal.content.received_at = self.machine.wall();
        }
        if let Some(taken) = &mut self.taken {
            taken.push(delivery.clone());
        }
        let (ticket, message) = match delivery {
            Delivery::Signal(signal) => (None, Message::Signal(signal)),
            Delivery::Command(command) => (None, Message::Command(command)),
            Delivery::Notice(notice) => (None, Message::Notice(notice)),
            Delivery::Request { number, notice } => (Some(Ticket(number)), Message::Notice(notice)),
        };
        Some(Input { ticket, message })
    }

    fn answer(&mut self, ticket: Ticket, answer: Answer) {
        if let Answer::Noticed(answer) = answer
            && !self.machine.dead.get()
        {
            self.answers.push((self.machine.now(), ticket.0, answer));
        }
    }
}
