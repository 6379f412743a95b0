//! A restart: nothing is refilled, repeated or forgotten, and nobody is blamed. L42, L23 across restarts, promise 3.

use verger_core::policy::Mode;
use verger_core::{Collector, Fleet, RestoreError, RowKey};

use crate::timeline::{Timeline, lines};

/// The same script with and without a restart at each of these times.
fn same_with_restarts(mode: Mode, script: &[&str]) {
    let without = Timeline::in_mode(mode).play(&script.join("\n")).log();
    for at in 1..script.len() {
        let time = script[at].split_whitespace().next().expect("a time");
        let time = time.split("..").next().expect("a time");
        let restart = format!("{time} restart");
        let mut with = script.to_vec();
        with.insert(at, &restart);
        let log = Timeline::in_mode(mode).play(&with.join("\n")).log();
        let log = lines(log.lines().filter(|line| !line.ends_with("restarted")), str::to_owned);
        assert_eq!(log, without, "a restart before `{}`", script[at]);
    }
}

#[test]
fn l42_a_restart_at_any_point_of_a_case_changes_nothing() {
    same_with_restarts(
        Mode::Full,
        &[
            "0s spawn task=t1",
            "1s checkpoint c1",
            "1s beating 5m",
            "15m",
            "30m10s outcome delivered",
            "35m says hello",
            "40m20s outcome delivered",
            "50m30s outcome delivered",
            "61m",
            "62m outcome delivered",
            "76m outcome stopped",
            "80m spawn",
            "81m beat",
            "3h",
        ],
    );
}

#[test]
fn l42_a_restart_at_any_point_of_a_silence_changes_nothing() {
    same_with_restarts(
        Mode::Escalate,
        &[
            "0s spawn",
            "0s channel",
            "1s activity",
            "2s silent",
            "4s",
            "10s",
            "4m",
            "6m",
            "20m answers",
            "30m",
            "31m refuses",
            "40m answers",
            "1h",
        ],
    );
}

#[test]
fn l42_a_restart_at_any_point_of_a_loop_changes_nothing() {
    same_with_restarts(
        Mode::Escalate,
        &[
            "0s beat tokens=100 errors=0 context=10/100",
            "1s..20s/1s call a$N -> r$N",
            "21s call ls -> nothing",
            "22s call ls -> nothing",
            "23s call ls -> nothing",
            "24s call ls -> nothing",
            "25s call ls -> nothing",
            "26s..40s/1s call ls -> nothing",
            "1m outage for=10m",
            "20m beat tokens=900 errors=2 context=97/100",
            "21m output files=1 passed=3 failed=1",
            "22m sub-starts 4",
            "3h",
        ],
    );
}

#[test]
fn l23_a_restart_refills_no_budget() {
    let orders = lines(0..70, |n| format!("{n}s order nudge \n {n}s restart \n"));
    let timeline = Timeline::default().play(&format!("0s beat \n {orders}"));
    assert_eq!(timeline.count("=> nudge"), 60);
}

#[test]
fn l42_a_restart_asks_nothing_twice() {
    let timeline =
        Timeline::default().play("0s beat \n 1s error disk unrecoverable \n 2s restart \n 3s restart \n 1h");
    assert_eq!(timeline.count("=> escalate"), 1);
    assert_eq!(timeline.count("incident Failing"), 1);
}

#[test]
fn l42_keys_are_not_used_again_after_a_restart() {
    let timeline = Timeline::default().play("0s channel \n 0s activity \n 1m restart \n 2m restart \n 3m");
    let mut keys: Vec<_> = timeline.effects.iter().map(|effect| effect.key.clone()).collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn l42_a_newer_layout_is_refused_by_name() {
    let mut timeline = Timeline::default().play("0s beat");
    let mut rows = Vec::new();
    timeline.fleet.take_all_rows(&mut |row| rows.extend(row.bytes.map(|bytes| (row.key, bytes))));
    for (_, bytes) in &mut rows {
        bytes[0] = 200;
    }
    let error =
        Fleet::restore(timeline.fleet.policies().clone(), 7, rows, timeline.now).expect_err("it is newer");
    assert!(matches!(error, RestoreError::Newer { found: 200, .. }));
    assert_eq!(error.code(), "VG0202");
}

#[test]
fn l42_only_what_changed_is_written() {
    let mut timeline = Timeline::default().play("0s beat \n 0s @b beat");
    let mut keys = Vec::new();
    timeline.fleet.take_changed_rows(&mut |row| keys.push(row.key));
    assert_eq!(keys.len(), 2);
    let mut timeline = timeline.play("1s beat");
    keys.clear();
    timeline.fleet.take_changed_rows(&mut |row| keys.push(row.key));
    assert_eq!(keys, [RowKey::Agent("a".into())]);
    assert!(!timeline.fleet.has_changes());
    timeline.fleet.wake(timeline.now, &mut Collector::default());
    assert!(!timeline.fleet.has_changes(), "waking early changes nothing");
}

#[test]
fn l42_a_forgotten_agents_row_is_deleted() {
    let mut timeline = Timeline::default().play("0s beat \n 1s order unregister");
    let mut rows = Vec::new();
    timeline.fleet.take_changed_rows(&mut |row| rows.push(row));
    assert!(rows.iter().any(|row| row.key == RowKey::Agent("a".into()) && row.bytes.is_none()));
    let again = timeline.play("2s beat");
    let mut again = again;
    let mut rows = Vec::new();
    again.fleet.take_changed_rows(&mut |row| rows.push(row));
    assert!(rows.iter().all(|row| row.bytes.is_some()), "it came back: its row is written, not deleted");
}

#[test]
fn l42_a_trouble_that_is_long_over_takes_up_no_room() {
    let script = "0s beat \n 0s beating 5m \n 0s @b beat \n 0s @b beating 5m \n 5s order nudge \n 6s outcome delivered";
    let size = |timeline: &mut Timeline, agent: &str| {
        let mut size = 0;
        timeline.fleet.take_all_rows(&mut |row| {
            if row.key == RowKey::Agent(agent.into()) {
                size = row.bytes.map_or(0, |bytes| bytes.len());
            }
        });
        size
    };
    let mut timeline = Timeline::default().play(script);
    assert!(size(&mut timeline, "b") < size(&mut timeline, "a"), "it was spoken to");
    let mut timeline = timeline.play("48h");
    assert_eq!(size(&mut timeline, "a"), size(&mut timeline, "b"), "{}", timeline.so_far());
}

#[test]
fn l50_all_agents_are_seen_page_by_page_each_once() {
    let mut timeline = Timeline::default().play(&lines(0..7, |n| format!("0s @a{n} beat")));
    timeline = timeline.play("1s @a2 order unregister");
    let mut seen = Vec::new();
    let mut cursor = Some(0);
    while let Some(from) = cursor {
        let (views, next) = timeline.fleet.page(timeline.now, from, 3);
        assert!(views.len() <= 3 && next.is_none_or(|next| from < next));
        seen.extend(views.into_iter().map(|view| view.id.as_str().to_owned()));
        cursor = next;
    }
    assert_eq!(seen, ["a0", "a1", "a3", "a4", "a5", "a6"]);
    assert_eq!(timeline.fleet.page(timeline.now, 0, 100).1, None);
    assert!(!timeline.fleet.is_empty() && timeline.fleet.len() == 6);
}

#[test]
fn l02_what_a_proven_agent_says_last_is_what_it_works_on() {
    let timeline = Timeline::default().play("0s beat task=t \n 1s beat task=u");
    assert_eq!(timeline.view("a").task, Some("u".into()));
}
