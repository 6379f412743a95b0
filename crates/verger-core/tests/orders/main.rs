//! Properties that hold in any order of signals, commands and wakes, however hostile.
//!
//! A world is a list of steps at growing times. Times are whole tenths of a second, the width of the fleet's
//! buckets, so that looking at an agent early cannot find a deadline a moment before its bucket would.

mod desk;
mod watch;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use verger_core::effect::{Action, Effect};
use verger_core::event::{Event, Fact};
use verger_core::fingerprint::{CallClass, CallPrint, ResultPrint};
use verger_core::health::HealthState;
use verger_core::intervention::{FleetLimits, Limit};
use verger_core::notice::Notice;
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::signal::{
    Body, Channel, Content, Context, Heartbeat, Output, Signal, Status, StatusReport, Trust,
};
use verger_core::time::WallTime;
use verger_core::{AgentId, Collector, Fleet, Incarnation, RowKey, Span, Timestamp};

use world::{Step, World, policies, world};

/// Everything that a fleet said, in order.
#[derive(Default)]
struct Told {
    events: Vec<Event>,
    effects: Vec<(Timestamp, Effect)>,
    refusals: Vec<String>,
}

struct Runner {
    fleet: Fleet,
    now: Timestamp,
    told: Told,
}

impl Told {
    /// One of the last effects. Of those of one moment it does not matter which agent's came first: that order goes by
    /// the table, which a restart may change.
    fn recent(&self, back: usize) -> Option<Effect> {
        let tail = &self.effects[self.effects.len().saturating_sub(64)..];
        let mut tail: Vec<_> = tail.iter().collect();
        tail.sort_by_key(|(at, effect)| (*at, &effect.key.agent, effect.key.seq));
        tail.iter().rev().nth(back).map(|(_, effect)| effect.clone())
    }
}

impl Runner {
    fn new(policies: &Policies) -> Self {
        Self { fleet: Fleet::new(policies.clone(), 1), now: Timestamp::ZERO, told: Told::default() }
    }

    fn collect(&mut self, out: Collector) {
        self.told.events.extend(out.events);
        let now = self.now;
        self.told.effects.extend(out.effects.into_iter().map(|effect| (now, effect)));
    }

    fn wake(&mut self) {
        let mut out = Collector::default();
        self.fleet.wake(self.now, &mut out);
        self.collect(out);
        let next = self.fleet.next_wake();
        assert!(next.is_none_or(|next| next > self.now), "woken at {} and asks for {next:?}", self.now);
    }

    fn pass(&mut self, tenths: u64) {
        let until = self.now + Span::millis(tenths * 100);
        let mut wakes = 0_u32;
        while let Some(next) = self.fleet.next_wake().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            self.wake();
            wakes += 1;
            assert!(wakes < 400_000, "it never stops waking");
        }
        self.now = until;
    }

    fn take(&mut self, step: &Step) {
        let mut out = Collector::default();
        let refused = match step {
            Step::Signal(signal) => {
                self.fleet.observe(self.now, signal, &mut out).err().map(|refusal| refusal.to_string())
            }
            Step::Command(command) => {
                self.fleet.command(self.now, command, &mut out).err().map(|error| error.to_string())
            }
            Step::Notice(notice) => {
                self.fleet.notice(self.now, notice, &mut out).err().map(|error| error.to_string())
            }
            Step::Outcome(back, outcome) => {
                let Some(effect) = self.told.recent(*back) else { return };
                let signal = Signal {
                    agent: effect.key.agent.clone(),
                    content: Content {
                        incarnation: None,
                        sent_at: None,
                        received_at: WallTime(0),
                        trust: Trust::Verified,
                        body: Body::Outcome { key: effect.key, outcome: *outcome },
                    },
                };
                self.fleet.observe(self.now, &signal, &mut out).err().map(|refusal| refusal.to_string())
            }
            Step::Wait => None,
        };
        self.collect(out);
        self.told.refusals.extend(refused);
    }

    fn restart(&mut self, policies: &Policies) {
        let mut rows: BTreeMap<RowKey, Vec<u8>> = BTreeMap::new();
        self.fleet.take_all_rows(&mut |row| {
            if let Some(bytes) = row.bytes {
                rows.insert(row.key, bytes);
            }
        });
        self.fleet = Fleet::restore(policies.clone(), 1, rows, self.now).expect("its own rows are readable");
    }

    /// The log as lines, sorted within a moment: agents do not depend on each other's order.
    fn lines(&self) -> Vec<String> {
        let events = self.told.events.iter().map(|event| format!("{:>20} {event:?}", event.at.as_millis()));
        let effects =
            self.told.effects.iter().map(|(at, effect)| format!("{:>20} {effect:?}", at.as_millis()));
        let mut lines: Vec<String> = events.chain(effects).collect();
        lines.sort();
        lines
    }
}

fn play(policies: &Policies, world: &World) -> Runner {
    let mut runner = Runner::new(policies);
    for (pause, step) in world {
        runner.pass(*pause);
        runner.take(step);
    }
    runner.pass(100_000);
    runner
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 120,
        max_shrink_iters: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn l02_every_change_is_valid_and_rests_on_evidence(policies in policies(), world in world()) {
        let runner = play(&policies, &world);
        let mut states: BTreeMap<(AgentId, Incarnation), HealthState> = BTreeMap::new();
        for event in &runner.told.events {
            match (&event.agent, &event.fact) {
                (Some(whom), Fact::Registered { .. } | Fact::Unregistered { .. }) => { states.remove(whom); }
                (Some(whom), Fact::StateChanged { from, to, evidence }) => {
                    let before = states.insert(whom.clone(), *to).unwrap_or(HealthState::Unknown);
                    prop_assert_eq!(before, *from, "{:?}", event);
                    prop_assert!(from.may_become(*to), "{:?}", event);
                    if *from != *to && *to > HealthState::Healthy && *to != HealthState::Terminated {
                        prop_assert!(!evidence.is_empty(), "{:?}", event);
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn l02_terminated_is_final_for_a_life(policies in policies(), world in world()) {
        let runner = play(&policies, &world);
        let mut ended: BTreeSet<(AgentId, Incarnation)> = BTreeSet::new();
        for event in &runner.told.events {
            let Some(whom) = &event.agent else { continue };
            match &event.fact {
                Fact::Registered { .. } | Fact::Unregistered { .. } => { ended.remove(whom); }
                Fact::Terminated { .. } => { prop_assert!(ended.insert(whom.clone()), "ended twice: {:?}", event); }
                // What may follow an end: that it was unexpected, that this is over, that the work goes on, what the trouble
                // had cost; and what its breakers and checkpoints do and others expect, which outlive it.
                Fact::IncidentOpened { .. }
                | Fact::IncidentResolved { .. }
                | Fact::Superseded { .. }
                | Fact::Recovery(_)
                | Fact::Task(_)
                | Fact::TaskOrdered { .. }
                | Fact::Message(_)
                | Fact::Wasted(_)
                | Fact::Breaker(_)
                | Fact::Checkpoint(_)
                // Nor does it end what people say of it, and which probes its next life is to have.
                | Fact::TicketRaised(_)
                | Fact::TicketChanged(_)
                | Fact::Probed(_) => {}
                _ => prop_assert!(!ended.contains(whom), "after the end: {:?}", event),
            }
        }
    }

    #[test]
    fn l23_keys_are_unique_and_of_the_present_life(policies in policies(), world in world()) {
        let mut runner = Runner::new(&policies);
        let mut keys = BTreeSet::new();
        let mut checked = 0;
        for (pause, step) in &world {
            runner.pass(*pause);
            runner.take(step);
            for (_, effect) in &runner.told.effects[checked..] {
                prop_assert!(keys.insert(effect.key.clone()), "used twice: {}", effect.key);
                if let Some(view) = runner.fleet.view(runner.now, &effect.key.agent) {
                    prop_assert!(effect.key.incarnation <= view.incarnation);
                }
            }
            checked = runner.told.effects.len();
        }
    }

    #[test]
    fn x01_waking_early_changes_nothing(policies in policies(), world in world()) {
        let plain = play(&policies, &world);
        let mut eager = Runner::new(&policies);
        for (pause, step) in &world {
            // In three parts, with wakes that nobody asked for between them.
            let third = pause / 3;
            for part in [third, third] {
                eager.pass(part);
                if part > 0 {
                    eager.wake();
                    eager.wake();
                }
            }
            eager.pass(pause - 2 * third);
            eager.take(step);
        }
        eager.pass(100_000);
        let (plain, eager) = (plain.lines(), eager.lines());
        for (asked, early) in plain.iter().zip(&eager) {
            prop_assert_eq!(asked, early);
        }
        prop_assert_eq!(plain.len(), eager.len());
    }

    #[test]
    fn l42_a_restart_at_any_point_gives_the_same_future(policies in policies(), world in world(), at in any::<prop::sample::Index>()) {
        // The fleet's limits go by the order of the table, which a restart may change: here they are out of reach.
        let mut policies = policies;
        let wide = Limit { count: u16::MAX, window: Span::minutes(10) };
        policies.limits = FleetLimits { nudges: wide, escalations: wide, terminations: wide };
        let plain = play(&policies, &world);
        let at = at.index(world.len());
        let mut restarted = Runner::new(&policies);
        for (place, (pause, step)) in world.iter().enumerate() {
            restarted.pass(*pause);
            if place == at {
                restarted.restart(&policies);
            }
            restarted.take(step);
        }
        restarted.pass(100_000);
        let (plain, restarted) = (plain.lines(), restarted.lines());
        if let Some(place) = plain.iter().zip(&restarted).position(|(before, after)| before != after) {
            let around = |lines: &[String]| lines[place.saturating_sub(12)..lines.len().min(place + 3)].join("\n");
            prop_assert!(false, "a restart at step {at}:\n{}\n\n{}", around(&plain), around(&restarted));
        }
        prop_assert_eq!(plain.len(), restarted.len());
    }

    #[test]
    fn l23_no_window_holds_more_than_its_limit(world in world(), restarts in any::<bool>()) {
        let mut policies = Policies::default();
        policies.each(|role| {
            role.mode = Mode::Full;
            role.restart = RestartPolicy::Recover;
            role.intervention.nudge_interval = Span::secs(20);
            role.intervention.nudge_limit.count = 2;
            role.intervention.escalation_limit.count = 2;
            role.intervention.stable_after = Span::secs(5);
        });
        let ten = |count| Limit { count, window: Span::minutes(10) };
        policies.limits = FleetLimits { nudges: ten(3), escalations: ten(3), terminations: ten(1) };
        let mut runner = Runner::new(&policies);
        for (pause, step) in &world {
            runner.pass(*pause);
            if restarts {
                runner.restart(&policies);
            }
            runner.take(step);
        }
        let mut spent: [Vec<(AgentId, Timestamp)>; 3] = Default::default();
        for event in &runner.told.events {
            let Some((id, _)) = &event.agent else { continue };
            let kind = match &event.fact {
                Fact::NudgeSent { by: None, .. } => 0,
                Fact::EscalationTriggered { by: None, .. } => 1,
                Fact::TerminationOrdered { by: None, .. } => 2,
                Fact::Unregistered { .. } => {
                    // A forgotten agent's own books go with it.
                    for list in &mut spent[..2] { list.retain(|(whose, _)| whose != id); }
                    continue;
                }
                _ => continue,
            };
            spent[kind].push((id.clone(), event.at));
        }
        let within = |times: &[Timestamp], limit: usize, window: Span| {
            times.windows(limit + 1).all(|pair| pair[limit].since(pair[0]) >= window)
        };
        for (list, fleet) in spent.iter().zip([3, 3, 1]) {
            let all: Vec<Timestamp> = list.iter().map(|(_, at)| *at).collect();
            prop_assert!(within(&all, fleet, Span::minutes(10)), "the fleet's: {:?}", list);
        }
        for list in &spent[..2] {
            for id in ["a", "b", "c"] {
                let own: Vec<Timestamp> =
                    list.iter().filter(|(whose, _)| whose.as_str() == id).map(|(_, at)| *at).collect();
                prop_assert!(within(&own, 2, Span::hours(1)), "{id}'s own: {:?}", own);
            }
        }
    }

    #[test]
    fn x12_no_mode_does_more_than_it_says(mode in prop_oneof![Just(Mode::Observe), Just(Mode::Nudge), Just(Mode::Escalate)], world in world()) {
        let mut policies = Policies::default();
        policies.each(|role| { role.mode = mode; role.restart = RestartPolicy::Recover; });
        // Without people: what happens is the monitor's own doing.
        let world: World = world.into_iter().filter(|(_, step)| !matches!(step, Step::Command(_) | Step::Notice(Notice::Answer { .. }))).collect();
        let runner = play(&policies, &world);
        for (_, effect) in &runner.told.effects {
            let needs = match &effect.action {
                Action::Ping
                | Action::Inquire { .. }
                | Action::Deliver { .. }
                | Action::TellSender { .. }
                | Action::WriteCheckpoint { .. }
                | Action::Probe(_)
                | Action::AskAdvice(_) => Mode::Observe,
                Action::Nudge { .. } | Action::RemindOfMessage { .. } => Mode::Nudge,
                // A dead process is nobody's decision any more; bringing it back is the role's.
                Action::Escalate(_)
                | Action::Interrupt { .. }
                | Action::Survey { .. }
                | Action::Spawn(_)
                | Action::Withdraw { .. } => Mode::Escalate,
                Action::RequestHandoff { .. } | Action::Stop { .. } => Mode::Full,
            };
            prop_assert!(needs <= mode, "{:?} in mode {:?}", effect, mode);
        }
    }

    #[test]
    fn r10_no_termination_without_two_families_or_reminders_in_vain(world in world()) {
        let mut policies = Policies::default();
        policies.each(|role| { role.mode = Mode::Full; role.restart = RestartPolicy::Recover; });
        let runner = play(&policies, &world);
        let mut delivered: BTreeSet<(AgentId, Incarnation)> = BTreeSet::new();
        for event in &runner.told.events {
            let Some(whom) = &event.agent else { continue };
            match &event.fact {
                Fact::NudgeDelivered { .. } => { delivered.insert(whom.clone()); }
                Fact::TerminationOrdered { by: None, evidence, .. } => {
                    let proven = evidence.iter().filter(|found| found.trust == Trust::Verified);
                    let families: BTreeSet<_> = proven.map(|found| found.sign.family()).collect();
                    let enough = families.len() >= 2 || (families.len() == 1 && delivered.contains(whom));
                    prop_assert!(enough, "{:?}", event);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn l01_nothing_is_done_to_an_agent_that_only_shows_life(beats in prop::collection::vec(0..2_999_u64, 1..60)) {
        let world: World = beats.into_iter().map(|pause| {
            let content = Content { incarnation: None, sent_at: None, received_at: WallTime(0), trust: Trust::Verified, body: Body::Heartbeat(Heartbeat::default()) };
            (pause, Step::Signal(Signal { agent: "a".into(), content }))
        }).collect();
        let mut policies = Policies::default();
        policies.each(|role| role.mode = Mode::Full);
        let mut runner = Runner::new(&policies);
        for (pause, step) in &world {
            runner.pass(*pause);
            runner.take(step);
        }
        prop_assert!(runner.told.effects.is_empty(), "{:?}", runner.told.effects);
        prop_assert_eq!(runner.told.events.len(), 2, "registered, healthy");
    }

    #[test]
    fn the_same_input_gives_the_same_output(policies in policies(), world in world()) {
        let (one, two) = (play(&policies, &world), play(&policies, &world));
        prop_assert_eq!(&one.told.events, &two.told.events);
        prop_assert_eq!(&one.told.effects, &two.told.effects);
        prop_assert_eq!(&one.told.refusals, &two.told.refusals);
    }

    #[test]
    fn nothing_latches_while_it_lives(policies in policies(), world in world()) {
        // A day of diverse, successful work heals everything that is not ended or being ended.
        let mut runner = play(&policies, &world);
        for _ in 0..300 {
            runner.pass(3_000);
            for id in ["a", "b", "c"] {
                let Some(view) = runner.fleet.view(runner.now, &id.into()) else { continue };
                let n = runner.now.as_millis();
                let tell = |body| Step::Signal(Signal { agent: id.into(), content: Content {
                    incarnation: Some(view.incarnation), sent_at: None, received_at: WallTime(0), trust: Trust::Verified, body } });
                let print = CallPrint { digest: n, class: CallClass::Plain };
                let status = StatusReport { status: Status::Healthy, waiting_on: None, lasting: None };
                runner.take(&tell(Body::Status(status)));
                runner.take(&tell(Body::Heartbeat(Heartbeat { errors: Some(0), context: Some(Context { used: 1, limit: 100 }), ..Heartbeat::default() })));
                runner.take(&tell(Body::ToolFinished { call: n, print, result: ResultPrint::of(&n.to_string(), false, None), tool: Some("bash".into()), step: None }));
                runner.take(&tell(Body::Tokens { input: 0, output: 1_000, cost_micros: 0 }));
                runner.take(&tell(Body::Output(Output { files_changed: Some(1), tests_passed: None, tests_failed: None })));
                runner.take(&tell(Body::Checkpoint { id: n.to_string().into() }));
                runner.take(&tell(Body::Channel(Channel::Closed)));
            }
        }
        for id in ["a", "b", "c"] {
            let Some(view) = runner.fleet.view(runner.now, &id.into()) else { continue };
            prop_assert!(matches!(view.state, HealthState::Healthy | HealthState::Terminated), "{} is {}: {:?}", id, view.state, view.evidence);
        }
    }
}
