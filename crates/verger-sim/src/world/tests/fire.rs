//! Worlds under fire: effects of every kind at random, and a monitor that comes and goes.

use std::collections::BTreeMap;

use verger_core::effect::{Action, Effect, EffectKey, Escalation};
use verger_core::id::{AgentId, Incarnation};
use verger_core::signal::Body;
use verger_core::time::Span;

use super::truths::assert_consistent;
use super::{run, world};
use crate::rng::Rng;
use crate::world::time::{HOUR, MINUTE};
use crate::world::{SimTime, World};

fn action(rng: &mut Rng) -> Action {
    match rng.weighted(&[10, 3, 3, 3, 3, 2, 2]) {
        0 => Action::Ping,
        1 => Action::Inquire { task: None, within: Span::minutes(5), text: "how are you?".into() },
        2 => Action::Nudge { attempt: 1, text: "look again".into() },
        3 => Action::Escalate(Escalation {
            reason: "silent".into(),
            evidence: [].into(),
            task: None,
            checkpoint: None,
            nudges: 1,
            timeout: Span::minutes(15),
        }),
        4 => Action::Interrupt { repeats: 5 },
        5 => Action::RequestHandoff { within: Span::minutes(2) },
        _ => Action::Stop { within: Span::secs(10) },
    }
}

/// Carries out something about somebody, now and then for a life that is over.
fn fire(world: &mut World, rng: &mut Rng, now: SimTime, seq: u32) {
    let agent = rng.choice(world.truth().agents()).id.clone();
    let Some(Incarnation(life)) = world.truth().present_incarnation(&agent, now) else { return };
    let life = if rng.chance(0.1) { life.saturating_sub(1).max(1) } else { life };
    let key = EffectKey { agent, incarnation: Incarnation(life), seq };
    world.carry_out(now, &Effect { key, action: action(rng) });
}

#[test]
fn truth_and_lives_hold_whatever_the_monitor_does() {
    for seed in 0..6 {
        let mut world = world(seed, 30, 1.0, true);
        let mut rng = Rng::stream(seed, 99);
        let mut spawns: BTreeMap<AgentId, u32> = BTreeMap::new();
        let mut up = true;
        for minute in 1..(30 * 60) {
            let now = SimTime(minute * MINUTE);
            run(&mut world, now, |_, signal| {
                let birth = matches!(signal.content.body, Body::Spawn(_));
                *spawns.entry(signal.agent.clone()).or_default() += u32::from(birth);
            });
            if rng.chance(0.01) {
                up = !up;
                world.monitor_up(now, up);
            }
            if up {
                fire(&mut world, &mut rng, now, minute as u32);
            }
            if minute == 24 * 60 {
                world.heal(now);
                world.monitor_up(now, true);
                up = true;
            }
        }
        let end = SimTime(30 * HOUR - MINUTE);
        assert_consistent(world.truth());
        for agent in world.truth().agents() {
            let lives = world.truth().present_incarnation(&agent.id, end).map_or(0, |life| life.0);
            // A last life may have begun while the monitor was away.
            let seen = spawns.get(&agent.id).copied().unwrap_or(0);
            assert!(seen == lives || !up && seen < lives, "{}: {seen} of {lives}, seed {seed}", agent.id);
        }
    }
}
