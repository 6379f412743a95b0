//! Messages that nobody acknowledges, and what is done about it once it is known how the receiver stands (R05).

use insta::assert_snapshot;
use verger_core::effect::{Action, Effect, Outcome};
use verger_core::policy::{Mode, Policies};
use verger_core::signal::Body;
use verger_core::{RowKey, Span};

use crate::timeline::{Timeline, lines, run, run_in};

/// Two agents that beat.
const TWO: &str = "
    0s    spawn
    0s    @b spawn
    1s    beating 1m
    1s    @b beating 1m
";

fn two(script: &str) -> String {
    let log = Timeline::default().play(TWO).play("2m").play(script).log();
    log.lines()
        .filter(|line| !line.starts_with("0s ") && !line.contains("HEALTHY"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn r05_an_important_message_is_reminded_of_then_people_are_told_and_an_acknowledgement_ends_it() {
    assert_snapshot!(two("
        10m   @b send m to=a high
        10m   outcome delivered
        25m   ack m
        26m   ack m
    "), @"
    10m message m: is delivered
    10m => deliver m, attempt 1
    15m message m: a is reminded
    15m => remind of m, 1 unread
    20m message m: people are told: high message unacknowledged for 10m (limit 5m), reminded 5m ago; of the receiver: it shows life
    25m message m: acknowledged after 15m, late
    25m message m: that is over after 5m
    26m answer: Acknowledged(Again)
    ");
}

#[test]
fn r05_each_priority_has_its_time_and_what_follows() {
    assert_snapshot!(two("
        10m   @b send u to=a urgent
        10m   @b send n to=a
        10m   @b send l to=a low
        2h    settle u
        2h    settle nothing
        2h    @b ack l
    "), @"
    10m message u: is delivered
    10m => deliver u, attempt 1
    10m message n: is delivered
    10m => deliver n, attempt 1
    10m message l: is delivered
    10m => deliver l, attempt 1
    12m message u: people are told: urgent message unacknowledged for 2m (limit 2m); of the receiver: it shows life
    25m message n: a is reminded
    25m => remind of n, 3 unread
    1h10m message l: logged as unacknowledged
    2h fleet message u: ada took care of it
    2h message u: acknowledged after 1h50m, late
    2h message u: that is over after 1h48m
    2h refused: no message `nothing` is known (VG0334)
    2h refused: message `l` is for another agent (VG0335)
    ");
}

#[test]
fn r05_a_receiver_that_waits_has_more_time_before_people_are_told() {
    assert_snapshot!(two("
        9m    status waiting on=person
        10m   @b send u to=a urgent
        20m
    "), @"
    10m message u: is delivered
    10m => deliver u, attempt 1
    12m message u: a is reminded
    12m => remind of u, 1 unread
    16m message u: people are told: urgent message unacknowledged for 6m (limit 2m), reminded 4m ago; of the receiver: it waits on a person for 23h53m at most
    ");
}

#[test]
fn r05_a_silent_receiver_is_asked_in_place_of_a_reminder_and_its_answer_gives_it_time() {
    assert_snapshot!(two("
        3m    still
        20m   @b send m to=a high
        26m   says I am here
        27m   beating 1m
        50m
    "), @"
    12m1s disconnected: unresponsive
    12m1s incident Silent
    12m1s => inquire
    17m1s classified recoverable
    17m1s DEGRADED -> STUCK: no answer to a status inquiry for 5m (limit 5m)
    17m1s incident Stuck
    17m1s escalated: no answer to a status inquiry for 5m (limit 5m)
    17m1s => escalate
    20m message m: is delivered
    20m => deliver m, attempt 1
    25m message m: a is asked how it is
    25m => inquire
    26m reconnected after 23m59s
    26m incident Silent over after 13m59s
    26m incident Stuck over after 8m59s
    26m escalation withdrawn
    31m message m: a is reminded
    31m => remind of m, 1 unread
    36m message m: people are told: high message unacknowledged for 16m (limit 5m), reminded 5m ago, asked how it is 11m ago; of the receiver: it shows life
    ");
}

#[test]
fn r05_what_is_sent_to_who_is_offline_is_kept_and_delivered_when_it_is_back() {
    assert_snapshot!(two("
        3m    still
        3m    exit code=1
        4m    @b send m to=a high
        5m    spawn
        5m    outcome delivered
        6m    ack m
    "), @"
    3m ended: exited with code 1
    3m incident Died
    4m message m: not delivered: agent_offline
    4m answer: Sent(Receipt { taken: Later, reply: None })
    5m incident Died over after 2m
    5m #2 registered
    5m #2 message m: is delivered
    5m => deliver #2 m, attempt 1
    5m #2 message m: delivered after all, after 1m
    5m => tell b of m: Delivered { after: Span(60000) }
    6m #2 message m: acknowledged after 2m
    ");
}

#[test]
fn r05_a_delivery_that_fails_is_tried_again_and_the_sender_is_told_once() {
    assert_snapshot!(two("
        10m      @b send m to=a
        10m      outcome unreachable
        10m31s   outcome refused
        11m32s   outcome delivered
        12m      ack m
    "), @"
    10m message m: is delivered
    10m => deliver m, attempt 1
    10m message m: not delivered: timeout
    10m => tell b of m: NotDelivered(Timeout)
    10m30s message m: is delivered again
    10m30s => deliver m, attempt 2
    11m31s message m: is delivered again
    11m31s => deliver m, attempt 3
    11m32s message m: delivered after all, after 1m32s
    11m32s => tell b of m: Delivered { after: Span(92000) }
    12m message m: acknowledged after 2m
    ");
}

#[test]
fn r05_a_new_life_gets_what_the_one_before_did_not_acknowledge() {
    assert_snapshot!(two("
        3m    @b send m to=a
        3m    outcome delivered
        4m    spawn
        5m    ack m
    "), @"
    3m message m: is delivered
    3m => deliver m, attempt 1
    4m #2 registered
    4m #2 message m: is delivered again
    4m => deliver #2 m, attempt 2
    5m #2 message m: acknowledged after 2m
    ");
}

#[test]
fn r05_the_receiver_is_gone_and_the_sender_is_told_and_nothing_is_addressed_to_nobody() {
    assert_snapshot!(two("
        3m    @b send m to=a
        4m    still
        4m    order unregister
        5m    @b send m2 to=a
        6m    @b send m3 to=nobody
    "), @"
    3m message m: is delivered
    3m => deliver m, attempt 1
    4m unregistered
    4m fleet message m: not delivered: agent_not_found
    4m => tell b of m: NotDelivered(NotFound)
    5m refused: no agent `a` is registered (VG0331)
    6m refused: no agent `nobody` is registered (VG0331)
    ");
    let both = format!(
        "{TWO} \n 3m @b send m to=a urgent \n 4m @b order unregister \n 4m @b still \n 5m order unregister \n 5m still \n 1h"
    );
    let timeline = Timeline::default().play(&both);
    assert!(timeline.has("fleet message m: not delivered: agent_not_found"), "{}", timeline.so_far());
    assert_eq!(timeline.count("=> tell"), 0, "{}", timeline.so_far());
}

#[test]
fn r05_a_reply_acknowledges_what_it_answers_and_nobody_elses_word_does() {
    assert_snapshot!(two("
        10m   @b send m to=a high
        11m   @b ack m
        12m   unverified
        12m   ack m
        13m   verified
        13m   send r to=b reply=m
        13m   send r to=b reply=m
        13m   @b send r to=a
        14m   @b ack r
    "), @"
    10m message m: is delivered
    10m => deliver m, attempt 1
    11m refused: message `m` is for another agent (VG0335)
    12m refused: only a verified agent may say this (VG0326)
    13m message m: acknowledged after 3m
    13m b message r: is delivered
    13m => deliver b r, attempt 1
    13m answer: Sent(Receipt { taken: Sent, reply: Some(Over { late: false }) })
    13m answer: Sent(Receipt { taken: Again, reply: None })
    13m refused: another message is called `r` (VG0332)
    14m b message r: acknowledged after 1m
    ");
}

#[test]
fn r05_who_is_only_looked_at_is_not_reminded() {
    let script = format!("{TWO} \n 2m @b send m to=a \n 1h");
    assert!(!run_in(Mode::Observe, &script).contains("=> remind"));
    assert!(run_in(Mode::Nudge, &script).contains("=> remind"));
}

#[test]
fn r05_the_outcome_of_an_effect_that_is_no_delivery_says_nothing_of_a_message() {
    let timeline = Timeline::default().play(TWO).play("2m @b send m to=a \n 18m outcome refused");
    assert!(timeline.has("=> remind"), "{}", timeline.so_far());
    assert!(!timeline.has("message m: not delivered"), "{}", timeline.so_far());
}

#[test]
fn r05_nobody_says_what_became_of_a_message_to_another() {
    let mut timeline = Timeline::default().play(TWO).play("2m @b send m to=a urgent");
    let is_delivery = |effect: &&Effect| matches!(effect.action, Action::Deliver { .. });
    let key = timeline.effects.iter().find(is_delivery).expect("it is delivered").key.clone();
    timeline.tell("b", Body::Outcome { key, outcome: Outcome::Refused });
    assert!(!timeline.has("message m: not delivered"), "{}", timeline.so_far());
    let timeline = timeline.play("3m outcome refused");
    assert!(timeline.has("message m: not delivered"), "{}", timeline.so_far());
}

#[test]
fn r05_a_receiver_that_was_never_heard_is_asked_in_place_of_a_reminder() {
    let script = "0s spawn \n 0s @b spawn \n 1s @b beating 1m \n 10s @b send m to=a high \n 6m";
    let timeline = Timeline::default().play(script);
    assert!(timeline.has("message m: a is asked how it is"), "{}", timeline.so_far());
    assert!(timeline.has("=> inquire") && !timeline.has("=> remind"), "{}", timeline.so_far());
}

#[test]
fn r05_a_pile_of_messages_leads_to_one_reminder_and_people_are_told_once() {
    let pile = lines(0..20, |n| format!("2m @b send m{n:02} to=a high"));
    let timeline = Timeline::default().play(TWO).play(&pile).play("30m");
    assert_eq!(timeline.count("=> remind"), 1, "{}", timeline.so_far());
    assert_eq!(timeline.count("message m00: people are told: "), 1, "{}", timeline.so_far());
    let told = timeline.so_far().lines().filter(|line| line.contains("people are told: ")).count();
    assert_eq!(told, 1, "the others are joined: {}", timeline.so_far());
}

#[test]
fn r05_a_message_is_no_proof_of_failure() {
    let script = format!("{TWO} \n 2m @b send m to=a urgent \n 10m");
    let timeline = Timeline::in_mode(Mode::Full).play(&script);
    assert!(timeline.has("message m: people are told"), "{}", timeline.so_far());
    let harm = |action: &Action| !matches!(action, Action::Ping | Action::Deliver { .. });
    assert!(!timeline.effects.iter().any(|effect| harm(&effect.action)), "{}", timeline.so_far());
}

#[test]
fn r05_a_restart_of_the_monitor_changes_nothing() {
    let script = |restarts: bool| {
        let restart = if restarts { "restart" } else { "" };
        format!(
            "
            2m      @b send m to=a high
            2m      @b send u to=a urgent
            2m      {restart}
            3m      outcome delivered
            4m30s   {restart}
            5m      @b send n to=a
            5m      {restart}
            6m      outcome unreachable
            7m30s   {restart}
            13m     {restart}
            14m     still
            14m     exit code=1
            15m     {restart}
            16m     spawn
            16m     {restart}
            17m     outcome delivered
            17m     {restart}
            20m     ack m
            21m     ack u
            22m     ack n
            3h      {restart}
        "
        )
    };
    let without =
        |log: String| log.lines().filter(|line| !line.ends_with("restarted")).collect::<Vec<_>>().join("\n");
    let calm = without(Timeline::default().play(TWO).play(&script(false)).log());
    let restarted = without(Timeline::default().play(TWO).play(&script(true)).log());
    assert!(calm.contains("people are told") && calm.contains("delivered after all"), "{calm}");
    assert_eq!(calm, restarted);
}

#[test]
fn r05_a_message_is_a_row_of_its_own_that_goes_when_it_is_forgotten() {
    let mut policies = Policies::default();
    policies.messages.forget_after = Span::minutes(10);
    let mut timeline = Timeline::new(policies).play(TWO).play("2m @b send m to=a \n 3m ack m");
    let messages = |timeline: &mut Timeline| {
        let mut rows = Vec::new();
        timeline.fleet.take_changed_rows(&mut |row| {
            if let RowKey::Message(key) = row.key {
                rows.push((format!("{key:?}"), row.bytes.is_some()));
            }
        });
        rows
    };
    let message = r#"Message(MessageId("m"))"#.to_owned();
    assert!(messages(&mut timeline).contains(&(message.clone(), true)));
    assert_eq!(messages(&mut timeline), []);
    timeline = timeline.play("20m");
    assert!(messages(&mut timeline).contains(&(message, false)));
    assert!(!timeline.fleet.has_changes());
}

#[test]
fn r05_names_and_numbers_beyond_the_limits_are_refused() {
    let name = "x".repeat(300);
    let mut policies = Policies::default();
    policies.messages.per_receiver_max = 2;
    policies.tasks.per_agent_max = 1;
    let script = format!(
        "{TWO}
        2m @b send {name} to=a
        2m give {name}
        3m @b send m1 to=a urgent
        3m @b send m2 to=a urgent
        3m @b send m3 to=a urgent
        3m @b send m1 to=a low
        4m give t1
        4m give t2
        5m assign t3
    "
    );
    let log = Timeline::new(policies).play(&script).log();
    let refused: Vec<_> = log.lines().filter(|line| line.contains("refused")).collect();
    let codes: Vec<_> = refused.iter().filter_map(|line| line.rsplit('(').next()).collect();
    assert_eq!(codes, ["VG0325)", "VG0325)", "VG0333)", "VG0332)", "VG0324)"], "{log}");
}

#[test]
fn r05_a_message_to_oneself_is_delivered_and_nobody_waits_for_it() {
    let log = run("0s spawn \n 1s beating 1m \n 2s send m to=a urgent \n 1h");
    assert!(log.contains("=> deliver m") && !log.contains("people are told"), "{log}");
}

#[test]
fn r05_a_message_that_arrived_is_not_sent_again_for_a_second_word_on_its_delivery() {
    let arrived = "0s beat \n 0s @b beat \n 1s send m to=b \n 2s @b outcome delivered \n";
    for word in ["unreachable", "refused", "failed", "delivered"] {
        let timeline = Timeline::default().play(arrived).play(&format!("3s @b outcome {word} \n 2m"));
        let said = timeline.so_far();
        assert!(!said.contains("not delivered") && !said.contains("again"), "{word}:\n{said}");
        assert_eq!(said.matches("=> deliver").count(), 1, "{word}:\n{said}");
    }
}
