//! The escalation ticket of 003: every field, or none at all.
//!
//! A partial ticket is refused, so that nobody escalates on impulse, and the refusal names everything that is
//! wrong at once, so that the second attempt is the last. A field that is too long is refused too and not cut:
//! 003 states the length as part of the schema, and half an answer would be taken for a whole one. The
//! monitor's own judge cuts its excerpt before it writes a ticket.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::fingerprint::mix;
use crate::id::{AgentId, Incarnation, SessionId, TicketId};
use crate::time::{Span, Timestamp};

/// Characters of an excerpt of the worker's output (003).
pub(super) const EVIDENCE_MAX: usize = 500;
/// Characters of an id.
pub(super) const ID_MAX: usize = 200;
/// Characters of a cause or of a suggestion: a paragraph.
pub(super) const TEXT_MAX: usize = 1_000;
/// Characters of reasoning: a page.
pub(super) const REASONING_MAX: usize = 4_000;
/// Verdicts of a ticket; 003 looks at the last 40 steps.
pub(super) const VERDICTS_MAX: usize = 100;
/// Characters of a verdict.
pub(super) const VERDICT_MAX: usize = 32;
/// The longest stall that is believed.
const STALL_MAX: Duration = Duration::from_hours(24 * 366);

/// How grave a ticket is, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a note.
    Low,
    /// It loops.
    Medium,
    /// It gets nowhere.
    High,
    /// It is stuck.
    Critical,
}

impl Severity {
    const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word of 003's schema.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The severity that a word of 003's schema means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.word() == word)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A ticket as somebody hands it in: anything may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its name; made from the worker, the session and a number if not given.
    pub ticket_id: Option<String>,
    /// Who is reported.
    pub worker_agent_id: Option<String>,
    /// In which session.
    pub worker_session_id: Option<String>,
    /// At which step of its graph, or whatever the worker calls that.
    pub worker_node_id: Option<String>,
    /// In which graph.
    pub worker_graph_id: Option<String>,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: Option<String>,
    /// What was observed.
    pub cause: Option<String>,
    /// Why that is worth a ticket.
    pub judge_reasoning: Option<String>,
    /// What could be done.
    pub suggested_action: Option<String>,
    /// The latest verdicts, oldest first.
    pub recent_verdicts: Option<Vec<String>>,
    /// Steps that were looked at.
    pub total_steps_checked: Option<i64>,
    /// Steps since the last ACCEPT.
    pub steps_since_last_accept: Option<i64>,
    /// For how long the worker has stood still.
    pub stall_minutes: Stalling,
    /// An excerpt of its last output; may be empty, must be there.
    pub evidence_snippet: Option<String>,
}

/// What a draft says of a stall. That there is none must be said too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stalling {
    /// Nothing: the field is missing.
    #[default]
    Unsaid,
    /// The worker moves (`null`).
    Moving,
    /// It has stood still for so many minutes.
    Minutes(f64),
}

/// A complete ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its name.
    pub id: TicketId,
    /// When it was handed in.
    pub created_at: Timestamp,
    /// The life of the worker that it is about, where that is known.
    pub life: Option<Incarnation>,
    /// What it says.
    pub report: Report,
}

/// What a complete ticket says; the fields of 003.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Who is reported.
    pub worker: AgentId,
    /// In which session.
    pub session: SessionId,
    /// At which step of its graph.
    pub node: Arc<str>,
    /// In which graph.
    pub graph: Arc<str>,
    /// How grave it is.
    pub severity: Severity,
    /// What was observed.
    pub cause: Arc<str>,
    /// Why that is worth a ticket.
    pub judge_reasoning: Arc<str>,
    /// What could be done.
    pub suggested_action: Arc<str>,
    /// The latest verdicts, oldest first.
    pub recent_verdicts: Vec<Arc<str>>,
    /// Steps that were looked at.
    pub total_steps_checked: u64,
    /// Steps since the last ACCEPT.
    pub steps_since_last_accept: u64,
    /// For how long the worker has stood still, if it does.
    pub stall: Option<Span>,
    /// An excerpt of its last output.
    pub evidence_snippet: Arc<str>,
}

impl Report {
    /// The stall as 003's schema writes it.
    pub fn stall_minutes(&self) -> Option<f64> {
        self.stall.map(|stall| stall.as_millis() as f64 / 60_000.0)
    }
}

/// A ticket's name, in the shape of a UUID: 128 bits of what it is about and of a number that only grows.
pub(super) fn ticket_id(report: &Report, now: Timestamp, number: u64) -> TicketId {
    let half = |seed| {
        let texts = [report.worker.as_str(), report.session.as_str()];
        let named = texts.iter().fold(seed, |digest, text| {
            text.bytes().fold(mix(digest, text.len() as u64), |digest, byte| mix(digest, u64::from(byte)))
        });
        mix(mix(named, now.as_millis()), number)
    };
    let (high, low) = (half(1), half(2));
    // Version 8 ("custom") and the variant of RFC 9562.
    let high = (high & !0xf000) | 0x8000;
    let low = (low & (u64::MAX >> 2)) | (1 << 63);
    let hex = format!("{high:016x}{low:016x}");
    let groups = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    TicketId::from(groups.join("-"))
}

/// The fields of 003's schema that can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// `ticket_id`
    TicketId,
    /// `worker_agent_id`
    WorkerAgentId,
    /// `worker_session_id`
    WorkerSessionId,
    /// `worker_node_id`
    WorkerNodeId,
    /// `worker_graph_id`
    WorkerGraphId,
    /// `severity`
    Severity,
    /// `cause`
    Cause,
    /// `judge_reasoning`
    JudgeReasoning,
    /// `suggested_action`
    SuggestedAction,
    /// `recent_verdicts`
    RecentVerdicts,
    /// `total_steps_checked`
    TotalStepsChecked,
    /// `steps_since_last_accept`
    StepsSinceLastAccept,
    /// `stall_minutes`
    StallMinutes,
    /// `evidence_snippet`
    EvidenceSnippet,
}

impl Field {
    /// The name in 003's schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::TicketId => "ticket_id",
            Self::WorkerAgentId => "worker_agent_id",
            Self::WorkerSessionId => "worker_session_id",
            Self::WorkerNodeId => "worker_node_id",
            Self::WorkerGraphId => "worker_graph_id",
            Self::Severity => "severity",
            Self::Cause => "cause",
            Self::JudgeReasoning => "judge_reasoning",
            Self::SuggestedAction => "suggested_action",
            Self::RecentVerdicts => "recent_verdicts",
            Self::TotalStepsChecked => "total_steps_checked",
            Self::StepsSinceLastAccept => "steps_since_last_accept",
            Self::StallMinutes => "stall_minutes",
            Self::EvidenceSnippet => "evidence_snippet",
        }
    }
}

/// What is wrong with one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {why}", field.name())]
pub struct Flaw {
    /// Which field.
    pub field: Field,
    /// What is wrong with it.
    pub why: Why,
}

/// What can be wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// It is there and says nothing.
    #[error("is empty")]
    Empty,
    /// It has too many characters.
    #[error("has {given} characters and may have {max}")]
    TooLong {
        /// The limit.
        max: usize,
        /// What was given.
        given: usize,
    },
    /// It has too many entries.
    #[error("has {given} entries and may have {max}")]
    TooMany {
        /// The limit.
        max: usize,
        /// What was given.
        given: usize,
    },
    /// It is none of the four severities.
    #[error("must be one of low, medium, high, critical")]
    NoSeverity,
    /// It counts or measures something, and cannot be this.
    #[error("must be a number from 0 on, and one that makes sense")]
    NoAmount,
}

/// A ticket that was refused, and everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In the order of the schema.
    pub flaws: Vec<Flaw>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ticket is not complete: ")?;
        for (n, flaw) in self.flaws.iter().enumerate() {
            write!(f, "{}{flaw}", if n == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl Draft {
    /// What it says, if it is complete, and the name it was given.
    pub fn check(self) -> Result<(Option<TicketId>, Report), Refusal> {
        let mut flaws = Flaws::default();
        let id = self.ticket_id.map(|id| flaws.text(Field::TicketId, Some(id), ID_MAX));
        let report = Report {
            worker: AgentId::from(&*flaws.text(Field::WorkerAgentId, self.worker_agent_id, ID_MAX)),
            session: SessionId::from(&*flaws.text(Field::WorkerSessionId, self.worker_session_id, ID_MAX)),
            node: flaws.text(Field::WorkerNodeId, self.worker_node_id, ID_MAX),
            graph: flaws.text(Field::WorkerGraphId, self.worker_graph_id, ID_MAX),
            severity: flaws.severity(self.severity),
            cause: flaws.text(Field::Cause, self.cause, TEXT_MAX),
            judge_reasoning: flaws.text(Field::JudgeReasoning, self.judge_reasoning, REASONING_MAX),
            suggested_action: flaws.text(Field::SuggestedAction, self.suggested_action, TEXT_MAX),
            recent_verdicts: flaws.verdicts(self.recent_verdicts),
            total_steps_checked: flaws.count(Field::TotalStepsChecked, self.total_steps_checked),
            steps_since_last_accept: flaws.count(Field::StepsSinceLastAccept, self.steps_since_last_accept),
            stall: flaws.stall(self.stall_minutes),
            evidence_snippet: flaws.excerpt(self.evidence_snippet),
        };
        if flaws.0.is_empty() {
            Ok((id.map(|id| TicketId::from(&*id)), report))
        } else {
            Err(Refusal { flaws: flaws.0 })
        }
    }
}

/// Collects what is wrong. Each method gives a value that stands in for a bad one: the ticket is refused anyway.
#[derive(Default)]
struct Flaws(Vec<Flaw>);

impl Flaws {
    fn found(&mut self, field: Field, why: Why) {
        self.0.push(Flaw { field, why });
    }

    fn text(&mut self, field: Field, given: Option<String>, max: usize) -> Arc<str> {
        if given.as_ref().is_some_and(|text| text.trim().is_empty()) {
            self.found(field, Why::Empty);
            return Arc::default();
        }
        self.bounded(field, given, max)
    }

    /// A worker may not have said anything yet: an empty excerpt is one.
    fn excerpt(&mut self, given: Option<String>) -> Arc<str> {
        self.bounded(Field::EvidenceSnippet, given, EVIDENCE_MAX)
    }

    fn bounded(&mut self, field: Field, given: Option<String>, max: usize) -> Arc<str> {
        let Some(text) = given else {
            self.found(field, Why::Missing);
            return Arc::default();
        };
        let length = text.chars().count();
        if length > max {
            self.found(field, Why::TooLong { max, given: length });
        }
        text.into()
    }

    fn severity(&mut self, given: Option<String>) -> Severity {
        let Some(word) = given else {
            self.found(Field::Severity, Why::Missing);
            return Severity::Low;
        };
        Severity::from_word(&word).unwrap_or_else(|| {
            self.found(Field::Severity, Why::NoSeverity);
            Severity::Low
        })
    }

    fn verdicts(&mut self, given: Option<Vec<String>>) -> Vec<Arc<str>> {
        let Some(words) = given else {
            self.found(Field::RecentVerdicts, Why::Missing);
            return Vec::new();
        };
        if words.len() > VERDICTS_MAX {
            self.found(Field::RecentVerdicts, Why::TooMany { max: VERDICTS_MAX, given: words.len() });
            return Vec::new();
        }
        if let Some(longest) =
            words.iter().map(|word| word.chars().count()).max().filter(|n| *n > VERDICT_MAX)
        {
            self.found(Field::RecentVerdicts, Why::TooLong { max: VERDICT_MAX, given: longest });
        }
        words.into_iter().map(Arc::from).collect()
    }

    fn count(&mut self, field: Field, given: Option<i64>) -> u64 {
        let Some(number) = given else {
            self.found(field, Why::Missing);
            return 0;
        };
        u64::try_from(number).unwrap_or_else(|_| {
            self.found(field, Why::NoAmount);
            0
        })
    }

    fn stall(&mut self, given: Stalling) -> Option<Span> {
        let minutes = match given {
            Stalling::Minutes(minutes) => minutes,
            Stalling::Moving => return None,
            Stalling::Unsaid => {
                self.found(Field::StallMinutes, Why::Missing);
                return None;
            }
        };
        // Refuses what is negative, too large or no number.
        let span = Duration::try_from_secs_f64(minutes * 60.0).ok().filter(|span| *span <= STALL_MAX);
        if span.is_none() {
            self.found(Field::StallMinutes, Why::NoAmount);
        }
        span.map(|span| Span::millis(span.as_millis() as u64))
    }
}
