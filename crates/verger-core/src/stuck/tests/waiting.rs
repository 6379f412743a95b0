//! Waiting for something is no loop while it may still come; waiting without end is.

use super::*;

fn looks(count: i64, every: i64, step: impl Fn() -> Step) -> Vec<Step> {
    (0..count).map(|n| step().at(n * every, n * every)).collect()
}

#[test]
fn l06_a_look_is_patient_for_a_hundred_and_sixty_times_and_not_for_two_hundred() {
    let look = || call("get_job_status", "{\"id\":7}", "queued");
    assert_healthy(&looks(160, 60, look));
    assert_eq!(assert_stuck(&looks(200, 60, look), 199), Kind::IdenticalCall);
}

#[test]
fn l06_hundreds_of_looks_issued_without_a_pause_are_seen() {
    let looks: Vec<Step> = (0..400).map(|n| call("wait", "{}", "nothing yet").at(n / 4, n / 4)).collect();
    assert_stuck(&looks, 199);
}

#[test]
fn l06_what_is_asked_once_an_hour_is_waited_for_whatever_it_is_called() {
    let ask = || call("t17", "{\"page\":\"tickets\"}", "Tickets are to be had soon.");
    assert_healthy(&looks(24, 3_600, ask));
    assert_stuck(&looks(24, 30, ask), 5);
}

#[test]
fn l06_a_build_that_takes_a_quarter_of_an_hour_and_fails_each_time_is_no_waiting() {
    let build =
        |n: i64| shell("make all", "make: *** no rule to make target 'all'").at(n * 960, n * 960 + 900);
    let builds: Vec<Step> = (0..8).map(build).collect();
    assert_stuck(&builds, 4);
}

#[test]
fn l06_what_somebody_else_holds_is_waited_for_while_time_passes() {
    let held = || {
        failed("bash", "{\"command\":\"db migrate\"}", "Error: could not get lock, it is held by process 812")
    };
    assert_healthy(&looks(12, 30, held));
    assert_stuck(&looks(12, 2, held), 5);
}

#[test]
fn l06_what_has_failed_does_not_come_by_waiting() {
    let mut steps = looks(3, 30, || call("job_status", "{\"id\":7}", "state: RUNNING"));
    steps.extend(
        (3..40).map(|n| call("job_status", "{\"id\":7}", "state: FAILED (final)").at(n * 30, n * 30)),
    );
    assert_stuck(&steps, 23);
}

#[test]
fn l06_a_size_that_grows_is_something_that_moves() {
    let pull = |n: i64| {
        call("terminal_read", "{\"id\":1}", format!("layer: {}MB of 4.2GB, {n}.5s", n * 310)).at(n, n)
    };
    assert_healthy(&(0..30).map(|n| pull(2 * n)).collect::<Vec<_>>());
}
