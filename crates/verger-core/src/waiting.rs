//! What an agent waits on, and for how long that excuses its silence.
//!
//! An agent is silent for good reasons most of the time: a build runs, the model thinks, a sub-agent works,
//! a person sleeps. Each reason excuses silence, but only for a bounded time, its *patience*; after that the
//! wait itself is the finding. Recorded runs show single tool calls of 19 minutes, sub-agents of 79 and
//! thinking of 11, so a flat limit would either blame these or find nothing.
//!
//! Signals get lost. A call whose end was never seen must not excuse an agent for ever, nor be held against
//! one that has long gone on: work seen after a call's patience ran out shows that its end was lost.

use crate::evidence::{Measure, Severity, Sign};
use crate::signal::{Awaited, Status, StatusReport};
use crate::signs::Finding;
use crate::time::{AgentTime, Span, Timestamp};

/// How long each kind of wait excuses silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// A tool call without a limit of its own. Default 90 min: builds of 40 are ordinary, the longest recorded took 79.
    pub tool: Span,
    /// An answer of the model. Default 30 min: the slowest recorded took 11, retries inside included.
    pub model: Span,
    /// A sub-agent. Default 2 h: the longest recorded took 79 min.
    pub subagent: Span,
    /// A person. Default 24 h: a question asked in the evening is answered the next day.
    pub person: Span,
    /// A provider's outage beyond the reset time it gave. Default 6 h.
    pub provider: Span,
    /// A `busy` that does not say for how long. Default 30 min: twice the silence that is tolerated otherwise.
    pub busy: Span,
    /// An announced lease (`busyUntil`, a timer), all renewals without progress together. Default 4 h: a
    /// lease is no free pass.
    pub lease_max: Span,
    /// How much of any wait is ordinary work. Only what exceeds it stops the progress clock. Default 2 min.
    pub usual: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            tool: Span::minutes(90),
            model: Span::minutes(30),
            subagent: Span::hours(2),
            person: Span::hours(24),
            provider: Span::hours(6),
            busy: Span::minutes(30),
            lease_max: Span::hours(4),
            usual: Span::minutes(2),
        }
    }
}

/// Calls and sub-agents in flight that are remembered; more are counted as these.
const IN_FLIGHT_MAX: usize = 32;
/// Slack given to a call's own time limit: ending it takes a moment.
const LIMIT_SLACK: Span = Span::minutes(2);
/// An agent's clock may order two signals if they are this close; beyond it, the clock has jumped.
const REORDER_MAX_MS: i64 = 600_000;

/// Everything an agent is known to wait on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    pub(crate) in_flight: Vec<InFlight>,
    pub(crate) model_since: Option<Timestamp>,
    pub(crate) announced: Option<Announced>,
    /// A request to the model has ended since the provider last failed.
    pub(crate) answered: bool,
    pub(crate) idle_since: Option<Timestamp>,
    /// When the present row of leases began; progress ends it.
    pub(crate) lease_since: Option<Timestamp>,
    /// What the agent last said of itself.
    pub(crate) status: Option<Status>,
    /// Whether it is an agent that says when it rests, in this life or before.
    pub(crate) tells: bool,
    /// The agent's own clock when it last said so: what it sent earlier does not undo it.
    pub(crate) said_at: Option<AgentTime>,
}

/// A tool call or sub-agent whose end has not been seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InFlight {
    pub(crate) id: u64,
    pub(crate) awaited: Awaited,
    pub(crate) since: Timestamp,
    pub(crate) limit: Option<Span>,
}

/// A wait that the agent announced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Announced {
    pub(crate) awaited: Awaited,
    pub(crate) since: Timestamp,
    pub(crate) until: Option<Timestamp>,
}

/// The wait that explains an agent's silence best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What for.
    pub awaited: Awaited,
    /// Since when.
    pub since: Timestamp,
    /// Until when it excuses silence.
    pub until: Timestamp,
}

impl Waiting {
    /// Begins a tool call or sub-agent. A repeated announcement of a known one changes nothing.
    pub(crate) fn on_started(&mut self, now: Timestamp, id: u64, awaited: Awaited, limit: Option<Span>) {
        if self.in_flight.iter().any(|flight| flight.id == id && flight.awaited == awaited) {
            return;
        }
        if self.in_flight.len() == IN_FLIGHT_MAX {
            self.in_flight.remove(0);
        }
        self.in_flight.push(InFlight { id, awaited, since: now, limit });
    }

    /// Ends a tool call or sub-agent; tells how long it was in flight, if its beginning was seen.
    pub(crate) fn on_finished(&mut self, now: Timestamp, id: u64, awaited: Awaited) -> Option<Span> {
        let at = self.in_flight.iter().position(|flight| flight.id == id && flight.awaited == awaited)?;
        Some(now.since(self.in_flight.remove(at).since))
    }

    /// A request to the model began.
    pub(crate) fn on_model_started(&mut self, now: Timestamp) {
        // A request begun again without an answer in between excuses no longer than the first.
        self.model_since.get_or_insert(now);
    }

    /// The model answered, or work shows that it has; tells how long it took.
    pub(crate) fn on_model_finished(&mut self, now: Timestamp) -> Option<Span> {
        self.model_since.take().map(|since| now.since(since))
    }

    /// The agent does something new: whatever it announced is over, unless this was sent before that.
    /// Tells how long the announced wait lasted.
    pub(crate) fn on_work(&mut self, now: Timestamp, sent_at: Option<AgentTime>) -> Option<Span> {
        if self.was_sent_earlier(sent_at) {
            return None;
        }
        if self.idle_since.take().is_some() {
            // Whatever seemed to be under way before it rested is over.
            self.model_since = None;
        }
        if self.status.is_some_and(|status| matches!(status, Status::Idle | Status::Waiting)) {
            self.status = None;
        }
        // A retry during an outage is work, and no sign that the outage is over; that its last request was answered,
        // and not refused, is one.
        let answered = std::mem::take(&mut self.answered);
        let ended = self.announced.take_if(|wait| answered || wait.awaited != Awaited::Provider);
        ended.map(|wait| now.since(wait.since))
    }

    /// A request to the model ended, in an answer as far as is known.
    pub(crate) fn on_model_answer(&mut self) {
        self.answered = self.announced.is_some_and(|wait| wait.awaited == Awaited::Provider);
    }

    /// Something succeeded that needs the provider: an outage is over. Tells how long it lasted.
    pub(crate) fn on_success(&mut self, now: Timestamp) -> Option<Span> {
        let ended = self.announced.take_if(|wait| wait.awaited == Awaited::Provider);
        ended.map(|wait| now.since(wait.since))
    }

    fn was_sent_earlier(&self, sent_at: Option<AgentTime>) -> bool {
        match (sent_at, self.said_at) {
            (Some(sent), Some(said)) => sent < said && said.0.saturating_sub(sent.0) < REORDER_MAX_MS,
            _ => false,
        }
    }

    /// The agent says what it does. Tells how long an announced wait that this ends has lasted.
    pub(crate) fn on_status(
        &mut self,
        now: Timestamp,
        report: StatusReport,
        sent_at: Option<AgentTime>,
        policy: &Policy,
    ) -> Option<Span> {
        if self.was_sent_earlier(sent_at) {
            return None;
        }
        self.said_at = sent_at;
        self.tells = true;
        self.status = Some(report.status);
        let before = self.announced.take();
        let was_idle_since = self.idle_since.take();
        let awaited = match report.status {
            Status::Waiting => Some(report.waiting_on.unwrap_or_else(|| unsaid(report, before))),
            Status::Busy if report.lasting.is_some() => Some(Awaited::Timer),
            Status::Idle => {
                self.on_idle(was_idle_since.unwrap_or(now));
                None
            }
            Status::Busy | Status::Healthy | Status::Degraded => report.waiting_on,
        };
        if let Some(awaited) = awaited {
            self.announce(now, awaited, report.lasting, before, policy);
            let ended = before.filter(|wait| wait.awaited != awaited);
            return ended.map(|wait| now.since(wait.since));
        }
        if before.is_some_and(|wait| wait.awaited == Awaited::Provider) && report.status != Status::Idle {
            self.announced = before;
            return None;
        }
        before.map(|wait| now.since(wait.since))
    }

    /// The end of a turn: nothing is in flight any more.
    fn on_idle(&mut self, since: Timestamp) {
        self.idle_since = Some(since);
        self.in_flight.retain(|flight| flight.awaited == Awaited::Subagent);
        self.model_since = None;
    }

    /// It rested and works again: no request to the model outlasts a rest, and a call that does is given its time anew.
    pub(crate) fn on_resumed(&mut self, now: Timestamp) {
        self.model_since = None;
        for flight in &mut self.in_flight {
            flight.since = now;
        }
    }

    /// Announces a wait, or prolongs the one of the same kind.
    pub(crate) fn announce(
        &mut self,
        now: Timestamp,
        awaited: Awaited,
        lasting: Option<Span>,
        before: Option<Announced>,
        policy: &Policy,
    ) {
        let since = before.filter(|wait| wait.awaited == awaited).map_or(now, |wait| wait.since);
        let until = match awaited {
            Awaited::Timer => {
                let lease_since = *self.lease_since.get_or_insert(now);
                let asked = now + lasting.unwrap_or(policy.lease_max);
                Some(asked.min(lease_since + policy.lease_max))
            }
            _ => lasting.map(|span| now + span),
        };
        self.announced = Some(Announced { awaited, since, until });
        self.answered = false;
    }

    /// Progress was made: a new row of leases may begin.
    pub(crate) fn on_progress(&mut self) {
        self.lease_since = None;
    }

    /// A new life waits on nothing.
    pub(crate) fn reset(&mut self) {
        *self = Self { tells: self.tells, ..Self::default() };
    }

    /// What the agent waits on now: of all waits that still excuse, the one that does so longest.
    pub fn current(&self, now: Timestamp, policy: &Policy) -> Option<Wait> {
        self.waits(policy).filter(|wait| now < wait.until).max_by_key(|wait| wait.until)
    }

    /// Since when silence has been excused without end until now, less what is usual: the clocks of progress have
    /// stood still since.
    pub(crate) fn stopped_at(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        let since = self.waits(policy).filter(|wait| now < wait.until).map(|wait| wait.since).min()?;
        Some(since + policy.usual)
    }

    /// Whether it rests: idle, or waiting for what it cannot hurry.
    pub(crate) fn is_resting(&self) -> bool {
        self.idle_since.is_some() || self.awaits(Awaited::Person) || self.awaits(Awaited::Provider)
    }

    /// Whether it began to rest, to wait or to have a sub-agent work at this time or later.
    pub(crate) fn turned_to_others(&self, since: Timestamp) -> bool {
        let subagents = self.in_flight.iter().filter(|one| one.awaited == Awaited::Subagent);
        let announced = self.announced.map(|wait| wait.since);
        subagents.map(|one| one.since).chain(announced).chain(self.idle_since).any(|at| since <= at)
    }

    /// Since when it rests, if it does.
    pub(crate) fn rests_since(&self) -> Option<Timestamp> {
        let announced = self.announced.filter(|_| self.is_resting()).map(|wait| wait.since);
        self.idle_since.or(announced)
    }

    /// Whether it announced to wait for this, however long ago.
    pub(crate) fn awaits(&self, awaited: Awaited) -> bool {
        self.announced.is_some_and(|wait| wait.awaited == awaited)
    }

    /// Since when it waits for the model, by what it does and by what it says.
    pub(crate) fn model_waits(&self) -> impl Iterator<Item = Timestamp> {
        let announced = self.announced.filter(|wait| wait.awaited == Awaited::Model).map(|wait| wait.since);
        self.model_since.into_iter().chain(announced)
    }

    /// Its work is done: it is idle until it does something.
    pub(crate) fn on_nothing_to_do(&mut self, now: Timestamp) {
        self.on_idle(self.idle_since.unwrap_or(now));
    }

    /// Whether its silence means nothing now.
    pub fn is_excused(&self, now: Timestamp, policy: &Policy) -> bool {
        self.waits(policy).any(|wait| now < wait.until)
    }

    /// A wait that lasted longer than its patience, and nothing else explains the silence.
    pub(crate) fn finding(&self, now: Timestamp, last_work: Timestamp, policy: &Policy) -> Option<Finding> {
        if self.idle_since.is_some() || self.is_excused(now, policy) {
            return None;
        }
        // A lease that was used up before it was given again is void, and no wait.
        let overdue = self.waits(policy).filter(|wait| wait.since < wait.until);
        let overdue = overdue.filter(|wait| last_work <= wait.since + policy.usual);
        let wait = overdue.min_by_key(|wait| wait.since)?;
        let severity = match wait.awaited {
            Awaited::Person | Awaited::Provider => Severity::Degraded,
            Awaited::Tool | Awaited::Model | Awaited::Subagent | Awaited::Timer => Severity::Stuck,
        };
        Some(Finding {
            sign: Sign::Patience(wait.awaited),
            value: Measure::Span(now.since(wait.since)),
            threshold: Measure::Span(wait.until.since(wait.since)),
            severity,
        })
    }

    /// When the last excuse that still holds runs out.
    pub(crate) fn excused_until(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        self.waits(policy).map(|wait| wait.until).filter(|until| now < *until).max()
    }

    /// When the next excuse runs out.
    pub(crate) fn deadline(&self, now: Timestamp, policy: &Policy) -> Option<Timestamp> {
        self.waits(policy).map(|wait| wait.until).filter(|until| now < *until).min()
    }

    fn waits<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = Wait> + 'a {
        let in_flight = self.in_flight.iter().map(|flight| {
            let patience = match flight.awaited {
                Awaited::Subagent => policy.subagent,
                _ => flight.limit.map_or(policy.tool, |limit| limit + LIMIT_SLACK).min(policy.lease_max),
            };
            Wait { awaited: flight.awaited, since: flight.since, until: flight.since + patience }
        });
        let model = self.model_since.map(|since| Wait {
            awaited: Awaited::Model,
            since,
            until: since + policy.model,
        });
        let announced = self.announced.map(|wait| Wait {
            awaited: wait.awaited,
            since: wait.since,
            until: announced_until(wait, policy),
        });
        in_flight.chain(model).chain(announced)
    }
}

/// What an agent waits for that does not say: the end of the time it names, what it announced before, or a person.
fn unsaid(report: StatusReport, before: Option<Announced>) -> Awaited {
    let known = before.map(|wait| wait.awaited).filter(|awaited| *awaited != Awaited::Timer);
    if report.lasting.is_some() { Awaited::Timer } else { known.unwrap_or(Awaited::Person) }
}

/// Until when an announced wait excuses: its own word, within its kind's patience.
fn announced_until(wait: Announced, policy: &Policy) -> Timestamp {
    let patience = match wait.awaited {
        Awaited::Tool => policy.tool,
        Awaited::Model => policy.model,
        Awaited::Subagent => policy.subagent,
        Awaited::Person => policy.person,
        Awaited::Provider => policy.provider,
        // The lease was bounded when it was given.
        Awaited::Timer => return wait.until.unwrap_or(wait.since + policy.lease_max),
    };
    match (wait.awaited, wait.until) {
        // A provider's reset time is its promise; the patience runs beyond it.
        (Awaited::Provider, Some(until)) => until.max(wait.since + patience),
        (_, Some(until)) => until.min(wait.since + patience),
        (_, None) => wait.since + patience,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Span::secs(secs)
    }

    fn says(status: Status, waiting_on: Option<Awaited>) -> StatusReport {
        StatusReport { status, waiting_on, lasting: None }
    }

    fn tell(waiting: &mut Waiting, secs: u64, report: StatusReport, sent_ms: i64) -> Option<Span> {
        waiting.on_status(at(secs), report, Some(AgentTime(sent_ms)), &Policy::default())
    }

    #[test]
    fn l13_a_call_is_told_from_a_sub_agent_of_the_same_number() {
        let mut waiting = Waiting::default();
        waiting.on_started(at(0), 1, Awaited::Tool, None);
        waiting.on_started(at(5), 1, Awaited::Tool, None);
        waiting.on_started(at(10), 1, Awaited::Subagent, None);
        waiting.on_started(at(20), 2, Awaited::Tool, None);
        assert_eq!(waiting.in_flight.len(), 3, "told twice, it is one");
        assert_eq!(waiting.on_finished(at(30), 1, Awaited::Subagent), Some(Span::secs(20)));
        assert_eq!(waiting.on_finished(at(30), 2, Awaited::Subagent), None);
        assert_eq!(waiting.on_finished(at(30), 1, Awaited::Tool), Some(Span::secs(30)));
    }

    #[test]
    fn l53_what_was_sent_earlier_undoes_nothing_unless_the_clock_was_set() {
        let mut waiting = Waiting::default();
        tell(&mut waiting, 10, says(Status::Waiting, Some(Awaited::Person)), 1_000_000);
        assert_eq!(waiting.on_work(at(11), Some(AgentTime(999_999))), None, "it is late");
        assert!(waiting.announced.is_some());
        let set_back = AgentTime(1_000_000 - REORDER_MAX_MS);
        assert_eq!(waiting.on_work(at(12), Some(set_back)), Some(Span::secs(2)));
        tell(&mut waiting, 20, says(Status::Waiting, Some(Awaited::Person)), 2_000_000);
        assert_eq!(
            waiting.on_work(at(25), Some(AgentTime(2_000_000))),
            Some(Span::secs(5)),
            "at the same moment"
        );
    }

    #[test]
    fn x03_a_wait_that_turns_into_another_has_ended_and_one_that_is_said_again_goes_on() {
        let mut waiting = Waiting::default();
        let person = says(Status::Waiting, Some(Awaited::Person));
        assert_eq!(tell(&mut waiting, 10, person, 1), None);
        assert_eq!(tell(&mut waiting, 40, person, 2), None, "it is the same");
        assert_eq!(waiting.announced.map(|wait| wait.since), Some(at(10)));
        let model = says(Status::Waiting, Some(Awaited::Model));
        assert_eq!(tell(&mut waiting, 70, model, 3), Some(Span::secs(60)));
        assert_eq!(waiting.announced.map(|wait| wait.since), Some(at(70)));
    }

    #[test]
    fn x03_an_outage_is_not_over_because_the_agent_says_that_it_is_well_and_is_when_it_rests() {
        let mut waiting = Waiting::default();
        tell(&mut waiting, 10, says(Status::Waiting, Some(Awaited::Provider)), 1);
        assert_eq!(tell(&mut waiting, 20, says(Status::Healthy, None), 2), None);
        assert!(waiting.announced.is_some());
        assert_eq!(tell(&mut waiting, 30, says(Status::Idle, None), 3), Some(Span::secs(20)));
        assert!(waiting.announced.is_none());
    }

    #[test]
    fn x03_leases_in_a_row_end_together_and_progress_begins_a_new_row() {
        let (mut waiting, policy) = (Waiting::default(), Policy::default());
        let lease = |waiting: &mut Waiting, secs: u64| {
            waiting.announce(at(secs), Awaited::Timer, Some(Span::hours(3)), None, &policy);
            waiting.announced.and_then(|wait| wait.until).expect("a lease ends")
        };
        lease(&mut waiting, 0);
        assert_eq!(lease(&mut waiting, 2 * 3_600), at(4 * 3_600), "no longer than the row may last");
        waiting.on_progress();
        assert_eq!(lease(&mut waiting, 2 * 3_600), at(5 * 3_600));
    }

    #[test]
    fn a_new_life_waits_on_nothing_and_tells_as_the_one_before_did() {
        let mut waiting = Waiting::default();
        tell(&mut waiting, 10, says(Status::Waiting, Some(Awaited::Person)), 1);
        waiting.on_started(at(11), 1, Awaited::Tool, None);
        waiting.reset();
        assert_eq!(waiting, Waiting { tells: true, ..Waiting::default() });
    }
}
