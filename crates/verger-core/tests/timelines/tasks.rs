//! Tasks: stalled by three parts together, and a failure is declared only after the agent was asked (R06, R07).

use insta::assert_snapshot;
use verger_core::policy::Policies;
use verger_core::tasks::TaskStatus;
use verger_core::{RowKey, Span};

use crate::timeline::{Timeline, lines, run};

#[test]
fn r06_a_task_is_stalled_when_it_is_overdue_quiet_and_unexplained_and_its_agent_is_asked_first() {
    assert_snapshot!(run("
        0s    spawn
        1s    beating 1m
        10s   give t due=20m
        15m   update t 40%
        2h
    "), @"
    0s registered
    10s task t: ada says it is a's
    1m1s UNKNOWN -> HEALTHY
    45m task t: stalled: no update for 30m (limit 30m); overdue for 24m50s; no message explains it; of its agent: it shows life
    45m task t: its agent is asked
    45m => inquire about t
    47m30s task t: its agent is asked again
    47m30s => inquire about t
    50m task t: people are told: Spared(Alive)
    ");
}

#[test]
fn r07_a_failure_is_declared_when_the_question_is_unanswered_and_heartbeats_have_stopped() {
    assert_snapshot!(run("
        0s    spawn
        1s    beating 5m
        10s   give t due=20m
        24m   still
        2h
    "), @"
    0s registered
    10s task t: ada says it is a's
    5m1s UNKNOWN -> HEALTHY
    30m1s disconnected: unresponsive
    30m1s HEALTHY -> DEGRADED: no heartbeat for 10m (limit 10m)
    30m1s incident Silent
    30m1s => inquire
    30m10s task t: stalled: no update for 30m (limit 30m); overdue for 10m; no message explains it; of its agent: it is unresponsive and may have failed
    30m10s task t: its agent is asked
    32m40s task t: its agent is asked again
    32m40s => inquire about t
    35m1s classified recoverable
    35m1s DEGRADED -> STUCK: no answer to a status inquiry for 5m (limit 5m)
    35m1s incident Stuck
    35m1s escalated: no answer to a status inquiry for 5m (limit 5m)
    35m1s => escalate
    35m10s task t: failed: a status inquiry went unanswered for 5m and heartbeats have stopped
    ");
}

#[test]
fn r07_who_fell_silent_and_came_back_without_an_answer_is_asked_anew() {
    let timeline = Timeline::default()
        .play("0s spawn \n 1s beating 5m \n 10s give t due=20m \n 24m still \n 30m5s beat \n 30m11s");
    assert!(timeline.has("=> inquire"), "{}", timeline.so_far());
    assert!(timeline.has("=> inquire about t"), "{}", timeline.so_far());
}

#[test]
fn r07_an_answer_explains_the_delay_and_nothing_is_declared() {
    assert_snapshot!(run("
        0s    spawn
        1s    beating 1m
        10s   give t due=20m
        32m   says working on it
        40m   update t 90%
        45m   end-task t
        2h
    "), @"
    0s registered
    10s task t: ada says it is a's
    1m1s UNKNOWN -> HEALTHY
    30m10s task t: stalled: no update for 30m (limit 30m); overdue for 10m; no message explains it; of its agent: it shows life
    30m10s task t: its agent is asked
    30m10s => inquire about t
    32m task t: stalled no longer, after 1m49s
    45m task t: done
    ");
}

#[test]
fn r06_a_wait_for_a_person_explains_the_delay_of_a_task_that_people_were_told_of() {
    assert_snapshot!(run("
        0s    spawn
        1s    beating 1m
        10s   give t due=20m
        50m   status waiting on=person
        90m   status healthy
        3h
    "), @"
    0s registered
    10s task t: ada says it is a's
    1m1s UNKNOWN -> HEALTHY
    30m10s task t: stalled: no update for 30m (limit 30m); overdue for 10m; no message explains it; of its agent: it shows life
    30m10s task t: its agent is asked
    30m10s => inquire about t
    32m40s task t: its agent is asked again
    32m40s => inquire about t
    35m10s task t: people are told: Spared(Alive)
    50m task t: stalled no longer, after 19m49s
    50m task t: that is over after 14m49s
    1h30m task t: stalled: no update for 1h29m (limit 30m); overdue for 1h9m; no message explains it; of its agent: it shows life
    1h30m task t: its agent is asked
    1h30m => inquire about t
    1h32m task t: its agent is asked again
    1h32m => inquire about t
    1h35m task t: people are told: Spared(Alive)
    ");
}

#[test]
fn r06_lasting_progress_is_an_update_of_what_the_agent_works_on() {
    let script = "
        0s    spawn task=t
        1s    beating 1m
        10s   give t due=20m
        20m..90m/10m    output files=1
    ";
    let timeline = Timeline::default().play(script).play("119m");
    assert_eq!(timeline.count("task t: stalled"), 0, "{}", timeline.so_far());
    let timeline = timeline.play("2h1m");
    assert_eq!(timeline.count("task t: stalled"), 1, "{}", timeline.so_far());
}

#[test]
fn r06_progress_that_an_agent_reports_in_its_heartbeats_is_an_update_and_its_repetition_is_none() {
    let beat =
        |progress| format!("0s spawn task=t \n 1s give t due=20m \n 5m..3h/5m beat progress={progress}");
    let changing = Timeline::default().play(&beat("$N"));
    assert_eq!(changing.count("task t: stalled"), 0, "{}", changing.so_far());
    let same = Timeline::default().play(&beat("7"));
    assert_eq!(same.count("task t: stalled"), 1, "{}", same.so_far());
}

#[test]
fn r07_an_agent_that_says_it_cannot_go_on_has_failed_until_it_gets_on() {
    assert_snapshot!(run("
        0s    spawn task=t
        1s    beating 1m
        2s    give t due=5h
        10m   blocker
        20m   output files=1
    "), @"
    0s registered
    2s task t: ada says it is a's
    2s answer: Assigned(Again)
    1m1s UNKNOWN -> HEALTHY
    10m HEALTHY -> STUCK: it reported that it cannot go on
    10m incident Stuck
    10m escalated: it reported that it cannot go on
    10m task t: failed: the agent says that it cannot go on
    10m => escalate
    20m STUCK -> HEALTHY
    20m incident Stuck over after 10m
    20m escalation withdrawn
    20m task t: failed no longer, after 10m
    ");
}

#[test]
fn r07_who_did_not_prove_who_it_is_can_only_have_people_told() {
    assert_snapshot!(run("
        0s    spawn
        1s    beating 1m
        2s    give t due=5h
        3s    unverified
        10m   cannot t
        11m   update t done
        12m   give t nobody
        13m   update t 50%
    "), @"
    0s registered
    2s task t: ada says it is a's
    1m1s UNKNOWN -> HEALTHY
    10m task t: people are told: UnverifiedWord
    11m refused: only a verified agent may say this (VG0326)
    12m task t: ada says it is to be done
    12m answer: Assigned(Again)
    13m task t: that is over after 3m
    ");
}

#[test]
fn r06_another_agent_that_names_the_task_has_it_and_a_late_copy_takes_it_from_nobody() {
    let script = "
        0s    spawn task=t
        1s    beating 1m
        1s    @b spawn
        2s    @b beating 1m
        10s   @b assign t
        20s   assign t
        30s   end-task t
        40s   @b end-task t
        50s   assign t
        60s   end-task t
    ";
    assert_snapshot!(run(script), @"
    0s registered
    1s b registered
    10s b task t: taken from a
    40s b task t: done
    ");
}

#[test]
fn r06_what_is_finished_is_not_given_again_unless_a_person_wants_it_so() {
    assert_snapshot!(run("
        0s    spawn
        1s    give t due=1h
        2s    update t done
        3s    give t
        4s    update t 10%
        5s    update nothing 10%
        6s    @b update t done
        7s    give t again
        8s    @b update t done
        9s    close t cancelled
    "), @"
    0s registered
    1s task t: ada says it is a's
    2s task t: done
    3s refused: task `t` is done (VG0322)
    4s refused: task `t` is done (VG0322)
    5s refused: no task `nothing` is known (VG0321)
    6s answer: Updated(Again)
    7s task t: ada says it is a's
    8s refused: task `t` is the work of a (VG0323)
    9s task t: ada says cancelled
    9s task t: cancelled
    ");
}

#[test]
fn r07_one_agent_with_many_stalled_tasks_is_asked_once_and_once_again() {
    let give = lines(0..5, |n| format!("1s give t{n} due=10m"));
    let timeline = Timeline::default().play(&format!("0s spawn \n {give} 2s beating 1m \n 40m"));
    assert_eq!(timeline.count("=> inquire"), 2, "{}", timeline.so_far());
    assert_eq!(
        timeline.count("task t"),
        5 * (1 + 1 + 2 + 1),
        "given, stalled, asked, told: {}",
        timeline.so_far()
    );
}

#[test]
fn r07_a_task_and_a_message_ask_one_agent_one_question_unless_it_did_not_arrive() {
    let asked = |outcome: &str| {
        let script = format!(
            "
            0s    spawn
            0s    @b spawn
            1s    @b beating 1m
            2s    beat
            3s    give t due=20m
            26m   @b send m to=a high
            30m10s   {outcome}
            32m
        "
        );
        let timeline = Timeline::default().play(&script);
        assert!(timeline.has("task t: its agent is asked"), "{}", timeline.so_far());
        assert!(timeline.has("message m: a is asked how it is"), "{}", timeline.so_far());
        timeline.tail("message m: is delivered").matches("=> inquire").count()
    };
    assert_eq!(asked("outcome delivered"), 1);
    assert_eq!(asked("outcome failed"), 2, "who was not reached was not asked");
}

#[test]
fn r07_nobody_is_asked_who_is_not_there_and_people_are_told() {
    assert_snapshot!(run("
        0s    give t due=10m
        2h
    "), @"
    0s fleet task t: ada says it is a's
    30m fleet task t: stalled: no update for 30m (limit 30m); overdue for 20m; no message explains it; of its agent: no such agent is registered
    30m fleet task t: its agent is asked
    32m30s fleet task t: its agent is asked again
    35m fleet task t: people are told: Spared(NothingKnown)
    ");
}

#[test]
fn r07_an_agent_that_is_back_has_failed_no_longer() {
    let script = "
        0s    spawn
        1s    beating 5m
        10s   give t due=20m
        24m   still
        60m   beat
        61m   says here I am
        62m   close t done
    ";
    let timeline = Timeline::default().play(script);
    assert_eq!(timeline.count("task t: failed: "), 1, "{}", timeline.so_far());
    assert_eq!(timeline.count("task t: failed no longer"), 1, "{}", timeline.so_far());
    assert_eq!(timeline.task("t").status, TaskStatus::Done);
}

#[test]
fn r06_a_restart_of_the_monitor_changes_nothing() {
    let script = |restarts: bool| {
        let restart = if restarts { "restart" } else { "" };
        format!(
            "
            0s    spawn
            0s    @b spawn
            1s    beating 5m
            1s    @b beating 1m
            10s   give t due=20m
            11s   @b give u due=30m
            12s   @b assign v
            24m   still
            33m   {restart}
            35m   {restart}
            36m   @b says soon
            50m   {restart}
            70m   @b update u done
            71m   beat
            2h    {restart}
            3h
        "
        )
    };
    let without =
        |log: String| log.lines().filter(|line| !line.ends_with("restarted")).collect::<Vec<_>>().join("\n");
    let calm = without(Timeline::default().play(&script(false)).log());
    let restarted = without(Timeline::default().play(&script(true)).log());
    assert!(calm.contains("task t: failed: "), "{calm}");
    assert_eq!(calm, restarted);
}

#[test]
fn r06_a_task_is_a_row_of_its_own_that_is_written_when_it_changes_and_goes_with_it() {
    let mut policies = Policies::default();
    policies.tasks.remember_ended = Span::hours(1);
    let mut timeline = Timeline::new(policies).play("0s spawn \n 1s give t due=1h \n 1s give u due=1h");
    let tasks = |timeline: &mut Timeline| {
        let mut rows = Vec::new();
        timeline.fleet.take_changed_rows(&mut |row| {
            if let RowKey::Task(id) = row.key {
                rows.push((id.as_str().to_owned(), row.bytes.is_some()));
            }
        });
        rows
    };
    assert_eq!(tasks(&mut timeline), [("t".to_owned(), true), ("u".to_owned(), true)]);
    timeline = timeline.play("2s update t 10%");
    assert!(timeline.fleet.has_changes());
    assert_eq!(tasks(&mut timeline), [("t".to_owned(), true)]);
    assert!(!timeline.fleet.has_changes(), "an agent that says so of its task did not change itself");
    timeline = timeline.play("3s close t done \n 2h");
    assert!(tasks(&mut timeline).contains(&("t".to_owned(), false)), "forgotten");
}

#[test]
fn r07_an_agent_that_is_unregistered_leaves_its_task_to_somebody_else() {
    let timeline = Timeline::default().play(
        "
        0s    spawn
        0s    @b spawn
        1s    beating 1m
        2s    give t due=20m
        31m   still
        31m   order unregister
        40m   @b give t
    ",
    );
    assert_eq!(timeline.task("t").agent, Some("b".into()), "{}", timeline.so_far());
    assert_eq!(timeline.count("task t: failed"), 0, "{}", timeline.so_far());
    let after = timeline.effects.iter().filter(|effect| effect.key.agent.as_str() == "a").count();
    assert_eq!(after, 1, "nothing is asked of who is gone: {}", timeline.so_far());
}
