//! What each kind of signal changes.

use super::life::Refusal;
use super::life::shows_life;
use super::steps::Taken;
use super::{Agent, Signs, Step};
use crate::event::Fact;
use crate::fingerprint::{CallClass, TextPrint};
use crate::health::HealthState;
use crate::id::TaskId;
use crate::liveness::Heard;
use crate::signal::{
    Author, Awaited, Body, Content, Failure, Heartbeat, Output, Status, StatusReport, TaskChange, Trust,
};
use crate::signs::Novelty;
use crate::stuck::StepPrint;
use crate::time::{AgentTime, Span, Timestamp};

/// A signal may be this late, and older than it seems.
const LATE: Span = Span::minutes(1);

impl Agent {
    /// Takes one signal in, judges, and acts on the judgement.
    pub(crate) fn observe(&mut self, step: &mut Step<'_>, content: &Content) -> Result<(), Refusal> {
        self.admit(step, content)?;
        self.unverified |= content.trust == Trust::Unverified;
        if let Some(sent_at) = content.sent_at {
            self.skew.observe(sent_at, content.received_at);
        }
        if counts_as_life(&content.body, step) {
            self.on_life(step);
        }
        if let Some(inquiry) = self.past.as_mut().and_then(|past| past.inquiry.as_mut())
            && is_word(&content.body)
        {
            inquiry.on_word(step.now);
        }
        self.on_body(step, content);
        if self.state != HealthState::Terminated {
            self.judge(step);
        }
        Ok(())
    }

    fn on_life(&mut self, step: &mut Step<'_>) {
        self.heard = true;
        self.grace_until = self.grace_until.min(step.now);
        if let Heard::Back(downtime) = self.liveness.on_sign(step.now) {
            self.close_question();
            // Nothing it did while it was away could be seen: its clocks start afresh.
            self.progress.on_resumed(step.now);
            self.record(step, Fact::Reconnected { downtime });
        }
    }

    fn on_body(&mut self, step: &mut Step<'_>, content: &Content) {
        let (now, body, sent_at) = (step.now, &content.body, content.sent_at);
        if !matches!(
            body,
            Body::Pong { .. }
                | Body::Outcome { .. }
                | Body::Surveyed { .. }
                | Body::Heartbeat(_)
                | Body::Load(_)
        ) {
            self.metrics.last_activity = now;
        }
        match body {
            Body::Heartbeat(beat) => self.on_heartbeat(step, beat, content),
            // A survey is told to who asked for it; here it comes too late, or again. What it holds only the fleet
            // counts.
            Body::Activity | Body::Load(_) | Body::Surveyed { .. } => {}
            Body::ToolStarted { call, print: _, limit } => self.on_tool_started(step, *call, *limit, sent_at),
            Body::ToolFinished { call, print, result, tool, step: taken } => {
                self.end_rest_by_call(step, result.took, sent_at);
                let taken =
                    Taken { print: *print, result: *result, tool: tool.as_ref(), step: taken.as_deref() };
                self.on_tool_finished(step, *call, taken);
            }
            Body::Message { author, text, step: said } => {
                self.on_message(step, *author, *text, sent_at, said.as_deref());
            }
            Body::ModelStarted => self.on_model_started(step, sent_at),
            Body::ModelFinished => self.on_model_finished(step),
            Body::SubagentStarted { id } => self.on_subagent_started(step, *id, sent_at),
            Body::SubagentFinished { id } => self.on_subagent_finished(step, *id),
            Body::Compaction => {
                self.signs().context.get_or_insert_default().on_relief(now);
                self.on_progress(now);
            }
            Body::Tokens { input, output, cost_micros } => {
                self.on_tokens(now, input.saturating_add(*output), *cost_micros);
                if *output > 0 {
                    self.end_outage(step);
                }
            }
            Body::Output(output) => self.on_output(step, output),
            Body::Error(failure) => self.on_failure(step, failure),
            Body::Status(report) => self.on_status(step, *report, sent_at),
            Body::Handoff { .. } => {
                self.signs().context.get_or_insert_default().on_relief(now);
                self.past.get_or_insert_default().handoff_at = Some(now);
                self.on_answer(step);
            }
            Body::Blocker { .. } => {
                self.blocked = true;
                self.on_answer(step);
            }
            Body::Pong { seq: _, status } => {
                self.metrics.heartbeats = self.metrics.heartbeats.saturating_add(1);
                if let Some(status) = status {
                    self.on_pong_status(step, *status, sent_at);
                }
            }
            Body::Spawn(spawn) => self.on_spawn(step, spawn, content),
            Body::Exit(exit) => self.on_exit(step, *exit),
            Body::Checkpoint { id } => {
                self.checkpoint = Some(id.clone());
                self.on_lasting_progress(now);
                self.on_answer(step);
            }
            Body::Task(TaskChange::Assigned(task)) => self.on_task_assigned(now, task.clone()),
            Body::Task(TaskChange::Ended(task)) => self.on_task_ended(step, task),
            Body::Channel(channel) => self.on_channel(step, *channel),
            Body::Outcome { key, outcome } => self.on_outcome(step, key, *outcome),
        }
    }

    fn on_output(&mut self, step: &Step<'_>, output: &Output) {
        self.follow_output(step, output);
        if self.signs().output.get_or_insert_default().observe(step.now, output) {
            self.on_lasting_progress(step.now);
        }
    }

    fn on_task_ended(&mut self, step: &Step<'_>, task: &TaskId) {
        if self.task.as_ref() == Some(task) {
            self.progress.on_unassigned();
            self.waiting.on_nothing_to_do(step.now);
            self.forget_the_turn();
            self.begin_steps_anew(step);
        }
    }

    fn on_model_started(&mut self, step: &mut Step<'_>, sent_at: Option<AgentTime>) {
        self.on_work(step, sent_at);
        self.waiting.on_model_started(step.now);
        self.progress.announces_thought = true;
        self.progress.on_work(step.now);
    }

    fn on_model_finished(&mut self, step: &Step<'_>) {
        self.end_model_wait(step);
        // A request that ended may have been refused; what the agent does next tells.
        self.waiting.on_model_answer();
        self.progress.on_work(step.now);
    }

    fn on_subagent_started(&mut self, step: &mut Step<'_>, id: u64, sent_at: Option<AgentTime>) {
        self.on_work(step, sent_at);
        self.waiting.on_started(step.now, id, Awaited::Subagent, None);
        self.progress.on_delegation(step.now);
    }

    fn on_subagent_finished(&mut self, step: &Step<'_>, id: u64) {
        let waited = self.waiting.on_finished(step.now, id, Awaited::Subagent);
        self.on_waited(step, waited);
        self.progress.on_delegation(step.now);
    }

    fn on_tokens(&mut self, now: Timestamp, used: u64, cost_micros: u64) {
        self.metrics.tokens = self.metrics.tokens.saturating_add(used);
        self.metrics.cost_micros = self.metrics.cost_micros.saturating_add(cost_micros);
        self.signs().tokens.get_or_insert_default().observe_used(now, used);
    }

    fn on_heartbeat(&mut self, step: &mut Step<'_>, beat: &Heartbeat, content: &Content) {
        let now = step.now;
        self.learn_whether_beats_outlast_waits(step);
        self.beats = true;
        self.metrics.heartbeats = self.metrics.heartbeats.saturating_add(1);
        // An unproven word does not change what a proven one said.
        let is_proven = content.trust == Trust::Verified;
        if let Some(task) = beat.task.as_ref().filter(|_| is_proven || !self.progress.task_proven) {
            self.progress.task_proven = is_proven;
            if self.task.as_ref() != Some(task) {
                self.task = Some(task.clone());
            }
        }
        if let Some(total) = beat.tokens {
            self.end_outage_by_use(step, total);
            self.metrics.tokens = total;
            self.signs().tokens.get_or_insert_default().observe_total(now, total);
        }
        if let Some(total) = beat.errors {
            self.metrics.errors = self.metrics.errors.max(total);
            self.signs().errors.get_or_insert_default().observe_error_total(now, total);
        }
        if let Some(cost) = beat.cost_micros {
            self.metrics.cost_micros = cost;
        }
        if let Some(context) = beat.context {
            self.signs().context.get_or_insert_default().observe(now, context);
        }
        self.metrics.last_heartbeat = Some(now);
        if beat.progress.is_some_and(|indicator| self.progress.on_indicator(now, indicator)) {
            self.on_lasting_progress(now);
        }
        if beat.status.is_some() || beat.busy_for.is_some() {
            let status = beat.status.unwrap_or(Status::Busy);
            let report = StatusReport { status, waiting_on: None, lasting: beat.busy_for };
            self.on_status_change(step, report, content.sent_at);
        }
    }

    /// A heartbeat long after a wait began shows that heartbeats come by a timer of their own: from then on
    /// their absence means something even while the agent waits.
    fn learn_whether_beats_outlast_waits(&mut self, step: &Step<'_>) {
        let interval = step.role.liveness.beats.interval;
        let waited =
            self.waiting.current(step.now, &step.role.patience).map(|wait| step.now.since(wait.since));
        self.liveness.beats_through_waits |= self.beats && waited.is_some_and(|waited| waited > interval);
    }

    fn on_tool_started(
        &mut self,
        step: &mut Step<'_>,
        call: u64,
        limit: Option<Span>,
        sent_at: Option<AgentTime>,
    ) {
        if self.signs().finished.contains(&call) {
            return;
        }
        self.end_model_wait(step);
        self.on_work(step, sent_at);
        self.progress.announces_calls = true;
        self.waiting.on_started(step.now, call, Awaited::Tool, limit);
        self.progress.on_call(step.now);
        self.forget_inquiry();
    }

    /// Who does not say when a call begins shows by its end that it no longer rests, unless that was merely late.
    fn end_rest_by_call(&mut self, step: &mut Step<'_>, took: Option<Span>, sent_at: Option<AgentTime>) {
        let rests_since = self.waiting.rests_since();
        let began_later = rests_since.is_some_and(|since| since + LATE + took.unwrap_or_default() < step.now);
        if began_later && !self.progress.announces_calls {
            self.on_work(step, sent_at);
        }
    }

    fn on_tool_finished(&mut self, step: &mut Step<'_>, call: u64, taken: Taken<'_>) {
        let (now, Taken { print, result, .. }) = (step.now, taken);
        if !self.signs().is_first_end_of(call) {
            return;
        }
        let waited = self.waiting.on_finished(now, call, Awaited::Tool);
        let waits = print.class == CallClass::Waiting;
        let last_poll = std::mem::replace(&mut self.signs().last_poll, waits.then_some(now));
        if waits {
            // All of it was waiting, none of it work; and so was what lay between this look and the last.
            let looked = last_poll.map(|at| now.since(at));
            let waited = looked.or(waited).or(result.took).unwrap_or_default();
            self.progress.on_waited(now, waited, Span::ZERO);
        } else {
            self.on_waited(step, waited.or(result.took));
        }
        if print.class == CallClass::Plain {
            self.on_step();
        }
        self.metrics.tool_calls = self.metrics.tool_calls.saturating_add(1);
        self.progress.on_call(now);
        if result.failed {
            self.metrics.errors = self.metrics.errors.saturating_add(1);
        }
        if result.outage && result.failed {
            self.on_provider_trouble(step, None);
            return;
        }
        self.end_outage(step);
        self.signs().errors.get_or_insert_default().observe_result(now, print, result);
        if let Some(output) = &mut self.signs().output {
            output.on_call();
        }
        let novelty = self.signs().repetition.get_or_insert_default().observe(now, print, result);
        let in_vain = self.follow_call(step, taken, novelty);
        if novelty == Novelty::Fresh && !result.failed && !in_vain {
            self.on_progress(now);
        }
    }

    fn on_message(
        &mut self,
        step: &mut Step<'_>,
        author: Author,
        text: TextPrint,
        sent_at: Option<AgentTime>,
        said: Option<&StepPrint>,
    ) {
        self.follow_words(step, author, said);
        match author {
            Author::Person => {
                self.on_work(step, sent_at);
                self.forget_the_turn();
                self.blocked = false;
                if let Some(past) = &mut self.past {
                    past.handoff_at = None;
                }
                self.progress.on_resumed(step.now);
            }
            Author::Agent => {
                self.on_step();
                if let Some(context) = self.signs.as_mut().and_then(|signs| signs.context.as_mut()) {
                    context.on_words(text);
                }
                // What it says need not be all that it asked the model for: it may answer a question on the side.
                self.end_outage(step);
                self.progress.on_work(step.now);
                self.on_answer(step);
            }
            Author::System => {}
        }
    }

    fn on_failure(&mut self, step: &mut Step<'_>, failure: &Failure) {
        self.metrics.errors = self.metrics.errors.saturating_add(1);
        if failure.provider && !failure.unrecoverable {
            self.on_provider_trouble(step, failure.retry_after);
        } else {
            self.signs().errors.get_or_insert_default().observe_failure(step.now, failure);
        }
    }

    /// The provider fails, not the agent: it waits, and an outage is not a loop.
    fn on_provider_trouble(&mut self, step: &mut Step<'_>, retry_after: Option<Span>) {
        let before = self.waiting.announced.take();
        self.waiting.announce(step.now, Awaited::Provider, retry_after, before, &step.role.patience);
    }

    fn on_status(&mut self, step: &mut Step<'_>, mut report: StatusReport, sent_at: Option<AgentTime>) {
        if report.status == Status::Busy {
            // To say so in a signal of its own announces slowness; to say it in every heartbeat does not.
            report.lasting = report.lasting.or(Some(step.role.patience.busy));
        }
        self.on_status_change(step, report, sent_at);
        self.on_answer(step);
    }

    fn on_status_change(&mut self, step: &mut Step<'_>, report: StatusReport, sent_at: Option<AgentTime>) {
        let was_resting = self.waiting.is_resting();
        let waited = self.waiting.on_status(step.now, report, sent_at, &step.role.patience);
        self.on_waited(step, waited);
        let is_idle = self.waiting.idle_since.is_some();
        if is_idle || self.waiting.announced.is_some() {
            self.forget_inquiry();
        }
        if was_resting && !self.waiting.is_resting() {
            self.waiting.on_resumed(step.now);
            self.progress.on_resumed(step.now);
        }
        let waits_for_person = self.waiting.announced.is_some_and(|wait| wait.awaited == Awaited::Person);
        if is_idle || waits_for_person {
            self.forget_the_turn();
            self.begin_steps_anew(step);
        }
    }

    /// A pong says less than a status signal: it corrects what was missed, and does not end a known wait.
    fn on_pong_status(&mut self, step: &mut Step<'_>, status: Status, sent_at: Option<AgentTime>) {
        let known_wait = self.waiting.is_excused(step.now, &step.role.patience);
        let says_more = match status {
            Status::Idle => self.waiting.status != Some(status),
            Status::Degraded => self.waiting.status != Some(status) && !known_wait,
            Status::Waiting => self.waiting.announced.is_none(),
            Status::Busy | Status::Healthy => false,
        };
        if says_more {
            self.on_status_change(step, StatusReport { status, waiting_on: None, lasting: None }, sent_at);
        } else if matches!(status, Status::Busy | Status::Healthy)
            && self.waiting.status == Some(Status::Degraded)
        {
            self.waiting.status = Some(status);
        }
    }

    /// It does something new: whatever it announced is over.
    fn on_work(&mut self, step: &mut Step<'_>, sent_at: Option<AgentTime>) {
        let was_resting = self.waiting.is_resting();
        let waited = self.waiting.on_work(step.now, sent_at);
        self.on_waited(step, waited);
        if was_resting && !self.waiting.is_resting() {
            self.waiting.on_resumed(step.now);
            self.progress.on_resumed(step.now);
        }
    }

    fn end_model_wait(&mut self, step: &Step<'_>) {
        let waited = self.waiting.on_model_finished(step.now);
        self.on_waited(step, waited);
    }

    fn end_outage(&mut self, step: &Step<'_>) {
        let waited = self.waiting.on_success(step.now);
        self.on_waited(step, waited);
    }

    /// Tokens used between two heartbeats, both since the outage was told of, show that the model answers again.
    fn end_outage_by_use(&mut self, step: &Step<'_>, total: u64) {
        let told_before = self.waiting.announced.zip(self.metrics.last_heartbeat);
        if total > self.metrics.tokens && told_before.is_some_and(|(wait, beat)| wait.since < beat) {
            self.end_outage(step);
        }
    }

    fn on_waited(&mut self, step: &Step<'_>, waited: Option<Span>) {
        if let Some(waited) = waited {
            self.progress.on_waited(step.now, waited, step.role.patience.usual);
        }
    }

    /// Something new happened.
    fn on_progress(&mut self, now: Timestamp) {
        self.progress.on_progress(now);
        self.waiting.on_progress();
        if let Some(case) = &mut self.case {
            case.progressed = true;
        }
        self.blocked = false;
        self.forget_inquiry();
    }

    /// Another step that was not mere waiting.
    fn on_step(&mut self) {
        if let Some(context) = self.signs.as_mut().and_then(|signs| signs.context.as_mut()) {
            context.on_step();
        }
    }

    pub(super) fn forget_inquiry(&mut self) {
        if let Some(past) = &mut self.past {
            past.inquiry = None;
        }
    }

    /// Something new happened that outlasts the call.
    fn on_lasting_progress(&mut self, now: Timestamp) {
        self.on_progress(now);
        self.progress.on_lasting_progress(now);
    }

    /// A turn ended or a person stepped in: what the agent did before is no evidence about what it does next.
    fn forget_the_turn(&mut self) {
        if let Some(signs) = &mut self.signs {
            signs.forget_the_turn();
        }
    }

    /// It was given work that it is expected to run.
    pub(crate) fn on_task_assigned(&mut self, now: Timestamp, task: TaskId) {
        if self.task.as_ref() != Some(&task) {
            self.progress.on_unassigned();
        }
        self.task = Some(task);
        self.progress.task_proven = true;
        self.progress.on_assigned(now);
    }

    /// Whether it is known that this call ended: what is told again says nothing new.
    pub(crate) fn knows_end_of(&self, call: u64) -> bool {
        self.signs.as_ref().is_some_and(|signs| signs.finished.contains(&call))
    }

    pub(super) fn signs(&mut self) -> &mut Signs {
        self.signs.get_or_insert_default()
    }

    /// When it asked to hand its work over, if that was not long ago.
    pub(crate) fn handoff_wanted_at(&self, now: Timestamp) -> Option<Timestamp> {
        let handoff_at = self.past.as_ref().and_then(|past| past.handoff_at);
        handoff_at.filter(|at| now.since(*at) < HANDOFF_STANDS)
    }

    /// Whether it announced to be busy, and may.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting.status == Some(Status::Busy)
    }
}

/// A request to hand over that nobody heeded for this long is forgotten.
const HANDOFF_STANDS: Span = Span::minutes(30);
/// Ended calls that are remembered.
const FINISHED_MAX: usize = 32;

impl Signs {
    /// Notes that a call ended; tells whether that is news.
    fn is_first_end_of(&mut self, call: u64) -> bool {
        if self.finished.contains(&call) {
            return false;
        }
        if self.finished.len() == FINISHED_MAX {
            self.finished.remove(0);
        }
        self.finished.push(call);
        true
    }

    fn forget_the_turn(&mut self) {
        if let Some(repetition) = &mut self.repetition {
            repetition.reset();
        }
        if let Some(errors) = &mut self.errors {
            errors.reset();
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.on_idle();
        }
        if let Some(context) = &mut self.context {
            context.forget_steps();
        }
    }
}

/// Whether the agent itself says something, as in an answer.
fn is_word(body: &Body) -> bool {
    match body {
        Body::Message { author, .. } => *author == Author::Agent,
        Body::Status(_) | Body::Heartbeat(_) => true,
        _ => false,
    }
}

fn counts_as_life(body: &Body, step: &Step<'_>) -> bool {
    let reported = matches!(body, Body::Heartbeat(_) | Body::Pong { .. });
    shows_life(body) && (reported || step.role.liveness.activity_counts)
}
