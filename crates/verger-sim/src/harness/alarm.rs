//! Episodes in which the monitor holds something against an agent.
//!
//! An episode begins when an agent's state becomes DEGRADED, STUCK or FAILING, or when an incident is opened
//! for it, and ends when neither is the case any more. What overlaps is one episode. An episode in which people
//! are told, because an incident is opened, is an *alarm*; one in which an agent is merely DEGRADED is a
//! *warning*: it shows on the screen, makes the monitor look more often, and disturbs nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use verger_core::event::{Event, Fact, Incident};
use verger_core::evidence::{Evidence, Measure, Sign};
use verger_core::health::HealthState;
use verger_core::id::{AgentId, Incarnation};
use verger_core::time::{Span, Timestamp};

use crate::world::SimTime;

/// Pings that fail one after the other tell of a silence of about this length.
const AT_ONCE: Span = Span::secs(30);

/// One episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// Whom it is about.
    pub agent: AgentId,
    /// Which of its lives.
    pub incarnation: Incarnation,
    /// When it was raised, in true time.
    pub began: SimTime,
    /// When it was raised, in observed time.
    pub observed: Timestamp,
    /// When people were told, if they were.
    pub told: Option<SimTime>,
    /// When it was over, if it is.
    pub ended: Option<SimTime>,
    /// What it was raised for, as a person reads it.
    pub reason: String,
    /// The silence that it rested on when people were told, if it did; or rests on.
    pub silence: Option<Span>,
}

/// All episodes of a run.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    raised: Vec<Alarm>,
    agents: BTreeMap<AgentId, Standing>,
}

/// What is held against one agent at present.
#[derive(Clone, Debug, Default)]
struct Standing {
    bad: bool,
    incidents: BTreeSet<Incident>,
    open: Option<usize>,
}

impl Alarms {
    /// Every episode so far, in the order in which they were raised.
    pub fn raised(&self) -> &[Alarm] {
        &self.raised
    }

    /// A fact was recorded that had been decided at `at`.
    pub fn on_event(&mut self, at: SimTime, event: &Event) {
        let Some((agent, incarnation)) = &event.agent else { return };
        let Some(change) = change(&event.fact) else { return };
        if !self.agents.contains_key(agent) {
            self.agents.insert(agent.clone(), Standing::default());
        }
        let standing = self.agents.get_mut(agent).expect("it was put there just now");
        let opened = matches!(change, Change::Opened(_));
        match change {
            Change::State(bad) => standing.bad = bad,
            Change::Opened(incident) => {
                standing.incidents.insert(incident);
            }
            Change::Resolved(incident) => {
                standing.incidents.remove(&incident);
            }
            Change::Over => *standing = Standing { open: standing.open, ..Standing::default() },
        }
        let held = standing.bad || !standing.incidents.is_empty();
        match standing.open {
            None if held => {
                standing.open = Some(self.raised.len());
                self.raised.push(raise(agent, *incarnation, at, event));
            }
            Some(open) if !held => {
                standing.open = None;
                self.raised[open].ended = Some(at);
            }
            None | Some(_) => {}
        }
        let Some(open) = standing.open else { return };
        let alarm = &mut self.raised[open];
        if opened {
            alarm.told.get_or_insert(at);
        } else if let (Fact::StateChanged { evidence, .. }, None) = (&event.fact, alarm.told) {
            alarm.silence = evidence.iter().filter_map(silence_of).max();
        }
    }
}

enum Change {
    State(bool),
    Opened(Incident),
    Resolved(Incident),
    Over,
}

fn change(fact: &Fact) -> Option<Change> {
    match fact {
        Fact::StateChanged { to, .. } => Some(Change::State(is_bad(*to))),
        Fact::IncidentOpened { incident, .. } => Some(Change::Opened(*incident)),
        Fact::IncidentResolved { incident, .. } => Some(Change::Resolved(*incident)),
        Fact::Unregistered { .. } => Some(Change::Over),
        _ => None,
    }
}

/// Whether this state holds something against an agent that lives.
pub(crate) fn is_bad(state: HealthState) -> bool {
    match state {
        HealthState::Degraded | HealthState::Stuck | HealthState::Failing => true,
        HealthState::Unknown | HealthState::Healthy | HealthState::Terminated => false,
    }
}

/// How long a silence this finding tells of, if it does.
fn silence_of(finding: &Evidence) -> Option<Span> {
    let silent =
        matches!(finding.sign, Sign::Heartbeat | Sign::Ping | Sign::Inquiry | Sign::Connection | Sign::Route);
    silent.then_some(match finding.value {
        Measure::Span(span) => span,
        Measure::Count(_) | Measure::PerMille(_) | Measure::Code(_) | Measure::Said => AT_ONCE,
    })
}

fn raise(agent: &AgentId, incarnation: Incarnation, at: SimTime, event: &Event) -> Alarm {
    let mut reason = String::new();
    let silence = match &event.fact {
        Fact::StateChanged { to, evidence, .. } => {
            let _ = write!(reason, "{to}");
            for (nth, finding) in evidence.iter().enumerate() {
                let _ = write!(reason, "{} {finding}", if nth == 0 { ":" } else { ";" });
            }
            evidence.iter().filter_map(silence_of).max()
        }
        Fact::IncidentOpened { incident, .. } => {
            let _ = write!(reason, "incident {incident:?}");
            (*incident == Incident::Silent).then_some(AT_ONCE)
        }
        _ => None,
    };
    Alarm {
        agent: agent.clone(),
        incarnation,
        began: at,
        observed: event.at,
        told: None,
        ended: None,
        reason,
        silence,
    }
}
