//! 001 §1.4.1, §1.4.2, §1.6.2 and the end of §1.4.3: nothing follows from a message alone.

use insta::assert_snapshot;

use super::super::*;
use super::desk::Desk;
use crate::liveness::LivenessStatus::{Busy, Idle, Offline, Online, Unresponsive};
use crate::signal::Awaited;
use crate::standing::{Reading, Standing};
use crate::time::Span;

fn undelivered(desk: &mut Desk, why: Undelivered) {
    desk.with(|messages, step| messages.on_undelivered(step, &"m".into(), why));
}

fn escalations(desk: &Desk) -> usize {
    desk.count(|it| matches!(it, Decision::Escalate { .. }))
}

#[test]
fn r04_row_agent_not_found_no_agent_with_that_session_name() {
    let mut desk = Desk::default();
    let refused = desk.send_between("m", "a", "stranger", Priority::Urgent, None);
    assert_eq!(refused, Err(Refusal::AgentNotFound("stranger".into())));
    assert_eq!(desk.log(), "", "nothing is kept for nobody");

    desk.send("m", Priority::Urgent).expect("taken");
    undelivered(&mut desk, Undelivered::NotFound);
    desk.minutes(60);
    assert_snapshot!(desk.log(), @"0s m: TellSender(NotFound)");
    assert_eq!(Undelivered::NotFound.code(), "agent_not_found");
}

#[test]
fn r04_row_agent_offline_registered_but_not_connected() {
    let mut desk = Desk::default();
    desk.becomes("b", Offline);
    let receipt = desk.send("m", Priority::Normal).expect("kept");
    assert_eq!(receipt.taken, Taken::Later);
    desk.minutes(180);
    assert_snapshot!(desk.log(), @"0s m: TellSender(Offline)");
    assert_eq!(Undelivered::Offline.code(), "agent_offline");
    let attempts = desk.count(|it| matches!(it, Decision::Deliver { .. }));
    assert_eq!(attempts, 0, "nobody is there to deliver it to");

    desk.becomes("b", Online);
    assert_eq!(desk.count(|it| matches!(it, Decision::Deliver { .. })), 1);
    desk.with(|messages, step| messages.on_delivered(step, &"m".into()));
    desk.minutes(300);
    assert_snapshot!(desk.log(), @r"
    0s m: TellSender(Offline)
    3h m: TellSenderDelivered { after: Span(10800000) }
    3h15m m: Remind { joined: false }
    ");
}

#[test]
fn r04_row_timeout_delivery_timed_out() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Low).expect("taken");
    undelivered(&mut desk, Undelivered::Timeout);
    assert_snapshot!(desk.log(), @"0s m: TellSender(Timeout)");
    assert_eq!(Undelivered::Timeout.code(), "timeout");
    let mut tried = Vec::new();
    for _ in 0..3 {
        let before = desk.decided.len();
        while desk.decided.len() == before {
            desk.until(desk.now.since(crate::Timestamp::ZERO) + Span::secs(1));
        }
        tried.push(desk.now);
        undelivered(&mut desk, Undelivered::Timeout);
    }
    let tried: Vec<_> = tried.iter().map(|at| at.as_millis() / 1_000).collect();
    assert_eq!(tried, [30, 90, 210], "after 30 s, then 60, then 120");
    assert_eq!(desk.count(|it| matches!(it, Decision::TellSender(_))), 1, "the sender is told once");
}

#[test]
fn r05_row_busy_with_a_long_running_task() {
    let mut desk = Desk::default();
    desk.stands("b", Busy);
    desk.send("m", Priority::Urgent).expect("taken");
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    2m m: Remind { joined: false }
    6m m: Escalate { joined: false }
    ");
    assert_snapshot!(desk.last_words(), @"urgent message unacknowledged for 6m (limit 2m), reminded 4m ago; of the receiver: it is busy");
}

#[test]
fn r05_row_waiting_for_user_input() {
    let mut desk = Desk::default();
    desk.waits("b", Awaited::Person, Span::hours(24));
    desk.send("m", Priority::High).expect("taken");
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    5m m: Remind { joined: false }
    20m m: Escalate { joined: false }
    ");
    assert_snapshot!(desk.last_words(), @"high message unacknowledged for 20m (limit 5m), reminded 15m ago; of the receiver: it waits on a person for 23h40m at most");
}

#[test]
fn r05_row_processing_a_large_context() {
    let mut desk = Desk::default();
    desk.waits("b", Awaited::Model, Span::minutes(3));
    desk.send("m", Priority::Urgent).expect("taken");
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    2m m: Remind { joined: false }
    3m m: Escalate { joined: false }
    ");
}

#[test]
fn r05_a_busy_receiver_that_acknowledges_in_the_stretched_time_disturbs_nobody() {
    let mut desk = Desk::default();
    desk.stands("b", Busy);
    desk.send("m", Priority::Urgent).expect("taken");
    desk.until(Span::minutes(6).less(Span::millis(1)));
    desk.acknowledge("m");
    desk.minutes(60);
    assert_eq!(escalations(&desk), 0);
}

#[test]
fn r05_a_silent_receiver_is_asked_before_people_are_told() {
    let mut desk = Desk::default();
    desk.stands("b", Unresponsive);
    desk.send("m", Priority::High).expect("taken");
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    5m m: Inquire { joined: false }
    10m m: Escalate { joined: false }
    ");
    assert_snapshot!(desk.last_words(), @"high message unacknowledged for 10m (limit 5m), asked how it is 5m ago; of the receiver: it is unresponsive and may have failed");
}

#[test]
fn r05_an_urgent_message_to_a_silent_receiver_asks_it_and_tells_people_at_once() {
    let mut desk = Desk::default();
    desk.stands("b", Unresponsive);
    desk.send("m", Priority::Urgent).expect("taken");
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    2m m: Inquire { joined: false }
    2m m: Escalate { joined: false }
    ");
}

#[test]
fn r05_an_ordinary_message_to_a_silent_receiver_asks_it_and_goes_no_further() {
    let mut desk = Desk::default();
    desk.stands("b", Unresponsive);
    desk.send("m", Priority::Normal).expect("taken");
    desk.minutes(600);
    assert_snapshot!(desk.log(), @"15m m: Inquire { joined: false }");
}

#[test]
fn r05_a_receiver_that_answers_gets_more_time_and_then_the_reminder() {
    let mut desk = Desk::default();
    desk.stands("b", Unresponsive);
    desk.send("m", Priority::High).expect("taken");
    desk.minutes(8).stands("b", Online);
    desk.with(|messages, step| messages.on_answered(step, &"b".into()));
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    5m m: Inquire { joined: false }
    13m m: Remind { joined: false }
    18m m: Escalate { joined: false }
    ");
}

#[test]
fn r05_one_question_for_all_messages_until_its_time_is_over_or_it_is_answered() {
    let mut desk = Desk::default();
    desk.stands("b", Unresponsive);
    for (minute, id) in [(0, "m1"), (1, "m2"), (5, "m3"), (6, "m4")] {
        desk.minutes(minute);
        desk.send(id, Priority::Normal).expect("taken");
    }
    desk.until(Span::secs(20 * 60 + 30));
    desk.with(|messages, step| messages.on_answered(step, &"b".into()));
    desk.minutes(30);
    assert_snapshot!(desk.log(), @r"
    15m m1: Inquire { joined: false }
    16m m2: Inquire { joined: true }
    20m m3: Inquire { joined: false }
    21m m4: Inquire { joined: false }
    ");
}

#[test]
fn r05_an_answer_gives_no_more_time_for_what_was_not_asked_about() {
    let mut desk = Desk::default();
    desk.stands("b", Unresponsive);
    desk.send("m1", Priority::Normal).expect("taken");
    desk.minutes(14);
    desk.send("m2", Priority::Urgent).expect("taken");
    desk.until(Span::secs(15 * 60 + 30)).stands("b", Online);
    desk.with(|messages, step| messages.on_answered(step, &"b".into()));
    desk.minutes(30);
    assert_snapshot!(desk.log(), @r"
    15m m1: Inquire { joined: false }
    16m m2: Escalate { joined: false }
    ");
}

#[test]
fn r05_an_acknowledgement_after_people_were_told_is_late_however_soon_it_follows_delivery() {
    let mut desk = Desk::default();
    desk.becomes("b", Offline);
    desk.send("m", Priority::Urgent).expect("kept");
    desk.minutes(30).becomes("b", Online);
    assert_eq!(desk.acknowledge("m"), Acknowledgement::Over { late: true });
}

#[test]
fn r05_who_was_never_heard_is_asked_and_not_suspected() {
    let mut desk = Desk::default();
    desk.standings.insert("b".into(), Standing::default());
    desk.send("m", Priority::Urgent).expect("taken");
    desk.minutes(60);
    assert_snapshot!(desk.last_words(), @"urgent message unacknowledged for 2m (limit 2m), asked how it is 0s ago; of the receiver: it was never heard");
}

#[test]
fn r08_what_each_status_of_an_agent_means() {
    let now = crate::Timestamp::ZERO;
    let of = |status| Reading::of(Some(Standing { status: Some(status), wait: None }), now);
    for (row, is, means) in [
        ("online", of(Online), Reading::There),
        ("idle", of(Idle), Reading::There),
        ("busy", of(Busy), Reading::Engaged { awaited: None, left: None }),
        ("unresponsive", of(Unresponsive), Reading::Silent),
        ("offline", of(Offline), Reading::Offline),
        ("not_found", Reading::of(None, now), Reading::Nobody),
        ("never heard", Reading::of(Some(Standing::default()), now), Reading::Unknown),
    ] {
        assert_eq!(is, means, "{row}");
        assert_eq!(is.has_stopped(), matches!(row, "unresponsive" | "offline"), "{row}");
    }
}

#[test]
fn r05_a_receiver_that_goes_offline_before_it_has_the_message_gets_it_when_it_is_back() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Normal).expect("taken");
    desk.minutes(1).becomes("b", Offline);
    desk.minutes(2).becomes("b", Offline);
    desk.minutes(3).becomes("b", Online);
    assert_snapshot!(desk.log(), @"1m m: TellSender(Offline)");
    assert_eq!(desk.count(|it| *it == Decision::Deliver { attempt: 2 }), 1);
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    1m m: TellSender(Offline)
    18m m: Remind { joined: false }
    ");
}

#[test]
fn r05_a_receiver_whose_return_nobody_mentioned_gets_it_within_the_hour() {
    let mut desk = Desk::default();
    desk.becomes("b", Offline);
    desk.send("m", Priority::Normal).expect("kept");
    desk.minutes(60 * 24).stands("b", Online);
    desk.minutes(60 * 25);
    assert_eq!(desk.count(|it| matches!(it, Decision::Deliver { .. })), 1);
}

#[test]
fn r05_an_urgent_message_that_cannot_be_delivered_is_told_to_people_once() {
    let mut desk = Desk::default();
    desk.becomes("b", Offline);
    desk.send("m", Priority::Urgent).expect("kept");
    desk.minutes(30).becomes("b", Online);
    desk.minutes(600);
    assert_snapshot!(desk.log(), @r"
    0s m: TellSender(Offline)
    2m m: Escalate { joined: false }
    ");
}

#[test]
fn r05_a_receiver_that_keeps_coming_and_going_does_not_keep_people_from_knowing() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Urgent).expect("taken");
    for half_minute in 1..60 {
        desk.until(Span::secs(30 * half_minute));
        desk.becomes("b", if half_minute % 2 == 0 { Online } else { Offline });
    }
    assert_eq!(escalations(&desk), 1, "though its time began anew with each delivery");
    assert_eq!(desk.count(|it| matches!(it, Decision::TellSender(_))), 1, "told once until it is delivered");
}

#[test]
fn r05_a_receiver_that_is_unregistered_ends_its_messages() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Urgent).expect("taken");
    desk.minutes(5).standings.remove("b");
    desk.with(|messages, step| messages.on_receiver_changed(step, &"b".into()));
    desk.minutes(60);
    assert_snapshot!(desk.log(), @r"
    2m m: Escalate { joined: false }
    5m m: TellSender(NotFound)
    5m m: EscalationOver { lasted: Span(180000) }
    ");
}
