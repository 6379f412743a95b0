//! Whoever is killed, nothing of the tree is left over.

use rustix::process::Signal;

use crate::program::{Place, until};
use crate::terminations::{QUICK, stubborn};
use crate::wrapped::{Wrapped, bearing, record, signal};

/// A stubborn tree under this agent.
fn tree(place: &Place, monitor: &crate::program::Program, word: &str) -> Wrapped {
    let wrapped = Wrapped::start(place, monitor, word, &["bash", "-c", &stubborn(word)]);
    until("the whole tree", || (bearing(word).len() >= 7).then_some(()));
    wrapped
}

fn nobody_is_left(word: &str) {
    until("nobody is left", || bearing(word).is_empty().then_some(()));
}

#[test]
fn l22_when_the_program_is_killed_the_rest_of_its_tree_ends() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let word = format!("child-{}", std::process::id());
    let wrapped = tree(&place, &monitor, &word);
    signal(wrapped.processes(&place).0, Signal::KILL);
    nobody_is_left(&word);
    monitor.event(&word, "AGENT_TERMINATED");
}

#[test]
fn l22_when_the_wrapper_is_killed_its_tree_ends_and_the_monitor_tells_so() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let word = format!("wrapper-{}", std::process::id());
    let mut wrapped = tree(&place, &monitor, &word);
    signal(wrapped.wrapper(), Signal::KILL);
    wrapped.wait();
    nobody_is_left(&word);
    monitor.event(&word, "AGENT_TERMINATED");
    until("the record is gone", || record(&place, &word).is_none().then_some(()));
}

#[test]
fn l22_when_the_keeper_is_killed_the_wrapper_ends_the_tree() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let word = format!("keeper-{}", std::process::id());
    let mut wrapped = tree(&place, &monitor, &word);
    signal(wrapped.processes(&place).1, Signal::KILL);
    nobody_is_left(&word);
    wrapped.wait();
    monitor.event(&word, "AGENT_TERMINATED");
}

#[test]
fn l22_when_wrapper_and_keeper_are_killed_the_monitor_ends_the_tree() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let word = format!("both-{}", std::process::id());
    let wrapped = tree(&place, &monitor, &word);
    let (_, keeper) = wrapped.processes(&place);
    signal(keeper, Signal::STOP);
    signal(wrapped.wrapper(), Signal::KILL);
    signal(keeper, Signal::KILL);
    // Whoever has nothing in its environment and no parent of ours is known to nobody any more.
    until("who can be known ends", || bearing(&format!("WORD={word}")).is_empty().then_some(()));
    monitor.event(&word, "AGENT_TERMINATED");
    for pid in bearing(&word) {
        signal(pid, Signal::KILL);
    }
}

#[test]
fn l22_a_monitor_that_comes_back_finishes_the_job_of_a_wrapper_that_was_killed_meanwhile() {
    let place = Place::new();
    let monitor = place.configure(QUICK).start();
    let word = format!("away-{}", std::process::id());
    let wrapped = tree(&place, &monitor, &word);
    let (_, keeper) = wrapped.processes(&place);
    monitor.kill();
    signal(keeper, Signal::STOP);
    signal(wrapped.wrapper(), Signal::KILL);
    signal(keeper, Signal::KILL);
    let monitor = place.start();
    until("who can be known ends", || bearing(&format!("WORD={word}")).is_empty().then_some(()));
    monitor.event(&word, "AGENT_TERMINATED");
    for pid in bearing(&word) {
        signal(pid, Signal::KILL);
    }
}
