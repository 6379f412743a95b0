//! Rows that are damaged, and rows that lie.

use proptest::prelude::*;

use super::super::*;
use super::desk::Desk;
use crate::time::Timestamp;

fn survive(rows: Vec<(RowKey, Vec<u8>)>) {
    let mut desk = Desk::default();
    let Ok(messages) = Messages::restore(rows, &desk.policy) else { return };
    desk.messages = messages;
    for now in [Timestamp::ZERO, Timestamp::from_millis(1 << 40), Timestamp::NEVER] {
        desk.now = now;
        let standings = desk.standings.clone();
        let standing = |agent: &crate::AgentId| standings.get(agent).copied();
        let mut out = Vec::new();
        let mut step = Step { now, policy: &desk.policy, standing: &standing, out: &mut out };
        desk.messages.wake(&mut step);
        desk.messages.on_receiver_changed(&mut step, &"b".into());
        desk.messages.on_answered(&mut step, &"b".into());
        desk.messages.on_acknowledged(&mut step, &"m".into(), None);
        desk.messages.page(now, None, None, None, 10);
    }
}

fn rows() -> Vec<(RowKey, Vec<u8>)> {
    let mut desk = Desk::default();
    desk.becomes("b", crate::liveness::LivenessStatus::Offline);
    desk.send("m", Priority::Urgent).expect("kept");
    desk.minutes(5);
    desk.rows.into_iter().collect()
}

#[test]
fn l42_a_row_cut_short_is_refused() {
    for (key, row) in rows() {
        for length in 0..row.len() {
            let cut = vec![(key.clone(), row[..length].to_vec())];
            assert!(Messages::restore(cut, &Policy::default()).is_err(), "{key:?} of {length} bytes");
        }
    }
}

#[test]
fn l42_an_inbox_that_claims_an_escalation_without_messages_is_put_right() {
    let mut desk = Desk::default();
    desk.send("m", Priority::Low).expect("taken");
    let mut claims = rows();
    claims.retain(|(key, _)| matches!(key, RowKey::Inbox(_)));
    assert_eq!(claims.len(), 1);
    claims.extend(desk.rows);
    let messages = Messages::restore(claims, &Policy::default()).expect("readable");
    let escalated = messages.index.inboxes.values().map(|inbox| inbox.marks.escalated_since);
    assert_eq!(escalated.collect::<Vec<_>>(), [None]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l42_damaged_rows_are_refused_or_harmless(at in 0_usize..400, byte in any::<u8>()) {
        let mut rows = rows();
        let length: usize = rows.iter().map(|(_, row)| row.len()).sum();
        let mut bytes = rows.iter_mut().flat_map(|(_, row)| row.iter_mut());
        if let Some(it) = bytes.nth(at % length) {
            *it = byte;
        }
        survive(rows);
    }

    #[test]
    fn l42_noise_is_no_message(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        survive(vec![(RowKey::Message("m".into()), bytes.clone()), (RowKey::Inbox("b".into()), bytes)]);
    }
}
