//! What ends a wait or a rest, and what merely seems to: X03, L07.

use verger_core::health::HealthState::{Degraded, Healthy, Stuck};
use verger_core::signal::Awaited;

use crate::timeline::Timeline;

fn after(script: &str) -> Timeline {
    Timeline::default().play(script)
}

fn waits_on(timeline: &Timeline) -> Option<Awaited> {
    timeline.view("a").waiting_on.map(|wait| wait.awaited)
}

/// An agent at work that says when it calls a tool and when it asks the model, so that fifteen silent minutes count.
const AT_WORK: &str =
    "0s beat \n 0s assign t \n 0s beating 5m \n 0s model-starts \n 0s model-ends \n 0s call a \n";

#[test]
fn x03_what_was_asked_of_the_model_before_a_rest_is_not_held_against_the_agent_after_it() {
    let rest = format!("{AT_WORK} 1m model-starts \n 2m status waiting on=person \n 3h");
    for end in ["person-says yes", "beat busy", "status healthy"] {
        let back = after(&format!("{rest} {end}"));
        assert_eq!((waits_on(&back), back.view("a").state), (None, Healthy), "{end}:\n{}", back.so_far());
        let later = back.play("3h14m");
        assert_eq!(later.count("HEALTHY ->"), 0, "{end}:\n{}", later.so_far());
        let silent = later.play("3h16m");
        assert_eq!(silent.view("a").state, Stuck, "from then on its silence counts, after {end}");
    }
}

#[test]
fn x03_a_call_that_outlasts_a_rest_is_given_its_time_anew() {
    let rest = format!("{AT_WORK} 1m start build \n 2m status waiting on=person \n 3h person-says yes");
    let building = after(&format!("{rest} \n 4h29m"));
    assert_eq!(waits_on(&building), Some(Awaited::Tool));
    assert_eq!(building.count("HEALTHY ->"), 0, "{}", building.so_far());
    assert_eq!(building.play("4h31m").view("a").state, Stuck, "and no more than that");
}

#[test]
fn x03_who_waits_and_does_not_say_for_what_waits_for_a_person() {
    let unsaid = after(&format!("{AT_WORK} 1m status waiting \n 20h"));
    assert_eq!(waits_on(&unsaid), Some(Awaited::Person));
    assert_eq!((unsaid.count("HEALTHY ->"), unsaid.count("=>")), (0, 0), "{}", unsaid.so_far());
    let named = after(&format!("{AT_WORK} 1m status waiting for=1h \n 1h"));
    assert_eq!((waits_on(&named), named.view("a").state), (Some(Awaited::Timer), Healthy));
    assert_eq!(named.play("1h2m").view("a").state, Stuck, "the time it named is a timer's");
    let known = after(&format!("{AT_WORK} 1m status waiting on=subagent \n 2m beat waiting"));
    assert_eq!(waits_on(&known), Some(Awaited::Subagent), "what it said before still holds");
}

#[test]
fn l07_x03_the_late_start_of_a_call_that_has_ended_does_not_end_the_wait_for_the_model() {
    let late = after(&format!("{AT_WORK} 1m finish b \n 2m model-starts \n 3m late-start b"));
    assert_eq!(waits_on(&late), Some(Awaited::Model), "{}", late.so_far());
    let thinking = late.play("31m");
    assert_eq!(thinking.count("HEALTHY ->"), 0, "it thinks, and calls nothing:\n{}", thinking.so_far());
    assert_eq!(thinking.play("33m").view("a").state, Stuck, "no call is under way that would excuse it");
}

#[test]
fn x03_what_an_agent_says_does_not_end_its_wait_for_the_model() {
    let said = after(&format!("{AT_WORK} 1m model-starts \n 2m says on-it"));
    assert_eq!(waits_on(&said), Some(Awaited::Model), "{}", said.so_far());
    let thinking = said.play("30m");
    assert_eq!(thinking.count("HEALTHY ->"), 0, "{}", thinking.so_far());
}

#[test]
fn x03_an_outage_is_over_when_two_later_heartbeats_show_that_tokens_were_used() {
    let told = "0s beat tokens=100 \n 0s call a \n 1m outage \n 5m beat tokens=200";
    assert_eq!(waits_on(&after(told)), Some(Awaited::Provider), "these may have been used before it");
    let still = after(&format!("{told} \n 10m beat tokens=200 \n 15m beat"));
    assert_eq!(waits_on(&still), Some(Awaited::Provider), "nothing was used since");
    assert_eq!(waits_on(&after(&format!("{told} \n 10m beat tokens=201"))), None, "the model answers again");
}

#[test]
fn l07_the_end_of_a_call_that_was_never_announced_ends_a_rest_unless_it_is_merely_late() {
    let idle = "0s beat \n 0s assign t \n 0s beating 5m \n 0s finish b1 \n 1m status idle \n";
    let late = after(&format!("{idle} 2m finish b2 \n 12m"));
    assert_eq!(late.view("a").state, Degraded, "idle with work:\n{}", late.so_far());
    let working = after(&format!("{idle} 2m1s finish b2 \n 1h30m"));
    assert_eq!(working.count("HEALTHY ->"), 0, "{}", working.so_far());
    assert_eq!(working.play("1h33m").view("a").state, Stuck, "it is at work, so its silence counts");
    let announced = after(&format!("{idle} 61s start c \n 62s status idle \n 3m finish d \n 13m"));
    assert_eq!(
        announced.view("a").state,
        Degraded,
        "who announces its calls would have:\n{}",
        announced.so_far()
    );
}
