//! What a worker's verdicts say about it, over time: the judge of 003.
//!
//! ```text
//! steps since the last ACCEPT   0–4 Healthy   5–9 Warning   10–14 Medium, if it loops   15–19 High   20– Critical
//! the same steps at two checks  a stall; Critical from four minutes on
//! ```
//!
//! Every two minutes the worker is looked at, and at the moment at which a stall becomes critical, so that one
//! is not found two minutes late. A step that makes matters worse is judged at once. Nothing is reported before
//! the first check of a session is done: the worker is given time to start.
//!
//! The last 64 steps are remembered and what came before them is a number, so steps may come twice, late, or
//! first without their verdict and then with it. A log that falls behind its latest number and does not catch up is
//! numbered anew; that number may also have been nonsense. What was counted stays, and its steps go on from there.

use std::collections::BTreeMap;
use std::fmt;

use super::{JudgePolicy, Severity};
use crate::id::SessionId;
use crate::text;
use crate::time::{Span, Timestamp};

/// Steps that are remembered one by one.
pub(super) const STEPS_MAX: usize = 64;
/// Verdicts that a report shows, as many as 003's window holds.
pub(super) const SHOWN_MAX: usize = 40;
/// A log that is told again from its beginning, or a step that is late, has caught up by then.
const ANEW_AFTER: Span = Span::minutes(2);
/// Characters of a session's name that are kept.
pub(super) const SESSION_MAX: usize = 200;

/// What was said of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is good.
    Accept,
    /// It is to be done again.
    Retry,
    /// It is not good, and was turned down.
    Reject,
    /// Nothing to judge yet; go on.
    Continue,
    /// Somebody else must look at it.
    Escalate,
}

impl Verdict {
    const ALL: [Self; 5] = [Self::Accept, Self::Retry, Self::Reject, Self::Continue, Self::Escalate];

    /// The word as step logs write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accept => "ACCEPT",
            Self::Retry => "RETRY",
            Self::Reject => "REJECT",
            Self::Continue => "CONTINUE",
            Self::Escalate => "ESCALATE",
        }
    }

    /// The verdict that a step log's word means, in either case.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word().eq_ignore_ascii_case(word.trim()))
    }

    /// Whether a step with this verdict is one more without ACCEPT.
    fn counts(self, policy: &JudgePolicy) -> bool {
        match self {
            Self::Accept => false,
            Self::Retry | Self::Reject | Self::Escalate => true,
            Self::Continue => policy.continue_counts,
        }
    }
}

/// What else is known of the worker when it is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The evidence shows a loop: repeated calls, cycles, the same failure again and again.
    pub looping: bool,
    /// There is a good reason to stand still: a person's answer is outstanding, a long call runs, it is done.
    pub excused: bool,
    /// Nothing could be seen of it: it is lost, or the monitor was away. A standstill that is only not seen to end
    /// is neither held against it nor over.
    pub unseen: bool,
}

/// How a worker stands, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Its work is accepted.
    Healthy,
    /// Watched; no ticket.
    Warning,
    /// A medium ticket: it loops.
    Medium,
    /// A high ticket.
    High,
    /// A critical ticket.
    Critical,
}

impl Standing {
    /// The ticket that this deserves.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Healthy | Self::Warning => None,
            Self::Medium => Some(Severity::Medium),
            Self::High => Some(Severity::High),
            Self::Critical => Some(Severity::Critical),
        }
    }
}

/// What one look at a worker found. Its text is the judge's reasoning, to be kept and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The session that was looked at.
    pub session: SessionId,
    /// How the worker stands.
    pub standing: Standing,
    /// Steps seen in this session.
    pub total_steps: u64,
    /// Steps seen at the check before; nothing at the first.
    pub total_before: Option<u64>,
    /// Steps since the last ACCEPT, or since the beginning if there was none.
    pub steps_since_last_accept: u64,
    /// For how long it has stood still, once two checks found the same steps.
    pub stall: Option<Span>,
    /// Whether the evidence shows a loop.
    pub looping: bool,
    /// The latest verdicts, oldest first.
    pub recent_verdicts: Vec<Verdict>,
    /// The ticket to write now. Not set again while the same ticket is fresh.
    pub ticket: Option<Severity>,
    /// A condition that was reported is over.
    pub recovered: bool,
}

/// What the verdicts of one worker say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend {
    pub(crate) session: Option<SessionId>,
    pub(crate) steps: BTreeMap<u64, Option<Verdict>>,
    /// Steps below this number are forgotten.
    pub(crate) first_kept: u64,
    /// Forgotten steps since the last forgotten ACCEPT.
    pub(crate) counted_before: u64,
    pub(crate) total: u64,
    /// The last step, or the last moment at which standing still was excused.
    pub(crate) moved_at: Timestamp,
    /// When a step was first and last told that comes before the latest, if none was told since that does not.
    pub(crate) behind: Option<(Timestamp, Timestamp)>,
    pub(crate) checked: Option<Checked>,
    pub(crate) check_at: Timestamp,
    /// The ticket that was last written, and when.
    pub(crate) reported: Option<(Severity, Timestamp)>,
}

/// What a check saw, for the next one to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    pub(crate) at: Timestamp,
    pub(crate) total: u64,
}

impl Trend {
    /// The worker's active session. Another one than before begins anew; the same one changes nothing.
    pub fn begin(&mut self, now: Timestamp, session: &str, policy: &JudgePolicy) {
        let session = SessionId::from(text::first(session, SESSION_MAX));
        if self.session.as_ref() == Some(&session) {
            return;
        }
        *self = Self {
            session: Some(session),
            moved_at: now,
            check_at: now + policy.check_span(),
            ..Self::default()
        };
    }

    /// The session is over: nothing is judged until another begins.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// A step of this session, judged or not yet. Tells what to do at once: write a ticket, or take one back.
    /// Steps of other sessions, forgotten ones and repeats change nothing.
    pub fn on_step(
        &mut self,
        now: Timestamp,
        session: &str,
        number: u64,
        verdict: Option<Verdict>,
        seen: Seen,
        policy: &JudgePolicy,
    ) -> Option<Assessment> {
        let known =
            self.session.as_ref().is_some_and(|own| own.as_str() == text::first(session, SESSION_MAX));
        if !known {
            return None;
        }
        self.follow_numbers(now, number, policy);
        if number < self.first_kept || !self.learn(now, number, verdict) {
            return None;
        }
        self.forget(policy);
        self.checked?;
        let assessment = self.report(now, seen, policy)?;
        (assessment.ticket.is_some() || assessment.recovered).then_some(assessment)
    }

    /// The number of the latest step.
    pub(super) fn latest(&self) -> Option<u64> {
        self.steps.last_key_value().map(|(number, _)| *number)
    }

    /// Notes whether the log goes on, or fell behind; if that lasts, it is numbered anew.
    fn follow_numbers(&mut self, now: Timestamp, number: u64, policy: &JudgePolicy) {
        if self.latest().is_none_or(|latest| latest <= number) {
            self.behind = None;
            return;
        }
        let since = self.behind.map_or(now, |(since, _)| since);
        self.behind = Some((since, now));
        if ANEW_AFTER <= now.since(since) {
            while self.forget_first(policy) {}
            self.first_kept = 0;
            self.behind = None;
        }
    }

    /// Takes in a step; tells whether there was anything new in it.
    fn learn(&mut self, now: Timestamp, number: u64, verdict: Option<Verdict>) -> bool {
        match self.steps.insert(number, verdict) {
            None => {
                self.total = self.total.saturating_add(1);
                self.moved_at = now;
                true
            }
            Some(before) if before == verdict => false,
            // The repeat of a judged step without its verdict.
            Some(Some(before)) if verdict.is_none() => {
                self.steps.insert(number, Some(before));
                false
            }
            // Judged at last. A step that is judged once more is no movement.
            Some(before) => {
                if before.is_none() {
                    self.moved_at = now;
                }
                true
            }
        }
    }

    fn forget(&mut self, policy: &JudgePolicy) {
        while self.steps.len() > STEPS_MAX {
            self.forget_first(policy);
        }
    }

    /// Makes the first step that is remembered a part of the number; tells whether there was one.
    fn forget_first(&mut self, policy: &JudgePolicy) -> bool {
        let Some((number, verdict)) = self.steps.pop_first() else { return false };
        self.first_kept = number.saturating_add(1);
        match verdict {
            Some(Verdict::Accept) => self.counted_before = 0,
            Some(verdict) if verdict.counts(policy) => {
                self.counted_before = self.counted_before.saturating_add(1);
            }
            Some(_) | None => {}
        }
        true
    }

    /// Looks at the worker if that is due. Calling early changes nothing.
    pub fn wake(&mut self, now: Timestamp, seen: Seen, policy: &JudgePolicy) -> Option<Assessment> {
        if self.due(policy).is_none_or(|due| now < due) {
            return None;
        }
        self.check_at = now + policy.check_span();
        if seen.unseen {
            self.moved_at = now;
            return None;
        }
        let assessment = self.report(now, seen, policy);
        if seen.excused {
            self.moved_at = now;
        }
        self.checked = Some(Checked { at: now, total: self.total });
        assessment
    }

    /// When the worker must be looked at again.
    pub fn deadline(&self, now: Timestamp, policy: &JudgePolicy) -> Option<Timestamp> {
        self.due(policy).map(|due| due.max(now + Span::millis(1)))
    }

    fn due(&self, policy: &JudgePolicy) -> Option<Timestamp> {
        self.session.as_ref()?;
        let stalled_at = self.stands_since() + policy.stall_span();
        // Worth a look of its own only while it stands still, and once.
        let stands = self.checked.is_some_and(|last| last.total == self.total && last.at < stalled_at);
        Some(if stands { self.check_at.min(stalled_at) } else { self.check_at })
    }

    /// Since when nothing new was told. A step of a log that fell behind is new as long as the log may be numbered
    /// anew; if it catches up, it was not.
    fn stands_since(&self) -> Timestamp {
        self.behind.map_or(self.moved_at, |(_, last)| last.max(self.moved_at))
    }

    /// How the worker stands now, for whoever asks. Nothing is reported by asking.
    pub fn assess(&self, now: Timestamp, seen: Seen, policy: &JudgePolicy) -> Option<Assessment> {
        let session = self.session.clone()?;
        let stands = self.checked.is_some_and(|last| last.total == self.total) && !seen.excused;
        let stall = stands.then(|| now.since(self.stands_since()));
        let steps_since_last_accept = self.steps_since_accept(policy);
        let verdicts = self.steps.values().rev().filter_map(|verdict| *verdict).take(SHOWN_MAX);
        let mut recent_verdicts: Vec<_> = verdicts.collect();
        recent_verdicts.reverse();
        Some(Assessment {
            session,
            standing: standing(steps_since_last_accept, stall, seen, policy),
            total_steps: self.total,
            total_before: self.checked.map(|last| last.total),
            steps_since_last_accept,
            stall,
            looping: seen.looping,
            recent_verdicts,
            ticket: None,
            recovered: false,
        })
    }

    /// Assesses, and decides whether that is worth a ticket.
    fn report(&mut self, now: Timestamp, seen: Seen, policy: &JudgePolicy) -> Option<Assessment> {
        let mut found = self.assess(now, seen, policy)?;
        // The first check ever: the worker is given time to start.
        let severity = self.checked.and_then(|_| found.standing.severity());
        let fresh = |(before, at): (Severity, Timestamp), severity| {
            severity <= before && now.since(at) < policy.ticket_again
        };
        found.ticket = severity.filter(|severity| !self.reported.is_some_and(|last| fresh(last, *severity)));
        if let Some(severity) = found.ticket {
            self.reported = Some((severity, now));
        }
        // Only health ends a condition: a warning is its way down, and its way up again.
        if found.standing == Standing::Healthy {
            found.recovered = self.reported.take().is_some();
        }
        Some(found)
    }

    fn steps_since_accept(&self, policy: &JudgePolicy) -> u64 {
        let mut counted = 0_u64;
        for verdict in self.steps.values().rev().filter_map(|verdict| *verdict) {
            if verdict == Verdict::Accept {
                return counted;
            }
            counted += u64::from(verdict.counts(policy));
        }
        counted.saturating_add(self.counted_before)
    }
}

/// The table of 003, from its last row to its first.
fn standing(steps: u64, stall: Option<Span>, seen: Seen, policy: &JudgePolicy) -> Standing {
    let stalled = stall.is_some_and(|stall| stall >= policy.stall_span());
    if stalled || steps >= policy.critical_at {
        Standing::Critical
    } else if steps >= policy.high_at {
        Standing::High
    } else if steps >= policy.medium_at && seen.looping {
        Standing::Medium
    } else if steps >= policy.warn_at.min(policy.medium_at) {
        Standing::Warning
    } else {
        Standing::Healthy
    }
}

/// The judge's reasoning, in the words of 003.
impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.total_before {
            None => write!(f, "First check: total_steps={}.", self.total_steps)?,
            Some(before) => {
                write!(f, "Last check: total_steps={before}. This check: total_steps={}.", self.total_steps)?;
            }
        }
        if let Some(stall) = self.stall {
            write!(f, " Unchanged at two checks: stalled for {stall}.")?;
        }
        write!(f, " steps_since_last_accept={}.", self.steps_since_last_accept)?;
        f.write_str(if self.looping { " The evidence shows a loop." } else { " No loop is seen." })?;
        let first = self.total_before.is_none();
        f.write_str(match self.standing {
            Standing::Healthy => " Healthy.",
            Standing::Warning => " Warning, no ticket.",
            Standing::Medium | Standing::High | Standing::Critical if first => {
                " No ticket at the first check: the worker is given time to start."
            }
            Standing::Medium => " This is a medium ticket.",
            Standing::High => " This is a high ticket.",
            Standing::Critical => " This is a critical ticket.",
        })
    }
}
