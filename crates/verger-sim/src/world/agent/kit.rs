//! What a behaviour plans with: chance, the agent's manner, and the acts that all behaviours share.

use std::sync::Arc;

use verger_core::signal::{Author, Awaited, Body, Output, Status, StatusReport};
use verger_core::time::Span;

use super::manner::Manner;
use super::plan::{Act, Finish, Plan};
use crate::rng::Rng;
use crate::world::condition::Condition;
use crate::world::text::{Told, Voice};
use crate::world::time::{MINUTE, SECOND, SimTime};

/// What a behaviour plans with.
pub(crate) struct Kit<'a> {
    pub(crate) rng: &'a mut Rng,
    /// What words are drawn with.
    pub(crate) voice: &'a mut Voice,
    pub(crate) plan: &'a mut Plan,
    pub(crate) manner: &'a Manner,
    pub(crate) calls: &'a mut u64,
    /// Whether what is said is heard.
    pub(crate) talks: bool,
    /// When the planning happens.
    pub(crate) now: SimTime,
    /// What is the case while nothing longer is under way.
    pub(crate) base: Condition,
}

impl Kit<'_> {
    /// A number that has not been used in this agent's texts.
    pub(crate) fn fresh(&mut self) -> u64 {
        *self.calls += 1;
        *self.calls
    }

    /// Something happens.
    pub(crate) fn send(&mut self, body: Body) {
        self.plan.then(Act::Send(body));
    }

    /// Something is the case from now on, unless a fault is.
    pub(crate) fn turn(&mut self, condition: Condition) {
        if self.base.fault().is_none() {
            self.plan.then(Act::Become(condition));
        }
    }

    /// Nothing happens for so long.
    pub(crate) fn wait(&mut self, millis: u64) {
        self.plan.wait(millis);
    }

    /// The model is asked and answers, at the agent's own pace.
    pub(crate) fn think(&mut self) {
        self.think_with(1.0);
    }

    /// The model is asked and answers, with so many times the usual tokens.
    pub(crate) fn think_with(&mut self, tokens: f64) {
        let latency = self.manner.latency(self.rng);
        let slow = latency > MINUTE;
        if slow {
            self.turn(Condition::Thinking);
        }
        self.send(Body::ModelStarted);
        self.wait(latency);
        self.send(Body::ModelFinished);
        let input = self.rng.log_normal(self.manner.tokens, 0.7) * tokens;
        let output = self.rng.log_normal(350.0, 0.8) * tokens;
        self.plan.then(Act::Use { input: whole(input), output: whole(output) });
        if slow {
            self.turn(self.base);
        }
    }

    /// A call of the agent's usual length.
    pub(crate) fn call(&mut self, told: impl Into<Arc<Told>>) {
        let took = self.manner.tool(self.rng);
        self.call_for(told, took, None);
    }

    /// A call that takes so long.
    pub(crate) fn call_for(&mut self, told: impl Into<Arc<Told>>, took: u64, limit: Option<Span>) {
        let (call, told) = (self.fresh(), told.into());
        let print = told.call();
        let long = took > MINUTE;
        if long {
            self.turn(Condition::LongTool);
        }
        self.send(Body::ToolStarted { call, print, limit });
        self.spend(took);
        self.finish(Finish { call, print, told, took: Some(Span::millis(took)) });
        if long {
            self.turn(self.base);
        }
    }

    /// Several calls at once; the longest decides when the turn goes on.
    pub(crate) fn calls_at_once(&mut self, calls: impl IntoIterator<Item = Told>) {
        let begun: Vec<Finish> = calls.into_iter().map(|told| self.begin(told)).collect();
        for finish in begun {
            let took = self.manner.tool(self.rng).min(30 * SECOND);
            self.wait(took);
            self.finish(finish);
        }
    }

    /// A call begins; how it ends is known, and not when.
    pub(crate) fn begin(&mut self, told: Told) -> Finish {
        let (call, print) = (self.fresh(), told.call());
        self.send(Body::ToolStarted { call, print, limit: None });
        Finish { call, print, told: Arc::new(told), took: None }
    }

    /// A call ends.
    pub(crate) fn finish(&mut self, finish: Finish) {
        self.plan.then(Act::Finish(finish));
    }

    /// The agent says what it waits for.
    pub(crate) fn status(&mut self, status: Status, waiting_on: Option<Awaited>) {
        self.send(Body::Status(StatusReport { status, waiting_on, lasting: None }));
    }

    /// Somebody says something in the agent's conversation.
    pub(crate) fn say(&mut self, author: Author, text: String) {
        self.fresh();
        self.plan.then(Act::Say(author, text));
    }

    /// The work got on, and sometimes that shows in files.
    pub(crate) fn advance(&mut self, files_changed: u32) {
        self.plan.then(Act::Advance);
        if files_changed > 0 {
            let output = Output { files_changed: Some(files_changed), ..Output::default() };
            self.send(Body::Output(output));
        }
    }

    /// Time passes in a call; chatty agents show lines of output meanwhile.
    fn spend(&mut self, took: u64) {
        let mut left = took;
        while self.manner.chatty && left > 2 * MINUTE {
            let pause = self.rng.range(20 * SECOND, 90 * SECOND);
            self.wait(pause);
            self.send(Body::Activity);
            left -= pause;
        }
        self.wait(left);
    }
}

/// A count of tokens.
#[expect(clippy::cast_sign_loss, reason = "a log-normal draw is positive")]
fn whole(tokens: f64) -> u64 {
    tokens as u64
}
