//! What went into trouble, and what ending it saved (X17).

use verger_core::RowKey;
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::resources::{Limits, Used};

use crate::timeline::{Timeline, lines};

fn unattended() -> Timeline {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    Timeline::apart(policies)
}

/// It fails, for a minute, and uses a hundred tokens with each call.
fn failing(from: u64) -> String {
    let call = |at: u64| format!("{at}s call b$N -> boom failed \n {at}s tokens 100 cost=10");
    format!("{from}s status degraded \n") + &lines(from + 1..from + 60, call)
}

#[test]
fn x17_what_was_used_in_trouble_is_counted_and_what_its_end_saved_is_estimated() {
    let timeline = unattended().play("0s spawn \n 1s tokens 500 \n 2s beating 5m").play(&failing(10));
    let timeline = timeline.play("2m outcome stopped \n 3m");
    let spent = timeline.fleet.wasted().spent;
    assert!(1_000 <= spent.tokens && spent.tokens <= 5_900, "{spent:?} {}", timeline.so_far());
    assert_eq!(spent.cost_micros, spent.tokens / 10);
    assert_eq!(timeline.count(&format!("wasted {} tokens", spent.tokens)), 1, "{}", timeline.so_far());
    assert_eq!(timeline.fleet.wasted().saved, Used::default(), "nobody would have looked yet");
    let after = timeline.play("2h");
    let saved = after.fleet.wasted().saved;
    assert!(0 < saved.tokens, "{}", after.so_far());
    assert_eq!(after.count("#2 wasted 0 tokens and 0 millionths, saved"), 1, "{}", after.so_far());
    assert_eq!(after.view("a").wasted, after.fleet.wasted());
}

#[test]
fn x17_a_restart_of_the_monitor_loses_and_doubles_nothing() {
    let play = |restart: &str| {
        let timeline = unattended().play("0s spawn \n 1s tokens 500 \n 2s beating 5m").play(&failing(10));
        timeline
            .play(restart)
            .play("2m outcome stopped")
            .play(restart.replace("100s", "121s").as_str())
            .play("2h")
    };
    let (calm, restarted) = (play(""), play("100s restart"));
    assert_eq!(calm.fleet.wasted(), restarted.fleet.wasted(), "{}", restarted.so_far());
    assert_ne!(calm.fleet.wasted().saved, Used::default());
}

#[test]
fn x17_what_is_used_while_all_is_well_or_by_who_proved_nothing_is_not_wasted() {
    let well = Timeline::default().play("0s spawn \n 1s..60s/1s tokens 1000 \n 61s beat");
    assert_eq!(well.fleet.wasted(), verger_core::waste::Delta::default());
    assert_eq!(well.count("wasted"), 0);
}

#[test]
fn x17_trouble_that_ends_by_itself_saves_nothing() {
    let mut policies = Policies::default();
    policies.each(|role| role.mode = Mode::Observe);
    let timeline = Timeline::apart(policies).play("0s spawn \n 2s beating 5m").play(&failing(10));
    let timeline = timeline.play("70s status healthy \n 71s..5m/1s call ok$N -> fine$N \n 3h");
    assert!(0 < timeline.fleet.wasted().spent.tokens, "{}", timeline.so_far());
    assert_eq!(timeline.fleet.wasted().saved, Used::default());
}

#[test]
fn x17_what_was_wasted_or_used_is_among_all_rows_also_when_it_is_not_new() {
    let has_usage = |mut timeline: Timeline| {
        timeline.fleet.take_all_rows(&mut |_| ());
        let mut found = false;
        timeline.fleet.take_all_rows(&mut |row| found |= row.key == RowKey::Usage && row.bytes.is_some());
        found
    };
    let wasted =
        unattended().play("0s spawn \n 2s beating 5m").play(&failing(10)).play("2m outcome stopped \n 3m");
    assert!(wasted.fleet.wasted().spent.tokens > 0, "{}", wasted.so_far());
    assert!(has_usage(wasted));
    let mut policies = Policies::default();
    policies.resources.fleet = Limits { tokens: Some(10_000), ..Limits::default() };
    assert!(has_usage(Timeline::new(policies).play("0s spawn \n 1s tokens 500")));
    assert!(!has_usage(Timeline::default().play("0s spawn \n 1s tokens 500")), "nothing is limited");
}
