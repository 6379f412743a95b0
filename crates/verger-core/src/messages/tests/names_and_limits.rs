//! Names that come twice, replies to nothing, notes to oneself, and full inboxes.

use super::super::*;
use super::desk::Desk;
use crate::id::MessageId;

fn how(receipt: Result<Receipt, Refusal>) -> Result<Taken, Refusal> {
    receipt.map(|receipt| receipt.taken)
}

#[test]
fn r05_the_same_message_again_changes_nothing() {
    let mut desk = Desk::default();
    assert_eq!(how(desk.send("m", Priority::High)), Ok(Taken::Sent));
    desk.minutes(4);
    assert_eq!(how(desk.send("m", Priority::High)), Ok(Taken::Again));
    desk.minutes(5);
    assert_eq!(desk.log(), "5m m: Remind { joined: false }", "its time was not begun anew");
    desk.acknowledge("m");
    assert_eq!(how(desk.send("m", Priority::High)), Ok(Taken::Again), "and it does not rise again");
    assert_eq!(desk.messages.unread(&"b".into()), 0);
}

#[test]
fn r05_another_message_of_the_same_name_is_refused() {
    let mut desk = Desk::default();
    desk.send("m", Priority::High).expect("taken");
    assert_eq!(desk.send("m", Priority::Low), Err(Refusal::IdTaken("m".into())));
    let other = desk.send_between("m", "c", "b", Priority::High, None);
    assert_eq!(other, Err(Refusal::IdTaken("m".into())));
}

#[test]
fn r05_a_reply_acknowledges_what_it_answers() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Urgent).expect("taken");
    let receipt = desk.send_between("r", "b", "a", Priority::Normal, Some("m")).expect("taken");
    assert_eq!(receipt.reply, Some(Acknowledgement::Over { late: false }));
    assert_eq!(desk.messages.unread(&"b".into()), 0);
    assert_eq!(desk.messages.unread(&"a".into()), 1, "it is a message itself");
}

#[test]
fn r05_a_reply_to_nothing_known_is_a_message_like_any_other() {
    let mut desk = Desk::default();
    let receipt = desk.send_between("r", "b", "a", Priority::Normal, Some("never")).expect("taken");
    assert_eq!(receipt, Receipt { taken: Taken::Sent, reply: Some(Acknowledgement::Unknown) });
}

#[test]
fn r05_nobody_acknowledges_for_another() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Urgent).expect("taken");
    let by_c = desk.with(|messages, step| messages.on_acknowledged(step, &"m".into(), Some(&"c".into())));
    assert_eq!(by_c, Acknowledgement::NotTheirs);
    let elsewhere = desk.send_between("r1", "b", "c", Priority::Low, Some("m")).expect("taken");
    assert_eq!(elsewhere.reply, Some(Acknowledgement::NotTheirs), "a word to somebody else is no answer");
    let by_the_sender = desk.send_between("r2", "a", "b", Priority::Low, Some("m")).expect("taken");
    assert_eq!(by_the_sender.reply, Some(Acknowledgement::NotTheirs));
    desk.minutes(2);
    assert_eq!(desk.count(|it| matches!(it, Decision::Escalate { .. })), 1);
}

#[test]
fn r05_an_acknowledgement_of_nothing_known_is_harmless() {
    assert_eq!(Desk::default().acknowledge("never"), Acknowledgement::Unknown);
}

#[test]
fn r05_a_reply_counts_even_if_it_cannot_be_delivered() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Urgent).expect("taken");
    desk.standings.remove("a");
    let refused = desk.send_between("r", "b", "a", Priority::Normal, Some("m"));
    assert_eq!(refused, Err(Refusal::AgentNotFound("a".into())));
    assert_eq!(desk.messages.unread(&"b".into()), 0);
}

#[test]
fn r05_a_note_to_oneself_is_delivered_and_nobody_waits_for_it() {
    let mut desk = Desk::default();
    assert_eq!(how(desk.send_between("m", "a", "a", Priority::Urgent, None)), Ok(Taken::ToOneself));
    assert_eq!(desk.count(|it| matches!(it, Decision::Deliver { .. })), 1);
    desk.minutes(600);
    assert_eq!(desk.log(), "");
    assert_eq!(desk.messages.deadline(desk.now), None);
}

#[test]
fn r05_names_without_end_are_refused() {
    let long = "x".repeat(257);
    for (id, from, to, reply) in [
        (&*long, "a", "b", None),
        ("m", &*long, "b", None),
        ("m", "a", &*long, None),
        ("m", "a", "b", Some(&*long)),
    ] {
        let refused = Desk::default().send_between(id, from, to, Priority::Low, reply);
        assert_eq!(refused, Err(Refusal::NameTooLong(256)));
    }
}

fn full(per_receiver_max: u32, total_max: u32) -> Desk {
    Desk { policy: Policy { per_receiver_max, total_max, ..Policy::default() }, ..Desk::default() }
}

fn dropped(desk: &Desk) -> Vec<MessageId> {
    let dropped = desk.decided.iter().filter(|(_, it)| it.decision == Decision::Dropped);
    dropped.map(|(_, it)| it.message.clone()).collect()
}

#[test]
fn x13_the_oldest_of_the_least_important_makes_room() {
    let mut desk = full(3, 100);
    for (id, priority) in [
        ("normal", Priority::Normal),
        ("low-1", Priority::Low),
        ("low-2", Priority::Low),
        ("high", Priority::High),
        ("urgent-1", Priority::Urgent),
        ("urgent-2", Priority::Urgent),
        ("urgent-3", Priority::Urgent),
    ] {
        desk.now += crate::Span::secs(1);
        desk.send(id, priority).expect("taken");
    }
    let gone: Vec<MessageId> = ["low-1", "low-2", "normal", "high"].map(MessageId::from).into();
    assert_eq!(dropped(&desk), gone);
    assert_eq!(desk.messages.counts().dropped, 4, "each is counted");
    assert_eq!(desk.messages.unread(&"b".into()), 3);
}

#[test]
fn x13_an_urgent_message_is_never_given_up_and_the_sender_of_one_too_many_learns_it() {
    let mut desk = full(2, 100);
    desk.send("u1", Priority::Urgent).expect("taken");
    desk.send("u2", Priority::Urgent).expect("taken");
    for priority in [Priority::Urgent, Priority::High, Priority::Low] {
        assert_eq!(desk.send("m", priority), Err(Refusal::Full("b".into())));
    }
    assert_eq!(dropped(&desk), Vec::<MessageId>::new());
    desk.send_between("m", "a", "c", Priority::Low, None).expect("another inbox has room");
}

#[test]
fn x13_what_is_over_makes_room_before_anything_else_and_silently() {
    let mut desk = full(2, 100);
    desk.send("u1", Priority::Urgent).expect("taken");
    desk.send("u2", Priority::Urgent).expect("taken");
    desk.acknowledge("u1");
    desk.send("m", Priority::Low).expect("taken");
    assert_eq!(dropped(&desk), Vec::<MessageId>::new());
}

#[test]
fn x13_all_messages_together_are_limited_too() {
    let mut desk = full(100, 2);
    desk.send_between("l", "a", "b", Priority::Low, None).expect("taken");
    desk.send_between("n", "a", "c", Priority::Normal, None).expect("taken");
    desk.send_between("h", "a", "d", Priority::High, None).expect("taken");
    assert_eq!(dropped(&desk), ["l".into()]);
    assert_eq!(desk.send_between("l2", "a", "b", Priority::Low, None), Err(Refusal::Full("b".into())));
}

#[test]
fn x13_an_escalated_message_that_is_given_up_ends_its_escalation() {
    let mut desk = full(1, 100);
    desk.send("h", Priority::High).expect("taken");
    desk.minutes(11);
    desk.send("u", Priority::Urgent).expect("taken");
    assert_eq!(desk.count(|it| matches!(it, Decision::EscalationOver { .. })), 1, "{}", desk.log());
}

#[test]
fn r05_messages_are_listed_by_sender_and_receiver_page_by_page() {
    let mut desk = Desk::default();
    for (id, from, to) in [("1", "a", "b"), ("2", "a", "c"), ("3", "b", "c"), ("4", "a", "b")] {
        desk.send_between(id, from, to, Priority::Low, None).expect("taken");
    }
    desk.acknowledge("4");
    let ids = |to: Option<&str>, from: Option<&str>, after: Option<&str>, limit| {
        let (to, from, after) = (to.map(Into::into), from.map(Into::into), after.map(MessageId::from));
        let page = desk.messages.page(desk.now, to.as_ref(), from.as_ref(), after.as_ref(), limit);
        page.into_iter().map(|view| view.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(None, Some("a"), None, 9), ["1", "2"], "what is over is not listed");
    assert_eq!(ids(Some("c"), None, None, 9), ["2", "3"]);
    assert_eq!(ids(None, None, None, 2), ["1", "2"]);
    assert_eq!(ids(None, None, Some("2"), 2), ["3"]);
}
