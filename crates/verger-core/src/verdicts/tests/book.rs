use std::fmt::Write as _;

use super::*;
use crate::command::Decision;
use crate::id::{Incarnation, TicketId};
use crate::verdicts::tickets::{OF_ONE_MAX, TICKETS_MAX};

const NOTHING: Sight =
    Sight { unrecoverable: false, progress: false, looping: false, transient: false, recovering: false };
const LIFE: Option<Incarnation> = Some(Incarnation::FIRST);

/// A book, and a log of what happened in it.
#[derive(Default)]
struct Desk {
    book: Tickets,
    policy: Policy,
    log: String,
}

impl Desk {
    /// One that asks a model, and gives it 30 s.
    fn with_model() -> Self {
        let mut desk = Self::default();
        desk.policy.queen.advice_within = Some(Span::secs(30));
        desk
    }

    fn raise(&mut self, secs: u64, id: &str, severity: &str) -> Result<TicketId, RaiseError> {
        self.raise_draft(secs, ticket(id, "worker", "s", severity), NOTHING)
    }

    fn raise_draft(&mut self, secs: u64, draft: Draft, sight: Sight) -> Result<TicketId, RaiseError> {
        self.step(secs, |book, policy, out| book.raise(at(secs), draft, LIFE, sight, policy, out))
    }

    fn decide(&mut self, secs: u64, id: &str, by: &str, decision: Decision) -> Result<TicketId, DecideError> {
        let answer = Answer { by: by.into(), decision, reason: "I looked".into() };
        self.step(secs, |book, policy, out| book.decide(at(secs), &id.into(), answer, policy, out))
    }

    fn advise(&mut self, secs: u64, id: &str, opinion: Opinion) -> bool {
        let advice = Advice::new("model", opinion, "seen worse");
        self.step(secs, |book, _, out| book.on_advice(at(secs), &id.into(), advice, out))
    }

    fn wake(&mut self, secs: u64) {
        self.step(secs, |book, policy, out| book.wake(at(secs), policy, out));
    }

    fn step<T>(&mut self, secs: u64, act: impl FnOnce(&mut Tickets, &Policy, &mut Vec<Change>) -> T) -> T {
        let mut out = Vec::new();
        let result = act(&mut self.book, &self.policy, &mut out);
        for change in out {
            let _ = writeln!(self.log, "{secs}s {}", told(&change));
        }
        result
    }

    fn log(&mut self) -> String {
        std::mem::take(&mut self.log)
    }

    fn stage(&self, id: &str) -> &Stage {
        &self.book.get(&id.into()).expect("it is in the book").stage
    }
}

fn ticket(id: &str, worker: &str, session: &str, severity: &str) -> Draft {
    Draft {
        ticket_id: Some(id.into()),
        worker_agent_id: Some(worker.into()),
        worker_session_id: Some(session.into()),
        severity: Some(severity.into()),
        ..complete()
    }
}

fn told(change: &Change) -> String {
    match change {
        Change::Raised { ticket } => format!("raised {ticket}"),
        Change::AdviceWanted { ticket, until } => format!("ask about {ticket} until {until}"),
        Change::Joined { ticket, to } => format!("{ticket} joins {to}"),
        Change::Dismissed { ticket, .. } => format!("dismissed {ticket}"),
        Change::InterventionRequested { ticket, severity, .. } => format!("tell people: {ticket} {severity}"),
        Change::Answered { ticket, answer, .. } => {
            format!("{} decides {ticket}: {:?}", answer.by, answer.decision)
        }
        Change::Closed { ticket, ending, told } => format!("closed {ticket}: {ending:?}, told {told}"),
    }
}

#[test]
fn j04_people_are_told_of_a_condition_once_and_once_when_it_is_over() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "medium").unwrap();
    desk.raise(10, "b", "high").unwrap();
    desk.raise(20, "c", "critical").unwrap();
    desk.raise(30, "d", "medium").unwrap();
    desk.step(40, |book, _, out| book.on_recovered(at(40), &"worker".into(), "s", out));
    desk.raise(50, "e", "high").unwrap();
    insta::assert_snapshot!(desk.log(), @r"
    0s raised a
    0s dismissed a
    10s raised b
    10s tell people: b high
    20s raised c
    20s c joins b
    30s raised d
    30s d joins b
    40s closed b: Recovered, told true
    50s raised e
    50s tell people: e high
    ");
    assert_eq!(desk.book.get(&"b".into()).map(|entry| entry.worst), Some(Severity::Critical));
}

#[test]
fn j04_the_same_ticket_is_decided_once() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "high").unwrap();
    desk.log();
    assert_eq!(desk.raise(5, "a", "high"), Ok("a".into()));
    assert_eq!(desk.raise(6, "a", "low"), Err(RaiseError::Taken("a".into())), "another under its name");
    assert_eq!(desk.log(), "");
    assert_eq!(desk.book.all().count(), 1);
}

#[test]
fn j03_a_partial_ticket_is_not_taken_in() {
    let mut desk = Desk::default();
    let partial = Draft { cause: None, ..ticket("a", "worker", "s", "high") };
    assert!(matches!(desk.raise_draft(0, partial, NOTHING), Err(RaiseError::Refused(_))));
    assert_eq!((desk.log(), desk.book), (String::new(), Tickets::default()));
}

#[test]
fn j03_tickets_without_a_name_are_given_different_ones() {
    let mut desk = Desk::default();
    let nameless = || Draft { ticket_id: None, ..ticket("", "worker", "s", "high") };
    let first = desk.raise_draft(0, nameless(), NOTHING).unwrap();
    let second = desk.raise_draft(0, nameless(), NOTHING).unwrap();
    assert_ne!(first, second);
    assert_eq!(desk.book.get(&second).map(|entry| &entry.stage), Some(&Stage::Joined { to: first }));
}

#[test]
fn j04_sessions_lives_and_workers_are_conditions_of_their_own() {
    let mut desk = Desk::default();
    desk.raise_draft(0, ticket("a", "worker", "s", "high"), NOTHING).unwrap();
    desk.raise_draft(1, ticket("b", "worker", "t", "high"), NOTHING).unwrap();
    desk.raise_draft(2, ticket("c", "other", "s", "high"), NOTHING).unwrap();
    let next = Some(Incarnation(2));
    desk.step(3, |book, policy, out| {
        book.raise(at(3), ticket("d", "worker", "s", "high"), next, NOTHING, policy, out)
    })
    .unwrap();
    assert_eq!(desk.book.open().count(), 4);
    desk.log();
    desk.step(4, |book, _, out| book.on_recovered(at(4), &"worker".into(), "t", out));
    desk.step(5, |book, _, out| book.on_life_over(at(5), &"worker".into(), out));
    insta::assert_snapshot!(desk.log(), @r"
    4s closed b: Recovered, told true
    5s closed a: LifeOver, told true
    5s closed d: LifeOver, told true
    ");
    assert_eq!(desk.book.open().map(|entry| entry.ticket.id.as_str()).collect::<Vec<_>>(), ["c"]);
}

#[test]
fn j04_a_model_is_waited_for_and_not_for_ever() {
    let mut desk = Desk::with_model();
    let progress = Sight { progress: true, ..NOTHING };
    desk.raise_draft(0, ticket("a", "one", "s", "high"), progress).unwrap();
    desk.raise_draft(0, ticket("b", "two", "s", "high"), NOTHING).unwrap();
    assert!(desk.advise(10, "a", Opinion::Intervene));
    assert_eq!(desk.book.deadline(at(10), &desk.policy), Some(at(30)));
    desk.wake(29);
    desk.wake(30);
    assert!(desk.advise(40, "b", Opinion::Dismiss), "too late to matter, and kept");
    assert!(!desk.advise(41, "b", Opinion::Intervene), "there is one");
    assert!(!desk.advise(42, "x", Opinion::Intervene));
    insta::assert_snapshot!(desk.log(), @r"
    0s raised a
    0s ask about a until 30s
    0s raised b
    0s ask about b until 30s
    10s tell people: a high
    30s tell people: b high
    ");
    let kept = desk.book.get(&"b".into()).and_then(|entry| entry.triage.advice.as_ref());
    assert_eq!(kept.map(|advice| &*advice.reasoning), Some("seen worse"));
}

#[test]
fn j04_a_ticket_that_comes_while_another_is_triaged_makes_it_graver() {
    let mut desk = Desk::with_model();
    desk.raise(0, "a", "medium").unwrap();
    desk.raise(10, "b", "critical").unwrap();
    desk.raise(20, "c", "low").unwrap();
    desk.wake(30);
    insta::assert_snapshot!(desk.log(), @r"
    0s raised a
    0s ask about a until 30s
    10s raised b
    10s b joins a
    20s raised c
    20s c joins a
    30s tell people: a critical
    ");
}

#[test]
fn j04_what_recovers_while_it_is_triaged_disturbs_nobody() {
    let mut desk = Desk::with_model();
    desk.raise(0, "a", "critical").unwrap();
    desk.step(5, |book, _, out| book.on_recovered(at(5), &"worker".into(), "s", out));
    desk.wake(60);
    assert!(desk.advise(61, "a", Opinion::Intervene), "kept");
    insta::assert_snapshot!(desk.log(), @r"
    0s raised a
    0s ask about a until 30s
    5s closed a: Recovered, told false
    ");
}

#[test]
fn j04_a_persons_word_is_taken_once_for_the_ticket_and_for_those_that_joined_it() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "high").unwrap();
    desk.raise(1, "b", "high").unwrap();
    assert_eq!(desk.decide(2, "b", "ada", Decision::ForceHandoff), Ok("a".into()));
    assert_eq!(desk.decide(3, "a", "ada", Decision::ForceHandoff), Ok("a".into()), "once more");
    let second = desk.decide(4, "a", "ben", Decision::TerminateAndRecover);
    assert_eq!(second, Err(DecideError::Decided { ticket: "a".into(), by: "ada".into() }));
    assert_eq!(desk.decide(5, "x", "ada", Decision::ForceHandoff), Err(DecideError::Unknown("x".into())));
    assert_eq!(desk.book.open().count(), 0);
    desk.step(6, |book, _, out| book.on_life_over(at(6), &"worker".into(), out));
    desk.raise(7, "c", "high").unwrap();
    desk.step(8, |book, _, out| book.on_recovered(at(8), &"worker".into(), "s", out));
    assert_eq!(desk.decide(9, "c", "ada", Decision::ForceHandoff), Err(DecideError::Over("c".into())));
    insta::assert_snapshot!(desk.log(), @r"
    0s raised a
    0s tell people: a high
    1s raised b
    1s b joins a
    2s ada decides a: ForceHandoff
    6s closed a: LifeOver, told true
    7s raised c
    7s tell people: c high
    8s closed c: Recovered, told true
    ");
}

#[test]
fn j04_a_person_may_decide_what_the_queen_dismissed() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "medium").unwrap();
    assert_eq!(desk.stage("a"), &Stage::Dismissed);
    desk.decide(1, "a", "ada", Decision::TerminateAndRecover).unwrap();
    assert_eq!(desk.stage("a"), &Stage::Open);
    desk.step(2, |book, _, out| book.on_life_over(at(2), &"worker".into(), out));
    insta::assert_snapshot!(desk.log(), @r"
    0s raised a
    0s dismissed a
    1s ada decides a: TerminateAndRecover
    2s closed a: LifeOver, told false
    ");
}

#[test]
fn j04_a_word_about_a_dismissed_ticket_is_meant_for_the_one_that_people_know_by_now() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "medium").unwrap();
    desk.raise(1, "b", "high").unwrap();
    assert_eq!(desk.decide(2, "a", "ada", Decision::ForceHandoff), Ok("b".into()));
    assert_eq!((desk.stage("a"), desk.book.open().count()), (&Stage::Dismissed, 0));
}

#[test]
fn j04_a_decision_silences_a_condition_only_for_a_time() {
    for (decision, secs) in [
        (Decision::AllowMoreTime(None), 900),
        (Decision::AllowMoreTime(Some(Span::secs(60))), 60),
        (Decision::ForceHandoff, 900),
        (Decision::TerminateAndRecover, 900),
    ] {
        let mut desk = Desk::default();
        desk.raise(0, "a", "high").unwrap();
        desk.decide(0, "a", "ada", decision).unwrap();
        desk.raise(secs - 1, "b", "critical").unwrap();
        assert_eq!(desk.stage("b"), &Stage::Joined { to: "a".into() }, "{decision:?}");
        desk.log();
        desk.raise(secs, "c", "critical").unwrap();
        assert_eq!(desk.stage("c"), &Stage::Open, "it lasts: news again");
        let log = format!("{secs}s raised c\n{secs}s closed a: Renewed, told true\n");
        assert_eq!(desk.log(), format!("{log}{secs}s tell people: c critical\n"));
    }
}

#[test]
fn j04_a_person_may_decide_again_when_the_time_given_is_up() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "high").unwrap();
    let more = Decision::AllowMoreTime(Some(Span::hours(48)));
    desk.decide(10, "a", "ada", more).unwrap();
    desk.wake(25 * 3_600);
    assert_eq!(desk.stage("a"), &Stage::Open, "it does not end before that");
    assert!(desk.decide(25 * 3_600, "a", "ben", Decision::ForceHandoff).is_err());
    assert_eq!(desk.decide(48 * 3_600 + 10, "a", "ben", Decision::ForceHandoff), Ok("a".into()));
}

#[test]
fn j04_whoever_recovers_after_the_time_given_is_announced_once() {
    let mut desk = Desk::default();
    desk.raise(0, "a", "high").unwrap();
    desk.decide(0, "a", "ada", Decision::AllowMoreTime(None)).unwrap();
    desk.wake(1_000);
    desk.log();
    desk.step(2_000, |book, _, out| book.on_recovered(at(2_000), &"worker".into(), "s", out));
    desk.step(2_001, |book, _, out| book.on_recovered(at(2_001), &"worker".into(), "s", out));
    assert_eq!(desk.log(), "2000s closed a: Recovered, told true\n");
}

#[test]
fn j04_a_ticket_that_nobody_decides_ends_by_itself_unless_it_is_confirmed() {
    let mut desk = Desk::default();
    let day = 24 * 3_600;
    desk.raise(0, "a", "high").unwrap();
    desk.raise(3_600, "b", "high").unwrap();
    desk.wake(day);
    assert_eq!(desk.stage("a"), &Stage::Open, "confirmed an hour later");
    assert_eq!(desk.book.deadline(at(day), &desk.policy), Some(at(day + 3_600)));
    desk.wake(day + 3_600);
    assert_eq!(desk.stage("a"), &Stage::Over { at: at(day + 3_600), ending: Ending::Expired });
    assert_eq!(desk.book.deadline(at(day + 3_600), &desk.policy), None);
}

#[test]
fn x13_one_worker_does_not_crowd_out_the_others() {
    let mut desk = Desk::default();
    desk.raise_draft(0, ticket("other", "other", "s", "high"), NOTHING).unwrap();
    for n in 0..1_000 {
        desk.raise_draft(n, ticket(&n.to_string(), "worker", &n.to_string(), "high"), NOTHING).unwrap();
    }
    assert_eq!(desk.book.all().count(), OF_ONE_MAX + 1);
    assert_eq!(desk.stage("other"), &Stage::Open);
    assert_eq!(desk.stage("999"), &Stage::Open);
    assert!(desk.log().contains("closed 0: Displaced, told true"), "and nothing is forgotten silently");
}

#[test]
fn x13_repeats_of_a_condition_displace_each_other_and_not_the_ticket_that_people_know() {
    let mut desk = Desk::default();
    for n in 0..100 {
        desk.raise(n, &n.to_string(), "high").unwrap();
    }
    assert_eq!(desk.stage("0"), &Stage::Open);
    assert_eq!(desk.stage("99"), &Stage::Joined { to: "0".into() });
    assert_eq!(desk.log().matches("tell people").count(), 1);
}

#[test]
fn x13_the_book_is_bounded_and_forgets_no_ticket_that_people_know() {
    let mut desk = Desk::default();
    let own = |n: usize, severity| ticket(&n.to_string(), &n.to_string(), "s", severity);
    for n in 0..TICKETS_MAX {
        desk.raise_draft(0, own(n, if n == 7 { "medium" } else { "high" }), NOTHING).unwrap();
    }
    desk.raise_draft(1, own(1_000, "high"), NOTHING).unwrap();
    assert_eq!(desk.book.get(&"7".into()), None, "the dismissed one made room");
    assert_eq!(desk.raise_draft(2, own(1_001, "high"), NOTHING), Err(RaiseError::Full));
    assert_eq!(desk.book.open().count(), TICKETS_MAX);
    desk.step(3, |book, _, out| book.on_recovered(at(3), &"9".into(), "s", out));
    desk.raise_draft(4, own(1_001, "high"), NOTHING).unwrap();
    let later = 25 * 3_600;
    desk.raise_draft(later, own(1_002, "high"), NOTHING).unwrap();
    assert_eq!(desk.book.open().count(), 1, "nothing is full for ever");
}
