//! Clients of services, with a hand that answers in the monitor's place.

use verger_core::breaker::{BreakerName, Denied, Refusal, Refused, Reported};
use verger_core::notice::{BreakerNotice, Notice, NoticeError, Reply};
use verger_core::time::Span;

use super::world;
use crate::world::time::{DAY, HOUR, MINUTE};
use crate::world::{Ask, Delivery, SimTime, TroubleKind, World};

const KINDS: [TroubleKind; 6] = [
    TroubleKind::Fails,
    TroubleKind::Unavailable,
    TroubleKind::Hangs,
    TroubleKind::Slow,
    TroubleKind::Flaps,
    TroubleKind::FailsPartly,
];

/// Lets a world run, and answers who asks whether it may call.
fn answer_all(
    world: &mut World,
    until: SimTime,
    mut may: impl FnMut() -> Option<Result<Reply, NoticeError>>,
) {
    let mut out = Vec::new();
    while let Some(now) = world.next().filter(|next| *next <= until) {
        world.advance(now, &mut out);
        for delivery in std::mem::take(&mut out) {
            let Delivery::Request { number, notice: Notice::Breaker { what, .. } } = delivery else {
                continue;
            };
            let answer = match what {
                BreakerNotice::Acquire => may(),
                _ => Some(Ok(Reply::Reported(Reported::Counted))),
            };
            if let Some(answer) = answer {
                world.answered(now, number, &answer);
            }
        }
    }
}

fn permit() -> Reply {
    Reply::Permit("7-0".parse().unwrap())
}

fn denial() -> Result<Reply, NoticeError> {
    let refusal = Refusal { retry_after: Span::minutes(1), because: Refused::Open };
    Err(NoticeError::Denied(Denied { by: BreakerName::shared("x").unwrap(), refusal }))
}

fn asks(world: &World) -> Vec<Ask> {
    world.truth().services().iter().flat_map(|service| service.asks.iter().copied()).collect()
}

#[test]
fn who_may_call_does_and_says_how_it_went() {
    let mut world = world(31, 20, 1.0, false);
    answer_all(&mut world, SimTime(DAY), || Some(Ok(permit())));
    let asks = asks(&world);
    assert!(asks.len() > 1_000, "{}", asks.len());
    let done = asks.iter().filter(|ask| ask.permitted && ask.called.is_some() && ask.heard.is_some());
    assert!(done.count() * 100 > asks.len() * 95);
}

#[test]
fn who_may_not_call_does_not_and_asks_again_no_sooner_than_it_was_told() {
    let mut world = world(32, 20, 1.0, false);
    answer_all(&mut world, SimTime(6 * HOUR), || Some(denial()));
    for service in world.truth().services() {
        assert!(service.asks.iter().all(|ask| ask.called.is_none()));
        for agent in 0..20 {
            let own: Vec<SimTime> =
                service.asks.iter().filter(|ask| ask.agent == agent).map(|ask| ask.at).collect();
            let soon = own.windows(2).filter(|pair| pair[1].since(pair[0]) < MINUTE).count();
            // Now and then the next task needs the same service.
            assert!(soon * 3 <= own.len(), "{soon} of {}", own.len());
        }
    }
}

#[test]
fn without_an_answer_or_a_monitor_calls_are_made_all_the_same() {
    for up in [true, false] {
        let mut world = world(33, 20, 1.0, false);
        world.monitor_up(SimTime::ZERO, up);
        answer_all(&mut world, SimTime(6 * HOUR), || None);
        let asks = asks(&world);
        let made = asks.iter().filter(|ask| ask.called.is_some() && !ask.permitted && ask.heard.is_none());
        // The last of them wait.
        assert!(asks.len() > 200 && made.count() + 20 >= asks.len());
    }
}

#[test]
fn a_week_holds_trouble_of_every_kind_and_a_healed_world_none() {
    let mut world = world(34, 100, 7.0, true);
    answer_all(&mut world, SimTime(7 * DAY), || Some(Ok(permit())));
    world.heal(SimTime(7 * DAY));
    answer_all(&mut world, SimTime(8 * DAY), || Some(Ok(permit())));
    let services = world.truth().services();
    let troubles: Vec<_> = services.iter().flat_map(|service| &service.troubles).collect();
    for kind in KINDS {
        assert!(troubles.iter().any(|trouble| trouble.kind == kind), "{kind:?}");
    }
    assert!(troubles.iter().all(|trouble| trouble.ended.is_some_and(|ended| ended <= SimTime(7 * DAY))));
    assert!(services.iter().filter(|service| service.breaker.is_shared()).all(|it| !it.troubles.is_empty()));
}
