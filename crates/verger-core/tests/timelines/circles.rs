//! Stuck beyond equality, live: L06, X20, L21. Steps whose text is heard are judged by what they come to.

use insta::assert_snapshot;
use verger_core::effect::Action;
use verger_core::evidence::Sign;
use verger_core::health::HealthState::{Degraded, Healthy, Stuck};
use verger_core::policy::Mode;
use verger_core::signal::Trust;
use verger_core::stuck::Kind;
use verger_core::{Fleet, RowKey};

use crate::timeline::{Timeline, lines, run};

/// Searches for one thing in other words each time; none of them finds it.
const SEARCHES: [&str; 14] = [
    "run search where is the retry limit of the uploader -> No results found.",
    "run search uploader retry limit constant -> No results found.",
    "run search maximum retries upload -> No results found.",
    "run search retry count configuration uploader -> No results found.",
    "run search how often does upload retry -> No results found.",
    "run search upload attempts limit -> No results found.",
    "run search retries in uploader module -> No results found.",
    "run search uploader backoff retry maximum -> No results found.",
    "run search limit of attempts when uploading -> No results found.",
    "run search upload retry policy definition -> No results found.",
    "run search retry setting for uploads -> No results found.",
    "run search constant for uploader retries -> No results found.",
    "run search uploader number of retries -> No results found.",
    "run search where retries of uploads are limited -> No results found.",
];

/// An agent that begins its work, then takes these steps, one each 20 seconds from the second minute on.
fn script(steps: &[&str]) -> Vec<String> {
    let mut script = vec![
        "0s spawn task=t1".to_owned(),
        "1s run read src/main.rs -> fn main starts the server, reads its settings and waits".to_owned(),
    ];
    script.extend(steps.iter().enumerate().map(|(at, step)| format!("{}s {step}", 120 + 20 * at)));
    script
}

fn played(steps: &[&str]) -> Timeline {
    Timeline::default().play(&script(steps).join("\n"))
}

#[test]
fn l06_reworded_searches_are_a_nudge_then_stuck_and_people_are_asked_at_once() {
    assert_snapshot!(run(&script(&SEARCHES[..8]).join("\n")), @"
    0s registered
    1s UNKNOWN -> HEALTHY
    3m20s HEALTHY -> DEGRADED: 5 steps looked for something and found nothing new in 1m20s: search ×5 (as bad as 4 identical calls, limit 4)
    3m20s nudge 1 queued
    3m20s => nudge 1
    4m20s DEGRADED -> STUCK: 8 steps looked for something and found nothing new in 2m20s: search ×8 (as bad as 5 identical calls, limit 4)
    4m20s incident Stuck
    4m20s escalated: 8 steps looked for something and found nothing new in 2m20s: search ×8 (as bad as 5 identical calls, limit 4); after 1 nudge
    4m20s => escalate
    ");
}

#[test]
fn l20_the_nudge_says_what_goes_round() {
    let timeline = played(&SEARCHES[..5]);
    let text = timeline.effects.iter().find_map(|effect| match &effect.action {
        Action::Nudge { text, .. } => Some(text.to_string()),
        _ => None,
    });
    assert_snapshot!(text.expect("it was reminded"), @"
    You seem to go round in circles: 5 steps looked for something and found nothing new in 1m20s: search ×5. Try another way.
    REMINDER: You have been working for 1 minute without checkpoint update. Please either:
    - Update your progress
    - Request handoff if stuck
    - Report blockers
    ");
}

#[test]
fn l21_past_ten_the_turn_is_interrupted_and_nobody_is_ended_for_it() {
    let timeline = Timeline::in_mode(Mode::Full).play(&script(&SEARCHES.repeat(2)).join("\n"));
    assert!(timeline.has("interrupted at"), "{}", timeline.so_far());
    assert!(!timeline.has("to be stopped"), "{}", timeline.so_far());
}

#[test]
fn x20_evidence_names_the_steps_and_since_when() {
    let view = played(&SEARCHES[..8]).view("a");
    assert_eq!(view.state, Stuck);
    let found = &view.evidence[0];
    assert_eq!(found.sign, Sign::Loop(Kind::FruitlessSearch));
    let stretch = found.stretch.as_ref().expect("a loop shows its steps");
    assert_eq!((stretch.since_step, stretch.count), (1, 8));
    assert_eq!(stretch.lasted().as_secs(), 140);
    let numbers: Vec<_> = stretch.steps.iter().map(|step| step.number).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    assert!(
        stretch.steps.iter().all(|step| step.tool.as_ref().is_some_and(|tool| tool.as_str() == "search"))
    );
}

#[test]
fn l06_a_change_of_course_ends_it_and_what_follows_begins_anew() {
    let found = "run search RETRIES -> src/upload/limits.rs line 14 const RETRIES set to five for every host";
    let mut steps = SEARCHES[..8].to_vec();
    steps.push(found);
    let timeline = played(&steps);
    assert_eq!(timeline.view("a").state, Healthy, "{}", timeline.so_far());
    assert!(timeline.has("incident Stuck over"), "{}", timeline.so_far());
    assert!(timeline.has("escalation withdrawn"), "{}", timeline.so_far());
    steps.extend(&SEARCHES[8..11]);
    assert_eq!(played(&steps).view("a").state, Healthy, "three more are not yet a loop");
}

#[test]
fn l06_whatever_excuses_repeating_excuses_this() {
    let stuck = SEARCHES[..8].to_vec();
    for excuse in [
        "person-says go on",
        "person-talks Please look into the configuration of the host instead, and then go on with it",
        "status idle",
        "status waiting on=person",
        "end-task t1",
        "spawn",
    ] {
        let mut steps = stuck.clone();
        steps.push(excuse);
        let mut timeline = played(&steps);
        assert_ne!(timeline.view("a").state, Stuck, "{excuse}: {}", timeline.so_far());
        timeline = timeline.play(&format!("400s {} \n 401s restart", SEARCHES[9]));
        assert_ne!(timeline.view("a").state, Stuck, "{excuse}, after a restart: {}", timeline.so_far());
    }
}

#[test]
fn l06_an_outage_of_the_provider_is_no_loop() {
    let refused = ["run ask model -> 429 Too Many Requests: rate limit exceeded, retry after 20s !"; 12];
    assert_eq!(played(&refused).view("a").state, Healthy);
}

#[test]
fn l06_polling_paging_and_tests_after_edits_are_healthy() {
    let polls = ["run get_job_status job 17 -> running"; 40];
    assert_eq!(played(&polls).view("a").state, Healthy);
    let pages: Vec<String> = (0..30)
        .map(|page| format!("run list page {page} -> invoice{page} paid by customer{page} of region{page}"))
        .collect();
    assert_eq!(played(&pages.iter().map(String::as_str).collect::<Vec<_>>()).view("a").state, Healthy);
    let edits: Vec<String> = (0..20)
        .flat_map(|round| {
            [
                format!(r#"run edit {{"path":"src/a{round}.rs","old":"let x = {round};","new":"let total_{round} = compute{round}(input) + rest{round};"}} -> ok"#),
                "run bash cargo test -> all tests passed".to_owned(),
            ]
        })
        .collect();
    let timeline = played(&edits.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(timeline.view("a").state, Healthy, "{}", timeline.so_far());
}

#[test]
fn l06_a_call_of_which_too_little_is_known_may_have_changed_anything() {
    let mut steps = SEARCHES[..8].to_vec();
    steps.insert(4, "call edit-$N -> edited");
    let timeline = played(&steps);
    assert_ne!(timeline.view("a").state, Stuck, "{}", timeline.so_far());
}

#[test]
fn l06_the_same_loop_is_one_reminder_and_one_finding() {
    let again = ["run bash make deploy -> nothing to be done for deploy"; 5];
    let timeline = played(&again);
    let view = timeline.view("a");
    assert_eq!(view.evidence.len(), 1, "{:?}", view.evidence);
    assert_eq!(timeline.count("nudge 1 queued"), 1, "{}", timeline.so_far());
    assert_eq!(timeline.count("escalated"), 1, "{}", timeline.so_far());
}

#[test]
fn l21_what_nobody_proved_leads_to_no_termination() {
    let mut lines = script(&SEARCHES.repeat(2));
    lines.insert(0, "0s unverified".to_owned());
    lines.remove(1);
    lines.push("3h".to_owned());
    let timeline = Timeline::in_mode(Mode::Full).play(&lines.join("\n"));
    assert!(timeline.has("interrupted at"), "{}", timeline.so_far());
    assert!(!timeline.has("to be stopped"), "{}", timeline.so_far());
    let found = timeline.events.iter().find_map(|event| match &event.fact {
        verger_core::event::Fact::StateChanged { to: Degraded, evidence, .. } => evidence.first().cloned(),
        _ => None,
    });
    assert_eq!(found.map(|found| found.trust), Some(Trust::Unverified));
}

#[test]
fn x20_a_restart_at_any_step_changes_nothing() {
    let script = script(&SEARCHES);
    let without = Timeline::default().play(&script.join("\n")).log();
    for at in 1..script.len() {
        let time = script[at].split_whitespace().next().expect("a time");
        let mut with = script.clone();
        with.insert(at, format!("{time} restart"));
        let log = Timeline::default().play(&with.join("\n")).log();
        let log = lines(log.lines().filter(|line| !line.ends_with("restarted")), str::to_owned);
        assert_eq!(log, without, "a restart before `{}`", script[at]);
    }
}

#[test]
fn x20_after_hundreds_of_steps_a_restart_still_finds_the_loop() {
    let work: Vec<String> = (0..300)
        .map(|n| format!("run read src/part{n}.rs -> struct Part{n} holds alpha{n} beta{n} gamma{n}"))
        .collect();
    let mut steps: Vec<&str> = work.iter().map(String::as_str).collect();
    steps.extend(&SEARCHES[..9]);
    let timeline = played(&steps);
    let before = timeline.view("a");
    assert_eq!(before.state, Stuck);
    let after = timeline.play("6310s restart \n 6311s beat").view("a");
    assert_eq!((after.state, after.evidence), (before.state, before.evidence));
}

#[test]
fn x20_steps_are_at_most_64_small_rows_and_go_with_their_agent() {
    let work: Vec<String> =
        (0..200).map(|n| format!("run read src/part{n}.rs -> alpha{n} beta{n} gamma{n} delta{n}")).collect();
    let mut timeline = Timeline::default();
    // Written after every step, as a monitor that has time does.
    for line in script(&work.iter().map(String::as_str).collect::<Vec<_>>()) {
        timeline = timeline.play(&line);
        timeline.store();
    }
    let is_step = |key: &RowKey| matches!(key, RowKey::Step(..));
    let steps: Vec<_> =
        timeline.store().iter().filter(|(key, _)| is_step(key)).map(|(_, row)| row.len()).collect();
    assert_eq!(steps.len(), 64);
    assert!(steps.iter().all(|size| *size <= 300), "{steps:?}");
    let before = timeline.store().get(&RowKey::StepsBefore("a".into())).map(Vec::len);
    assert!(before.is_some_and(|size| size <= 16 * 1024), "{before:?}");
    timeline = timeline.play("3h order unregister");
    assert!(!timeline.store().keys().any(|key| is_step(key) || matches!(key, RowKey::StepsBefore(_))));
}

#[test]
fn x20_a_damaged_step_refuses_the_start() {
    let mut timeline = played(&SEARCHES[..3]);
    let mut rows = timeline.store().clone();
    let row = rows.get_mut(&RowKey::Step("a".into(), 1)).expect("a step");
    let last = row.len() - 10;
    row[last] ^= 1;
    let policies = timeline.fleet.policies().clone();
    assert!(Fleet::restore(policies, 7, rows, timeline.now).is_err());
}
