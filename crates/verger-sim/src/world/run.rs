//! A world as its driver sees it: time moves on, effects are carried out, and the truth can be asked.

use verger_core::command::Command;
use verger_core::effect::{Effect, EffectKey};
use verger_core::event::Fact;
use verger_core::id::Incarnation;
use verger_core::notice::{Notice, NoticeError, Reply};
use verger_core::signal::{Body, Signal};

use super::agent::{Agent, hosts};
use super::effects;
use super::fault::{FaultKind, pass, set_clocks_wrong, strike};
use super::moment::{Moment, Queue};
use super::people;
use super::post::{self, Post};
use super::request::Request;
use super::service::{self, Catalogue};
use super::stage::Stage;
use super::time::{MINUTE, SECOND, SimTime, millis};
use super::transport::Transport;
use super::transport::is_retried_for_ever;
use super::truth::{EndedBy, Truth};
use crate::rng::Rng;

/// What decides a world.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// How many agents there are.
    pub agents: u32,
    /// For how many days faults strike. The world goes on for as long as it is asked to.
    pub days: f64,
    /// `false` for a fleet in which nothing goes wrong.
    pub faults: bool,
}

/// What reaches the monitor.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// Something about an agent.
    Signal(Signal),
    /// An order of a person or of the orchestrator.
    Command(Command),
    /// What people order about something that is no agent.
    Notice(Notice),
    /// What somebody asks or tells who waits for the answer.
    Request {
        /// Names it to the world that hears the answer.
        number: u64,
        /// What is asked or told.
        notice: Notice,
    },
}

impl Delivery {
    /// Whether its sender tries until it is acknowledged.
    pub fn is_retried(&self) -> bool {
        match self {
            Self::Signal(signal) => is_retried_for_ever(&signal.content.body),
            Self::Command(_) | Self::Notice(_) => true,
            // A client's patience is short: it goes on without an answer.
            Self::Request { notice, .. } => !matches!(notice, Notice::Breaker { .. }),
        }
    }
}

/// A fleet and everything around it.
#[derive(Debug)]
pub struct World {
    agents: Vec<Agent>,
    stage: Stage,
}

impl World {
    /// The world that these options decide.
    pub fn new(options: &WorldOptions) -> Self {
        let mut truth = Truth::default();
        let mut agents: Vec<Agent> = (0..options.agents)
            .map(|place| Agent::draw(options.seed, place, options.agents, &mut truth))
            .collect();
        let services = Catalogue::draw(options.seed, &mut agents, &mut truth);
        let mut fate = Rng::stream(options.seed, 1);
        let mut world = Self {
            agents,
            stage: Stage {
                queue: Queue::default(),
                truth,
                transport: Transport::draw(&mut fate),
                out: Vec::new(),
                up: true,
                calm: !options.faults,
                healed: false,
                end: SimTime(millis(options.days * 86_400.0)),
                down: vec![false; hosts(options.agents)],
                groups: Vec::new(),
                services,
                post: Post::new(options.seed),
                fate,
                luck: Rng::stream(options.seed, 2),
                whim: Rng::stream(options.seed, 3),
            },
        };
        world.begin(options);
        world
    }

    /// True time of the next thing that happens in the world, if anything does.
    pub fn next(&self) -> Option<SimTime> {
        self.stage.queue.next()
    }

    /// Lets everything up to and including `now` happen; what reaches the monitor is pushed as it arrives.
    pub fn advance(&mut self, now: SimTime, out: &mut Vec<Delivery>) {
        while let Some((at, moment)) = self.stage.queue.take(now) {
            self.happen(at, moment);
        }
        out.append(&mut self.stage.out);
    }

    /// The monitor carries an effect out now. What comes of it arrives later, if anything does.
    pub fn carry_out(&mut self, now: SimTime, effect: &Effect) {
        let Some(place) = self.stage.truth.place(&effect.key.agent) else { return };
        effects::carry_out(&mut self.agents[place as usize], &mut self.stage, now, effect);
    }

    /// The monitor answered a request then.
    pub fn answered(&mut self, at: SimTime, number: u64, answer: &Result<Reply, NoticeError>) {
        let Self { agents, stage } = self;
        match Request::read(number) {
            Some(Request::Ask(ask)) => {
                let wanted = stage.truth.ask_mut(ask);
                wanted.answer = Some((at, service::answered(answer)));
                let agent = wanted.agent;
                agents[agent as usize].hear_permit(stage, at, ask, answer);
            }
            Some(Request::Report(ask)) => {
                stage.truth.ask_mut(ask).heard.get_or_insert(at);
            }
            Some(Request::Send(letter)) => post::hear_receipt(stage, at, letter, answer),
            Some(Request::Acknowledge(letter)) => post::hear_acknowledged(stage, at, letter, answer),
            None => {}
        }
    }

    /// People are told something that only they can settle.
    pub fn tell_people(&mut self, now: SimTime, fact: &Fact) {
        people::hear(&mut self.stage, now, fact);
        post::hear_fact(&mut self.stage, now, fact);
    }

    /// The monitor went down or came up. Clients connect again and send what they kept.
    pub fn monitor_up(&mut self, now: SimTime, up: bool) {
        if std::mem::replace(&mut self.stage.up, up) != up && up {
            for agent in self.agents.iter_mut().filter(|agent| agent.cut == 0) {
                agent.reconnect(&mut self.stage, now);
            }
        }
    }

    /// No new faults; everything broken is mended from now on, and the transport is reliable.
    pub fn heal(&mut self, now: SimTime) {
        self.stage.calm = true;
        self.stage.healed = true;
        for group in 0..self.stage.groups.len() as u32 {
            pass(&mut self.agents, &mut self.stage, now, group, EndedBy::Heal);
        }
        for agent in &mut self.agents {
            agent.doomed = None;
            agent.skew_ms = 0;
            if agent.alive {
                agent.recover(&mut self.stage, now, EndedBy::Heal);
            } else {
                let wait = agent.wire.range(5 * SECOND, 3 * MINUTE);
                self.stage.queue.set(now + wait, Moment::Respawn { agent: agent.place, life: agent.life });
            }
        }
        self.stage.truth.end_lasting(now);
        self.stage.end_troubles(now);
    }

    /// What was really the case.
    pub fn truth(&self) -> &Truth {
        &self.stage.truth
    }

    /// Agents begin within the first minutes; faults are scheduled.
    fn begin(&mut self, options: &WorldOptions) {
        let Self { agents, stage } = self;
        for agent in agents.iter_mut() {
            agent.begin_client(stage);
            agent.begin_post(stage, SimTime::ZERO);
            let at = SimTime(agent.wire.range(0, 5 * MINUTE));
            stage.queue.set(at, Moment::Respawn { agent: agent.place, life: 0 });
            if agent.link.networked() {
                stage.queue.set(at + agent.next_blip(), Moment::Blip { agent: agent.place, over: false });
            }
        }
        if options.faults {
            set_clocks_wrong(agents, stage);
            for agent in agents.iter().filter(|agent| agent.link.datagram) {
                agent.inject(stage, SimTime::ZERO, FaultKind::Transport, None);
            }
            stage.schedule_faults(options.agents);
            stage.schedule_troubles();
        }
    }

    fn happen(&mut self, now: SimTime, moment: Moment) {
        let Self { agents, stage } = self;
        match moment {
            Moment::Step { agent, epoch } => {
                let agent = &mut agents[agent as usize];
                if agent.epoch == epoch {
                    agent.step(stage, now);
                }
            }
            Moment::Beat { agent, life } => {
                let agent = &mut agents[agent as usize];
                if agent.alive && agent.life == life {
                    agent.beat(stage, now);
                }
            }
            Moment::Blip { agent, over } => agents[agent as usize].blip(stage, now, over),
            Moment::Flush { agent } => agents[agent as usize].flush(stage),
            Moment::Pinged { agent, life, seq, outcome } => {
                let (agent, incarnation) = (agents[agent as usize].id.clone(), Incarnation(life));
                let key = EffectKey { agent: agent.clone(), incarnation, seq };
                let content = effects::own(incarnation, Body::Outcome { key, outcome });
                stage.deliver(Signal { agent, content });
            }
            Moment::Pong { agent, life, seq } => {
                let agent = &mut agents[agent as usize];
                if agent.alive && agent.life == life && !agent.frozen {
                    agent.pong(stage, now, seq);
                }
            }
            Moment::Respawn { agent, life } => respawn(&mut agents[agent as usize], stage, now, life),
            Moment::Dies { agent, life } => {
                let agent = &mut agents[agent as usize];
                if agent.alive && agent.life == life && agent.fault.is_none() {
                    agent.crash(stage, now);
                }
            }
            Moment::Strike(kind) => strike(agents, stage, now, kind),
            Moment::Pass { agent, injection } => {
                let agent = &mut agents[agent as usize];
                if agent.fault.is_some_and(|fault| fault.injection == injection) {
                    agent.recover(stage, now, EndedBy::Itself);
                }
            }
            Moment::PassGroup(group) => pass(agents, stage, now, group, EndedBy::Itself),
            Moment::Client { agent, turn } => agents[agent as usize].client_goes_on(stage, now, turn),
            Moment::TroubleBegins { service } => stage.begin_trouble(service, now),
            Moment::Flap { service, number } => stage.flap(service, now, number),
            Moment::TroubleEnds { service, number } => stage.end_trouble(service, now, number),
            Moment::Post(moment) => post::happen(agents, stage, now, moment),
            Moment::Mail(mail) => post::arrive(agents, stage, now, &mail),
            Moment::Arrive(delivery) => stage.out.push(*delivery),
            Moment::Errand(errand) => effects::run(&mut agents[errand.agent as usize], stage, now, &errand),
        }
    }
}

/// The orchestrator starts an agent again, if its host is there.
fn respawn(agent: &mut Agent, stage: &mut Stage, now: SimTime, life: u32) {
    if agent.alive || agent.life != life {
        return;
    }
    if stage.down[agent.host as usize] {
        let moment = Moment::Respawn { agent: agent.place, life };
        return stage.queue.set(now + 5 * MINUTE, moment);
    }
    agent.spawn(stage, now);
}
