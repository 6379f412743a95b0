//! What led to the present state: the events since the agent was last well.

use verger_api::{AgentHealth, Time};
use verger_client::Event;

use super::super::told;

/// More than this nobody reads; the first and the latest are kept.
const STEPS_MAX: usize = 10;

/// One thing that happened.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) at: Time,
    /// The number of its event.
    pub(super) event: Option<String>,
    pub(super) text: String,
}

/// The story so far, the oldest first, from the newest events first.
pub(super) fn of(agent: &AgentHealth, events: &[Event]) -> Vec<Step> {
    let trouble = events.iter().position(begins_trouble).map_or(events.len(), |at| at + 1);
    let steps = trouble.max(steps_taken(agent, events));
    let mut steps: Vec<Step> = events
        .iter()
        .take(steps)
        .filter(|event| is_worth_telling(event))
        .map(|event| Step { at: event.time, event: Some(event.id.clone()), text: told::sentence(event) })
        .collect();
    steps.reverse();
    shortened(steps)
}

/// With what the present trouble began, or the life of an agent that never was in any.
fn begins_trouble(event: &Event) -> bool {
    let from = event.data["from"].as_str().filter(|_| event.kind == "HEALTH_STATE_CHANGED");
    event.kind == "AGENT_REGISTERED" || matches!(from, Some("HEALTHY" | "UNKNOWN"))
}

/// How far back the intervention goes that is under way: people order some while all is well.
fn steps_taken(agent: &AgentHealth, events: &[Event]) -> usize {
    if agent.intervention.is_none() {
        return 0;
    }
    let is_over =
        |event: &Event| matches!(event.kind.as_str(), "ESCALATION_WITHDRAWN" | "TERMINATION_CALLED_OFF");
    let is_step = |event: &Event| {
        matches!(
            event.kind.as_str(),
            "NUDGE_SENT" | "ESCALATION_TRIGGERED" | "ESCALATION_DECIDED" | "TERMINATION_ORDERED"
        )
    };
    let latest = events.iter().position(is_over).unwrap_or(events.len());
    events[..latest].iter().rposition(is_step).map_or(0, |at| at + 1)
}

/// What repeats another event, or says nothing of trouble, is left out.
fn is_worth_telling(event: &Event) -> bool {
    let to = event.data["to"].as_str().filter(|_| event.kind == "HEALTH_STATE_CHANGED");
    let is_first = event.data["from"] == "UNKNOWN" && to == Some("HEALTHY");
    let repeats = matches!(
        event.kind.as_str(),
        "INCIDENT_OPENED" | "INCIDENT_RESOLVED" | "agent-healthy" | "AGENT_REGISTERED" | "WASTE_COUNTED"
    );
    !repeats && !is_first && to != Some("TERMINATED")
}

/// The first step and the latest ones.
fn shortened(mut steps: Vec<Step>) -> Vec<Step> {
    if STEPS_MAX < steps.len() {
        let left_out = steps.len() - STEPS_MAX + 1;
        let at = steps[left_out].at;
        let text = format!("… {left_out} more, which `verger events --agent` shows …");
        steps.splice(1..=left_out, [Step { at, event: None, text }]);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize) -> Step {
        Step { at: Time::from_millis(0), event: Some(number.to_string()), text: String::new() }
    }

    #[test]
    fn of_a_long_story_the_beginning_and_the_end_are_told() {
        let short: Vec<_> = (0..10).map(step).collect();
        assert_eq!(shortened((0..10).map(step).collect()), short);
        let long = shortened((0..30).map(step).collect());
        assert_eq!(long.len(), STEPS_MAX);
        assert_eq!((long[0].event.as_deref(), long[9].event.as_deref()), (Some("0"), Some("29")));
        assert!(long[1].text.contains("21 more"), "{}", long[1].text);
        assert_eq!(long[2].event.as_deref(), Some("22"));
    }
}
