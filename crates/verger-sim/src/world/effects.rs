//! What becomes of the monitor's effects.
//!
//! Nothing is certain: an effect meets a life that is over, a host that is gone, a process that does not
//! listen; and in two of a hundred the carrying out itself fails, or its outcome is lost or comes twice.
//! "✓ Nudged" was no evidence of delivery in any of the projects that said so.

use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::id::Incarnation;
use verger_core::signal::{Author, Body, Content, Signal, StatusReport, Trust};
use verger_core::time::WallTime;

use super::agent::{Agent, End, Temper, words};
use super::connection::Connection;
use super::fault::FaultKind;
use super::moment::{Errand, ErrandStage, Moment};
use super::run::Delivery;
use super::stage::Stage;
use super::starter;
use super::text::{self, Voice};
use super::time::{SECOND, SimTime, millis};
use super::truth::EndedBy;
use crate::rng::Rng;

/// How often an effect other than a ping fails for reasons of its own.
const FAILS: f64 = 0.02;

/// The monitor carries an effect out now.
pub(crate) fn carry_out(agent: &mut Agent, stage: &mut Stage, now: SimTime, effect: &Effect) {
    let key = &effect.key;
    if super::post::carry_out(agent, stage, now, effect) {
        return;
    }
    match &effect.action {
        Action::Ping => return agent.ping(stage, now, key),
        // Nobody asks for them here.
        Action::Probe(_) | Action::AskAdvice(_) => return,
        _ if agent.miscarries(stage, now, key) => return,
        Action::Escalate(_) => return super::people::ask(agent.place, stage, now, key),
        Action::Survey { task } => return starter::survey(agent, stage, now, key, task),
        Action::Spawn(spawn) => return starter::start(agent, stage, now, key, spawn),
        Action::Withdraw { start, .. } => return starter::withdraw(agent, stage, now, key, *start),
        _ => {}
    }
    let ends_it = matches!(effect.action, Action::Stop { .. } | Action::RequestHandoff { .. });
    if let Some(outcome) = agent.obstacle(stage, key, ends_it) {
        let done = outcome == Outcome::Refused
            && matches!(effect.action, Action::Stop { .. })
            && agent.link.connection == Connection::Wrapped;
        let wait = if outcome == Outcome::Unreachable { stage.luck.range(500, 5 * SECOND) } else { 20 };
        return tell(stage, now + wait, key, if done { Outcome::Stopped } else { outcome });
    }
    match effect.action {
        Action::Nudge { .. } => agent.nudge(stage, now, key),
        Action::Inquire { .. } => agent.errand(stage, now, (0.01, 0.5), key, ErrandStage::InquiryArrives),
        Action::Interrupt { .. } => agent.errand(stage, now, (0.1, 5.0), key, ErrandStage::InterruptArrives),
        Action::RequestHandoff { within } => {
            agent.errand(stage, now, (0.1, 5.0), key, ErrandStage::HandoffArrives { within });
        }
        Action::Stop { within } => {
            // Asked, it ends within seconds; a frozen one is forced when its time is up.
            let given = within.as_millis() as f64 / 1_000.0;
            let span = if agent.frozen { (given + 0.1, given + 2.0) } else { (0.2, given.clamp(0.3, 5.0)) };
            agent.errand(stage, now, span, key, ErrandStage::StopDone);
        }
        // What concerns messages is done already, and no checkpoint is written through a breaker here.
        Action::Ping
        | Action::Escalate(_)
        | Action::Survey { .. }
        | Action::Spawn(_)
        | Action::Withdraw { .. }
        | Action::Deliver { .. }
        | Action::RemindOfMessage { .. }
        | Action::TellSender { .. }
        | Action::WriteCheckpoint { .. }
        | Action::Probe(_)
        | Action::AskAdvice(_) => {}
    }
}

/// An effect has come so far.
pub(crate) fn run(agent: &mut Agent, stage: &mut Stage, now: SimTime, errand: &Errand) {
    let key = &errand.key;
    if errand.stage == ErrandStage::Decide {
        return super::people::decide(agent, stage, now, key);
    }
    if errand.stage == ErrandStage::StartDone {
        return starter::start_done(agent, stage, now, key);
    }
    let ends_it = matches!(
        errand.stage,
        ErrandStage::StopDone | ErrandStage::HandoffArrives { .. } | ErrandStage::HandoffDone
    );
    if let Some(outcome) = agent.obstacle(stage, key, ends_it) {
        let stopped = errand.stage == ErrandStage::StopDone && outcome == Outcome::Refused;
        if !matches!(
            errand.stage,
            ErrandStage::InquiryAnswered | ErrandStage::NudgeAnswered | ErrandStage::HandoffDone
        ) {
            tell(stage, now + 1, key, if stopped { Outcome::Stopped } else { outcome });
        }
        return;
    }
    match errand.stage {
        ErrandStage::NudgeArrives => agent.hear_nudge(stage, now, key),
        ErrandStage::InquiryArrives => {
            tell(stage, now, key, Outcome::Delivered);
            agent.errand(stage, now, (1.0, 120.0), key, ErrandStage::InquiryAnswered);
        }
        ErrandStage::InquiryAnswered => agent.answer(stage, now),
        ErrandStage::NudgeAnswered if !agent.frozen => agent.speak(stage, now),
        ErrandStage::InterruptArrives => agent.hear_interrupt(stage, now, key),
        ErrandStage::HandoffArrives { within } => agent.hear_handoff(stage, now, key, within.as_millis()),
        ErrandStage::HandoffDone if !agent.frozen => {
            agent.save(stage, now);
            agent.handed_over = true;
            agent.end_process(stage, now, End::Clean);
        }
        ErrandStage::StopDone => {
            agent.end_process(stage, now, End::Stopped);
            if !stage.calm && stage.luck.chance(FAILS) {
                return agent.note_failure(stage, now);
            }
            tell(stage, now + 20, key, Outcome::Stopped);
        }
        ErrandStage::NudgeAnswered
        | ErrandStage::HandoffDone
        | ErrandStage::Decide
        | ErrandStage::StartDone => {}
    }
}

/// The monitor hears what became of an effect.
pub(crate) fn tell(stage: &mut Stage, at: SimTime, key: &EffectKey, outcome: Outcome) {
    let body = Body::Outcome { key: key.clone(), outcome };
    let signal = Signal { agent: key.agent.clone(), content: own(key.incarnation, body) };
    stage.deliver_at(at, Delivery::Signal(signal));
}

/// What the monitor's own hands report.
pub(crate) fn own(incarnation: Incarnation, body: Body) -> Content {
    let incarnation = Some(incarnation);
    Content { incarnation, sent_at: None, received_at: WallTime(0), trust: Trust::Verified, body }
}

impl Agent {
    /// Why an effect cannot reach the life it is meant for, if it cannot.
    /// Who does not know which of its lives it leads hears whoever calls; its process is still ended by pid.
    pub(super) fn obstacle(&self, stage: &Stage, key: &EffectKey, ends_it: bool) -> Option<Outcome> {
        let fenced = ends_it || matches!(self.link.connection, Connection::Wrapped | Connection::Sdk);
        if self.cut > 0 || stage.down[self.host as usize] {
            Some(Outcome::Unreachable)
        } else if !self.alive || (fenced && Incarnation(self.life) != key.incarnation) {
            Some(Outcome::Refused)
        } else {
            None
        }
    }

    /// Pongs take 1 to 50 ms, seldom up to 400; a frozen process takes the ping and says nothing.
    fn ping(&mut self, stage: &mut Stage, now: SimTime, key: &EffectKey) {
        let (agent, life, seq) = (self.place, key.incarnation.0, key.seq);
        let obstacle = self.obstacle(stage, key, false).or((!self.link.channel).then_some(Outcome::Refused));
        let outcome = obstacle.unwrap_or(Outcome::Delivered);
        let wait = if outcome == Outcome::Unreachable { self.wire.range(100, 900) } else { 1 };
        stage.queue.set(now + wait, Moment::Pinged { agent, life, seq, outcome });
        if outcome == Outcome::Delivered && !self.frozen {
            let most = if self.wire.chance(0.005) { 0.4 } else { 0.05 };
            let wait = millis(self.wire.log_between(0.001, most)).max(1);
            stage.queue.set(now + wait, Moment::Pong { agent, life, seq });
        }
    }

    /// An effect fails for reasons of its own; whether it was carried out all the same is another matter.
    fn miscarries(&mut self, stage: &mut Stage, now: SimTime, key: &EffectKey) -> bool {
        if stage.calm || !stage.luck.chance(FAILS) {
            return false;
        }
        self.note_failure(stage, now);
        let wait = stage.luck.range(50, 10 * SECOND);
        match stage.luck.weighted(&[4, 2, 2, 2]) {
            0 => tell(stage, now + wait, key, Outcome::Failed),
            1 => tell(stage, now + wait, key, Outcome::Unreachable),
            2 => {}
            _ => {
                tell(stage, now + wait, key, Outcome::Failed);
                tell(stage, now + 2 * wait, key, Outcome::Failed);
            }
        }
        true
    }

    /// Writes down that an effect or its outcome came to nothing.
    fn note_failure(&self, stage: &mut Stage, now: SimTime) {
        let injection = self.inject(stage, now, FaultKind::EffectFailure, None);
        stage.truth.end(injection, now, EndedBy::Itself);
    }

    /// It gets there after a while between these seconds.
    fn errand(
        &mut self,
        stage: &mut Stage,
        now: SimTime,
        (least, most): (f64, f64),
        key: &EffectKey,
        next: ErrandStage,
    ) {
        let wait = millis(stage.luck.log_between(least, most));
        let errand = Errand { key: key.clone(), agent: self.place, stage: next };
        stage.queue.set(now + wait, Moment::Errand(Box::new(errand)));
    }

    fn nudge(&mut self, stage: &mut Stage, now: SimTime, key: &EffectKey) {
        match self.link.connection {
            // Typed into its terminal, or put into its mailbox.
            Connection::Wrapped => self.errand(stage, now, (0.1, 30.0), key, ErrandStage::NudgeArrives),
            Connection::Remote => self.errand(stage, now, (0.1, 5.0), key, ErrandStage::NudgeArrives),
            // With the reply to its next hook or heartbeat.
            Connection::Hook | Connection::Sdk => self.nudges.push(key.clone()),
        }
    }

    /// The agent takes the reminders that were kept for it.
    pub(crate) fn take_nudges(&mut self, stage: &mut Stage, now: SimTime) {
        for key in std::mem::take(&mut self.nudges) {
            self.hear_nudge(stage, now, &key);
        }
    }

    /// The reminders kept for this life will never be read.
    pub(crate) fn refuse_nudges(&mut self, stage: &mut Stage, now: SimTime) {
        for key in std::mem::take(&mut self.nudges) {
            tell(stage, now + 100, &key, Outcome::Refused);
        }
    }

    fn hear_nudge(&mut self, stage: &mut Stage, now: SimTime, key: &EffectKey) {
        if self.frozen {
            return tell(stage, now + 30 * SECOND, key, Outcome::Failed);
        }
        tell(stage, now, key, Outcome::Delivered);
        if !stage.calm && stage.luck.chance(0.005) {
            tell(stage, now + SECOND, key, Outcome::Delivered);
        }
        let temper = self.fault.map(|fault| fault.temper);
        let answers = match temper {
            Some(Temper::Answers) => true,
            Some(Temper::Deaf) => false,
            Some(Temper::Listens) | None => stage.luck.chance(0.6),
        };
        if answers {
            // After a turn or so.
            self.errand(stage, now, (2.0, 60.0), key, ErrandStage::NudgeAnswered);
        }
        if temper == Some(Temper::Listens) {
            self.recover(stage, now, EndedBy::Nudge);
        }
    }

    fn hear_interrupt(&mut self, stage: &mut Stage, now: SimTime, key: &EffectKey) {
        if self.frozen {
            return tell(stage, now + 10 * SECOND, key, Outcome::Failed);
        }
        tell(stage, now, key, Outcome::Delivered);
        match self.fault {
            Some(fault) if fault.kind.is_loop() && stage.luck.chance(0.5) => {
                self.recover(stage, now, EndedBy::Interrupt);
            }
            None if self.working => {
                self.drop_plan(stage, now);
                self.plan.wait(SECOND);
                self.step(stage, now);
            }
            Some(_) | None => {}
        }
    }

    fn hear_handoff(&mut self, stage: &mut Stage, now: SimTime, key: &EffectKey, within: u64) {
        if self.frozen {
            return tell(stage, now + 10 * SECOND, key, Outcome::Failed);
        }
        tell(stage, now, key, Outcome::Delivered);
        let obeys = if self.fault.is_some_and(|fault| fault.kind.is_loop()) { 0.5 } else { 0.8 };
        if stage.luck.chance(obeys) {
            let within = (within as f64 / 1_000.0).max(1.0);
            self.errand(stage, now, (within * 0.1, within * 0.9), key, ErrandStage::HandoffDone);
        }
    }

    /// The agent says how it is, if it can.
    fn answer(&mut self, stage: &mut Stage, now: SimTime) {
        if self.frozen {
            return;
        }
        if self.rng.chance(0.5) {
            let status = self.status();
            let report = StatusReport { status, waiting_on: None, lasting: None };
            self.reply(stage, now, Body::Status(report));
        } else {
            self.speak(stage, now);
        }
    }

    /// The agent says something.
    fn speak(&mut self, stage: &mut Stage, now: SimTime) {
        let text = text::reply(&mut Voice::of(Rng::stream(self.rng.bits(), 0)));
        self.reply(stage, now, words(Author::Agent, &text));
    }
}
