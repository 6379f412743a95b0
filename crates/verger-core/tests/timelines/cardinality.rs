//! Who is forgotten, and who is let in: X13.

use verger_core::policy::{Mode, Policies, RestartPolicy};

use crate::timeline::{Timeline, lines};

fn at_most(agents: u32) -> Timeline {
    let mut policies = Policies::default();
    policies.cardinality.agents_max = agents;
    Timeline::new(policies)
}

#[test]
fn x13_an_agent_that_ended_is_forgotten_after_a_day() {
    let timeline = Timeline::default().play("0s beat \n 1m exit code=0 \n 24h");
    assert_eq!(timeline.count("unregistered"), 0, "{}", timeline.so_far());
    let timeline = timeline.play("24h2m");
    assert_eq!(timeline.count("unregistered"), 1, "{}", timeline.so_far());
    let back = timeline.play("24h3m beat");
    assert_eq!(back.count("registered"), 2, "it is let in again:\n{}", back.so_far());
}

#[test]
fn x13_an_agent_of_which_nothing_is_heard_for_a_week_is_forgotten() {
    let mut policies = Policies::default();
    policies.each(|role| role.mode = Mode::Observe);
    let timeline = Timeline::new(policies).play("0s activity \n 6d23h");
    assert_eq!(timeline.count("unregistered"), 0, "{}", timeline.so_far());
    let timeline = timeline.play("7d2h");
    assert_eq!(timeline.count("unregistered"), 1, "{}", timeline.so_far());
}

#[test]
fn x13_nobody_is_forgotten_while_its_work_is_to_be_recovered() {
    let mut policies = Policies::default();
    policies.each(|role| role.restart = RestartPolicy::Recover);
    let timeline = Timeline::new(policies).play("0s spawn task=t \n 1s beat \n 1m exit signal=9 \n 2d");
    assert_eq!(
        timeline.count("unregistered"),
        0,
        "its checkpoints are not known yet:\n{}",
        timeline.so_far()
    );
}

#[test]
fn x13_whoever_is_gone_longest_makes_room_and_the_living_never_do() {
    let full = at_most(3).play("0s @a beat \n 0s @b beat \n 0s @c beat \n 1m @d beat");
    assert_eq!(full.count("d registered"), 0, "{}", full.so_far());
    let room = full.play("2m @b exit code=0 \n 3m @c exit code=0 \n 4m @d beat");
    assert!(room.has("b unregistered") && room.has("d registered"), "{}", room.so_far());
    assert!(!room.has("c unregistered") && !room.has("unregistered"), "{}", room.so_far());
}

#[test]
fn x13_a_flood_of_names_stops_at_the_limit_across_a_restart() {
    let flood = lines(0..200, |n| format!("0s @n{n} beat"));
    let timeline = at_most(50).play(&flood).play("1s restart \n 2s @late beat");
    let registered = timeline.so_far().lines().filter(|line| line.ends_with("registered")).count();
    assert_eq!(registered, 50, "{}", timeline.so_far());
}

#[test]
fn x13_who_must_be_kept_does_not_keep_others_from_making_room() {
    let mut policies = Policies::default();
    policies.cardinality.agents_max = 3;
    policies.each(|role| role.restart = RestartPolicy::Recover);
    let script = "0s spawn task=t
        1s beat
        30s exit signal=11
        40s @b beat
        41s @c beat
        50s @b exit code=0
        60s @d beat";
    let timeline = Timeline::new(policies).play(script);
    assert!(timeline.has("b unregistered") && timeline.has("d registered"), "{}", timeline.so_far());
    assert!(!timeline.has("unregistered"), "its work is to be recovered:\n{}", timeline.so_far());
}

#[test]
fn x13_however_many_must_be_kept_whoever_may_go_makes_room_after_a_few_tries() {
    let mut policies = Policies::default();
    policies.cardinality.agents_max = 201;
    policies.each(|role| role.restart = RestartPolicy::Recover);
    let kept = lines(0..200, |n| format!("0s @k{n} spawn task=t{n} \n 0s @k{n} beat"))
        + &lines(0..200, |n| format!("1s @k{n} exit signal=9"));
    let timeline = Timeline::new(policies)
        .play(&kept)
        .play("2s @z beat \n 3s @z exit code=0")
        .play(&lines(0..5, |n| format!("{}s @late beat", 4 + n)));
    assert!(timeline.has("z unregistered") && timeline.has("late registered"), "{}", timeline.so_far());
    assert_eq!(timeline.fleet.len(), 201);
}

#[test]
fn x13_names_that_are_made_up_by_the_thousand_are_let_in_a_few_at_a_time_and_the_known_go_on() {
    let mut policies = Policies::default();
    policies.cardinality.strangers_max = 5;
    let flood = lines(0..100, |n| format!("1s @n{n} beat"));
    let timeline = Timeline::new(policies).play(&format!("0s @known beat \n 1s unverified \n {flood}"));
    let count =
        |timeline: &Timeline| timeline.so_far().lines().filter(|line| line.ends_with(" registered")).count();
    assert_eq!(count(&timeline), 6, "{}", timeline.so_far());
    let timeline = timeline.play("2s verified \n 2s @vouched beat \n 3s unverified \n 3s @known beat");
    assert!(timeline.has("vouched registered"), "a token lets it in: {}", timeline.so_far());
    let timeline = timeline.play("10m2s @n99 beat");
    assert!(timeline.has("n99 registered"), "later others find room: {}", timeline.so_far());
}
