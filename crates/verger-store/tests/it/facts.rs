//! Texts, tokens, audit lines and vital signs.

use verger_core::time::WallTime;
use verger_store::{AuditCheck, AuditLine, MessageText, Sample, Side, Token};

use crate::desk::{Desk, WALL, at};

fn message(id: &str, sender: &str, receiver: &str, text: &str) -> MessageText {
    MessageText {
        id: id.into(),
        sender: sender.into(),
        receiver: receiver.into(),
        text: text.into(),
        at: at(5),
    }
}

fn line(actor: &str) -> AuditLine {
    AuditLine {
        actor: actor.into(),
        action: "terminate".into(),
        target: "a".into(),
        detail: "{}".into(),
        at: at(7),
    }
}

#[test]
fn r05_messages_are_found_by_either_side_and_their_first_words_hold() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    for message in [
        message("m1", "a", "b", "hello"),
        message("m2", "b", "a", "what is it?"),
        message("m3", "a", "b", "done"),
        message("m1", "a", "b", "something else"),
    ] {
        archive.put_message(message).wait().expect("kept");
    }
    assert_eq!(archive.message(&"m1".into()).expect("read").expect("there").text, "hello");
    let texts = |agent: &str, side| {
        let found = archive.messages_of(&agent.into(), side, 99).expect("read");
        found.into_iter().map(|message| message.text).collect::<Vec<_>>()
    };
    assert_eq!(texts("a", Side::Sent), ["done", "hello"]);
    assert_eq!(texts("a", Side::Inbox), ["what is it?"]);
    assert_eq!(texts("c", Side::Inbox), [""; 0]);
}

#[test]
fn a_task_is_open_until_it_is_said_to_be_over_and_may_be_opened_again() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let task = || archive.task(&"t".into()).expect("read").expect("there");
    archive.put_task("t".into(), Some("write it".into()), at(1)).wait().expect("kept");
    assert!(!task().ended);
    archive.end_task("t".into(), at(2)).wait().expect("kept");
    assert!(task().ended);
    archive.put_task("t".into(), None, at(3)).wait().expect("kept");
    assert_eq!((task().text.as_deref(), task().ended, task().at), (Some("write it"), false, at(3)));
    assert!(archive.task(&"u".into()).expect("read").is_none());
}

#[test]
fn a_token_is_known_by_its_hash_alone() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    let token = Token {
        id: "k1".into(),
        scope: "agent".into(),
        agent: Some("a".into()),
        label: Some("ci".into()),
        created: WallTime(WALL),
        expires: Some(WallTime(WALL + 100)),
        revoked: None,
    };
    let hash = *blake3::hash(b"secret").as_bytes();
    archive.add_token(token.clone(), hash).wait().expect("kept");
    assert_eq!(archive.token(&hash).expect("read"), Some(token.clone()));
    assert_eq!(archive.token(blake3::hash(b"guess").as_bytes()).expect("read"), None);
    assert!(archive.add_token(token.clone(), [7; 32]).wait().is_err(), "the name is taken");
    assert!(token.is_valid(WallTime(WALL + 99)) && !token.is_valid(WallTime(WALL + 100)));

    assert!(archive.revoke_token("k1".into(), WallTime(WALL + 5)).wait().expect("written"));
    assert!(!archive.revoke_token("k1".into(), WallTime(WALL + 6)).wait().expect("written"), "once");
    let revoked = archive.tokens().expect("read").remove(0);
    assert_eq!(revoked.revoked, Some(WallTime(WALL + 5)));
    assert!(!revoked.is_valid(WallTime(WALL + 6)));
}

#[test]
fn a_changed_or_missing_line_breaks_the_audit_log_from_there_on() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    for (number, actor) in (1..).zip(["ops", "ops", "api", "ops"]) {
        assert_eq!(archive.add_audit(line(actor)).wait().expect("kept"), number);
    }
    let check = || archive.verify_audit().expect("read");
    assert_eq!(check(), AuditCheck::Whole { lines: 4 });
    assert_eq!(archive.audit_after(2, 9).expect("read")[0].line, line("api"));
    let before =
        |number| archive.audit_before(number, 2).expect("read").iter().map(|entry| entry.number).collect();
    let (newest, older): (Vec<i64>, Vec<i64>) = (before(None), before(Some(2)));
    assert_eq!((newest, older), (vec![4, 3], vec![1]));
    let hand = rusqlite::Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
    hand.execute("UPDATE audit SET actor = 'eve' WHERE number = 3", []).expect("changed");
    assert_eq!(check(), AuditCheck::Broken { number: 3 });
    hand.execute("UPDATE audit SET actor = 'api' WHERE number = 3", []).expect("changed back");
    hand.execute("DELETE FROM audit WHERE number = 2", []).expect("deleted");
    assert_eq!(check(), AuditCheck::Broken { number: 2 });
}

#[test]
fn l46_the_history_of_an_agent_is_what_was_sampled_in_that_time() {
    let desk = Desk::new();
    let (_store, archive) = desk.open();
    for minute in 0..10 {
        let sample = |agent: &str| Sample {
            agent: agent.into(),
            state: "HEALTHY",
            body: format!("{{\"agentId\":\"{agent}\",\"minute\":{minute}}}"),
        };
        archive.put_samples(at(minute * 60_000), vec![sample("a"), sample("b")]).wait().expect("kept");
    }
    let minute = |minute: i64| WallTime(WALL + minute * 60_000);
    let found = archive.history(&"a".into(), minute(3), minute(6), 99).expect("read");
    assert_eq!(
        found.iter().map(|found| found.at).collect::<Vec<_>>(),
        [at(180_000), at(240_000), at(300_000)]
    );
    assert_eq!(found[0].body, r#"{"agentId":"a","minute":3}"#);
    let newest = archive.history(&"a".into(), minute(0), minute(99), 2).expect("read");
    assert_eq!(newest.iter().map(|found| found.at).collect::<Vec<_>>(), [at(480_000), at(540_000)]);
    assert_eq!(archive.history(&"c".into(), minute(0), minute(99), 9).expect("read"), []);
    let hand = rusqlite::Connection::open(desk.path("verger.db")).expect("a person with sqlite3");
    let readable: (String, String) = hand
        .query_row("SELECT agent, at FROM vital_signs LIMIT 1", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("a row");
    assert_eq!(readable, ("a".to_owned(), "2026-09-21 14:13:20".to_owned()));
}
