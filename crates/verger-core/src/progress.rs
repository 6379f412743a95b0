//! Whether an agent gets on: the second of the two clocks.
//!
//! The first clock asks whether anybody is there; this one asks when something new last happened: work was
//! saved, a file changed, more tests passed, a call brought a result not seen before. It counts time at
//! work. Idleness stops it, and so does every wait beyond the usual couple of minutes, for otherwise a
//! 40-minute build would look like 40 minutes without progress.

use crate::evidence::{Measure, Severity, Sign};
use crate::signs::Finding;
use crate::time::{Span, Timestamp};

/// When a lack of progress counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Nothing new for this long is a warning sign. Default 10 min (000 §2.1).
    pub degraded_after: Span,
    /// Nothing new for longer than this is stuck. Default 30 min (000 §2.1).
    pub stuck_after: Span,
    /// No tool call for this long is stuck. Default 15 min (000 §2.2).
    pub tool_silence: Span,
    /// Idle for this long with work assigned. Default 10 min: the pause between being given work and running it.
    pub idle_with_work: Span,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            degraded_after: Span::minutes(10),
            stuck_after: Span::minutes(30),
            tool_silence: Span::minutes(15),
            idle_with_work: Span::minutes(10),
        }
    }
}

/// When an agent last got on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// When something new last happened, moved forward by every excused wait since.
    pub(crate) last: Timestamp,
    /// When something new last happened that outlasts a call.
    pub(crate) last_lasting: Timestamp,
    /// Whether the agent reports progress that outlasts a call: saved work, changed files, a moving indicator.
    pub(crate) reports: bool,
    /// When a tool was last called, moved forward by every excused wait since.
    pub(crate) last_call: Option<Timestamp>,
    /// When it last did anything that is work, not moved.
    pub(crate) last_work: Timestamp,
    /// The last progress indicator it sent.
    pub(crate) indicator: Option<u64>,
    /// Since when it has work that it is expected to run.
    pub(crate) assigned_at: Option<Timestamp>,
    /// Whether who said what it works on had proved who it is.
    pub(crate) task_proven: bool,
    /// Whether it is an agent whose work can be seen: it has called tools or sub-agents, in this life or before.
    pub(crate) shows_work: bool,
    /// Whether it says when a call begins, in this life or before. Who does not may be in one at any time.
    pub(crate) announces_calls: bool,
    /// Whether it says when it asks the model, in this life or before. Who does not may be thinking at any time.
    pub(crate) announces_thought: bool,
    /// The monitor was away since its last sign of work: what it has begun meanwhile is not known.
    pub(crate) unsure: bool,
}

impl Progress {
    /// Something new happened.
    pub(crate) fn on_progress(&mut self, now: Timestamp) {
        self.last = now;
    }

    /// Something new happened that outlasts the call: from now on the agent is known to report such things.
    pub(crate) fn on_lasting_progress(&mut self, now: Timestamp) {
        self.last = now;
        self.last_lasting = now;
        self.reports = true;
    }

    /// The indicator of a heartbeat; tells whether it moved. An indicator that never moved reports nothing.
    pub(crate) fn on_indicator(&mut self, now: Timestamp, indicator: u64) -> bool {
        let moved = self.indicator.is_some_and(|before| before != indicator);
        self.indicator = Some(indicator);
        if moved {
            self.on_lasting_progress(now);
        }
        moved
    }

    /// A tool was called, or a call ended.
    pub(crate) fn on_call(&mut self, now: Timestamp) {
        self.last_call = Some(now);
        self.shows_work = true;
        self.on_work(now);
    }

    /// It works without calling tools: it thinks or talks.
    pub(crate) fn on_work(&mut self, now: Timestamp) {
        self.last_work = now;
        if std::mem::take(&mut self.unsure) {
            // What ended just now began unseen, and explains why nothing was called.
            self.last_call = self.last_call.map(|_| now);
        }
    }

    /// The monitor was away.
    pub(crate) fn on_monitor_back(&mut self) {
        self.unsure = true;
    }

    /// It has others work for it, which is as good as a call.
    pub(crate) fn on_delegation(&mut self, now: Timestamp) {
        self.shows_work = true;
        self.on_work(now);
        if let Some(last) = &mut self.last_call {
            *last = now;
        }
    }

    /// A wait of this length has ended; what exceeded the usual does not count as time at work.
    pub(crate) fn on_waited(&mut self, now: Timestamp, waited: Span, usual: Span) {
        let excused = waited.less(usual);
        self.last = (self.last + excused).min(now);
        if let Some(last) = &mut self.last_call {
            *last = (*last + excused).min(now);
        }
    }

    /// Idleness has ended: the clocks start afresh.
    pub(crate) fn on_resumed(&mut self, now: Timestamp) {
        self.last = self.last.max(now);
        self.last_lasting = self.last_lasting.max(now);
        if let Some(last) = &mut self.last_call {
            *last = now;
        }
    }

    /// Work was assigned, which it is expected to run.
    pub(crate) fn on_assigned(&mut self, now: Timestamp) {
        self.assigned_at.get_or_insert(now);
        self.on_resumed(now);
    }

    /// There is no work any more.
    pub(crate) fn on_unassigned(&mut self) {
        self.assigned_at = None;
    }

    /// Nothing new for too long. To be asked only of an agent that does not rest.
    pub(crate) fn staleness(&self, now: Timestamp, slack: Slack, policy: &Policy) -> Option<Finding> {
        let age = now.since(self.last).less(slack.excused(now));
        let degraded_after = self.degraded_after(slack, policy);
        if !self.reports || age < degraded_after {
            return None;
        }
        let stuck_after = self.stuck_after(slack, policy);
        let long = age > stuck_after;
        // What it does cannot be seen, and it seems to do something: nobody can say that it stands still.
        let unseen = self.last_call.is_none() && slack.seems_at_work;
        Some(Finding {
            sign: Sign::Progress,
            value: Measure::Span(age),
            threshold: Measure::Span(if long { stuck_after } else { degraded_after }),
            severity: if long && !unseen { Severity::Stuck } else { Severity::Degraded },
        })
    }

    /// No tool call for too long. To be asked only of an agent that does not rest.
    pub(crate) fn tool_silence(&self, now: Timestamp, slack: Slack, policy: &Policy) -> Option<Finding> {
        let silence = now.since(self.last_call?).less(slack.excused(now));
        let limit = self.silence_limit(slack, policy);
        (silence >= limit).then_some(Finding {
            sign: Sign::ToolSilence,
            value: Measure::Span(silence),
            threshold: Measure::Span(limit),
            severity: Severity::Stuck,
        })
    }

    fn degraded_after(&self, slack: Slack, policy: &Policy) -> Span {
        policy.degraded_after.max(self.beats_apart(slack, 2))
    }

    /// Whose progress is an indicator in its heartbeats can tell of something new only with one, and one may be lost.
    fn beats_apart(&self, slack: Slack, beats: u64) -> Span {
        let by_beats_alone = self.last_call.is_none() && self.indicator.is_some();
        let every = slack.news_every;
        // The one after the lost one may be a little late itself.
        if by_beats_alone { every.times(beats) + every.half().half() } else { Span::ZERO }
    }

    /// How long nothing new may come of what it does.
    pub(crate) fn stuck_after(&self, slack: Slack, policy: &Policy) -> Span {
        match self.last_call {
            None => policy.stuck_after.max(self.beats_apart(slack, 4)),
            Some(_) if self.announces_calls && !self.unsure => policy.stuck_after,
            Some(_) => policy.stuck_after.max(slack.unseen_call),
        }
    }

    fn silence_limit(&self, slack: Slack, policy: &Policy) -> Span {
        match (self.announces_calls, self.announces_thought) {
            (false, _) => policy.tool_silence.max(slack.unseen_call),
            _ if self.unsure => policy.tool_silence.max(slack.unseen_call),
            (true, false) => policy.tool_silence.max(slack.unseen_thought),
            (true, true) => policy.tool_silence,
        }
    }

    /// Idle though it has work. `idle_since` is when it last became idle, or was last heard of if it never worked.
    ///
    /// Worth a reminder and no more: it may have done its work, and the word of it was lost. An agent whose work
    /// cannot be seen is believed to have begun it.
    pub(crate) fn idleness(&self, now: Timestamp, idle_since: Timestamp, policy: &Policy) -> Option<Finding> {
        let assigned_at = self.assigned_at?;
        let idle = now.since(idle_since.max(assigned_at));
        let seen = self.shows_work || assigned_at <= idle_since;
        (seen && idle >= policy.idle_with_work).then_some(Finding {
            sign: Sign::IdleWithWork,
            value: Measure::Span(idle),
            threshold: Measure::Span(policy.idle_with_work),
            severity: Severity::Degraded,
        })
    }

    /// When the next of these findings could appear or grow, for an agent that does not rest.
    pub(crate) fn deadline(&self, now: Timestamp, slack: Slack, policy: &Policy) -> Option<Timestamp> {
        let stale = self.reports.then(|| {
            let degraded = self.last + self.degraded_after(slack, policy);
            if now < degraded {
                degraded
            } else {
                self.last + self.stuck_after(slack, policy) + Span::millis(1)
            }
        });
        let silent = self.last_call.map(|last| last + self.silence_limit(slack, policy));
        let reached = |due: &Timestamp| now < *due && slack.stopped_at.is_none_or(|stop| *due <= stop);
        [stale, silent].into_iter().flatten().filter(reached).min()
    }
}

/// What explains a standstill, apart from the agent's rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slack {
    /// Since when a wait has stopped the clocks.
    pub(crate) stopped_at: Option<Timestamp>,
    /// How long a call may last whose beginning was not announced.
    pub(crate) unseen_call: Span,
    /// How long it may think where that is not announced.
    pub(crate) unseen_thought: Span,
    /// It shows no calls, but says that it is busy or uses tokens: then that has to do.
    pub(crate) seems_at_work: bool,
    /// How often it tells of itself, if it beats.
    pub(crate) news_every: Span,
}

impl Slack {
    fn excused(self, now: Timestamp) -> Span {
        self.stopped_at.map_or(Span::ZERO, |stopped_at| now.since(stopped_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Timestamp {
        Timestamp::ZERO + Span::secs(secs)
    }

    fn calling() -> Progress {
        Progress { last: at(10), last_call: Some(at(20)), ..Progress::default() }
    }

    const SLACK: Slack = Slack {
        stopped_at: None,
        unseen_call: Span::hours(2),
        unseen_thought: Span::minutes(40),
        seems_at_work: false,
        news_every: Span::ZERO,
    };

    #[test]
    fn l13_of_a_wait_only_what_exceeds_the_usual_moves_the_clocks() {
        let mut progress = calling();
        progress.on_waited(at(1_000), Span::secs(500), Span::secs(120));
        assert_eq!((progress.last, progress.last_call), (at(390), Some(at(400))));
        progress.on_waited(at(1_000), Span::secs(100), Span::secs(120));
        assert_eq!((progress.last, progress.last_call), (at(390), Some(at(400))), "an ordinary one");
        progress.on_waited(at(1_000), Span::secs(5_000), Span::secs(120));
        assert_eq!((progress.last, progress.last_call), (at(1_000), Some(at(1_000))), "never beyond now");
    }

    #[test]
    fn l13_having_others_work_is_as_good_as_a_call() {
        let mut progress = calling();
        progress.on_delegation(at(100));
        assert_eq!((progress.last_call, progress.last_work), (Some(at(100)), at(100)));
        assert!(progress.shows_work);
    }

    #[test]
    fn l13_who_announces_calls_gets_no_time_for_unseen_ones_unless_the_monitor_was_away() {
        let policy = Policy::default();
        let unannounced = calling();
        assert_eq!(unannounced.stuck_after(SLACK, &policy), Span::hours(2));
        let mut announced = Progress { announces_calls: true, ..calling() };
        assert_eq!(announced.stuck_after(SLACK, &policy), policy.stuck_after);
        announced.on_monitor_back();
        assert_eq!(announced.stuck_after(SLACK, &policy), Span::hours(2));
    }
}
