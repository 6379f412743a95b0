//! One effect after the other leaves; each is carried out beside the others, and in order for one agent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use verger_act::{Carrier, Done, Job, NotTaken, Reply, RunRecord};
use verger_api::{self as api, DecisionRequest, read_body, redact};
use verger_core::command::{Command, Decision, Order};
use verger_core::effect::{Action, Effect, EffectKey, Escalation, Outcome};
use verger_core::id::{AgentId, CheckpointId, RoleName, TaskId};
use verger_core::recovery::Spawn;
use verger_core::signal::{Body, Content, Signal, Trust};
use verger_core::time::Span;
use verger_engine::Message;
use verger_store::CheckpointBody;

use super::documents::{self, Whom};
use super::outcome;
use super::reach::{Live, Reach};
use super::way::{TELL_WITHIN, Way};
use crate::monitor::{Monitor, wall_now};
use crate::runs::Runs;
use crate::serve::Log;

/// The time that a stop may take beyond what the agent is given.
const STOP_SLACK: Duration = Duration::from_secs(15);
/// Pauses before whoever directs the agents is called again that was certainly not reached.
const QUICK_TRIES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];
/// States up to this size travel with a start; a larger one is fetched by its name.
const STATE_MAX: usize = 1 << 20;

/// Carries effects out.
pub(crate) struct Carrying {
    pub(crate) monitor: Monitor,
    pub(crate) carrier: Arc<Carrier>,
    /// By what it is done, at present.
    pub(crate) live: Live,
    /// What runs under wrappers of this machine.
    pub(crate) runs: Runs,
    /// Where this monitor is reached.
    pub(crate) url: String,
    pub(crate) log: Log,
}

impl Carrying {
    /// Carries out whatever comes, until the monitor is about to end; then drops what is under way.
    ///
    /// The way in is given back, to be kept until the loop has ended: what still leaves it has not failed, and is
    /// carried out after the next start.
    pub(crate) async fn run(
        self,
        mut effects: mpsc::UnboundedReceiver<Effect>,
        mut closing: watch::Receiver<bool>,
    ) -> mpsc::UnboundedReceiver<Effect> {
        let carrying = Arc::new(self);
        let mut under_way = UnderWay::default();
        loop {
            let effect = tokio::select! {
                effect = effects.recv() => effect,
                broken = under_way.breaks() => {
                    carrying.on_broken(broken);
                    continue;
                }
                _ = closing.changed() => None,
            };
            let Some(effect) = effect else { return effects };
            let key = effect.key.clone();
            under_way.begin(key, Arc::clone(&carrying).carry_out(effect));
        }
    }

    /// What holds now. Whatever has begun is finished by what held when it began.
    fn reach(&self) -> Arc<Reach> {
        Arc::clone(&self.live.borrow())
    }

    /// The core hears that it failed, and does not wait for it for ever.
    fn on_broken(&self, key: EffectKey) {
        self.warn(&key, &format!("effect {key}: a fault of the monitor; it counts as failed"));
        self.monitor.report(key, Outcome::Failed);
    }

    async fn carry_out(self: Arc<Self>, Effect { key, action }: Effect) {
        match &action {
            Action::Escalate(asked) => self.escalate(key, asked).await,
            Action::Stop { within } => self.stop(key, *within).await,
            Action::Spawn(new) => self.spawn(key, new).await,
            Action::Withdraw { task, start, incarnation } => {
                let document =
                    documents::withdraw(&key, task.as_str(), *start, incarnation.map(|life| life.0));
                self.end(key, document, Span::ZERO).await;
            }
            Action::Survey { task } => self.survey(&key, task.clone()).await,
            Action::WriteCheckpoint { id, .. } => self.write(key, id.clone()).await,
            // Their results are notices; one that does not come is missed in time.
            Action::Probe(_) | Action::AskAdvice(_) => {}
            // Nothing carries messages yet, and trying again would not help.
            Action::Deliver { .. } | Action::RemindOfMessage { .. } | Action::TellSender { .. } => {
                self.monitor.report(key, Outcome::Rejected);
            }
            // They wait for the agent itself; see `Outlet`.
            Action::Ping
            | Action::Nudge { .. }
            | Action::Inquire { .. }
            | Action::Interrupt { .. }
            | Action::RequestHandoff { .. } => self.monitor.report(key, Outcome::Failed),
        }
    }

    /// Asks whoever directs the agents. Where nobody does it lies open for people to find, which counts as reached:
    /// who runs a fleet so has chosen to look.
    async fn escalate(&self, key: EffectKey, asked: &Escalation) {
        let reach = self.reach();
        let Some(way) = reach.asked() else { return self.monitor.report(key, Outcome::Delivered) };
        let document = documents::escalation(&key, asked, &self.url);
        let mut done = self.does(&key, way, document.clone(), &asked.reason, TELL_WITHIN).await;
        // One that is just being started comes up within seconds; the core tries again after a minute.
        for pause in QUICK_TRIES {
            if !done.as_ref().is_some_and(outcome::is_undone) {
                break;
            }
            tokio::time::sleep(pause).await;
            done = self.does(&key, way, document.clone(), &asked.reason, TELL_WITHIN).await;
        }
        let Some(done) = done else { return };
        let outcome = outcome::of(&done);
        self.monitor.report(key.clone(), outcome);
        if let Done::Posted(delivery) = &done
            && let Reply::Accepted(answer) = &delivery.reply
            && let Some(order) = decision(&answer.body)
        {
            self.decide(&key, order).await;
        }
    }

    /// The answer decides, about the life that it was asked about.
    async fn decide(&self, key: &EffectKey, order: Order) {
        let (agent, by) = (key.agent.clone(), "orchestrator".into());
        let command = Command { agent, incarnation: Some(key.incarnation), by, order };
        match self.monitor.tell(vec![Message::Command(command)]).await {
            Ok(answers) => {
                if let Some(verger_engine::Answer::Ordered(Err(error))) = answers.first() {
                    self.log.warn(&format!(
                        "the orchestrator's answer about {} was not taken: {error}",
                        key.agent
                    ));
                }
            }
            Err(error) => {
                self.log.warn(&format!("the orchestrator's answer about {} is lost: {error}", key.agent));
            }
        }
    }

    /// What runs under a wrapper of this machine is ended here; everything else by its means.
    async fn stop(&self, key: EffectKey, within: Span) {
        if let Some(record) = self.runs.meant_by(&key) {
            return self.stop_run(key, record, within).await;
        }
        let whom = self.whom(&key.agent).await;
        let document = documents::stop(&key, &whom, within);
        self.end(key, document, within).await;
    }

    async fn stop_run(&self, key: EffectKey, record: RunRecord, within: Span) {
        let outcome = match self.runs.stop(record, within).await {
            Some(stopped) if stopped.is_complete() => Outcome::Stopped,
            Some(stopped) => {
                self.warn(&key, &format!("effect {key}: {} processes do not end", stopped.left.len()));
                Outcome::Failed
            }
            None => Outcome::Failed,
        };
        self.monitor.report(key, outcome);
    }

    /// Ends something by the means of its agent.
    async fn end(&self, key: EffectKey, document: Value, within: Span) {
        let role = self.whom(&key.agent).await.role.map(RoleName::from);
        let reach = self.reach();
        let Some(means) = reach.means.termination(&key.agent, role.as_ref()) else {
            return self.reject(key, "nothing is configured by which it could be ended (`termination`)");
        };
        let limit = Duration::from_millis(within.as_millis()) + STOP_SLACK;
        let text = format!("agent {} is to end", key.agent);
        let way = match Way::of(means, "termination.webhook") {
            Ok(way) => way,
            Err(error) => return self.reject(key, &error.to_string()),
        };
        if let Some(done) = self.does(&key, &way, document, &text, limit).await {
            self.monitor.report(key, outcome::of_stop(&done));
        }
    }

    async fn spawn(&self, key: EffectKey, new: &Spawn) {
        let wrapper = self.runs.waiting(&new.agent);
        let way = match self.way_to_start(&new.agent).await {
            Ok(way) => Some(way),
            Err(_) if wrapper.is_some() => None,
            Err(why) => return self.reject(key, &why),
        };
        let state = match &new.from {
            None => None,
            Some(id) => match self.state(id.clone()).await {
                Some(state) => state,
                None => return self.monitor.report(key, Outcome::Unreadable),
            },
        };
        let document = documents::spawn(&key, new, state.as_ref());
        // A wrapper that waits for it has what the program needs around it.
        if let Some(wrapper) = wrapper {
            let outcome = self.runs.start(&wrapper, &document).await;
            return self.monitor.report(key, outcome);
        }
        let Some(way) = way else { return };
        let text = format!("task {} is to go on", new.task);
        if let Some(done) = self.does(&key, &way, document, &text, TELL_WITHIN).await {
            self.monitor.report(key, outcome::of(&done));
        }
    }

    async fn way_to_start(&self, agent: &AgentId) -> Result<Way, String> {
        let role = self.whom(agent).await.role.map(RoleName::from);
        let reach = self.reach();
        let means = reach.means.spawn(agent, role.as_ref());
        let means = means.ok_or("nothing is configured by which it could be started (`spawn`)")?;
        Way::of(means, "spawn.webhook").map_err(|error| error.to_string())
    }

    /// The state of a checkpoint, if it is small; nothing if it cannot be read.
    async fn state(&self, id: CheckpointId) -> Option<Option<Value>> {
        let archive = self.monitor.archive().clone();
        let read = tokio::task::spawn_blocking(move || archive.checkpoint(&id)).await.ok()?.ok()??;
        match read.1 {
            CheckpointBody::Intact(content) if content.len() <= STATE_MAX => {
                Some(serde_json::from_slice(&content).ok())
            }
            CheckpointBody::Intact(_) => Some(None),
            CheckpointBody::Damaged | CheckpointBody::Missing => None,
        }
    }

    async fn survey(&self, key: &EffectKey, task: TaskId) {
        let (archive, chain_max) = (self.monitor.archive().clone(), self.reach().chain_max);
        let looked = tokio::task::spawn_blocking(move || archive.survey(&task, chain_max)).await;
        match looked {
            Ok(Ok(found)) => {
                let body = Body::Surveyed { key: key.clone(), checkpoints: found.into() };
                self.monitor.found(key, body);
            }
            Ok(Err(error)) => {
                self.log.warn(&format!("the checkpoints of {} cannot be read: {error}", key.agent));
                self.monitor.report(key.clone(), Outcome::Failed);
            }
            Err(_) => self.monitor.report(key.clone(), Outcome::Failed),
        }
    }

    /// Writes a checkpoint that waited in line (L26).
    async fn write(&self, key: EffectKey, id: CheckpointId) {
        let archive = self.monitor.archive().clone();
        let work = move || {
            let Some(new) = archive.queued_checkpoint(&id)? else {
                return Ok(archive.checkpoint_info(&id)?.map(|_| None));
            };
            let agent = new.agent.clone();
            match archive.save_checkpoint(new)?.wait() {
                Ok(_) => {
                    archive.forget_queued_checkpoint(id.clone()).wait().map(|()| Some(Some((agent, id))))
                }
                // It can never be written, and nobody would know what it waits for.
                Err(verger_store::Error::Checkpoint(_)) => {
                    archive.forget_queued_checkpoint(id).wait().map(|()| None)
                }
                Err(error) => Err(error),
            }
        };
        let outcome = match tokio::task::spawn_blocking(work).await {
            Ok(Ok(Some(written))) => {
                if let Some((agent, id)) = written {
                    self.tell_of(agent, id);
                }
                Outcome::Delivered
            }
            Ok(Ok(None)) => Outcome::Rejected,
            Ok(Err(_)) | Err(_) => Outcome::Failed,
        };
        self.monitor.report(key, outcome);
    }

    /// Has the core know that work was saved after all.
    fn tell_of(&self, agent: AgentId, id: CheckpointId) {
        let content = Content {
            incarnation: None,
            sent_at: None,
            received_at: wall_now(),
            trust: Trust::Verified,
            body: Body::Checkpoint { id },
        };
        // A monitor that has too much to do finds it when it looks through the checkpoints.
        let _ = self.monitor.send(vec![Message::Signal(Signal { agent, content })]);
    }

    async fn whom(&self, agent: &AgentId) -> Whom {
        let agent = agent.clone();
        let look = self.monitor.look(move |fleet, calendar| {
            fleet.view(calendar.now(), &agent).map(|view| Whom {
                role: Some(view.role.as_str().to_owned()),
                task: view.task.as_ref().map(ToString::to_string),
            })
        });
        look.await.ok().flatten().unwrap_or_default()
    }

    /// Does something by a way. Nothing comes of it if the monitor ends first: then it is done after the next start.
    async fn does(
        &self,
        key: &EffectKey,
        way: &Way,
        mut document: Value,
        text: &str,
        limit: Duration,
    ) -> Option<Done> {
        if let Some(context) = self.monitor.tracer().of_effect(key) {
            documents::trace(&mut document, &context);
        }
        let work = way.work(document.clone(), documents::variables(&document, text));
        let job = Job { key: key.to_string(), lane: key.agent.to_string(), work, limit };
        match self.carrier.carry(job) {
            Ok(done) => {
                let done = done.await.ok()?;
                if !done.succeeded() {
                    // What a program said last may hold what it was given.
                    self.warn(key, &redact(&format!("effect {key}: {done}")));
                }
                Some(done)
            }
            Err(NotTaken::Full) => {
                self.monitor.report(key.clone(), Outcome::Failed);
                None
            }
            Err(NotTaken::Closed) => None,
        }
    }

    /// A line about an effect can be found by its agent and its trace.
    fn warn(&self, key: &EffectKey, text: &str) {
        let trace = self.monitor.tracer().of_effect(key).map(|context| context.trace_id());
        let mut about = vec![("agent", key.agent.as_str())];
        about.extend(trace.as_deref().map(|trace| ("trace", trace)));
        self.log.warn_about(text, &about);
    }

    fn reject(&self, key: EffectKey, why: &str) {
        self.warn(&key, &format!("effect {key}: {why}"));
        self.monitor.report(key, Outcome::Rejected);
    }
}

/// What is being carried out. Dropped with all that is in it.
#[derive(Default)]
struct UnderWay {
    tasks: JoinSet<()>,
    keys: HashMap<tokio::task::Id, EffectKey>,
}

impl UnderWay {
    fn begin(&mut self, key: EffectKey, work: impl Future<Output = ()> + Send + 'static) {
        let id = self.tasks.spawn(work).id();
        self.keys.insert(id, key);
    }

    /// Waits until something breaks instead of ending.
    async fn breaks(&mut self) -> EffectKey {
        loop {
            let (id, is_broken) = match self.tasks.join_next_with_id().await {
                Some(Ok((id, ()))) => (id, false),
                Some(Err(error)) => (error.id(), true),
                None => return std::future::pending().await,
            };
            if let Some(key) = self.keys.remove(&id).filter(|_| is_broken) {
                return key;
            }
        }
    }
}

/// The decision that an answer holds, if it holds one.
fn decision(body: &str) -> Option<Order> {
    let asked: DecisionRequest = read_body(body.as_bytes()).ok()?;
    let decision = match asked.decision {
        api::Decision::AllowMoreTime => {
            let left = |until: api::Time| until.as_millis().saturating_sub(wall_now().0);
            let span = |until| Span::millis(u64::try_from(left(until)).unwrap_or(0));
            Decision::AllowMoreTime(asked.until.map(span))
        }
        api::Decision::ForceHandoff => Decision::ForceHandoff,
        api::Decision::TerminateAndRecover => Decision::TerminateAndRecover,
    };
    Some(Order::Decide { decision, reason: redact(&asked.reason).into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l21_an_answer_decides_only_if_it_says_so() {
        for silent in ["", "ok", "{}", "[]", r#"{"decision":"shrug"}"#] {
            assert_eq!(decision(silent), None, "{silent}");
        }
        let order = decision(r#"{"decision":"force-handoff","reason":"it is late"}"#);
        let decided = Order::Decide { decision: Decision::ForceHandoff, reason: "it is late".into() };
        assert_eq!(order, Some(decided));
    }

    #[tokio::test]
    async fn an_effect_that_breaks_is_named_and_one_that_ends_is_not() {
        let key = |seq| EffectKey { agent: "a".into(), incarnation: verger_core::id::Incarnation(1), seq };
        let mut under_way = UnderWay::default();
        under_way.begin(key(1), async {});
        under_way.begin(key(2), async { panic!("on purpose") });
        assert_eq!(under_way.breaks().await, key(2));
        assert!(under_way.tasks.len() + under_way.keys.len() <= 2, "who has ended is forgotten");
    }

    #[test]
    fn l21_what_an_answer_says_is_kept_without_credentials() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let order = decision(&format!(r#"{{"decision":"force-handoff","reason":"use {secret}"}}"#));
        let Some(Order::Decide { reason, .. }) = order else { panic!("it decides") };
        assert!(!reason.contains(&secret), "{reason}");
    }
}
