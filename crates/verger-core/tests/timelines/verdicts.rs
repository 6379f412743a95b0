//! The judge and the queen (J02–J05): a worker's verdicts become a ticket, and a ticket disturbs people once.

use verger_core::notice::{Notice, NoticeError};
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::verdicts::Stage;
use verger_core::{Incarnation, Intervention, RowKey, Span};

use crate::timeline::{Timeline, lines, run};

/// A worker whose log is read, past the judge's first look.
const FOLLOWED: &str = "0s beat \n 0s beating 1m \n 0s session s graph=coder \n 2m1s step 1 ACCEPT \n";

fn followed() -> Timeline {
    Timeline::default().play(FOLLOWED)
}

fn with_model() -> Timeline {
    let mut policies = Policies::default();
    policies.verdicts.queen.advice_within = Some(Span::secs(30));
    Timeline::new(policies).play(FOLLOWED)
}

/// The log without what the judge noted for itself.
fn told(timeline: Timeline) -> String {
    let log = timeline.log();
    let matters = |line: &&str| line.contains(" ticket ") || line.contains(" people ");
    let told = log.lines().filter(matters).filter(|line| !line.contains(" judged "));
    lines(told, ToOwned::to_owned)
}

#[test]
fn j02_a_worker_that_is_never_accepted_is_reported_in_steps() {
    let timeline = followed().play("130s..230s/5s step $N RETRY says=again \n 231s");
    insta::assert_snapshot!(timeline.tail("judged High"), @"
    3m20s judged High: Last check: total_steps=0. This check: total_steps=16. steps_since_last_accept=15. No loop is seen. This is a high ticket.
    3m20s ticket high: 15 steps since the last ACCEPT
    3m20s people are told, high: A person should look: the judge calls it grave. Also: many steps without ACCEPT, and no sign of recovery.
    3m45s judged Critical: Last check: total_steps=0. This check: total_steps=21. steps_since_last_accept=20. No loop is seen. This is a critical ticket.
    3m45s ticket critical: 20 steps since the last ACCEPT
    3m45s ticket joined
    ");
}

#[test]
fn j02_nothing_is_reported_before_the_first_look() {
    let log = run("0s beat \n 0s session s \n 1s..100s/1s step $N REJECT \n 100s");
    assert!(!log.contains("ticket"), "{log}");
}

#[test]
fn j02_a_standstill_is_reported_at_four_minutes_and_not_at_the_next_look() {
    let timeline = followed().play("20m");
    insta::assert_snapshot!(told(timeline), @"
    6m1s ticket critical: no new step for 4m, 0 steps since the last ACCEPT
    6m1s people are told, critical: A person should look: the judge calls it grave.
    ");
}

#[test]
fn j02_who_waits_for_a_person_or_a_long_call_does_not_stand_still() {
    for wait in ["status waiting on=person", "start build", "status idle"] {
        let timeline = followed().play(&format!("2m30s {wait} \n 1h"));
        assert_eq!(timeline.count("ticket"), 0, "{wait}: {}", timeline.so_far());
    }
}

#[test]
fn j02_a_wait_is_no_free_pass() {
    let timeline = followed().play("2m30s start build limit=10m \n 1h");
    assert_eq!(timeline.count("people are told"), 1, "{}", timeline.so_far());
}

#[test]
fn j02_a_lost_worker_neither_stands_still_nor_recovers() {
    let known = followed().play("3m still \n 2h");
    assert!(known.has("people are told, critical") && known.has("incident Silent"), "{}", known.so_far());
    assert!(!known.has("ticket over"), "it is lost, and not well again: {}", known.so_far());
    let timeline = followed().play("3m still \n 190s..14m/10s step $N CONTINUE \n 2h");
    assert!(timeline.has("incident Silent"), "{}", timeline.so_far());
    assert_eq!(timeline.count("ticket"), 0, "{}", timeline.so_far());
}

#[test]
fn j02_the_monitors_own_absence_is_no_standstill() {
    let blamed = |script: &str| followed().play(script).count("ticket");
    assert_eq!(blamed("3m monitor-back 5m \n 3m still \n 7m59s"), 0);
    assert_eq!(blamed("7m59s"), 1);
}

#[test]
fn j02_a_standstill_of_many_is_known_by_its_one_cause() {
    let mut script = String::new();
    for n in 0..12 {
        let words = ["spawn host=h1", "beat", "beating 1m", "session s", "error disk unrecoverable"];
        script.extend(words.map(|words| format!("0s @w{n} {words} \n")));
    }
    let timeline = Timeline::default().play(&script).play("1h");
    assert!(!timeline.so_far().contains(" ticket "), "{}", timeline.so_far());
    assert!(timeline.so_far().contains("part of"), "{}", timeline.so_far());
}

#[test]
fn j02_ten_steps_are_reported_only_if_it_loops() {
    let retries = "2m10s..2m20s/1s step $N RETRY \n";
    let diverse = followed().play(retries).play("2m30s..3m30s/5s step $N CONTINUE \n 4m30s");
    assert_eq!(diverse.count("ticket"), 0, "{}", diverse.so_far());
    let looping =
        followed().play(retries).play("2m21s..2m40s/1s call ls -> nothing \n 2m41s step 5000 RETRY");
    assert!(looping.has("ticket medium"), "{}", looping.so_far());
}

#[test]
fn j04_a_worker_that_recovers_closes_its_ticket_and_the_next_is_news() {
    let timeline = followed()
        .play("130s..230s/5s step $N RETRY \n 235s step 9000 ACCEPT \n 240s..340s/5s step 9$N RETRY");
    assert_eq!(timeline.count("people are told"), 2, "{}", timeline.so_far());
    assert!(timeline.has("ticket over: Recovered, told"), "{}", timeline.so_far());
}

#[test]
fn j04_people_hear_of_a_condition_once_however_long_it_lasts() {
    let timeline = followed().play("5h");
    assert_eq!(timeline.count("people are told"), 1, "{}", timeline.so_far());
    assert!(timeline.count("ticket joined") > 5, "{}", timeline.so_far());
}

#[test]
fn j04_genuine_progress_despite_bad_verdicts_disturbs_nobody() {
    let timeline = followed().play("130s..210s/5s step $N RETRY \n 215s output files=3 passed=9 failed=0");
    let timeline = timeline.play("216s..240s/5s step $N RETRY");
    let log = timeline.so_far();
    assert!(log.contains("people are told, high"), "before anything came of it: {log}");
    let early = followed().play("130s checkpoint c1 \n 131s..230s/5s step $N RETRY");
    assert!(early.has("ticket dismissed: Dismissed: there is genuine progress"), "{}", early.so_far());
    let stands = followed().play("130s checkpoint c1 \n 20m");
    assert_eq!(stands.count("people are told"), 1, "it does not excuse a standstill: {}", stands.so_far());
}

#[test]
fn j04_a_model_is_asked_and_its_word_tips_the_scale() {
    let raised = "130s checkpoint c1 \n 131s..201s/5s step $N RETRY \n";
    let told = with_model().play(raised).play("201s advice last intervene \n 10m");
    assert!(told.has("=> ask advice within 30s"), "{}", told.so_far());
    assert!(told.so_far().contains("3m21s people are told"), "{}", told.so_far());
    let unasked = with_model().play(raised).play("4m");
    assert!(unasked.has("ticket dismissed"), "nobody answered: {}", unasked.so_far());
}

#[test]
fn j04_advice_for_a_ticket_that_is_unknown_or_advised_changes_nothing() {
    let timeline = with_model().play("131s..201s/5s step $N RETRY \n 201s advice last dismiss");
    let before = timeline.fleet.tickets().clone();
    let after = timeline.play("202s advice last intervene \n 203s advice nobody dismiss");
    assert_eq!(*after.fleet.tickets(), before);
    assert!(after.has("refused: no ticket `nobody` is known"), "{}", after.so_far());
}

#[test]
fn j03_a_ticket_from_outside_is_taken_whole_or_not_at_all() {
    let mut timeline = followed().play("3m ticket severity=high id=t1 \n 3m ticket severity=high id=t1");
    assert_eq!(timeline.count("ticket high"), 1, "the same once more: {}", timeline.so_far());
    let partial = timeline.notice(&Notice::Ticket(Box::default()));
    assert_eq!(partial.map_err(|error| error.code()), Err("VG0351"));
    let refused = timeline.play("3m1s ticket partial \n 3m2s ticket severity=low id=t1");
    assert!(refused.has("refused: the ticket is not complete: `evidence_snippet` is missing"));
    assert!(refused.has("refused: ticket `t1` exists and says something else"));
    assert_eq!(refused.fleet.tickets().all().count(), 1);
}

#[test]
fn j03_a_ticket_about_somebody_unknown_is_judged_by_what_it_says() {
    let timeline = with_model()
        .play("3m ticket worker=stranger severity=critical \n 4m ticket worker=other severity=low");
    assert!(timeline.has("fleet people are told, critical"), "{}", timeline.so_far());
    assert!(timeline.has("fleet ticket dismissed"), "{}", timeline.so_far());
    assert_eq!(timeline.count("=> ask advice"), 0, "there is no life to ask on behalf of");
    let later = timeline.play("5m @stranger beat \n 25h");
    assert!(later.has("fleet ticket over: Expired, told"), "{}", later.so_far());
}

#[test]
fn j04_a_judge_elsewhere_that_missed_an_accept_disturbs_nobody() {
    let timeline =
        followed().play("130s step 2 RETRY \n 131s step 3 ACCEPT \n 132s ticket severity=high steps=15");
    assert!(timeline.has("ticket dismissed: Dismissed: the trouble was passing"), "{}", timeline.so_far());
    let stalls = followed().play("131s step 3 ACCEPT \n 132s ticket severity=high steps=15 stall=9");
    assert!(stalls.has("people are told"), "{}", stalls.so_far());
}

#[test]
fn j05_nothing_here_ends_or_pauses_a_worker() {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    let timeline = Timeline::new(policies).play(FOLLOWED).play("130s..330s/2s step $N REJECT \n 4h");
    assert!(timeline.has("people are told, high"), "{}", timeline.so_far());
    assert_eq!(timeline.count("=> "), 0, "{}", timeline.so_far());
}

#[test]
fn j04_what_a_person_decides_is_done_to_that_life_and_no_other() {
    let recover = followed().play("8m answer last recover \n 8m answer last handoff by=bob");
    insta::assert_snapshot!(recover.tail("ada decided"), @"
    8m ada decided on the ticket: TerminateAndRecover
    8m to be stopped: looked at it (by ada)
    8m => stop within 30s
    8m refused: ticket `4e42a498-7440-89ec-a1ba-d051401c0d61` was decided by ada
    ");
    let handoff = followed().play("8m answer last handoff");
    assert!(handoff.has("=> request handoff"), "{}", handoff.so_far());
    let gone = followed().play("8m exit code=1 \n 9m answer last recover");
    assert_eq!(gone.count("=> stop"), 0, "{}", gone.so_far());
    assert!(gone.has("ticket over: LifeOver, told"), "{}", gone.so_far());
}

#[test]
fn j04_more_time_is_quiet_until_it_is_up_and_then_news_again() {
    let timeline = followed().play("8m answer last more-time for=1h \n 67m");
    assert_eq!(timeline.count("people are told"), 1, "{}", timeline.so_far());
    let later = timeline.play("2h");
    assert!(later.has("ticket over: Renewed, told"), "{}", later.so_far());
    assert_eq!(later.count("people are told"), 2, "{}", later.so_far());
}

#[test]
fn j04_more_time_for_a_ticket_leaves_a_reminder_that_is_out_as_it_is() {
    let timeline = followed().play("7m order nudge \n 8m answer last more-time for=1h");
    assert_eq!(
        timeline.view("a").intervention,
        Some(Intervention::Nudging { attempt: 1 }),
        "{}",
        timeline.so_far()
    );
}

#[test]
fn j05_the_end_of_a_session_a_life_or_the_watch_ends_its_tickets() {
    for (words, ending) in [
        ("session-ends s", "SessionOver"),
        ("session other", "SessionOver"),
        ("exit code=0", "LifeOver"),
        ("spawn", "LifeOver"),
        ("order unregister", "LifeOver"),
    ] {
        let timeline = followed().play(&format!("8m {words} \n 9m"));
        let over = format!("ticket over: {ending}, told");
        assert!(timeline.has(&over), "{words}: {}", timeline.so_far());
        assert_eq!(timeline.fleet.tickets().open().count(), 0, "{words}");
    }
}

#[test]
fn j01_an_ended_worker_is_judged_no_more_and_its_successor_begins_anew() {
    let timeline = followed().play("8m still \n 8m exit code=0 \n 9m step 77 RETRY \n 9m session s");
    assert!(timeline.has("refused: session `s` of `a` is not followed"), "{}", timeline.so_far());
    assert!(timeline.has("refused: agent `a` has ended"), "{}", timeline.so_far());
    let next = timeline.play("10m spawn \n 10m beat \n 10m beating 1m \n 10m session s \n 13m");
    let found = next.fleet.assessment(next.now, &"a".into()).expect("it is followed");
    assert_eq!((found.total_steps, found.ticket), (0, None));
    let told = next.play("1h");
    assert!(told.has("#2 people are told"), "{}", told.so_far());
}

#[test]
fn j01_words_about_nobody_are_refused_by_name() {
    let mut timeline = Timeline::default().play("0s beat");
    let mut code = |notice| timeline.notice(&notice).map_err(|error: NoticeError| error.code());
    let began =
        |worker: &str| Notice::SessionBegan { worker: worker.into(), session: "s".into(), graph: None };
    let ended = Notice::SessionEnded { worker: "a".into(), session: "s".into() };
    assert_eq!(code(began("nobody")), Err("VG0101"));
    assert_eq!(code(ended.clone()), Err("VG0356"));
    assert!(code(began("a")).is_ok() && code(began("a")).is_ok() && code(ended.clone()).is_ok());
    assert_eq!(code(ended), Err("VG0356"));
}

#[test]
fn j02_steps_that_come_twice_late_or_from_elsewhere_count_once_or_not_at_all() {
    let script = "130s step 5 RETRY \n 131s step 5 RETRY \n 132s step 3 RETRY \n 133s step 4 \n 134s step 4 REJECT \n \
                  135s step 9 RETRY in=another";
    let timeline = followed().play(script);
    let found = timeline.fleet.assessment(timeline.now, &"a".into()).expect("it is followed");
    assert_eq!((found.total_steps, found.steps_since_last_accept), (4, 3));
}

#[test]
fn x13_the_judge_follows_only_so_many_workers() {
    let mut timeline = Timeline::default();
    let mut follow = |n: usize| {
        timeline.do_words(&format!("@w{n} beat"));
        let session =
            Notice::SessionBegan { worker: format!("w{n}").into(), session: "s".into(), graph: None };
        timeline.notice(&session).map_err(|error| error.code())
    };
    assert!((0..16_384).all(|n| follow(n).is_ok()));
    assert_eq!(follow(16_384), Err("VG0357"));
    assert!(follow(0).is_ok(), "those that are followed still are");
    timeline.do_words("@w0 exit code=0");
    let session = Notice::SessionBegan { worker: "w16384".into(), session: "s".into(), graph: None };
    assert!(timeline.notice(&session).is_ok(), "the end of one makes room");
}

#[test]
fn j07_a_ticket_names_the_step_that_hangs() {
    let timeline =
        followed().play("130s step 2 RETRY node=edit says=I-edit \n 131s step 3 node=build \n 20m");
    let entry = timeline.fleet.tickets().open().next().expect("people were told");
    let report = &entry.ticket.report;
    assert_eq!((&*report.graph, &*report.node, &*report.evidence_snippet), ("coder", "build", "I-edit"));
    assert_eq!(entry.ticket.life, Some(Incarnation::FIRST));
}

#[test]
fn j02_a_restart_at_any_point_changes_nothing() {
    let words = [
        "1m session s graph=coder",
        "130s checkpoint c1",
        "131s..211s/5s step $N RETRY",
        "212s advice last unsure",
        "20m ticket severity=critical session=other",
        "21m answer last more-time for=10m",
        "40m ticket severity=critical session=other",
        "50m step 9001 ACCEPT",
        "3h session-ends s",
        "30h",
    ];
    let start = "0s beat \n 0s beating 1m";
    let play = |at: Option<usize>| {
        let mut policies = Policies::default();
        policies.verdicts.queen.advice_within = Some(Span::secs(30));
        let mut timeline = Timeline::new(policies).play(start);
        for (n, words) in words.iter().enumerate() {
            timeline = timeline.play(words);
            if at == Some(n) {
                timeline.do_words("restart");
            }
        }
        let log = timeline.log();
        lines(log.lines().filter(|line| !line.ends_with("restarted")), ToOwned::to_owned)
    };
    let calm = play(None);
    assert!(calm.contains("Expired") && calm.contains("joined") && calm.contains("Renewed"), "{calm}");
    for (n, words) in words.iter().enumerate() {
        assert_eq!(play(Some(n)), calm, "restarted after `{words}`");
    }
}

#[test]
fn j04_only_what_changed_is_written_and_what_is_gone_is_deleted() {
    let mut timeline = followed().play("3m ticket id=t1 \n 3m ticket id=t2 worker=b");
    let keys = |timeline: &mut Timeline| {
        let mut keys = Vec::new();
        timeline.fleet.take_changed_rows(&mut |row| keys.push((row.key, row.bytes.is_some())));
        keys.retain(|(key, _)| matches!(key, RowKey::Worker(_) | RowKey::Ticket(_)));
        keys
    };
    let (worker, ticket) = (|| RowKey::Worker("a".into()), |id: &str| RowKey::Ticket(id.into()));
    assert_eq!(keys(&mut timeline), [(worker(), true), (ticket("t2"), true), (ticket("t1"), true)]);
    let mut all = Vec::new();
    timeline.fleet.take_all_rows(&mut |row| all.push(row.key));
    assert!(all.contains(&ticket("t1")) && all.contains(&worker()), "written again when all is");
    let mut timeline = timeline.play("3m1s answer t1 more-time");
    assert_eq!(keys(&mut timeline), [(ticket("t1"), true)]);
    let mut timeline = timeline.play("3m2s order unregister");
    assert_eq!(keys(&mut timeline), [(worker(), false), (ticket("t1"), true)]);
    let many = lines(0..9, |n| format!("3m3s ticket worker=b id=n{n} session=s{n}"));
    let mut timeline = timeline.play(&many);
    assert!(keys(&mut timeline).contains(&(ticket("t2"), false)), "it made room");
    assert!(!timeline.fleet.has_changes());
    assert!(timeline.fleet.tickets().all().all(|entry| entry.stage != Stage::Open));
}

#[test]
fn j02_a_worker_whose_log_is_numbered_anew_goes_on() {
    let accepted = "0s beat \n 0s beating 1m \n 0s session s \n".to_owned()
        + &lines(1..101, |n| format!("{}s step {n} ACCEPT", n * 5))
        + &lines(1..61, |n| format!("{}s step {n} ACCEPT", 500 + n * 10));
    let timeline = Timeline::default().play(&accepted);
    assert_eq!(timeline.count("ticket"), 0, "{}", timeline.so_far());
    let worse = timeline.play(&lines(61..91, |n| format!("{}s step {n} RETRY", 500 + n * 10)));
    assert!(worse.has("ticket critical: 20 steps since the last ACCEPT"), "{}", worse.so_far());
}

#[test]
fn j02_one_step_with_a_number_far_beyond_the_others_blinds_nobody() {
    let script = "0s beat \n 0s beating 1m \n 0s session s \n 1s step 18446744073709551615 ACCEPT \n"
        .to_owned()
        + &lines(1..61, |n| format!("{}s step {n} RETRY says=try-{n}", n * 10));
    let timeline = Timeline::default().play(&script);
    assert!(timeline.has("ticket critical: 20 steps since the last ACCEPT"), "{}", timeline.so_far());
}

#[test]
fn j02_a_log_that_is_told_again_from_its_beginning_hides_no_standstill() {
    let told = |at| lines(1..81, move |n| format!("{at}s step {n} ACCEPT"));
    let again: String = (5..60).map(|n| told(100 + n * 30)).collect();
    let timeline =
        Timeline::default().play("0s beat \n 0s beating 1m \n 0s session s \n").play(&told(130)).play(&again);
    assert_eq!(
        timeline.count("ticket critical: no new step for 4m, 0 steps since the last ACCEPT"),
        1,
        "{}",
        timeline.so_far()
    );
}
