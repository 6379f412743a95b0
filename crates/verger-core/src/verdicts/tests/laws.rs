//! What holds whatever happens, in whatever order.

use proptest::prelude::*;

use super::*;
use crate::command::Decision;
use crate::id::Incarnation;
use crate::record::{from_row, to_row};
use crate::verdicts::tickets::{OF_ONE_MAX, TICKETS_MAX};
use crate::verdicts::trend::STEPS_MAX;

fn seen() -> impl Strategy<Value = Seen> {
    any::<(bool, bool, bool)>().prop_map(|(looping, excused, unseen)| Seen { looping, excused, unseen })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![
        Verdict::Accept,
        Verdict::Retry,
        Verdict::Retry,
        Verdict::Retry,
        Verdict::Reject,
        Verdict::Continue,
        Verdict::Escalate,
    ])
}

/// What may happen to a worker.
#[derive(Clone, Debug)]
enum Deed {
    Step { session: usize, number: u64, verdict: Option<Verdict>, seen: Seen },
    Wake { seen: Seen },
    Begin { session: usize },
    End,
}

const SESSIONS: [&str; 2] = ["s", "t"];

fn deed() -> impl Strategy<Value = Deed> {
    let number = prop_oneof![20 => 0..200_u64, 1 => any::<u64>()];
    prop_oneof![
        20 => (0..2_usize, number, prop::option::of(verdict()), seen())
            .prop_map(|(session, number, verdict, seen)| Deed::Step { session, number, verdict, seen }),
        6 => seen().prop_map(|seen| Deed::Wake { seen }),
        2 => (0..2_usize).prop_map(|session| Deed::Begin { session }),
        1 => Just(Deed::End),
    ]
}

fn happen(trend: &mut Trend, now: Timestamp, deed: &Deed, policy: &JudgePolicy) -> Option<Assessment> {
    match *deed {
        Deed::Step { session, number, verdict, seen } => {
            trend.on_step(now, SESSIONS[session], number, verdict, seen, policy)
        }
        Deed::Wake { seen } => trend.wake(now, seen, policy),
        Deed::Begin { session } => {
            trend.begin(now, SESSIONS[session], policy);
            None
        }
        Deed::End => {
            trend.end();
            None
        }
    }
}

proptest! {
    #[test]
    fn j02_a_trend_bears_anything_and_a_restart_changes_nothing(
        deeds in prop::collection::vec((0..200_000_u64, deed()), 1..250),
    ) {
        let policy = JudgePolicy::default();
        let mut trend = Trend::default();
        let mut now = Timestamp::ZERO;
        let mut checks = 0;
        for (pause, deed) in deeds {
            now += Span::millis(pause);
            let mut restored: Trend = from_row(&to_row(&trend)).expect("its own row");
            let session = trend.session.clone();
            let found = happen(&mut trend, now, &deed, &policy);
            prop_assert_eq!(&found, &happen(&mut restored, now, &deed, &policy));
            prop_assert_eq!(&trend, &restored);
            prop_assert!(trend.steps.len() <= STEPS_MAX);
            if trend.session != session {
                checks = 0;
            }
            if let Some(found) = found {
                prop_assert!(found.ticket.is_none() || checks > 0, "a ticket before the second check");
                prop_assert!(found.ticket.is_none() || found.ticket == found.standing.severity());
                prop_assert!(found.steps_since_last_accept <= found.total_steps);
                checks += u32::from(matches!(deed, Deed::Wake { .. }));
            }
        }
    }

    #[test]
    fn j02_waking_early_changes_nothing_and_waking_in_time_something(
        deeds in prop::collection::vec((0..100_000_u64, deed()), 1..60),
        early in 0.0..1.0_f64,
        seen in seen(),
    ) {
        let policy = JudgePolicy::default();
        let mut trend = Trend::default();
        let mut now = Timestamp::ZERO;
        for (pause, deed) in deeds {
            now += Span::millis(pause);
            happen(&mut trend, now, &deed, &policy);
            let _ = trend.wake(now, seen, &policy);
            let Some(due) = trend.deadline(now, &policy) else { continue };
            prop_assert!(now < due);
            let before = trend.clone();
            let ahead = (due.since(now).as_millis() as f64 * early) as i64;
            let soon = now + Span::millis(ahead.unsigned_abs());
            prop_assert!(due <= soon || trend.wake(soon, seen, &policy).is_none());
            prop_assert_eq!(&trend, &before);
            let mut woken = trend.clone();
            prop_assert_eq!(woken.wake(due, seen, &policy).is_some(), !seen.unseen);
            prop_assert_ne!(&woken, &before);
        }
    }

    #[test]
    fn j02_a_trend_never_latches(deeds in prop::collection::vec((0..200_000_u64, deed()), 1..200)) {
        let policy = JudgePolicy::default();
        let mut trend = Trend::default();
        let mut now = Timestamp::ZERO;
        for (pause, deed) in deeds {
            now += Span::millis(pause);
            happen(&mut trend, now, &deed, &policy);
        }
        trend.begin(now, "a new one", &policy);
        trend.wake(now + Span::minutes(2), Seen::default(), &policy);
        now += Span::minutes(3);
        for number in 0..20 {
            trend.on_step(now, "a new one", number, Some(Verdict::Retry), Seen::default(), &policy);
        }
        prop_assert_eq!(trend.reported.map(|(severity, _)| severity), Some(Severity::Critical));
        let accepted = trend.on_step(now, "a new one", 20, Some(Verdict::Accept), Seen::default(), &policy);
        prop_assert!(accepted.is_some_and(|found| found.recovered));
    }

    #[test]
    fn j03_no_row_of_noise_is_taken_for_a_ticket(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(entry) = from_row::<Entry>(&bytes) {
            let (mut book, policy) = (Tickets::default(), Policy::default());
            book.recall(entry);
            book.wake(Timestamp::NEVER, &policy, &mut Vec::new());
            book.deadline(Timestamp::ZERO, &policy);
        }
        if let Ok(mut trend) = from_row::<Trend>(&bytes) {
            let policy = JudgePolicy::default();
            trend.wake(Timestamp::NEVER, Seen::default(), &policy);
            trend.on_step(Timestamp::ZERO, "s", 3, None, Seen::default(), &policy);
            trend.deadline(Timestamp::NEVER, &policy);
        }
    }
}

/// What may happen to a book.
#[derive(Clone, Debug)]
enum Deal {
    Raise { worker: u8, session: u8, id: Option<u8>, severity: Severity, life: u32, sight: Sight },
    Advise { id: u8, opinion: Opinion },
    Decide { id: u8, by: u8, decision: Decision },
    Recovered { worker: u8, session: u8 },
    SessionOver { worker: u8, session: u8 },
    LifeOver { worker: u8 },
    Wake,
}

fn sight() -> impl Strategy<Value = Sight> {
    any::<[bool; 5]>().prop_map(|[unrecoverable, progress, looping, transient, recovering]| Sight {
        unrecoverable,
        progress,
        looping,
        transient,
        recovering,
    })
}

fn deal() -> impl Strategy<Value = Deal> {
    let severity =
        prop::sample::select(vec![Severity::Low, Severity::Medium, Severity::High, Severity::Critical]);
    let opinion = prop::sample::select(vec![Opinion::Dismiss, Opinion::Intervene, Opinion::Unsure]);
    let span = prop::option::of(any::<u64>().prop_map(Span::millis));
    let decision = prop_oneof![
        span.prop_map(Decision::AllowMoreTime),
        Just(Decision::ForceHandoff),
        Just(Decision::TerminateAndRecover),
    ];
    prop_oneof![
        12 => (0..4_u8, 0..3_u8, prop::option::of(0..40_u8), severity, 1..3_u32, sight()).prop_map(
            |(worker, session, id, severity, life, sight)| {
                Deal::Raise { worker, session, id, severity, life, sight }
            }
        ),
        3 => (0..40_u8, opinion).prop_map(|(id, opinion)| Deal::Advise { id, opinion }),
        3 => (0..40_u8, 0..2_u8, decision).prop_map(|(id, by, decision)| Deal::Decide { id, by, decision }),
        2 => (0..4_u8, 0..3_u8).prop_map(|(worker, session)| Deal::Recovered { worker, session }),
        1 => (0..4_u8, 0..3_u8).prop_map(|(worker, session)| Deal::SessionOver { worker, session }),
        1 => (0..4_u8).prop_map(|worker| Deal::LifeOver { worker }),
        3 => Just(Deal::Wake),
    ]
}

fn deal_with(book: &mut Tickets, now: Timestamp, deal: &Deal, policy: &Policy) -> Vec<Change> {
    let mut out = Vec::new();
    match deal {
        Deal::Raise { worker, session, id, severity, life, sight } => {
            let draft = Draft {
                ticket_id: id.map(|id| id.to_string()),
                worker_agent_id: Some(worker.to_string()),
                worker_session_id: Some(session.to_string()),
                severity: Some(severity.word().to_owned()),
                ..complete()
            };
            let _ = book.raise(now, draft, Some(Incarnation(*life)), *sight, policy, &mut out);
        }
        Deal::Advise { id, opinion } => {
            book.on_advice(now, &id.to_string().into(), Advice::new("m", *opinion, "r"), &mut out);
        }
        Deal::Decide { id, by, decision } => {
            let answer = Answer { by: by.to_string().into(), decision: *decision, reason: "r".into() };
            let _ = book.decide(now, &id.to_string().into(), answer, policy, &mut out);
        }
        Deal::Recovered { worker, session } => {
            book.on_recovered(now, &worker.to_string().into(), &session.to_string(), &mut out);
        }
        Deal::SessionOver { worker, session } => {
            book.on_session_over(now, &worker.to_string().into(), &session.to_string(), &mut out);
        }
        Deal::LifeOver { worker } => book.on_life_over(now, &worker.to_string().into(), &mut out),
        Deal::Wake => book.wake(now, policy, &mut out),
    }
    out
}

/// Whether two tickets of one condition are live at a time.
fn live_twice(book: &Tickets) -> bool {
    let live: Vec<_> = book
        .all()
        .filter(|entry| entry.is_live())
        .map(|entry| (&entry.ticket.report.worker, &entry.ticket.report.session, entry.ticket.life))
        .collect();
    live.iter().any(|one| live.iter().filter(|other| one == *other).count() > 1)
}

proptest! {
    #[test]
    fn j04_a_book_bears_anything_and_a_restart_changes_nothing(
        deals in prop::collection::vec((0..2_000_000_u64, deal()), 1..200),
        asks in any::<bool>(),
    ) {
        let mut policy = Policy::default();
        policy.queen.advice_within = asks.then_some(Span::secs(30));
        let mut book = Tickets::default();
        let mut now = Timestamp::ZERO;
        for (pause, deal) in deals {
            now += Span::millis(pause);
            let mut restored = Tickets::default();
            for entry in book.all() {
                restored.recall(from_row(&to_row(entry)).expect("its own row"));
            }
            let changes = deal_with(&mut book, now, &deal, &policy);
            prop_assert_eq!(&changes, &deal_with(&mut restored, now, &deal, &policy));
            prop_assert_eq!(&book, &restored);
            prop_assert!(book.all().count() <= TICKETS_MAX.min(4 * OF_ONE_MAX));
            prop_assert!(!live_twice(&book));
            for entry in book.all() {
                let told = entry.told_at.is_some();
                prop_assert!(!told || entry.triage.ruling == Ruling::Intervene, "told without a reason");
                prop_assert!(entry.triage.ruling == Ruling::Dismiss || entry.triage.by.is_some());
                prop_assert!(entry.triage.by.is_none_or(|by| entry.triage.met.contains(&by)));
            }
        }
    }

    #[test]
    fn j04_waking_a_book_early_changes_nothing_and_in_time_something(
        deals in prop::collection::vec((0..2_000_000_u64, deal()), 1..60),
    ) {
        let mut policy = Policy::default();
        policy.queen.advice_within = Some(Span::secs(30));
        let mut book = Tickets::default();
        let mut now = Timestamp::ZERO;
        let mut out = Vec::new();
        for (pause, deal) in deals {
            now += Span::millis(pause);
            deal_with(&mut book, now, &deal, &policy);
            book.wake(now, &policy, &mut out);
            let Some(due) = book.deadline(now, &policy) else { continue };
            prop_assert!(now < due);
            let before = book.clone();
            out.clear();
            book.wake(due - Span::millis(1), &policy, &mut out);
            prop_assert_eq!((&book, out.len()), (&before, 0));
            before.clone().wake(due, &policy, &mut out);
            prop_assert!(!out.is_empty() || due == Timestamp::NEVER);
        }
    }

    #[test]
    fn j04_every_ticket_ends_by_itself(
        deals in prop::collection::vec((0..2_000_000_u64, deal()), 1..100),
    ) {
        let policy = Policy::default();
        let mut book = Tickets::default();
        let mut now = Timestamp::ZERO;
        for (pause, deal) in deals {
            // Nobody gives a worker more than a day.
            let deal = match deal {
                Deal::Decide { id, by, .. } => Deal::Decide { id, by, decision: Decision::AllowMoreTime(None) },
                other => other,
            };
            now += Span::millis(pause);
            deal_with(&mut book, now, &deal, &policy);
        }
        book.wake(now + Span::hours(24), &policy, &mut Vec::new());
        prop_assert_eq!(book.all().filter(|entry| entry.is_live()).count(), 0);
        prop_assert_eq!(book.deadline(now, &policy), None);
    }
}
