//! What becomes of effects, with a hand that carries out one at a time.

use verger_core::command::{Command, Decision, Order};
use verger_core::effect::{Action, Effect, EffectKey, Escalation, Outcome};
use verger_core::id::{AgentId, Incarnation};
use verger_core::signal::Body;
use verger_core::time::Span;

use super::{run, world};
use crate::world::time::{DAY, HOUR, MINUTE, SECOND};
use crate::world::{Condition, Connection, Delivery, FaultKind, Injection, SimTime, World};

fn effect(agent: &AgentId, incarnation: Incarnation, seq: u32, action: Action) -> Effect {
    Effect { key: EffectKey { agent: agent.clone(), incarnation, seq }, action }
}

/// Runs until a fault of this kind has begun that suits, and says which.
fn await_fault(world: &mut World, suits: impl Fn(&World, &Injection) -> bool) -> Injection {
    for hour in 1..(20 * 24) {
        run(world, SimTime(hour * HOUR), |_, _| {});
        let now = SimTime(hour * HOUR);
        let truth = world.truth();
        let found =
            truth.injected().iter().find(|injection| injection.is_active_at(now) && suits(world, injection));
        if let Some(injection) = found {
            return injection.clone();
        }
    }
    panic!("no such fault in twenty days");
}

fn connection(world: &World, agent: &AgentId) -> Connection {
    world.truth().agent(agent).unwrap().connection
}

/// What comes back about this agent within some time.
fn after(world: &mut World, now: SimTime, millis: u64, agent: &AgentId) -> Vec<Body> {
    let mut bodies = Vec::new();
    run(world, now + millis, |_, signal| {
        if signal.agent == *agent {
            bodies.push(signal.content.body.clone());
        }
    });
    bodies
}

fn hour_of(world: &World) -> SimTime {
    SimTime(world.next().unwrap().0 / HOUR * HOUR)
}

#[test]
fn a_frozen_agent_takes_pings_and_answers_none() {
    let mut world = world(21, 60, 20.0, true);
    let frozen = await_fault(&mut world, |world, injection| {
        injection.kind == FaultKind::Freeze && connection(world, &injection.agent) == Connection::Wrapped
    });
    let now = hour_of(&world);
    world.carry_out(now, &effect(&frozen.agent, frozen.incarnation, 7, Action::Ping));
    let back = after(&mut world, now, SECOND, &frozen.agent);
    assert!(matches!(back[..], [Body::Outcome { outcome: Outcome::Delivered, .. }]), "{back:?}");
}

#[test]
fn a_ping_to_a_healthy_agent_is_answered_at_once() {
    let mut world = world(22, 20, 1.0, false);
    let agent = AgentId::from("agent-0000");
    run(&mut world, SimTime(HOUR), |_, _| {});
    world.carry_out(SimTime(HOUR), &effect(&agent, Incarnation(1), 3, Action::Ping));
    let back = after(&mut world, SimTime(HOUR), 400, &agent);
    assert!(back.iter().any(|body| matches!(body, Body::Pong { seq: 3, status: Some(_) })), "{back:?}");
}

#[test]
fn a_stop_ends_one_life_and_never_the_next() {
    let mut world = world(23, 20, 1.0, false);
    let agent = AgentId::from("agent-0000");
    run(&mut world, SimTime(HOUR), |_, _| {});
    let stop = effect(&agent, Incarnation(1), 1, Action::Stop { within: Span::secs(10) });
    world.carry_out(SimTime(HOUR), &stop);
    let back = after(&mut world, SimTime(HOUR), MINUTE, &agent);
    assert!(back.iter().any(|body| matches!(body, Body::Exit(_))), "{back:?}");
    assert!(
        back.iter().any(|body| matches!(body, Body::Outcome { outcome: Outcome::Stopped, .. })),
        "{back:?}"
    );
    assert_eq!(world.truth().condition_at(&agent, SimTime(HOUR + MINUTE)), Condition::Gone);
    run(&mut world, SimTime(3 * HOUR), |_, _| {});
    assert_eq!(world.truth().present_incarnation(&agent, SimTime(3 * HOUR)), Some(Incarnation(2)));
    world.carry_out(SimTime(3 * HOUR), &stop);
    run(&mut world, SimTime(3 * HOUR + MINUTE), |_, _| {});
    assert!(world.truth().condition_at(&agent, SimTime(3 * HOUR + MINUTE)).is_healthy());
}

#[test]
fn about_a_third_of_looping_agents_listens_to_a_nudge() {
    let mut world = world(24, 60, 8.0, true);
    let mut nudged = std::collections::BTreeSet::new();
    for hour in 1..(8 * 24) {
        let now = SimTime(hour * HOUR);
        run(&mut world, now, |_, _| {});
        let loops = world.truth().injected().iter().filter(|it| it.kind.is_loop() && it.is_active_at(now));
        for it in loops.cloned().collect::<Vec<_>>() {
            if nudged.insert(it.id) {
                let nudge = Action::Nudge { attempt: 1, text: "look again".into() };
                world.carry_out(now, &effect(&it.agent, it.incarnation, 1, nudge));
            }
        }
    }
    let injected = world.truth().injected();
    let listened =
        nudged.iter().filter(|id| injected[**id as usize].ended_by == Some(crate::world::EndedBy::Nudge));
    let share = listened.count() as f64 / nudged.len() as f64;
    assert!((0.2..0.47).contains(&share), "{share} of {}", nudged.len());
}

#[test]
fn an_escalation_about_a_crash_is_decided_within_forty_minutes_by_day() {
    let mut world = world(25, 20, 0.0, true);
    let agent = AgentId::from("agent-0001");
    let now = SimTime(12 * HOUR);
    run(&mut world, now, |_, _| {});
    let life = world.truth().present_incarnation(&agent, now).unwrap();
    let escalation = Escalation {
        reason: "silent".into(),
        evidence: [].into(),
        task: None,
        checkpoint: None,
        nudges: 0,
        timeout: Span::minutes(15),
    };
    world.carry_out(now, &effect(&agent, life, 1, Action::Escalate(escalation)));
    let mut out = Vec::new();
    world.advance(now + 41 * MINUTE, &mut out);
    let decided = out.iter().find_map(|delivery| match delivery {
        Delivery::Command(Command { order: Order::Decide { decision, .. }, .. }) => Some(*decision),
        _ => None,
    });
    assert!(matches!(decided, Some(Decision::AllowMoreTime(_))), "nothing is wrong with it: {decided:?}");
}

#[test]
fn a_healed_world_has_every_agent_back_and_nothing_wrong() {
    let mut world = world(26, 100, 3.0, true);
    run(&mut world, SimTime(3 * DAY), |_, _| {});
    world.heal(SimTime(3 * DAY));
    let later = SimTime(3 * DAY + 30 * MINUTE);
    run(&mut world, later, |_, _| {});
    let truth = world.truth();
    assert!(truth.injected().iter().all(|injection| injection.ended.is_some()));
    for agent in truth.agents() {
        assert_eq!(truth.condition_at(&agent.id, later).fault(), None, "{agent:?}");
    }
}
