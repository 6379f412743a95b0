//! An agent's client: it asks before each call, calls if it may, and says how it went.
//!
//! Who may not call does something else, or asks again when it was told to, a little later than that. When the
//! monitor is away or does not answer in time, the call is made all the same and never reported: a monitor must not
//! be the reason why work stands still. Of a thousand reports four are never made, because the client was killed in
//! between, five come twice and eight up to half an hour late.

use verger_core::breaker::{CallResult, Outcome, Permit};
use verger_core::notice::{BreakerNotice, Notice, NoticeError, Reply};

use super::catalogue::STREAM;
use super::facts::{Answered, AskId};
use crate::rng::Rng;
use crate::world::agent::Agent;
use crate::world::moment::Moment;
use crate::world::request::Request;
use crate::world::run::Delivery;
use crate::world::stage::Stage;
use crate::world::time::{SECOND, SimTime, millis};

/// Seconds between two looks whether there is anything to do, for who rests.
const REST: f64 = 600.0;
/// How often one call follows another within seconds, and how many seconds pass on average otherwise.
const PACE: (f64, f64) = (0.4, 450.0);
/// How often one thing is tried before it is given up.
const TRIES: u8 = 4;

/// An agent's client.
#[derive(Debug)]
pub(crate) struct Client {
    /// Chance in what it does and in what happens to it.
    rng: Rng,
    services: Vec<u32>,
    weights: Vec<u32>,
    /// Milliseconds for which it waits for the monitor, and for a service.
    patience: u64,
    timeout: u64,
    /// Moments of an earlier turn are void.
    turn: u32,
    /// The life of its agent in which it began what it does.
    life: u32,
    doing: Doing,
}

/// What a client is doing.
#[derive(Clone, Copy, Debug, Default)]
enum Doing {
    /// Nothing.
    #[default]
    Rests,
    /// It waits for the monitor's answer.
    Asks { ask: AskId, tries: u8 },
    /// It waits for the service.
    Calls { ask: AskId, tries: u8, permit: Option<Permit>, outcome: Outcome },
    /// It waits before it asks again.
    Waits { service: u32, tries: u8 },
}

impl Client {
    /// The client of the agent of this number. It knows no service yet.
    pub(crate) fn draw(seed: u64, place: u32) -> Self {
        let mut rng = Rng::stream(seed, STREAM + 1 + u64::from(place));
        Self {
            patience: millis(rng.log_between(1.0, 10.0)),
            timeout: millis(rng.log_between(10.0, 90.0)),
            rng,
            services: Vec::new(),
            weights: Vec::new(),
            turn: 0,
            life: 0,
            doing: Doing::Rests,
        }
    }

    /// It uses this service, so often compared with others.
    pub(super) fn uses(&mut self, service: u32, weight: u32) {
        self.services.push(service);
        self.weights.push(weight);
    }

    /// The seconds until it wants something again.
    fn pause(&mut self, busy: bool) -> f64 {
        match busy {
            false => self.rng.exponential(REST),
            true if self.rng.chance(PACE.0) => self.rng.log_between(2.0, 30.0),
            true => self.rng.exponential(PACE.1),
        }
    }
}

impl Agent {
    /// The client goes on.
    pub(crate) fn client_goes_on(&mut self, stage: &mut Stage, now: SimTime, turn: u32) {
        if self.client.turn != turn {
            return;
        }
        let lives = self.client_lives();
        match std::mem::take(&mut self.client.doing) {
            _ if !lives => self.client_rests(stage, now),
            Doing::Rests => self.want_call(stage, now),
            Doing::Asks { ask, tries } => self.make_call(stage, now, ask, tries, None),
            Doing::Calls { ask, tries, permit, outcome } => {
                self.report_call(stage, now, ask, permit, outcome);
                self.after_call(stage, now, ask.service, tries, outcome.result);
            }
            Doing::Waits { service, tries } => self.ask_for_call(stage, now, service, tries),
        }
    }

    /// The monitor answers who wants to call; perhaps when nobody waits any more.
    pub(crate) fn hear_permit(
        &mut self,
        stage: &mut Stage,
        at: SimTime,
        ask: AskId,
        answer: &Result<Reply, NoticeError>,
    ) {
        let tries = match self.client.doing {
            Doing::Asks { ask: mine, tries } if mine == ask && self.client_lives() => tries,
            _ => return,
        };
        match answer {
            Ok(Reply::Permit(permit)) => self.make_call(stage, at, ask, tries, Some(*permit)),
            Err(NoticeError::Denied(denied)) => {
                if tries < TRIES && self.client.rng.chance(0.65) {
                    let told = denied.refusal.retry_after.as_millis();
                    let wait = millis(told as f64 / 1_000.0 * self.client.rng.between(1.0, 1.3));
                    let wait = wait + self.client.rng.range(0, 2 * SECOND);
                    let doing = Doing::Waits { service: ask.service, tries: tries + 1 };
                    self.client_does(stage, at + wait, doing);
                } else {
                    self.client_rests(stage, at);
                }
            }
            Ok(_) | Err(_) => self.make_call(stage, at, ask, tries, None),
        }
    }

    /// Begins the client's first life, which outlasts those of its agent.
    pub(crate) fn begin_client(&mut self, stage: &mut Stage) {
        self.client_rests(stage, SimTime::ZERO);
    }

    /// Whether the process is there in which the client did what it does.
    fn client_lives(&self) -> bool {
        let at_it = matches!(self.client.doing, Doing::Rests) || self.client.life == self.life;
        self.alive && !self.frozen && at_it
    }

    fn client_does(&mut self, stage: &mut Stage, until: SimTime, doing: Doing) {
        self.client.doing = doing;
        self.client.life = self.life;
        self.client.turn = self.client.turn.wrapping_add(1);
        stage.queue.set(until, Moment::Client { agent: self.place, turn: self.client.turn });
    }

    fn client_rests(&mut self, stage: &mut Stage, now: SimTime) {
        let pause = millis(self.client.pause(self.working)).max(SECOND);
        self.client_does(stage, now + pause, Doing::Rests);
    }

    fn want_call(&mut self, stage: &mut Stage, now: SimTime) {
        if !self.working || self.client.services.is_empty() {
            return self.client_rests(stage, now);
        }
        let Client { rng, services, weights, .. } = &mut self.client;
        let service = services[rng.weighted(weights)];
        self.ask_for_call(stage, now, service, 1);
    }

    fn ask_for_call(&mut self, stage: &mut Stage, now: SimTime, service: u32, tries: u8) {
        let facts = &mut stage.truth.services_mut()[service as usize];
        let ask = facts.want(service, self.place, now);
        if !stage.up || self.cut > 0 {
            return self.make_call(stage, now, ask, tries, None);
        }
        let notice = Notice::Breaker { name: facts.breaker.clone(), what: BreakerNotice::Acquire };
        stage.out.push(Request::Ask(ask).delivery(notice));
        self.client_does(stage, now + self.client.patience, Doing::Asks { ask, tries });
    }

    fn make_call(&mut self, stage: &mut Stage, now: SimTime, ask: AskId, tries: u8, permit: Option<Permit>) {
        let (outcome, took) = stage.services.call(ask.service, &mut self.client.rng, self.client.timeout);
        let wanted = stage.truth.ask_mut(ask);
        wanted.called = Some(now);
        wanted.permitted = permit.is_some();
        self.client_does(stage, now + took, Doing::Calls { ask, tries, permit, outcome });
    }

    fn report_call(
        &mut self,
        stage: &mut Stage,
        now: SimTime,
        ask: AskId,
        permit: Option<Permit>,
        outcome: Outcome,
    ) {
        let Some(permit) = permit.filter(|_| stage.up && self.cut == 0) else { return };
        let name = stage.truth.services()[ask.service as usize].breaker.clone();
        let notice = Notice::Breaker { name, what: BreakerNotice::Report { permit, outcome } };
        let delivery: Delivery = Request::Report(ask).delivery(notice);
        let rng = &mut self.client.rng;
        match rng.weighted(&[983, 4, 5, 8]) {
            _ if stage.calm => stage.out.push(delivery),
            0 => stage.out.push(delivery),
            1 => {}
            2 => {
                let again = now + millis(rng.log_between(0.1, 30.0));
                stage.deliver_at(again, delivery.clone());
                stage.out.push(delivery);
            }
            _ => stage.deliver_at(now + millis(rng.log_between(10.0, 1_800.0)), delivery),
        }
    }

    /// Who failed tries again soon, three times at most; the others turn to something else.
    fn after_call(&mut self, stage: &mut Stage, now: SimTime, service: u32, tries: u8, result: CallResult) {
        if result != CallResult::Ok && tries < TRIES && self.client.rng.chance(0.6) {
            let wait = millis(self.client.rng.log_between(1.0, 15.0) * f64::from(tries));
            self.client_does(stage, now + wait, Doing::Waits { service, tries: tries + 1 });
        } else {
            self.client_rests(stage, now);
        }
    }
}

/// What the monitor's answer to an ask comes down to.
pub(crate) fn answered(answer: &Result<Reply, NoticeError>) -> Answered {
    match answer {
        Ok(Reply::Permit(_)) => Answered::Permitted,
        Err(NoticeError::Denied(denied)) => {
            Answered::Denied { because: denied.refusal.because, retry_after: denied.refusal.retry_after }
        }
        Ok(_) | Err(_) => Answered::Unwatched,
    }
}
