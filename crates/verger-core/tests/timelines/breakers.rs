//! Circuit breakers (L24, X11).

use insta::assert_snapshot;
use verger_core::breaker::{BreakerName, CallResult, Permit, State};
use verger_core::event::{Event, Fact};
use verger_core::notice::{BreakerNotice, Notice, Reply};
use verger_core::policy::Policies;
use verger_core::{Collector, Fleet, RowKey, Span, Timestamp};

use crate::timeline::{Timeline, lines, run};

/// Lines about breakers and who asked them.
fn gates(log: &str) -> String {
    let about = |line: &&str| {
        ["breaker", "may call", "VG03", "report", "restarted", "checkpoint", "write"]
            .iter()
            .any(|word| line.contains(word))
    };
    lines(log.lines().filter(about), ToOwned::to_owned)
}

#[test]
fn l24_a_tool_that_fails_five_times_is_not_called_again_for_30_s_and_then_by_one_call() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        6s acquire a/tool/bash
        35s acquire a/tool/bash
        36s acquire a/tool/bash
        37s report a/tool/bash ok
        38s acquire a/tool/bash";
    assert_snapshot!(gates(&run(script)), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    6s VG0341 breaker `a/tool/bash` refuses: it keeps failing; try again in 29s
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    35s may call
    36s VG0341 breaker `a/tool/bash` refuses: others try already whether it works again; try again in 30s
    37s breaker a/tool/bash HALF_OPEN -> CLOSED: it works again
    37s report: Counted
    38s may call
    ");
}

#[test]
fn l24_what_is_seen_of_a_call_answers_for_the_permit_that_was_asked_for() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        40s acquire a/tool/bash
        41s call again -> fine tool=bash
        42s acquire a/tool/bash";
    assert_snapshot!(gates(&run(script)), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    40s may call
    41s breaker a/tool/bash HALF_OPEN -> CLOSED: it works again
    42s may call
    ");
}

#[test]
fn l24_the_end_of_one_call_told_ten_times_is_one_failure() {
    let script =
        "0s spawn \n 1s call x -> boom failed tool=bash \n 2s..12s/1s copy x -> boom failed tool=bash";
    assert_eq!(gates(&run(script)).trim(), "");
}

#[test]
fn l24_who_proved_nothing_cannot_have_calls_refused() {
    let script = "0s spawn \n 1s unverified \n 2s..20s/1s call c$N -> boom failed tool=bash \n 21s verified
        22s acquire a/tool/bash";
    assert_snapshot!(gates(&run(script)), @"22s may call");
}

#[test]
fn l24_a_tool_without_a_name_and_one_that_succeeds_make_no_breaker() {
    let timeline = Timeline::default()
        .play("0s spawn \n 1s..60s/1s call c$N -> boom failed \n 61s..90s/1s call d$N -> fine tool=bash");
    assert!(timeline.fleet.breakers().is_empty(), "{}", timeline.so_far());
}

#[test]
fn l24_a_provider_that_fails_its_agent_is_an_endpoint_that_fails() {
    let script = "0s spawn provider=p1
        1s..3s/1s outage refused for=10s
        4s acquire a/api/p1
        70s model-ends
        71s acquire a/api/p1";
    assert_snapshot!(gates(&run(script)), @"
    3s breaker a/api/p1 CLOSED -> OPEN: 3 failures in a row
    4s VG0341 breaker `a/api/p1` refuses: it keeps failing; try again in 59s
    1m3s breaker a/api/p1 OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m10s breaker a/api/p1 HALF_OPEN -> CLOSED: it works again
    1m11s may call
    ");
}

/// How many of a hundred agents may call what they all depend on; those that may and report say that it failed.
fn passing(timeline: &mut Timeline, at: u64, report: bool) -> usize {
    *timeline = std::mem::take(timeline).play(&format!("{at}s"));
    let mut passed = 0;
    for n in 0..100 {
        let name: BreakerName = format!("w{n}/api/search").parse().expect("a name");
        let ask = Notice::Breaker { name: name.clone(), what: BreakerNotice::Acquire };
        let Ok(Reply::Permit(permit)) = timeline.notice(&ask) else { continue };
        passed += 1;
        if report {
            let what = BreakerNotice::Report { permit, outcome: CallResult::Failed.into() };
            timeline.notice(&Notice::Breaker { name, what }).expect("a report is never refused");
        }
    }
    passed
}

#[test]
fn l24_a_dependency_that_fails_behind_100_agents_is_tried_by_one_call_at_a_time() {
    let mut policies = Policies::default();
    policies.breakers.groups = vec![("search".to_owned(), "search".to_owned())];
    let there = lines(0..100, |n| format!("0s @w{n} spawn"));
    let mut timeline = Timeline::new(policies).play(&there);
    assert_eq!(passing(&mut timeline, 1, true), 3, "three failures open it");
    assert_eq!(passing(&mut timeline, 30, true), 0, "open");
    assert_eq!(passing(&mut timeline, 62, true), 1, "half open: one tries, and fails");
    assert_eq!(passing(&mut timeline, 123, false), 1, "half open again: one tries, and has not come back");
}

#[test]
fn l24_a_person_resets_a_breaker_and_one_that_is_not_there_cannot_be_reset() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        6s reset a/tool/bash
        7s acquire a/tool/bash
        8s reset a/tool/nothing
        9s reset nobody/tool/bash";
    assert_snapshot!(gates(&run(script)), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    6s breaker a/tool/bash: ada ordered Reset
    6s breaker a/tool/bash OPEN -> CLOSED: reset by a person
    7s may call
    8s VG0342 no breaker is called `a/tool/nothing`
    9s VG0342 no breaker is called `nobody/tool/bash`
    ");
}

#[test]
fn x11_a_person_holds_a_breaker_open_disables_it_or_has_it_only_count() {
    let script = "0s spawn
        1s breaker a/api/db forced-open
        2s acquire a/api/db
        1h acquire a/api/db
        61m breaker a/api/db disabled
        62m acquire a/api/db
        63m breaker a/api/db metrics-only
        64m acquire a/api/db
        65m report a/api/db failed
        66m acquire a/api/db
        67m report a/api/db failed
        68m acquire a/api/db
        69m report a/api/db failed
        70m acquire a/api/db
        75m breaker nobody/api/db forced-open
        76m acquire nobody/api/db
        77m report nobody/api/db ok";
    assert_snapshot!(gates(&run(script)), @"
    1s breaker a/api/db: ada ordered SetMode(ForcedOpen)
    1s breaker a/api/db CLOSED -> OPEN: set from normal to forced-open
    2s VG0341 breaker `a/api/db` refuses: a person holds it open; try again in 1m
    1h VG0341 breaker `a/api/db` refuses: a person holds it open; try again in 1m
    1h1m breaker a/api/db: ada ordered SetMode(Disabled)
    1h1m breaker a/api/db OPEN -> CLOSED: set from forced-open to disabled
    1h2m may call
    1h3m breaker a/api/db: ada ordered SetMode(MetricsOnly)
    1h3m breaker a/api/db CLOSED -> CLOSED: set from disabled to metrics-only
    1h4m may call
    1h5m report: Counted
    1h6m may call
    1h7m report: Counted
    1h8m may call
    1h9m report: Counted
    1h10m may call
    1h15m VG0342 no breaker is called `nobody/api/db`
    1h16m may call
    1h17m report: Unwatched
    ");
}

#[test]
fn x11_a_permit_that_is_never_given_back_opens_the_breaker_again_and_does_not_hold_it_half_open() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        40s acquire a/tool/bash
        41s acquire a/tool/bash
        11m report a/tool/bash ok
        12m acquire a/tool/bash";
    assert_snapshot!(gates(&run(script)), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    40s may call
    41s VG0341 breaker `a/tool/bash` refuses: others try already whether it works again; try again in 30s
    10m40s breaker a/tool/bash HALF_OPEN -> OPEN: the call that tried it was never reported back
    11m report: Late
    11m10s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    12m may call
    ");
}

#[test]
fn x11_slow_calls_open_where_that_is_asked_for() {
    let mut policies = Policies::default();
    policies.breakers.tool.slow_after = Some(Span::secs(10));
    policies.breakers.tool.minimum_calls = 4;
    let timeline =
        Timeline::new(policies).play("0s spawn \n 1s..4s/1s call c$N -> fine tool=search took=20s");
    assert_snapshot!(gates(timeline.so_far()), @"4s breaker a/tool/search CLOSED -> OPEN: 4 of the last 4 calls were slow");
}

#[test]
fn l24_a_restart_of_the_monitor_keeps_breakers_as_they_were() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        10s restart
        11s monitor-back 10s
        12s acquire a/tool/bash
        40s acquire a/tool/bash
        41s restart
        42s monitor-back 10s
        43s acquire a/tool/bash
        44s report a/tool/bash ok";
    assert_snapshot!(gates(&run(script)), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    10s restarted
    12s VG0341 breaker `a/tool/bash` refuses: it keeps failing; try again in 23s
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    40s may call
    41s restarted
    43s VG0341 breaker `a/tool/bash` refuses: others try already whether it works again; try again in 30s
    44s breaker a/tool/bash HALF_OPEN -> CLOSED: it works again
    44s report: Counted
    ");
}

#[test]
fn l24_breakers_go_with_their_agent_and_come_back_new() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        6s order unregister
        7s spawn
        8s acquire a/tool/bash";
    let timeline = Timeline::default().play(script);
    assert_snapshot!(gates(timeline.so_far()), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    6s breaker a/tool/bash OPEN -> CLOSED: its agent is gone
    8s may call
    ");
    assert_eq!(timeline.fleet.breakers().len(), 1);
}

#[test]
fn x11_invented_permits_and_reports_told_twice_change_nothing() {
    let db: BreakerName = "a/api/db".parse().expect("a name");
    let timeline = Timeline::default().play("0s spawn \n 1s acquire a/api/db \n 2s report a/api/db ok");
    let before = timeline.fleet.breakers().view(Timestamp::ZERO, &db);
    let mut timeline = timeline.play("3s report a/api/db failed");
    assert!(timeline.has("report: Repeated"), "{}", timeline.so_far());
    let permit: Permit = "ffffffffffff".parse().expect("a permit");
    for _ in 0..10 {
        let what = BreakerNotice::Report { permit, outcome: CallResult::Failed.into() };
        assert!(timeline.notice(&Notice::Breaker { name: db.clone(), what }).is_ok());
    }
    assert_eq!(before, timeline.fleet.breakers().view(Timestamp::ZERO, &db));
}

#[test]
fn l24_rows_are_written_of_what_changed_and_a_damaged_one_refuses_the_start() {
    let script = "0s spawn \n 1s submit a/checkpoint/s3 c1 \n 2s call x -> boom failed tool=bash";
    let mut timeline = Timeline::default().play(script);
    let mut rows = Vec::new();
    timeline.fleet.take_changed_rows(&mut |row| rows.push(row));
    let gates = |key: &RowKey| matches!(key, RowKey::Breaker(_) | RowKey::Checkpoints(_));
    assert_eq!(rows.iter().filter(|row| gates(&row.key)).count(), 3, "{rows:?}");
    let mut timeline = timeline.play("3s beat \n 4s call y -> fine tool=other");
    timeline.fleet.take_changed_rows(&mut |row| assert!(!gates(&row.key), "{row:?}"));
    timeline.fleet.wake(timeline.now, &mut Collector::default());
    assert!(!timeline.fleet.has_changes());
    for at in 0..rows.len() {
        let read = |damage: bool| {
            rows.iter().enumerate().map(move |(n, row)| {
                let mut bytes = row.bytes.clone().expect("nothing was deleted");
                if damage && n == at {
                    bytes[1] ^= 1;
                }
                (row.key.clone(), bytes)
            })
        };
        let restored = |rows| Fleet::restore(Policies::default(), 7, rows, timeline.now);
        assert!(restored(read(false).collect::<Vec<_>>()).is_ok());
        assert!(restored(read(true).collect::<Vec<_>>()).is_err(), "{:?}", rows[at].key);
    }
}

#[test]
fn l24_where_two_calls_must_succeed_two_that_are_only_seen_close_it() {
    let mut policies = Policies::default();
    policies.breakers.tool.half_open_requests = 2;
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        40s acquire a/tool/bash
        41s call one -> fine tool=bash
        42s acquire a/tool/bash
        43s call two -> fine tool=bash";
    assert_snapshot!(gates(Timeline::new(policies).play(script).so_far()), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    40s may call
    42s may call
    43s breaker a/tool/bash HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn l24_a_call_that_is_seen_and_then_reported_counts_once() {
    let call = |n| {
        format!(
            "{n}s acquire a/tool/bash \n {n}s call x{n} failed tool=bash \n {n}s report a/tool/bash failed"
        )
    };
    let three = Timeline::default().play("0s spawn").play(&lines(1..4, call));
    assert_eq!(three.count("report: Repeated"), 3, "{}", three.so_far());
    assert_eq!(three.count("CLOSED -> OPEN"), 0, "{}", three.so_far());
    let five = three.play(&lines(4..6, call));
    assert!(five.has("breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row"), "{}", five.so_far());
}

#[test]
fn l24_what_began_before_it_opened_says_nothing_of_now() {
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        36s call long -> fine tool=bash took=34s
        37s call longer -> boom failed tool=bash took=36s
        38s acquire a/tool/bash
        39s call long-too -> boom failed tool=bash took=35s
        40s acquire a/tool/bash
        41s call fresh -> fine tool=bash took=2s";
    assert_snapshot!(gates(&run(script)), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    38s may call
    40s VG0341 breaker `a/tool/bash` refuses: others try already whether it works again; try again in 30s
    41s breaker a/tool/bash HALF_OPEN -> CLOSED: it works again
    ");
}

#[test]
fn l25_a_call_asks_is_made_or_fails_at_once_and_its_result_is_recorded() {
    let made = |n| format!("{n}s acquire a/api/search \n {n}s report a/api/search failed");
    let timeline = Timeline::default().play("0s spawn").play(&lines(1..4, made)).play(
        "4s acquire a/api/search
        63s acquire a/api/search
        64s report a/api/search ok
        65s acquire a/api/search
        66s report a/api/search ok",
    );
    assert_snapshot!(gates(timeline.so_far()), @"
    1s may call
    1s report: Counted
    2s may call
    2s report: Counted
    3s may call
    3s breaker a/api/search CLOSED -> OPEN: 3 failures in a row
    3s report: Counted
    4s VG0341 breaker `a/api/search` refuses: it keeps failing; try again in 59s
    1m3s breaker a/api/search OPEN -> HALF_OPEN: open for 1m, it may be tried again
    1m3s may call
    1m4s breaker a/api/search HALF_OPEN -> CLOSED: it works again
    1m4s report: Counted
    1m5s may call
    1m6s report: Counted
    ");
}

#[test]
fn l25_a_hook_denies_the_call_of_a_tool_that_keeps_failing_and_need_not_report() {
    let asked = |n| format!("{n}s acquire a/tool/bash \n {n}s call x{n} -> boom failed tool=bash");
    let timeline = Timeline::default().play("0s spawn").play(&lines(1..6, asked)).play(
        "6s acquire a/tool/bash
        40s acquire a/tool/bash
        41s call again -> fine tool=bash
        42s acquire a/tool/bash",
    );
    assert_eq!(timeline.count("VG0341"), 1, "{}", timeline.so_far());
    let denied = timeline.tail("CLOSED -> OPEN");
    assert_snapshot!(gates(&denied), @"
    5s breaker a/tool/bash CLOSED -> OPEN: 5 failures in a row
    6s VG0341 breaker `a/tool/bash` refuses: it keeps failing; try again in 29s
    35s breaker a/tool/bash OPEN -> HALF_OPEN: open for 30s, it may be tried again
    40s may call
    41s breaker a/tool/bash HALF_OPEN -> CLOSED: it works again
    42s may call
    ");
}

#[test]
fn l25_a_call_that_is_refused_is_neither_a_failure_nor_a_reason_to_wait_for_longer() {
    let patient = "0s spawn \n 1s..5s/1s call c$N -> boom failed tool=bash \n 36s acquire a/tool/bash";
    let eager = format!("{patient} \n")
        .replace("36s", &(lines(6..35, |n| format!("{n}s acquire a/tool/bash")) + "36s"));
    let (patient, eager) = (run(patient), run(&eager));
    assert_eq!(eager.matches("VG0341").count(), 29, "{eager}");
    let others = |log: &str| lines(log.lines().filter(|line| !line.contains("VG0341")), ToOwned::to_owned);
    assert_eq!(others(&patient), others(&eager));
}

#[test]
fn l25_each_tool_and_each_endpoint_of_each_agent_has_a_breaker_of_its_own() {
    let script = "0s spawn \n 0s @b spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        6s acquire a/tool/bash
        6s acquire a/tool/grep
        6s acquire a/api/bash
        6s @b acquire b/tool/bash";
    let timeline = Timeline::default().play(script);
    assert_eq!((timeline.count("VG0341"), timeline.count("may call")), (1, 3), "{}", timeline.so_far());
}

#[test]
fn l25_endpoints_that_stand_or_fall_together_are_refused_together() {
    let mut policies = Policies::default();
    policies.breakers.groups =
        ["search", "fetch"].map(|endpoint| (endpoint.to_owned(), "web".to_owned())).to_vec();
    let failing = |n| format!("{n}s acquire a/api/search \n {n}s report a/api/search failed");
    let timeline = Timeline::new(policies)
        .play("0s spawn \n 0s @b spawn")
        .play(&lines(1..4, failing))
        .play("4s acquire a/api/fetch \n 4s @b acquire b/api/search \n 4s @b acquire b/api/mail");
    let refused = timeline.so_far().lines().filter(|line| line.contains("VG0341")).count();
    assert_eq!(refused, 2, "{}", timeline.so_far());
}

#[test]
fn l25_a_call_that_nobody_can_watch_is_made() {
    let mut policies = Policies::default();
    policies.breakers.bounds.per_agent_max = 1;
    let script = "0s spawn
        1s..5s/1s call c$N -> boom failed tool=bash
        6s acquire a/tool/grep
        7s report a/tool/grep failed
        8s acquire nobody/tool/bash
        9s report nobody/tool/bash failed";
    let timeline = Timeline::new(policies).play(script);
    assert_eq!((timeline.count("VG03"), timeline.count("may call")), (0, 2), "{}", timeline.so_far());
    assert_eq!(timeline.count("report: Unwatched"), 2, "{}", timeline.so_far());
    assert_eq!(timeline.fleet.breakers().len(), 1, "none is made for nobody");
}

#[test]
fn l24_nothing_is_made_for_an_agent_that_is_not_there_though_there_is_room() {
    let timeline =
        Timeline::default().play("0s acquire nobody/tool/bash \n 1s report nobody/tool/bash failed");
    assert_eq!(timeline.count("report: Unwatched"), 1, "{}", timeline.so_far());
    assert!(timeline.fleet.breakers().is_empty());
}

#[test]
fn x11_a_breaker_whose_time_is_long_past_when_it_is_looked_at_may_be_tried() {
    let mut timeline =
        Timeline::default().play("0s spawn \n 1s..5s/1s call c$N -> boom failed tool=bash \n 6s");
    assert!(timeline.has("breaker a/tool/bash CLOSED -> OPEN"), "{}", timeline.so_far());
    let mut out = Collector::default();
    timeline.fleet.wake(timeline.now + Span::hours(2), &mut out);
    let half_open = |event: &Event| match &event.fact {
        Fact::Breaker(change) => change.transition.to == State::HalfOpen,
        _ => false,
    };
    assert!(out.events.iter().any(half_open), "{:?}", out.events);
}

#[test]
fn l24_an_error_that_is_not_the_providers_says_nothing_of_its_endpoint() {
    let timeline = Timeline::default().play("0s spawn provider=p1 \n 1s..9s/1s error boom");
    assert!(timeline.fleet.breakers().is_empty(), "{}", timeline.so_far());
}

#[test]
fn l24_what_a_breaker_alone_has_learned_is_to_be_written() {
    let mut timeline = Timeline::default().play("0s spawn \n 1s acquire shared/mail");
    timeline.fleet.take_all_rows(&mut |_| ());
    assert!(!timeline.fleet.has_changes());
    let timeline = timeline.play("1s report shared/mail failed");
    assert!(timeline.fleet.has_changes());
}
