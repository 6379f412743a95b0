//! The real loop on the real store: what goes in, comes out, survives and is refused.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use verger_core::AgentView;
use verger_core::breaker::{self, BreakerName, CallResult};
use verger_core::command::{Command, Order};
use verger_core::effect::{Action, Outcome};
use verger_core::event::Event;
use verger_core::health::HealthState;
use verger_core::notice::{BreakerNotice, Notice, Reply};
use verger_core::policy::Policies;
use verger_core::signal::{Body, Content, Heartbeat, Signal, Trust};
use verger_engine::{Answer, Message, Settings};
use verger_store::{EncodeEvent, EventText, Options, Place};

use super::*;

/// Notes down only that something happened.
struct Plain;

impl EncodeEvent for Plain {
    fn encode(&self, event: &Event, _: Place, _: Option<&AgentView>) -> EventText {
        let body = format!("{:?}", event.fact);
        EventText { kind: "FACT", task: None, body }
    }
}

fn started(directory: &Path) -> Started {
    let store = verger_store::open(Options::new(directory, Arc::new(Plain))).expect("it can be opened");
    Monitor::start(store, Policies::default(), Settings::default(), 7).expect("it can be started")
}

fn signal(agent: &str, body: Body) -> Message {
    let content =
        Content { incarnation: None, sent_at: None, received_at: wall_now(), trust: Trust::Verified, body };
    Message::Signal(Signal { agent: agent.into(), content })
}

fn beat(agent: &str) -> Message {
    signal(agent, Body::Heartbeat(Heartbeat::default()))
}

fn order(agent: &str, order: Order) -> Message {
    Message::Command(Command { agent: agent.into(), incarnation: None, by: "ada".into(), order })
}

async fn state(monitor: &Monitor, agent: &'static str) -> Option<HealthState> {
    let look = move |fleet: &Fleet, calendar: &Calendar| {
        fleet.view(calendar.now(), &agent.into()).map(|view| view.state)
    };
    monitor.look(look).await.expect("it runs")
}

#[tokio::test]
async fn a_heartbeat_registers_an_agent_that_can_be_seen() {
    let directory = TempDir::new().expect("a folder");
    let started = started(directory.path());
    let monitor = started.monitor.clone();
    assert_eq!(state(&monitor, "a").await, None);
    let answers = monitor.tell(vec![beat("a"), beat("b")]).await.expect("it runs");
    assert!(matches!(answers[..], [Answer::Accepted(_), Answer::Accepted(_)]), "{answers:?}");
    assert_eq!(state(&monitor, "a").await, Some(HealthState::Healthy));
    let born = monitor.look(|fleet, calendar| {
        let view = fleet.view(calendar.now(), &"a".into()).expect("it is there");
        (calendar.wall(view.born_at), calendar.wall_now())
    });
    let (born, now) = born.await.expect("it runs");
    assert!(born <= now && now.0 - born.0 < 60_000, "{born:?} {now:?}");
    started.stop();
}

#[tokio::test]
async fn l20_a_nudge_waits_for_the_agent_and_is_delivered_when_it_is_handed_over() {
    let directory = TempDir::new().expect("a folder");
    let started = started(directory.path());
    let monitor = started.monitor.clone();
    let asked = [beat("a"), order("a", Order::Nudge { text: Some("look at the tests".into()) })];
    let answers = monitor.tell(asked.into()).await.expect("it runs");
    assert_eq!(answers[1], Answer::Ordered(Ok(())));
    let listener = monitor.pending().listen(&"a".into());
    listener.ready().await;
    let handover = monitor.pending().take(&"a".into(), Incarnation::FIRST);
    assert_eq!(handover.items()[0].text.as_ref(), "look at the tests");
    for key in handover.done() {
        monitor.report(key, Outcome::Delivered);
    }
    // The report is taken before the next thing that is told.
    monitor.tell(vec![order("a", Order::Escalate { reason: "and now".into() })]).await.expect("it runs");
    let events = monitor.archive().events_after(0, 100).expect("it can be read");
    assert!(events.iter().any(|event| event.body.contains("NudgeDelivered")), "{events:?}");
    started.stop();
}

#[tokio::test]
async fn l21_an_escalation_goes_to_whoever_carries_effects_out() {
    let directory = TempDir::new().expect("a folder");
    let mut started = started(directory.path());
    let monitor = started.monitor.clone();
    let asked = vec![beat("a"), order("a", Order::Escalate { reason: "it looks odd".into() })];
    monitor.tell(asked).await.expect("it runs");
    let effect = started.effects.recv().await.expect("an effect");
    assert!(matches!(&effect.action, Action::Escalate(asked) if asked.reason.contains("it looks odd")));
    started.stop();
}

/// Waits until something waits for this agent.
async fn something_waits(monitor: &Monitor, agent: &str) {
    monitor.pending().listen(&agent.into()).ready().await;
}

#[tokio::test]
async fn x09_a_reminder_waits_through_any_number_of_ends_and_is_handed_over_once() {
    let directory = TempDir::new().expect("a folder");
    let first = started(directory.path());
    let asked = vec![beat("a"), order("a", Order::Nudge { text: Some("go on".into()) })];
    first.monitor.tell(asked).await.expect("it runs");
    first.stop();
    for _ in 0..3 {
        let next = started(directory.path());
        something_waits(&next.monitor, "a").await;
        next.stop();
    }
    let last = started(directory.path());
    something_waits(&last.monitor, "a").await;
    let handover = last.monitor.hand_over(&"a".into(), Incarnation::FIRST).await;
    assert_eq!(handover.items()[0].text.as_ref(), "go on");
    for key in handover.done() {
        last.monitor.report(key, Outcome::Delivered);
    }
    last.stop();
    let after = started(directory.path());
    state(&after.monitor, "a").await;
    assert!(!after.monitor.pending().has(&"a".into()), "it was handed over");
    after.stop();
}

/// The folder as a crash at this moment would leave it.
fn crashed(directory: &Path) -> TempDir {
    let copy = TempDir::new().expect("a folder");
    for entry in fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("it can be read")) {
        if entry.file_type().expect("it has one").is_file() {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("it can be copied");
        }
    }
    copy
}

#[tokio::test]
async fn l41_what_was_acknowledged_is_there_after_an_end_without_warning() {
    let directory = TempDir::new().expect("a folder");
    let first = started(directory.path());
    let asked = vec![beat("a"), order("a", Order::SetRole("critical".into()))];
    let answers = first.monitor.tell(asked).await.expect("it runs");
    assert_eq!(answers[1], Answer::Ordered(Ok(())));
    let left = crashed(directory.path());
    first.stop();
    let second = started(left.path());
    let role = second.monitor.look(|fleet, calendar| {
        fleet.view(calendar.now(), &"a".into()).map(|view| view.role.as_str().to_owned())
    });
    assert_eq!(role.await, Ok(Some("critical".to_owned())));
    second.stop();
}

#[tokio::test]
async fn l24_a_breaker_that_was_tripped_is_tripped_after_an_end_without_warning() {
    let directory = TempDir::new().expect("a folder");
    let first = started(directory.path());
    first.monitor.tell(vec![beat("a")]).await.expect("it runs");
    let name: BreakerName = "a/tool/bash".parse().expect("a name");
    let told = async |what| {
        let told = vec![Message::Notice(Notice::Breaker { name: name.clone(), what })];
        first.monitor.tell(told).await.expect("it runs").remove(0)
    };
    let is_open = async |monitor: &Monitor| {
        let asked = name.clone();
        let look = monitor.look(move |fleet, calendar| fleet.breakers().view(calendar.now(), &asked));
        look.await.expect("it runs").is_some_and(|view| view.state == breaker::State::Open)
    };
    let left = loop {
        let Answer::Noticed(Ok(Reply::Permit(permit))) = told(BreakerNotice::Acquire).await else {
            panic!("it is closed")
        };
        let outcome = breaker::Outcome { result: CallResult::Failed, took: None };
        told(BreakerNotice::Report { permit, outcome }).await;
        let left = crashed(directory.path());
        if is_open(&first.monitor).await {
            break left;
        }
    };
    let second = started(left.path());
    assert!(is_open(&second.monitor).await, "it was acknowledged");
    first.stop();
    second.stop();
}

#[tokio::test]
async fn l42_vital_signs_are_written_down_before_an_end() {
    let directory = TempDir::new().expect("a folder");
    let first = started(directory.path());
    first.monitor.tell(vec![beat("a"), beat("a"), beat("a")]).await.expect("it runs");
    first.stop();
    let second = started(directory.path());
    let beats = second
        .monitor
        .look(|fleet, calendar| fleet.view(calendar.now(), &"a".into()).map(|view| view.metrics.heartbeats));
    assert_eq!(beats.await, Ok(Some(3)));
    second.stop();
}

#[tokio::test]
async fn l41_while_the_disk_cannot_be_written_nobody_waits_for_ever_and_nothing_is_lost() {
    let directory = TempDir::new().expect("a folder");
    let started = started(directory.path());
    let monitor = started.monitor.clone();
    monitor.tell(vec![beat("a")]).await.expect("it runs");
    let (here, away) = (directory.path().join("verger.db"), directory.path().join("away"));
    fs::rename(&here, &away).expect("it is ours");
    let hasty = monitor.clone().with_patience(Duration::from_millis(5));
    let escalate = || vec![order("a", Order::Escalate { reason: "look".into() })];
    assert_eq!(hasty.tell(escalate()).await, Err(Unavailable::Late), "it was taken, and not done");
    while hasty.is_writable().is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(hasty.tell(escalate()).await, Err(Unavailable::Unwritable), "it is not even taken");
    let trouble = monitor.pulse().trouble().borrow().clone().expect("it is known why");
    assert!(trouble.why.contains("was removed or replaced"), "{}", trouble.why);
    assert!(trouble.remedy.is_some_and(|remedy| remedy.contains("put it back")));
    assert!(trouble.effects > 0, "the escalation waits");
    let taken = monitor.tell(vec![beat("a"), beat("b")]).await.expect("vital signs are taken");
    assert!(matches!(taken[..], [Answer::Accepted(_), Answer::Accepted(_)]), "{taken:?}");
    assert_eq!(state(&monitor, "b").await, Some(HealthState::Healthy), "and judged from memory");
    fs::rename(&away, &here).expect("it is ours");
    // An order is answered when it is on disk, and with it what was taken before.
    let role = order("a", Order::SetRole("critical".into()));
    monitor.tell(vec![role]).await.expect("it can be written again");
    let events = monitor.archive().events_after(0, 100).expect("it can be read");
    let escalated = events.iter().filter(|event| event.body.contains("EscalationTriggered")).count();
    assert_eq!(escalated, 1, "what was taken is done after all, once: {events:?}");
    // The turn that answered is over when somebody has looked.
    monitor.look(|_, _| ()).await.expect("it can be looked at");
    assert!(monitor.pulse().trouble().borrow().is_none());
    started.stop();
}

#[tokio::test]
async fn x15_whether_vital_signs_wait_for_the_disk_changes_with_the_configuration() {
    let directory = TempDir::new().expect("a folder");
    let store =
        verger_store::open(Options::new(directory.path(), Arc::new(Plain))).expect("it can be opened");
    let strict = Settings { strict: true, ..Settings::default() };
    let started = Monitor::start(store, Policies::default(), strict, 7).expect("it can be started");
    let monitor = started.monitor.clone().with_patience(Duration::from_millis(5));
    started.monitor.tell(vec![beat("a")]).await.expect("it runs");
    let (here, away) = (directory.path().join("verger.db"), directory.path().join("away"));
    fs::rename(&here, &away).expect("it is ours");
    assert_eq!(monitor.tell(vec![beat("a")]).await, Err(Unavailable::Late), "it waits for the disk");
    while monitor.is_writable().is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(monitor.tell(vec![beat("a")]).await, Err(Unavailable::Unwritable));
    monitor.reconfigure(Policies::default(), Settings::default());
    started.monitor.tell(vec![beat("a")]).await.expect("it does not wait any more");
    fs::rename(&away, &here).expect("it is ours");
    started.stop();
}

#[tokio::test]
async fn after_its_end_nobody_waits_for_an_answer() {
    let directory = TempDir::new().expect("a folder");
    let started = started(directory.path());
    let monitor = started.monitor.clone();
    started.stop();
    assert_eq!(monitor.tell(vec![beat("a")]).await, Err(Unavailable::Stopping));
    assert_eq!(monitor.look(|_, _| ()).await, Err(Unavailable::Stopping));
}
