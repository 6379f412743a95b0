//! Every message comes to an end, nobody is told of one that is acknowledged, and nobody twice.
//!
//! What the monitor heard counts, not what was sent: an acknowledgement that is lost on its way excuses it.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::event::{Event, Fact};
use verger_core::id::{AgentId, MessageId};
use verger_core::messages::{Decided, Decision, Policy, Priority};
use verger_core::policy::Policies;
use verger_core::time::{Span, Timestamp};

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};
use crate::world::{Letter, SimTime};

/// Deadlines are noticed this late at most, and what is due for many is done for one after the other.
const SLACK: Span = Span::minutes(2);

/// Follows every message from its first delivery to its end.
#[derive(Debug)]
pub(super) struct MessagesEnd {
    policy: Policy,
    courses: BTreeMap<MessageId, Course>,
    /// Of whom people know that it leaves messages unacknowledged.
    told: BTreeSet<AgentId>,
    healed: Option<SimTime>,
    broken: Broken,
}

/// What was decided about one message.
#[derive(Debug)]
struct Course {
    to: AgentId,
    reminded: bool,
    asked: bool,
    logged: bool,
    /// When people were told of it.
    escalated: Option<Timestamp>,
    over: bool,
}

impl MessagesEnd {
    pub(super) fn new(policies: &Policies) -> Self {
        Self {
            policy: policies.messages.clone(),
            courses: BTreeMap::new(),
            told: BTreeSet::new(),
            healed: None,
            broken: Broken::default(),
        }
    }

    fn on_event(&mut self, at: SimTime, event: &Event) {
        if let Fact::Message(decided) = &event.fact {
            self.on_decision(at, event.at, decided);
        }
    }

    fn on_decision(&mut self, at: SimTime, observed: Timestamp, decided: &Decided) {
        let Decided { message, to, decision, .. } = decided;
        if !self.courses.contains_key(message) {
            self.courses.insert(message.clone(), Course::new(to.clone()));
        }
        let Some(course) = self.courses.get_mut(message) else { return };
        let again = match decision {
            Decision::Remind { .. } => std::mem::replace(&mut course.reminded, true),
            Decision::Inquire { .. } => std::mem::replace(&mut course.asked, true),
            Decision::Log => std::mem::replace(&mut course.logged, true),
            Decision::Escalate { joined } => {
                if !joined {
                    self.told.insert(to.clone());
                }
                course.escalated.replace(observed).is_some()
            }
            Decision::EscalationOver { .. } => {
                self.told.remove(to);
                return;
            }
            Decision::Acknowledged { .. } | Decision::Dropped | Decision::Expired => {
                if std::mem::replace(&mut course.over, true) {
                    self.broken.note(at, || format!("{message} ends twice: {decision:?}"));
                }
                return;
            }
            Decision::Deliver { .. } | Decision::TellSender(_) | Decision::TellSenderDelivered { .. } => {
                false
            }
        };
        if again {
            self.broken.note(at, || format!("{message} to {to}, for the second time: {decision:?}"));
        }
        if course.over {
            self.broken.note(at, || format!("{message} to {to} is over, and still: {decision:?}"));
        }
    }

    /// Nobody is told of a message before its time, or after its acknowledgement was heard.
    fn check_escalation(&mut self, letter: &Letter, at: Timestamp, end: &End<'_>) {
        let told = at.as_millis();
        let due = end.seen.at(letter.sent) + self.policy.timeout(letter.priority).as_millis();
        let id = &letter.id;
        if told < due {
            let early = Span::millis(due - told);
            self.broken.note(letter.sent, || format!("people were told of {id} {early} before its time"));
        }
        if letter.acknowledged.is_some_and(|heard| end.seen.at(heard) < told) {
            self.broken.note(letter.sent, || format!("people were told of {id} though it was acknowledged"));
        }
    }

    /// A message that nobody acknowledges is given up, and people learn of an important one that was delivered.
    fn check_end(&mut self, letter: &Letter, taken: SimTime, end: &End<'_>) {
        let now = end.seen.at(end.at);
        let kept = self.policy.keep.max(self.policy.forget_after) + SLACK;
        let id = &letter.id;
        if end.seen.at(taken) + kept.as_millis() < now {
            self.broken.note(taken, || format!("{id} is neither acknowledged nor given up after {kept}"));
        }
        let escalated = self.courses.get(id).is_some_and(|course| course.escalated.is_some());
        let important = matches!(letter.priority, Priority::Urgent | Priority::High);
        let Some(delivered) = letter.delivered.filter(|_| important && !escalated) else { return };
        let patience = self.patience(letter.priority);
        let healed = self.healed.is_some_and(|healed| healed <= delivered);
        let stayed = letter.to.is_some_and(|to| {
            let to = &end.truth.agents()[to as usize].id;
            end.truth.present_incarnation(to, delivered) == end.truth.present_incarnation(to, end.at)
        });
        if healed && stayed && end.seen.at(delivered) + patience.as_millis() < now {
            let to = &letter.to;
            self.broken.note(delivered, || format!("nobody was told of {id} to {to:?} within {patience}"));
        }
    }

    /// How long people may be spared, with a receiver that is busy, reminded and asked.
    fn patience(&self, priority: Priority) -> Span {
        let Policy { high_reminded, busy_factor, inquiry_timeout, gather, .. } = self.policy;
        let plain = self.policy.timeout(priority) + high_reminded;
        let stretched = Span::millis(plain.as_millis() * u64::from(busy_factor.max(1)));
        stretched + inquiry_timeout + gather + SLACK
    }
}

impl Course {
    fn new(to: AgentId) -> Self {
        Self { to, reminded: false, asked: false, logged: false, escalated: None, over: false }
    }
}

impl Checker for MessagesEnd {
    fn name(&self) -> &'static str {
        "every-message-ends"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        match moment.what {
            What::Committed { batch, .. } => {
                for event in &batch.events {
                    self.on_event(moment.at, event);
                }
            }
            What::Healed => self.healed = Some(moment.at),
            _ => {}
        }
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), String> {
        for letter in end.truth.letters() {
            let course = self.courses.get(&letter.id);
            let over = course.is_some_and(|course| course.over) || letter.acknowledged.is_some();
            if let Some(at) = course.and_then(|course| course.escalated) {
                self.check_escalation(letter, at, end);
            }
            if let Some(taken) = letter.taken.filter(|_| !over) {
                self.check_end(letter, taken, end);
            }
        }
        let open = |course: &&Course| course.escalated.is_some() && !course.over;
        let waited_for: BTreeSet<&AgentId> =
            self.courses.values().filter(open).map(|course| &course.to).collect();
        if let Some(agent) = self.told.iter().find(|agent| !waited_for.contains(agent)) {
            let what = format!("people were not told that {agent} has acknowledged everything");
            self.broken.note(end.at, || what);
        }
        self.broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use verger_core::messages::Evidence;

    use super::super::testing::Trace;
    use super::*;

    fn decided(decision: Decision) -> Fact {
        let evidence = Evidence {
            priority: Priority::Urgent,
            unacknowledged: Span::ZERO,
            limit: Span::ZERO,
            receiver: None,
            reminded: None,
            asked: None,
        };
        let (message, from, to) = ("m-000000".into(), "b".into(), "a".into());
        Fact::Message(Box::new(Decided { message, from, to, decision, evidence }))
    }

    const SENT: u64 = 100;
    const ESCALATE: Decision = Decision::Escalate { joined: false };
    const OVER: Decision = Decision::EscalationOver { lasted: Span::ZERO };
    const ACKNOWLEDGED: Decision = Decision::Acknowledged { after: Span::ZERO, late: true };

    /// An urgent message of second 100, and what is decided about it at which second.
    fn run(acknowledged: Option<u64>, decisions: &[(u64, Decision)], until: u64) -> Result<(), String> {
        let (mut trace, mut checker) = (Trace::new(), MessagesEnd::new(&Policies::default()));
        trace.letter(Priority::Urgent, SENT, acknowledged);
        trace.at(50).tell(&mut checker, What::Healed);
        trace.at(SENT).commit(&mut checker, vec![decided(Decision::Deliver { attempt: 1 })], vec![]);
        for (at, decision) in decisions {
            trace.at(*at).commit(&mut checker, vec![decided(*decision)], vec![]);
        }
        trace.at(until).finish(&mut checker)
    }

    #[test]
    fn a_message_takes_its_course() {
        assert_eq!(run(Some(150), &[(150, ACKNOWLEDGED)], 9_999), Ok(()));
        assert_eq!(run(Some(900), &[(800, ESCALATE), (900, ACKNOWLEDGED), (900, OVER)], 9_999), Ok(()));
    }

    #[test]
    fn an_escalation_of_what_is_acknowledged_is_caught() {
        let caught = run(Some(150), &[(150, ACKNOWLEDGED), (800, ESCALATE), (801, OVER)], 900);
        assert!(caught.unwrap_err().contains("m-000000 to a is over, and still"));
        let unheard = run(Some(150), &[(800, ESCALATE), (801, OVER)], 900);
        assert!(unheard.unwrap_err().contains("though it was acknowledged"));
    }

    #[test]
    fn an_escalation_before_its_time_or_a_second_one_is_caught() {
        assert!(run(None, &[(101, ESCALATE)], 200).unwrap_err().contains("before its time"));
        let twice = run(None, &[(800, ESCALATE), (900, ESCALATE)], 1_000);
        assert!(twice.unwrap_err().contains("for the second time"));
    }

    #[test]
    fn a_message_that_is_forgotten_is_caught() {
        assert!(run(None, &[], 40_000).unwrap_err().contains("nobody was told of m-000000"));
        let policy = Policies::default().messages;
        let kept = policy.keep.max(policy.forget_after).as_millis() / 1_000;
        let latched = run(None, &[(800, ESCALATE)], kept + 1_000);
        assert!(latched.unwrap_err().contains("neither acknowledged nor given up"));
    }

    #[test]
    fn a_trouble_that_is_over_and_not_told_so_is_caught() {
        let caught = run(Some(900), &[(800, ESCALATE), (900, ACKNOWLEDGED)], 9_999);
        assert!(caught.unwrap_err().contains("people were not told that a has acknowledged everything"));
    }
}
