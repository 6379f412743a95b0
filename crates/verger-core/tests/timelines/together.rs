//! Agents that fail together: one incident, and nobody is ended for it (X02).

use verger_core::correlation::{Change, Order, Scope};
use verger_core::event::Fact;
use verger_core::notice::{Notice, NoticeError};
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::{Span, Timestamp};

use crate::timeline::Timeline;

fn each(numbers: std::ops::Range<usize>, words: &str) -> String {
    numbers.map(|n| format!("{words} \n").replace('@', &format!("@a{n:02} "))).collect()
}

/// These fail, for longer than a minute, in a way that would end each of them, were it alone.
fn broken(numbers: std::ops::Range<usize>, at: u64) -> String {
    each(numbers.clone(), &format!("{at}s @status degraded")) + &failing(&numbers, at)
}

fn failing(numbers: &std::ops::Range<usize>, at: u64) -> String {
    let calls = |later| each(numbers.clone(), &format!("{}s @call b$N -> boom failed", at + later));
    (1..75).map(calls).collect()
}

fn changes(timeline: &Timeline) -> Vec<&Change> {
    let correlated = timeline.events.iter().filter_map(|event| match &event.fact {
        Fact::Correlated(change) => Some(change),
        _ => None,
    });
    correlated.collect()
}

fn opened(timeline: &Timeline) -> Vec<&Scope> {
    let scopes = changes(timeline).into_iter().filter_map(|change| match change {
        Change::Opened { scope, .. } => Some(scope),
        _ => None,
    });
    scopes.collect()
}

#[test]
fn x02_half_of_the_fleet_that_fails_together_is_one_incident_and_nobody_is_ended() {
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let timeline = Timeline::unattended().play(&script).play("30m");
    assert_eq!(opened(&timeline), [&Scope::Fleet], "{}", timeline.so_far());
    assert_eq!(timeline.count("=> stop"), 0, "{}", timeline.so_far());
}

#[test]
fn x02_one_agent_that_fails_alone_is_ended_as_before() {
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..1, 10);
    let timeline = Timeline::unattended().play(&script).play("5m");
    assert!(opened(&timeline).is_empty() && timeline.count("=> stop") > 0, "{}", timeline.so_far());
}

#[test]
fn x02_a_host_that_is_lost_is_one_incident_of_that_host() {
    let there = each(0..6, "0s @spawn host=h1") + &each(6..20, "0s @spawn host=h2");
    let script = there + &each(0..20, "1s @beating 1m");
    let timeline = Timeline::unattended().play(&script).play(&each(0..6, "10m @error disk unrecoverable"));
    let timeline = timeline.play("20m");
    assert_eq!(opened(&timeline), [&Scope::Host("h1".into())], "{}", timeline.so_far());
}

#[test]
fn x02_at_most_a_share_of_the_fleet_is_being_ended_at_once() {
    let mut policies = Policies::default();
    policies.correlation.agents_min = u32::MAX;
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..9, 10);
    let timeline = Timeline::new(policies).play(&script);
    let stops = timeline.count("=> stop");
    assert_eq!(stops, 2, "a tenth of twenty: {}", timeline.so_far());
}

#[test]
fn x02_a_provider_that_fails_many_is_an_outage_and_its_end_is_told() {
    let there = each(0..10, "0s @spawn provider=p1") + &each(10..20, "0s @spawn provider=p2");
    let outage = each(0..6, "60s @outage refused for=10m");
    let timeline =
        Timeline::unattended().play(&(there + &each(0..20, "1s @beating 5m") + &outage)).play("5m");
    assert_eq!(opened(&timeline), [&Scope::Provider("p1".into())], "{}", timeline.so_far());
    let over =
        timeline.play(&(each(0..6, "15m @model-starts") + &each(0..6, "901s @tokens 100"))).play("20m");
    let resolved = |change: &&&Change| matches!(change, Change::Resolved { .. });
    assert_eq!(changes(&over).iter().filter(resolved).count(), 1, "{}", over.so_far());
    assert_eq!(over.count("=> stop") + over.count("=> escalate"), 0, "{}", over.so_far());
}

#[test]
fn x02_a_person_ends_the_freeze_and_each_is_judged_for_itself_again() {
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let mut timeline = Timeline::unattended().play(&script).play("10m");
    assert_eq!(timeline.count("=> escalate"), 0, "people know of the one: {}", timeline.so_far());
    let thaw = |order| Notice::Incident { scope: Scope::Fleet, by: "ada".into(), order };
    assert!(timeline.notice(&thaw(Order::Dismiss)).is_ok());
    assert_eq!(timeline.notice(&thaw(Order::Thaw)), Err(NoticeError::NoIncident(Scope::Fleet)));
    let after = timeline.play(&failing(&(0..12), 600));
    assert_eq!(after.count("=> escalate"), 12, "{}", after.so_far());
    assert!(after.has("fleet of the fleet ada ordered Dismiss"), "{}", after.so_far());
}

#[test]
fn x02_a_restart_of_the_monitor_thaws_nobody() {
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let calm = Timeline::unattended().play(&script).play("1h");
    let restarted = Timeline::unattended().play(&script).play("5m restart \n 1h");
    assert_eq!(calm.count("=> stop"), restarted.count("=> stop"), "{}", restarted.so_far());
    assert_eq!(opened(&restarted).len(), 1);
}

#[test]
fn x02_the_freeze_ends_by_itself_after_a_night() {
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let timeline = Timeline::unattended().play(&script).play("9h");
    let thawed =
        timeline.events.iter().find(|event| matches!(&event.fact, Fact::Correlated(Change::Thawed { .. })));
    let at = thawed.expect("it thaws").at;
    assert!(Timestamp::ZERO + Span::hours(8) <= at, "{at:?}");
}

#[test]
fn x02_an_outage_over_half_the_fleet_is_one_incident_and_ends_nobody() {
    let there = each(0..10, "0s @spawn provider=p1") + &each(10..20, "0s @spawn provider=p2");
    let outage = |second: u64| each(0..10, &format!("{second}s @outage refused"));
    let retries: String = (1..90).map(|nth| outage(nth * 120)).collect();
    let timeline =
        Timeline::unattended().play(&(there + &each(0..20, "1s @beating 5m") + &retries)).play("3h5m");
    assert_eq!(opened(&timeline), [&Scope::Provider("p1".into())], "{}", timeline.so_far());
    let done = timeline.count("=> stop") + timeline.count("=> escalate") + timeline.count("incident");
    assert_eq!(done, 0, "{}", timeline.so_far());
}

#[test]
fn x02_what_people_say_to_agents_does_not_end_an_outage() {
    let there = each(0..10, "0s @spawn provider=p1") + &each(0..10, "1s @beating 5m");
    let outage = each(0..6, "60s @outage refused for=10m");
    let timeline =
        Timeline::unattended().play(&(there + &outage)).play(&each(7..10, "2m @person-says hello"));
    let timeline = timeline.play("8m");
    let resolved = |change: &&&Change| matches!(change, Change::Resolved { .. });
    assert_eq!(changes(&timeline).iter().filter(resolved).count(), 0, "{}", timeline.so_far());
}

#[test]
fn x02_who_has_ended_is_not_counted_again_by_a_copy_of_its_announcement() {
    let there = "0s clock 0s \n".to_owned() + &each(0..20, "0s @spawn") + &each(0..20, "1s @beat");
    // Twelve are done and leave; eight stay, of which five fail together.
    let left = each(0..12, "10s @exit code=0");
    let copies = "11s clock -11s \n".to_owned() + &each(0..12, "11s @spawn") + "11s clock 0s \n";
    let bad = each(12..17, "20s @error disk unrecoverable");
    let timeline = Timeline::unattended().play(&(there.clone() + &left + "11s wait \n" + &bad)).play("1m");
    assert_eq!(opened(&timeline), [&Scope::Fleet], "{}", timeline.so_far());
    let timeline = Timeline::unattended().play(&(there + &left + &copies + &bad)).play("1m");
    assert_eq!(opened(&timeline), [&Scope::Fleet], "{}", timeline.so_far());
}

#[test]
fn x02_who_is_looked_at_early_is_not_put_off_once_more() {
    // A restart looks at everybody; when the freeze is over, it is at the same moment all the same.
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let asked = |restarts: &str| {
        let mut timeline = Timeline::unattended().play(&script).play(&format!("10m \n {restarts} 10m40s"));
        let dismiss = Notice::Incident { scope: Scope::Fleet, by: "ada".into(), order: Order::Dismiss };
        assert!(timeline.notice(&dismiss).is_ok());
        let timeline = timeline.play("20m");
        let escalated =
            timeline.events.iter().filter(|event| matches!(event.fact, Fact::EscalationTriggered { .. }));
        escalated.map(|event| event.at).collect::<Vec<_>>()
    };
    assert_eq!(asked("10m20s restart \n"), asked(""));
}

#[test]
fn x02_when_the_freeze_ends_all_who_were_held_are_looked_at_at_once() {
    // And not each of them when it happens to be heard next, which a restart of the monitor would change.
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let mut timeline = Timeline::unattended().play(&script).play("10m31s");
    let dismiss = Notice::Incident { scope: Scope::Fleet, by: "ada".into(), order: Order::Dismiss };
    assert!(timeline.notice(&dismiss).is_ok());
    let timeline = timeline.play("10m32s");
    assert_eq!(timeline.count("=> escalate"), 12, "{}", timeline.so_far());
}

#[test]
fn x02_a_person_thaws_the_freeze_and_each_is_asked_about_though_the_incident_is_open() {
    let script = each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &broken(0..12, 10);
    let mut timeline = Timeline::unattended().play(&script).play("10m31s");
    let thaw = Notice::Incident { scope: Scope::Fleet, by: "ada".into(), order: Order::Thaw };
    assert!(timeline.notice(&thaw).is_ok());
    let timeline = timeline.play("12m");
    assert_eq!(timeline.count("=> escalate"), 12, "{}", timeline.so_far());
}

#[test]
fn x02_who_was_reminded_in_vain_is_asked_about_when_the_freeze_is_over_whether_or_not_the_monitor_restarts() {
    // Stuck together at half an hour, and reminded three times.
    let script =
        each(0..20, "0s @spawn") + &each(0..20, "1s @beating 5m") + &each(0..12, "2s @checkpoint c1");
    let asked = |restarts: &str| {
        let mut timeline = Timeline::unattended().play(&script).play(&format!("70m \n {restarts} 75m20s"));
        assert_eq!(timeline.count("=> escalate"), 0, "{}", timeline.so_far());
        let dismiss = Notice::Incident { scope: Scope::Fleet, by: "ada".into(), order: Order::Dismiss };
        assert!(timeline.notice(&dismiss).is_ok(), "{}", timeline.so_far());
        let timeline = timeline.play("77m");
        let escalated =
            timeline.events.iter().filter(|event| matches!(event.fact, Fact::EscalationTriggered { .. }));
        escalated.map(|event| event.at).collect::<Vec<_>>()
    };
    let calm = asked("");
    let dismissed = Timestamp::ZERO + Span::secs(75 * 60 + 20);
    let soon = |at: &Timestamp| dismissed + Span::secs(1) < *at && *at <= dismissed + Span::minutes(1);
    assert!(calm.len() == 12 && calm.iter().all(soon), "each at the moment it was put off to: {calm:?}");
    assert_eq!(asked("75m5s restart \n"), calm);
}
