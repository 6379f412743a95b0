//! One step of an agent: what was planned happens, and when nothing is planned, a round is.

use verger_core::fingerprint::{ResultPrint, TextPrint};
use verger_core::id::CheckpointId;
use verger_core::signal::{Author, Body};
use verger_core::stuck::{Role, StepPrint};

use super::context;
use super::episode::Episode;
use super::kit::Kit;
use super::life::End;
use super::plan::{Act, Due, Finish};
use super::provider;
use super::state::{Agent, Open};
use crate::world::condition::Condition;
use crate::world::fault::FaultKind;
use crate::world::moment::Moment;
use crate::world::stage::Stage;
use crate::world::time::{MINUTE, SimTime};

/// Dollars per million tokens, read and written.
const PRICE: (u64, u64) = (3, 15);

impl Agent {
    /// Does what is due, and says when it goes on.
    pub(crate) fn step(&mut self, stage: &mut Stage, now: SimTime) {
        let epoch = self.epoch;
        while self.epoch == epoch {
            match self.plan.due() {
                Due::Now(act) => self.perform(stage, now, act),
                Due::After(wait) => return self.go_on_at(stage, now + wait),
                Due::Nothing => self.plan_round(stage, now),
            }
        }
    }

    /// The plan goes on then, unless it is given up before.
    pub(crate) fn go_on_at(&mut self, stage: &mut Stage, at: SimTime) {
        stage.queue.set(at, Moment::Step { agent: self.place, epoch: self.epoch });
    }

    /// Gives up what was planned; what had begun ends as interrupted.
    pub(crate) fn drop_plan(&mut self, stage: &mut Stage, now: SimTime) {
        self.plan.clear();
        self.episode = None;
        self.epoch += 1;
        for open in std::mem::take(&mut self.open) {
            let body = match open {
                Open::Tool(call, print) => {
                    let result = ResultPrint::of("interrupted", true, None);
                    Body::ToolFinished { call, print, result, tool: None, step: None }
                }
                Open::Model => Body::ModelFinished,
                Open::Subagent(id) => Body::SubagentFinished { id },
            };
            self.emit(stage, now, body);
        }
    }

    /// What behaviours plan with, while this is the case.
    pub(crate) fn kit(&mut self, now: SimTime, base: Condition) -> Kit<'_> {
        let Self { rng, voice, plan, manner, calls, link, .. } = self;
        Kit { rng, voice, plan, manner, calls, talks: link.reports.messages, now, base }
    }

    fn plan_round(&mut self, stage: &mut Stage, now: SimTime) {
        if self.working
            && !self.refused
            && let Some(kind) = self.doomed.take()
        {
            self.go_wrong(stage, now, kind);
        }
        if self.fault.is_none() && self.refused && self.working {
            self.turn(stage, now, Condition::WaitingProvider);
            return provider::outage_round(&mut self.kit(now, Condition::WaitingProvider));
        }
        if let Some(mut episode) = self.episode.take() {
            let base = episode.condition();
            self.turn(stage, now, base);
            if episode.round(&mut self.kit(now, base)) {
                self.episode = Some(episode);
            }
            return self.plan.wait(20);
        }
        self.plan_episode(stage, now);
    }

    fn plan_episode(&mut self, stage: &mut Stage, now: SimTime) {
        if !self.working {
            return self.begin_task(stage, now);
        }
        if self.work_until <= now {
            return self.end_task(stage, now);
        }
        self.turn(stage, now, Condition::Working);
        if self.tally.context * 10 >= self.manner.window * 9 {
            let may_leave = self.link.reports.checkpoints && self.task.is_some();
            return context::round(&mut self.kit(now, Condition::Working), may_leave);
        }
        if self.link.reports.checkpoints && now.since(self.tally.saved) > 20 * MINUTE {
            self.save(stage, now);
        }
        self.episode = Some(Episode::draw(&mut self.rng, now));
    }

    /// Work is saved.
    pub(crate) fn save(&mut self, stage: &mut Stage, now: SimTime) {
        self.tally.saved = now;
        let id = CheckpointId::from(format!("{}/{}/{}", self.id, self.life, self.calls));
        self.calls += 1;
        self.store(stage, now, &id);
        self.emit(stage, now, Body::Checkpoint { id });
    }

    fn perform(&mut self, stage: &mut Stage, now: SimTime, act: Act) {
        match act {
            Act::Send(body) => self.happen(stage, now, body),
            Act::Finish(finish) => self.end_call(stage, now, &finish),
            Act::Say(author, text) => self.hear_said(stage, now, author, &text),
            Act::Become(condition) => self.turn(stage, now, condition),
            Act::Use { input, output } => self.use_tokens(stage, now, input, output),
            Act::Advance => self.tally.progress += 1,
            Act::Compact => {
                self.tally.context = self.manner.window / 8;
                self.emit(stage, now, Body::Compaction);
            }
            Act::Leave => {
                self.save(stage, now);
                self.end_process(stage, now, End::Clean);
            }
        }
    }

    fn happen(&mut self, stage: &mut Stage, now: SimTime, body: Body) {
        match &body {
            Body::ToolStarted { call, print, .. } => self.open.push(Open::Tool(*call, *print)),
            Body::ToolFinished { call, print, result: ResultPrint { failed, .. }, .. } => {
                self.tally.errors += u64::from(*failed);
                self.close(Open::Tool(*call, *print));
            }
            Body::ModelStarted => self.open.push(Open::Model),
            Body::ModelFinished => self.close(Open::Model),
            Body::SubagentStarted { id } => self.open.push(Open::Subagent(*id)),
            Body::SubagentFinished { id } => self.close(Open::Subagent(*id)),
            Body::Error(_) => self.tally.errors += 1,
            _ => {}
        }
        let at_call = matches!(body, Body::ToolFinished { .. });
        self.emit(stage, now, body);
        if at_call && !self.nudges.is_empty() && self.link.beat.is_none() {
            self.take_nudges(stage, now);
        }
        if at_call && !self.mail.is_empty() && self.link.beat.is_none() {
            self.take_mail(stage, now);
        }
    }

    /// A call ends. Its text becomes fingerprints on the way, as at the edge, if anybody is to hear of it.
    fn end_call(&mut self, stage: &mut Stage, now: SimTime, finish: &Finish) {
        let Finish { call, print, told, took } = finish;
        let (heard, ended) = (self.link.reports.tools, self.link.dated.then(|| now.agent(self.skew_ms)));
        let step = heard.then(|| told.step(ended, *took));
        let unheard = ResultPrint { digest: 0, failed: told.failed, outage: false, took: *took };
        let result = if heard { told.result(*took) } else { unheard };
        self.happen(stage, now, Body::ToolFinished { call: *call, print: *print, result, tool: None, step });
    }

    /// Somebody says something in the agent's conversation.
    pub(crate) fn hear_said(&mut self, stage: &mut Stage, now: SimTime, author: Author, text: &str) {
        if self.link.reports.messages {
            self.reply(stage, now, words(author, text));
        }
    }

    fn close(&mut self, open: Open) {
        self.open.retain(|other| *other != open);
    }

    fn use_tokens(&mut self, stage: &mut Stage, now: SimTime, input: u64, output: u64) {
        let cost_micros = input * PRICE.0 + output * PRICE.1;
        self.tally.tokens += input + output;
        self.tally.cost_micros += cost_micros;
        self.tally.context = (self.tally.context + 400 + output + input / 12).min(self.manner.window);
        self.emit(stage, now, Body::Tokens { input, output, cost_micros });
        // An agent that goes round in circles compacts its window all the same.
        let full = self.tally.context * 10 >= self.manner.window * 9;
        if full && self.fault.is_some_and(|fault| fault.kind != FaultKind::ContextExhaustion) {
            self.perform(stage, now, Act::Compact);
        }
    }
}

/// What was said, as the edge hands it over.
pub(crate) fn words(author: Author, text: &str) -> Body {
    let role = match author {
        Author::Agent => Some(Role::Agent),
        Author::Person => Some(Role::User),
        Author::System => None,
    };
    let step = role.map(|role| Box::new(StepPrint::of_message(role, text)));
    Body::Message { author, text: TextPrint::of(text), step }
}
