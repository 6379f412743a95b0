//! 001 §1.4.3: how long each priority may stay unacknowledged, and what follows.

use insta::assert_snapshot;

use super::super::*;
use super::desk::Desk;
use crate::time::Span;

fn desk(priority: Priority) -> Desk {
    let mut desk = Desk::default();
    desk.send("m", priority).expect("taken");
    desk
}

#[test]
fn r05_row_urgent_2_minutes_immediate_escalation() {
    let mut desk = desk(Priority::Urgent);
    desk.until(Span::minutes(2).less(Span::millis(1)));
    assert_eq!(desk.log(), "", "not a moment before");
    desk.minutes(60 * 24);
    assert_snapshot!(desk.log(), @"2m m: Escalate { joined: false }");
    assert_snapshot!(desk.last_words(), @"urgent message unacknowledged for 2m (limit 2m); of the receiver: it shows life");
}

#[test]
fn r05_row_high_5_minutes_send_reminder_then_escalate() {
    let mut desk = desk(Priority::High);
    desk.minutes(60 * 24);
    assert_snapshot!(desk.log(), @r"
    5m m: Remind { joined: false }
    10m m: Escalate { joined: false }
    ");
    assert_snapshot!(desk.last_words(), @"high message unacknowledged for 10m (limit 5m), reminded 5m ago; of the receiver: it shows life");
}

#[test]
fn r05_row_normal_15_minutes_send_reminder() {
    let mut desk = desk(Priority::Normal);
    desk.minutes(60 * 24);
    assert_snapshot!(desk.log(), @"15m m: Remind { joined: false }");
}

#[test]
fn r05_row_low_1_hour_log_only() {
    let mut desk = desk(Priority::Low);
    desk.minutes(60 * 24);
    assert_snapshot!(desk.log(), @"1h m: Log");
}

#[test]
fn r05_every_timeout_can_be_set() {
    for priority in [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low] {
        let second = Span::secs(1);
        let mut desk = Desk {
            policy: Policy {
                urgent: second,
                high: second,
                high_reminded: second,
                normal: second,
                low: second,
                ..Policy::default()
            },
            ..Desk::default()
        };
        desk.send("m", priority).expect("taken");
        desk.until(second);
        assert_eq!(desk.count(|it| !matches!(it, Decision::Deliver { .. })), 1, "{priority}");
    }
}

#[test]
fn r05_an_acknowledgement_in_time_ends_it_and_nothing_follows() {
    for priority in [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low] {
        let mut desk = desk(priority);
        desk.until(Span::secs(119));
        assert_eq!(desk.acknowledge("m"), Acknowledgement::Over { late: false });
        desk.minutes(60 * 24 * 8);
        assert_eq!(desk.log(), "1m59s m: Acknowledged { after: Span(119000), late: false }", "{priority}");
    }
}

#[test]
fn r05_a_late_acknowledgement_ends_it_too_and_people_are_told_that_it_is_over() {
    let mut desk = desk(Priority::High);
    desk.minutes(180);
    assert_eq!(desk.acknowledge("m"), Acknowledgement::Over { late: true });
    assert_eq!(desk.acknowledge("m"), Acknowledgement::Again);
    desk.minutes(60 * 24 * 8);
    assert_snapshot!(desk.log(), @r"
    5m m: Remind { joined: false }
    10m m: Escalate { joined: false }
    3h m: Acknowledged { after: Span(10800000), late: true }
    3h m: EscalationOver { lasted: Span(10200000) }
    ");
}

#[test]
fn r05_an_acknowledgement_between_reminder_and_escalation_prevents_it() {
    let mut desk = desk(Priority::High);
    desk.minutes(9);
    desk.acknowledge("m");
    desk.minutes(600);
    assert_eq!(desk.count(|it| matches!(it, Decision::Escalate { .. })), 0);
}

#[test]
fn r05_a_person_may_take_care_of_it() {
    let mut desk = desk(Priority::Urgent);
    desk.minutes(5);
    let taken = desk.with(|messages, step| messages.on_acknowledged(step, &"m".into(), None));
    assert_eq!(taken, Acknowledgement::Over { late: true });
}

#[test]
fn r05_what_nobody_acknowledges_is_given_up_at_last() {
    let mut desk = desk(Priority::Urgent);
    desk.until(Span::hours(24 * 9));
    assert_snapshot!(desk.log(), @r"
    2m m: Escalate { joined: false }
    7d m: Expired
    7d m: EscalationOver { lasted: Span(604680000) }
    ");
    assert_eq!(desk.messages.counts(), Counts::default());
    assert!(desk.messages.slots.is_empty() && desk.messages.index.inboxes.is_empty(), "nothing is left");
}

#[test]
fn r05_one_receiver_one_reminder_one_question_one_escalation() {
    let mut desk = Desk::default();
    for id in ["m1", "m2", "m3"] {
        desk.send(id, Priority::High).expect("taken");
    }
    desk.minutes(20);
    let sent = |joined| {
        (
            desk.count(|it| *it == Decision::Remind { joined }),
            desk.count(|it| *it == Decision::Escalate { joined }),
        )
    };
    assert_eq!((sent(false), sent(true)), ((1, 1), (2, 2)), "{}", desk.log());
    for id in ["m1", "m2"] {
        desk.acknowledge(id);
    }
    assert_eq!(desk.count(|it| matches!(it, Decision::EscalationOver { .. })), 0, "one is left");
    desk.acknowledge("m3");
    assert_eq!(desk.count(|it| matches!(it, Decision::EscalationOver { .. })), 1);
    desk.send("m4", Priority::Urgent).expect("taken");
    desk.minutes(30);
    assert_eq!(desk.count(|it| *it == Decision::Escalate { joined: false }), 2, "it is news again");
}

#[test]
fn r05_changed_limits_hold_at_once() {
    let mut desk = desk(Priority::Normal);
    desk.minutes(10);
    desk.policy.normal = Span::minutes(11);
    let policy = desk.policy.clone();
    desk.messages.on_policy(&policy);
    desk.minutes(11);
    assert_snapshot!(desk.log(), @"11m m: Remind { joined: false }");
}

#[test]
fn r05_people_read_what_was_done() {
    let mut desk = desk(Priority::High);
    desk.minutes(12);
    let view = desk.messages.view(desk.now, &"m".into()).expect("unacknowledged");
    assert_snapshot!(view, @"high message m from a to b, unacknowledged for 12m: sent, receiver reminded 7m ago, people told 2m ago");
}
