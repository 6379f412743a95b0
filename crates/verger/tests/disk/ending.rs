//! The end under load: nothing acknowledged is lost, and nobody is left hanging.

use super::load::Ledger;
use super::program::Place;

/// Ends, each at another moment of the load's work.
const ENDS: usize = 4;

#[test]
fn l41_told_to_end_under_load_it_answers_or_refuses_loses_nothing_and_ends_with_code_0() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = Place::new(folder.path(), None);
    let ledger = Ledger::default();
    for round in 1..=ENDS {
        let program = place.start();
        let mut ended = None;
        let http = program.http().clone();
        ledger.load(&http, round, || {
            ledger.await_more(30 + round * 10);
            ended = Some(program.end());
        });
        let ended = ended.expect("it has ended");
        assert_eq!(ended.code(), Some(0), "{}", place.log());
        let program = place.start();
        ledger.check(program.http(), "after an orderly end");
    }
    assert_eq!(place.log().matches("ended; what it knows is kept").count(), ENDS, "{}", place.log());
    eprintln!("{ENDS} ends: {}", ledger.tally());
}
