//! Rows that are damaged, and rows that lie.

use proptest::prelude::*;

use super::super::*;
use super::board::Board;
use crate::id::TaskId;
use crate::time::{Span, Timestamp};

fn survive(rows: Vec<(TaskId, Vec<u8>)>) {
    let mut board = Board::default();
    let Ok(tasks) = Tasks::restore(rows, &board.policy) else { return };
    board.tasks = tasks;
    for now in [Timestamp::ZERO, Timestamp::from_millis(1 << 40), Timestamp::NEVER] {
        board.now = now;
        board.with(Tasks::wake);
        board.changed();
        board.answer();
        let _ = board.report(5);
        board.tasks.page(now, &board.policy, None, None, 10);
    }
}

fn rows() -> Vec<(TaskId, Vec<u8>)> {
    let mut board = Board::default();
    board.give(10);
    board.report(30).expect("theirs");
    board.explain(Some(Span::minutes(1)));
    board.minutes(33);
    assert!(board.is_stalled());
    board.rows.into_iter().collect()
}

#[test]
fn l42_a_row_cut_short_is_refused() {
    for (id, row) in rows() {
        for length in 0..row.len() {
            let cut = vec![(id.clone(), row[..length].to_vec())];
            assert!(Tasks::restore(cut, &Policy::default()).is_err(), "{length} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l42_damaged_rows_are_refused_or_harmless(at in 0_usize..400, byte in any::<u8>()) {
        let mut rows = rows();
        let length: usize = rows.iter().map(|(_, row)| row.len()).sum();
        if let Some(it) = rows.iter_mut().flat_map(|(_, row)| row.iter_mut()).nth(at % length) {
            *it = byte;
        }
        survive(rows);
    }

    #[test]
    fn l42_noise_is_no_task(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        survive(vec![("t".into(), bytes)]);
    }
}
