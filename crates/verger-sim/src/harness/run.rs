//! One run: world, monitor, score and checkers, from the first moment to the last.

use std::rc::Rc;

use verger_core::fleet::Collector;
use verger_core::policy::Policies;
use verger_core::time::Timestamp;
use verger_engine::Turn;

use super::drill::Shadow;
use super::judgement::{FORGIVEN, Judgement};
use super::machine::{Machine, Record};
use super::monitor::{Change, Monitor, Simulated};
use super::monitor_faults::MonitorFaults;
use super::options::{Options, Progress};
use super::report::Report;
use super::score::Score;
use crate::check::{self, Checkers, End};
use crate::trace::{Digest, Moment, Watcher, What};
use crate::world::{Delivery, SimTime, World, WorldOptions};

/// What arrives within this time is read in one turn, as it would be by a monitor that has other things to do.
const QUANTUM: u64 = 50;
/// How long the healed world is watched. Long enough for every patience of the policies but a person's.
const HEALING: u64 = 8 * 3_600_000;
/// How often progress is told.
const TELL_EVERY: u64 = 3_600_000;
/// How often a restart is rehearsed.
const DRILL_EVERY: u64 = 1_800_000;

/// A run and everything that was seen in it.
#[derive(Debug)]
pub struct Finished {
    /// What is printed.
    pub report: Report,
    /// The fingerprint of everything decided and done.
    pub digest: Digest,
    /// Every alarm and every fault, measured against the truth.
    pub judgement: Judgement,
    /// Every stop of a healthy agent, as a person reads it.
    pub wrong: Vec<String>,
}

/// Runs the simulation that these options decide.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Report {
    let faults =
        if options.faults { MonitorFaults::seeded(options.seed) } else { MonitorFaults::scripted([]) };
    run_with(options, faults, progress, &mut ()).report
}

/// Runs a simulation with these mishaps of the monitor, lets somebody look on, and gives all that was seen.
pub fn run_with(
    options: &Options,
    faults: MonitorFaults,
    progress: &mut dyn Progress,
    watcher: &mut dyn Watcher,
) -> Finished {
    let mut run = Run::new(options, faults, watcher);
    run.until(run.healed_at, progress);
    run.heal();
    run.until(run.end, progress);
    run.finish(options)
}

struct Run<'a> {
    watcher: &'a mut dyn Watcher,
    world: World,
    machine: Rc<Machine>,
    monitor: Monitor,
    faults: MonitorFaults,
    policies: Policies,
    score: Score,
    checkers: Checkers,
    digest: Digest,
    deliveries: Vec<Delivery>,
    was_up: bool,
    healed_at: SimTime,
    end: SimTime,
    told: u64,
    drilled: u64,
    /// The fleet as it would be after a restart, while that is tried. It is handed to and fro in every turn, and is large.
    shadow: Option<Box<Shadow>>,
}

impl<'a> Run<'a> {
    fn new(options: &Options, faults: MonitorFaults, watcher: &'a mut dyn Watcher) -> Self {
        let machine = Rc::new(Machine::default());
        let policies = options.policies();
        #[expect(clippy::cast_sign_loss, reason = "a run does not last for less than no time")]
        let healed_at = SimTime((options.days.max(0.0) * 86_400_000.0) as u64);
        let world = WorldOptions {
            seed: options.seed,
            agents: options.agents,
            days: options.days,
            faults: options.faults,
        };
        Self {
            watcher,
            world: World::new(&world),
            monitor: Monitor::new(Rc::clone(&machine), policies.clone(), options.seed),
            machine,
            faults,
            checkers: check::all(&policies),
            policies,
            score: Score::default(),
            digest: Digest::default(),
            deliveries: Vec::new(),
            was_up: true,
            healed_at,
            end: healed_at + HEALING,
            told: 0,
            drilled: 0,
            shadow: None,
        }
    }

    fn until(&mut self, end: SimTime, progress: &mut dyn Progress) {
        while self.machine.now() < end {
            let next = self.next().min(end);
            self.machine.set(next.max(self.machine.now()));
            self.pass();
            if self.machine.now().0 >= self.told + TELL_EVERY {
                self.told = self.machine.now().0;
                progress.advanced(self.told.min(self.healed_at.0) as f64 / 86_400_000.0);
            }
        }
    }

    /// When something happens next, at the end of its quantum.
    fn next(&self) -> SimTime {
        let soonest = [self.world.next(), self.faults.next(), Some(self.monitor.due())];
        let soonest = soonest.into_iter().flatten().min().unwrap_or(self.end);
        SimTime(soonest.0.div_ceil(QUANTUM) * QUANTUM)
    }

    /// Everything that happens by now.
    fn pass(&mut self) {
        self.deliver();
        if let Some(fault) = self.faults.take(self.machine.now()) {
            let change = self.monitor.suffer(fault);
            self.tell(change);
        }
        let change = self.monitor.step();
        self.tell(change);
        self.turn();
        if self.machine.dead.get() {
            let change = self.monitor.step();
            self.tell(change);
        }
    }

    /// The world reaches the present; what it sends arrives at the monitor's sockets.
    fn deliver(&mut self) {
        self.world.advance(self.machine.now(), &mut self.deliveries);
        self.watcher.arrived(self.machine.now(), &self.deliveries);
        self.score.heard.on_deliveries(self.machine.now(), &self.deliveries);
        self.monitor.receive(&mut self.deliveries);
    }

    fn turn(&mut self) {
        let began = self.machine.now();
        let Some(turn) = self.monitor.turn() else { return };
        self.score.seen.on_turn(began, turn.now);
        // It may have dozed off several times in a row, and counts that as one.
        if turn.blind.is_some_and(|blind| blind.at == turn.now && FORGIVEN <= blind.lasted) {
            self.score.seen.on_back(began);
        }
        for (at, number, answer) in self.monitor.answers() {
            self.world.answered(at, number, &answer);
        }
        if self.machine.now() != began {
            self.deliver();
        }
        self.follow(&turn);
        self.carry_out();
        if let Some(engine) = self.monitor.engine() {
            self.score.known.look(began, turn.now, self.world.truth(), engine.fleet());
        }
        let due = self.drilled + DRILL_EVERY <= began.0;
        let is_at_rest = turn.committed && self.monitor.engine().is_some_and(Simulated::is_at_rest);
        if due && is_at_rest && turn.complete && self.machine.now() == began {
            self.drilled = began.0;
            self.drill(turn.now);
        }
    }

    /// Hands over to the world what left the monitor.
    fn carry_out(&mut self) {
        let now = self.machine.now();
        let records = std::mem::take(&mut *self.machine.records.borrow_mut());
        for (at, record) in &records {
            match record {
                Record::Committed { batch, decided } => {
                    self.digest.batch(batch);
                    self.observe(*at, What::Committed { batch, decided: *decided });
                    for event in &batch.events {
                        self.world.tell_people(now, &event.fact);
                    }
                }
                Record::Released(effect) => {
                    self.digest.released(*at, effect);
                    self.observe(*at, What::Released(effect));
                    self.world.carry_out(now, effect);
                }
            }
        }
        let mut pings = std::mem::take(&mut *self.machine.pings.borrow_mut());
        for ping in pings.drain(..) {
            self.digest.released(now, &ping);
            self.world.carry_out(now, &ping);
        }
        self.machine.pings.replace(pings);
    }

    /// Restores the fleet beside the running one.
    fn drill(&mut self, now: Timestamp) {
        let Some(engine) = self.monitor.engine().filter(|engine| !engine.fleet().has_changes()) else {
            return;
        };
        let cast = Shadow::cast(engine, (&self.policies, self.monitor.seed), now, self.world.truth());
        self.monitor.remember(matches!(cast, Ok(Some(_))));
        self.observe(
            self.machine.now(),
            What::Drilled { difference: cast.as_ref().err().map(String::as_str) },
        );
        self.shadow = cast.ok().flatten().map(Box::new);
    }

    /// Lets the restored fleet take the same turn, unless something went wrong with the running one.
    fn follow(&mut self, turn: &Turn) {
        let Some(mut shadow) = self.shadow.take() else { return };
        let disturbed = turn.store_failed || turn.blind.is_some() || self.machine.dead.get();
        let taken = self.monitor.taken();
        let followed = if disturbed { Ok(false) } else { shadow.follow(turn, &taken, self.decided()) };
        match followed {
            Ok(true) => self.shadow = Some(shadow),
            Ok(false) => self.monitor.remember(false),
            Err(difference) => {
                self.monitor.remember(false);
                self.observe(self.machine.now(), What::Drilled { difference: Some(&difference) });
            }
        }
    }

    /// What the running fleet decided in this turn.
    fn decided(&self) -> Collector {
        let mut decided = Collector::default();
        for (_, record) in self.machine.records.borrow().iter() {
            if let Record::Committed { batch, .. } = record {
                decided.events.extend_from_slice(&batch.events);
                decided.effects.extend_from_slice(&batch.effects);
            }
        }
        decided.effects.extend_from_slice(&self.machine.pings.borrow());
        decided
    }

    fn heal(&mut self) {
        let now = self.machine.now();
        self.faults.heal();
        self.monitor.heal();
        let change = self.monitor.step();
        self.tell(change);
        self.world.heal(now);
        self.observe(now, What::Healed);
    }

    fn tell(&mut self, change: Option<Change>) {
        let now = self.machine.now();
        if self.monitor.is_up() != self.was_up {
            self.was_up = self.monitor.is_up();
            self.world.monitor_up(now, self.was_up);
        }
        match change {
            Some(Change::Paused) => self.observe(now, What::Paused),
            Some(Change::Died) => {
                self.shadow = None;
                self.monitor.remember(false);
                self.observe(now, What::Died);
            }
            Some(Change::Restarted) => {
                self.score.seen.on_back(now);
                self.observe(now, What::Restarted);
            }
            None => {}
        }
    }

    fn observe(&mut self, at: SimTime, what: What<'_>) {
        let moment = Moment { at, truth: self.world.truth(), what };
        self.watcher.happened(&moment);
        self.score.observe(&moment);
        self.checkers.observe(&moment);
    }

    fn finish(mut self, options: &Options) -> Finished {
        let at = self.machine.now();
        let truth = self.world.truth();
        let judgement = self.score.judge(truth, &self.policies, at);
        let mut report = Report {
            seed: Some(options.seed),
            agents: options.agents,
            days: options.days,
            healthy_agent_days: truth.healthy_time(at) as f64 / 86_400_000.0,
            ..Report::default()
        };
        report.judge(&judgement);
        self.score.report(&mut report, truth, (self.monitor.restarts, self.monitor.pauses), at);
        let Score { seen, breakers, .. } = &self.score;
        let end = End { at, truth, judgement: &judgement, seen, breakers };
        report.checkers = self.checkers.finish(&end);
        let wrong = self.score.wrong.into_values().collect();
        Finished { report, digest: self.digest, judgement, wrong }
    }
}
