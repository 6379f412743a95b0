//! Limits, table by table, and what holds whatever agents report.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::{Account, Breach, Change, FleetUse, Level, Limits, Load, Policy, Resource, Step, Used};
use crate::record::{from_row, to_row};
use crate::time::{Span, Timestamp};

const START: Timestamp = Timestamp::from_millis(1_000_000);

/// One agent and its fleet, with a readable log.
#[derive(Clone)]
struct World {
    policy: Policy,
    now: Timestamp,
    account: Account,
    fleet: FleetUse,
    changes: Vec<Change>,
    log: Vec<String>,
}

impl World {
    fn with(change: impl FnOnce(&mut Policy)) -> Self {
        let mut policy = Policy::default();
        change(&mut policy);
        let fleet = FleetUse { began_at: START, counted_at: START, ..FleetUse::default() };
        Self { policy, now: START, account: Account::new(START), fleet, changes: Vec::new(), log: Vec::new() }
    }

    fn step(&mut self, call: impl FnOnce(&mut Account, &mut FleetUse, &mut Step<'_>)) {
        let mut out = Vec::new();
        let mut step = Step { now: self.now, policy: &self.policy, out: &mut out };
        call(&mut self.account, &mut self.fleet, &mut step);
        let at = self.now.since(START);
        self.log.extend(out.iter().map(|change| match change {
            Change::Near(breach) => format!("{at} near: {breach}"),
            Change::Exceeded(breach) => format!("{at} exceeded: {breach}"),
            Change::Cleared { level, resource } => format!("{at} cleared: {resource:?} of {level:?}"),
        }));
        self.changes.extend(out);
    }

    fn used(&mut self, tokens: Option<u64>, cost: Option<u64>) {
        self.step(|account, fleet, step| {
            let growth = account.on_totals(step, tokens, cost);
            fleet.on_growth(step, growth);
        });
    }

    fn holds(&mut self, memory_bytes: u64, cpu_millis: u64) {
        self.step(|account, fleet, step| {
            let before = account.load();
            account.on_sample(step, Load { memory_bytes, cpu_millis });
            fleet.on_load(step, before, account.load());
        });
    }

    fn task(&mut self, task: Option<&str>) {
        let task = task.map(Into::into);
        self.step(|account, _, step| account.on_task(step, task.as_ref()));
    }

    fn new_life(&mut self) {
        self.step(|account, fleet, step| {
            let before = account.load();
            account.on_new_life(step);
            fleet.on_load(step, before, account.load());
        });
    }

    fn living(&mut self, living: u32) {
        self.step(|_, fleet, step| fleet.on_living(step, living));
    }

    fn wake(&mut self) {
        self.step(|account, fleet, step| {
            account.wake(step);
            fleet.wake(step);
        });
    }

    fn deadline(&self) -> Option<Timestamp> {
        let agent = self.account.deadline(self.now, &self.policy);
        let fleet = self.fleet.deadline(self.now, &self.policy);
        [agent, fleet].into_iter().flatten().min()
    }

    fn pass(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(due) = self.deadline().filter(|due| *due <= end) {
            assert!(self.now < due, "a deadline lies ahead");
            self.now = due;
            let before = (self.account.clone(), self.fleet.clone());
            self.wake();
            assert_ne!(before, (self.account.clone(), self.fleet.clone()), "a deadline changes something");
        }
        self.now = end;
        self.wake();
    }

    fn log(&mut self) -> String {
        std::mem::take(&mut self.log).join("\n")
    }
}

#[test]
fn l12_tokens_and_money_are_near_once_and_then_exceeded() {
    let mut world = World::with(|policy| {
        policy.agent = Limits { tokens: Some(1_000), cost_micros: Some(5_000_000), ..Limits::default() };
    });
    for (tokens, cost) in [(799, 0), (800, 0), (900, 3_999_999), (1_000, 4_000_000), (1_001, 5_000_001)] {
        world.used(Some(tokens), Some(cost));
    }
    assert_snapshot!(world.log(), @r"
    0s near: 800 tokens used by the agent (limit 1000)
    0s near: $4.00 spent by the agent (limit $5.00)
    0s exceeded: 1001 tokens used by the agent (limit 1000)
    0s exceeded: $5.00 spent by the agent (limit $5.00)
    ");
    let breach = world.account.breach(world.now, &world.policy).expect("an end is wanted");
    assert_eq!((breach.level, breach.resource), (Level::Agent, Resource::Tokens));
}

#[test]
fn l12_time_runs_out_by_itself() {
    let mut world = World::with(|policy| {
        policy.agent.wall = Some(Span::hours(10));
        policy.task.wall = Some(Span::hours(1));
    });
    world.pass(Span::hours(5));
    world.task(Some("t"));
    world.pass(Span::hours(5));
    assert_snapshot!(world.log(), @r"
    5h48m near: the task took 48m (limit 1h)
    6h exceeded: the task took 1h (limit 1h)
    8h near: the agent took 8h (limit 10h)
    10h exceeded: the agent took 10h (limit 10h)
    ");
    assert_eq!(world.deadline(), None, "everything is said");
}

#[test]
fn l12_a_spike_ends_nobody() {
    let mut world = World::with(|policy| policy.agent.memory_bytes = Some(1_000));
    for sample in 0..60 {
        world.holds(if sample % 10 == 9 { 700 } else { 5_000 }, 0);
        world.pass(Span::secs(30));
    }
    assert_eq!(world.log(), "", "over for four and a half minutes at most");
}

#[test]
fn l12_memory_over_its_limit_for_five_minutes_is_exceeded_and_clears_as_slowly() {
    let mut world = World::with(|policy| policy.agent.memory_bytes = Some(1_000));
    let hold = |world: &mut World, bytes, samples| {
        for _ in 0..samples {
            world.holds(bytes, 0);
            world.pass(Span::secs(60));
        }
    };
    hold(&mut world, 900, 7);
    hold(&mut world, 1_001, 7);
    hold(&mut world, 500, 4);
    hold(&mut world, 1_200, 1);
    hold(&mut world, 500, 7);
    assert_snapshot!(world.log(), @r"
    5m near: 900 bytes of memory held by the agent (limit 1000)
    12m exceeded: 1001 bytes of memory held by the agent (limit 1000)
    24m cleared: Memory of Agent
    ");
}

#[test]
fn l12_samples_far_apart_say_nothing_about_the_time_between() {
    let mut world = World::with(|policy| policy.agent.cpu_millis = Some(4_000));
    for _ in 0..10 {
        world.holds(0, 8_000);
        world.pass(Span::minutes(3));
    }
    assert_eq!(world.log(), "");
}

#[test]
fn l12_a_new_life_begins_anew_and_its_task_goes_on() {
    let mut world = World::with(|policy| {
        policy.agent.tokens = Some(1_000);
        policy.task.tokens = Some(2_000);
    });
    world.task(Some("t"));
    world.used(Some(1_500), None);
    world.new_life();
    world.task(Some("t"));
    world.used(Some(600), None);
    assert_snapshot!(world.log(), @r"
    0s exceeded: 1500 tokens used by the agent (limit 1000)
    0s cleared: Tokens of Agent
    0s exceeded: 2100 tokens used by the task (limit 2000)
    ");
    world.task(Some("another"));
    world.used(Some(700), None);
    assert_snapshot!(world.log(), @"0s cleared: Tokens of Task");
    assert_eq!(world.account.breach(world.now, &world.policy), None);
}

#[test]
fn l12_the_last_few_tasks_are_remembered_with_what_was_used_for_them_and_no_more() {
    let mut world = World::with(|policy| policy.task.tokens = Some(1_000));
    let mut total = 0;
    let mut on = |world: &mut World, task| {
        total += 600;
        world.task(Some(task));
        world.used(Some(total), None);
    };
    for task in ["a", "b", "c", "d", "a"] {
        on(&mut world, task);
    }
    assert_snapshot!(world.log(), @"0s exceeded: 1200 tokens used by the task (limit 1000)");
    for task in ["e", "f", "g", "h", "a"] {
        on(&mut world, task);
    }
    assert_snapshot!(world.log(), @"0s cleared: Tokens of Task");
    assert!(world.account.earlier.len() <= 3);
}

#[test]
fn l12_the_fleets_day_begins_anew() {
    let mut world = World::with(|policy| policy.fleet.cost_micros = Some(10_000_000));
    world.used(None, Some(12_000_000));
    world.pass(Span::hours(23));
    world.used(None, Some(13_000_000));
    world.pass(Span::hours(2));
    assert_snapshot!(world.log(), @r"
    0s exceeded: $12.00 spent by the fleet (limit $10.00)
    1d cleared: Cost of Fleet
    ");
    assert_eq!(world.fleet.breach(&world.policy), None);
}

#[test]
fn l12_each_day_has_its_warning() {
    let mut world = World::with(|policy| policy.fleet.tokens = Some(1_000));
    for day in 1..=3 {
        world.used(Some(day * 900), None);
        world.pass(Span::hours(24));
    }
    assert_snapshot!(world.log(), @r"
    0s near: 900 tokens used by the fleet (limit 1000)
    1d near: 900 tokens used by the fleet (limit 1000)
    2d near: 900 tokens used by the fleet (limit 1000)
    ");
}

#[test]
fn l12_the_fleets_time_is_that_of_its_agents_together() {
    let mut world = World::with(|policy| policy.fleet.wall = Some(Span::hours(100)));
    world.living(8);
    world.pass(Span::hours(5));
    world.living(20);
    world.pass(Span::hours(20));
    assert_snapshot!(world.log(), @r"
    7h near: the fleet took 3d8h (limit 4d4h)
    8h exceeded: the fleet took 4d4h (limit 4d4h)
    1d cleared: WallTime of Fleet
    ");
}

#[test]
fn l12_the_fleets_memory_is_that_of_its_agents_together() {
    let mut world = World::with(|policy| policy.fleet.memory_bytes = Some(1_000));
    let mut other = Load::default();
    for minute in 0..7 {
        world.holds(600, 0);
        let next = Load { memory_bytes: 500 + minute, cpu_millis: 0 };
        world.step(|_, fleet, step| fleet.on_load(step, other, next));
        other = next;
        world.pass(Span::minutes(1));
    }
    assert_eq!(world.fleet.load.memory_bytes, 1_106);
    assert!(world.log().contains("exceeded: 1104 bytes of memory held by the fleet"));
}

#[test]
fn l12_a_raised_limit_clears_and_a_removed_one_too() {
    let mut world = World::with(|policy| policy.agent.tokens = Some(1_000));
    world.used(Some(1_001), None);
    world.policy.agent.tokens = Some(10_000);
    world.wake();
    world.used(Some(10_001), None);
    world.policy.agent.tokens = None;
    world.wake();
    assert_snapshot!(world.log(), @r"
    0s exceeded: 1001 tokens used by the agent (limit 1000)
    0s cleared: Tokens of Agent
    0s exceeded: 10001 tokens used by the agent (limit 10000)
    0s cleared: Tokens of Agent
    ");
}

/// Totals as they come in, one a second, and what is counted in the end.
fn counted(totals: &[u64]) -> u64 {
    let mut world = World::with(|_| {});
    for total in totals {
        world.used(Some(*total), None);
        world.pass(Span::secs(1));
    }
    assert_eq!(world.account.life.tokens, world.fleet.meter.tokens, "the fleet counts the same");
    world.account.life.tokens
}

#[test]
fn l12_hostile_and_broken_totals_end_nobody() {
    let table: [(&str, &[u64], u64); 8] = [
        ("an honest counter", &[10, 20, 50], 50),
        ("one that goes backwards", &[100, 40, 90], 100),
        ("two sources that disagree", &[100, 50, 110, 55, 120], 120),
        ("an overflow", &[100, u64::MAX, 120], 120),
        ("a jump that no model can answer", &[100, 1 << 40, 120], 120),
        ("an agent that was there before", &[1 << 40, (1 << 40) + 70], 70),
        ("nonsense first", &[u64::MAX, 500, 700], 200),
        ("nonsense twice", &[u64::MAX, u64::MAX - 1, 500, 700], 200),
    ];
    for (what, totals, expected) in table {
        assert_eq!(counted(totals), expected, "{what}");
    }
}

#[test]
fn l12_what_is_left_is_the_least_of_life_and_task() {
    let mut world = World::with(|policy| {
        policy.agent.tokens = Some(1_000);
        policy.task = Limits { tokens: Some(700), cost_micros: Some(50), ..Limits::default() };
    });
    assert_eq!(world.account.left(&world.policy), Used { tokens: 1_000, cost_micros: u64::MAX });
    world.task(Some("t"));
    world.used(Some(600), Some(60));
    assert_eq!(world.account.left(&world.policy), Used { tokens: 100, cost_micros: 0 });
}

#[test]
fn l12_a_limit_of_nothing_allows_nothing_and_does_not_spin() {
    let nothing = Limits {
        tokens: Some(0),
        cost_micros: Some(0),
        wall: Some(Span::ZERO),
        memory_bytes: Some(0),
        cpu_millis: Some(0),
    };
    let mut world = World::with(|policy| {
        policy.agent = nothing.clone();
        policy.fleet = Limits { wall: Some(Span::FOREVER), ..nothing };
        policy.fleet_window = Span::ZERO;
    });
    world.used(Some(1), None);
    assert_snapshot!(world.log(), @r"
    0s exceeded: 1 tokens used by the agent (limit 0)
    0s exceeded: the agent took 0s (limit 0s)
    0s exceeded: 1 tokens used by the fleet (limit 0)
    ");
    world.pass(Span::minutes(10));
}

#[derive(Clone, Debug)]
enum Deed {
    Used(Option<u64>, Option<u64>),
    Holds(u64, u64),
    Task(Option<bool>),
    NewLife,
    Living(u32),
    Pass(u64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let total = || prop::option::of(prop_oneof![0..5_000_u64, any::<u64>()]);
    let held = || prop_oneof![0..2_000_u64, Just(u64::MAX)];
    let deed = prop_oneof![
        4 => (total(), total()).prop_map(|(tokens, cost)| Deed::Used(tokens, cost)),
        4 => (held(), held()).prop_map(|(memory, cpu)| Deed::Holds(memory, cpu)),
        1 => any::<Option<bool>>().prop_map(Deed::Task),
        1 => Just(Deed::NewLife),
        1 => prop_oneof![0..50_u32, Just(u32::MAX)].prop_map(Deed::Living),
        4 => prop_oneof![0..90_000_u64, 0..50_000_000_u64].prop_map(Deed::Pass),
    ];
    prop::collection::vec(deed, 0..60)
}

fn perform(world: &mut World, deed: &Deed) {
    match *deed {
        Deed::Used(tokens, cost) => world.used(tokens, cost),
        Deed::Holds(memory, cpu) => world.holds(memory, cpu),
        Deed::Task(task) => world.task(task.map(|second| if second { "b" } else { "a" })),
        Deed::NewLife => world.new_life(),
        Deed::Living(living) => world.living(living),
        Deed::Pass(millis) => world.pass(Span::millis(millis)),
    }
}

fn limited() -> World {
    World::with(|policy| {
        let limits = |tokens, hours| Limits {
            tokens: Some(tokens),
            cost_micros: Some(tokens),
            wall: Some(Span::hours(hours)),
            memory_bytes: Some(1_000),
            cpu_millis: Some(1_000),
        };
        policy.agent = limits(2_000, 3);
        policy.task = limits(3_000, 5);
        policy.fleet = limits(10_000, 40);
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn l12_each_limit_is_said_once_until_it_is_over(deeds in deeds()) {
        let mut world = limited();
        for deed in &deeds {
            perform(&mut world, deed);
            let told = world.changes.len();
            world.wake();
            prop_assert_eq!(told, world.changes.len(), "nothing was due: waking is harmless");
        }
        let mut exceeded = Vec::new();
        for change in &world.changes {
            match *change {
                Change::Near(_) => {}
                Change::Exceeded(Breach { level, resource, .. }) => {
                    prop_assert!(!exceeded.contains(&(level, resource)));
                    exceeded.push((level, resource));
                }
                Change::Cleared { level, resource } => {
                    prop_assert!(exceeded.contains(&(level, resource)));
                    exceeded.retain(|known| *known != (level, resource));
                }
            }
        }
        let own = exceeded.iter().any(|(level, _)| *level != Level::Fleet);
        prop_assert_eq!(own, world.account.breach(world.now, &world.policy).is_some());
        prop_assert_eq!(own || world.fleet.breach(&world.policy).is_some(), !exceeded.is_empty());
    }

    #[test]
    fn l12_nothing_latches(deeds in deeds()) {
        let mut world = limited();
        for deed in &deeds {
            perform(&mut world, deed);
        }
        world.new_life();
        world.task(None);
        world.living(0);
        for _ in 0..7 {
            world.holds(0, 0);
            world.pass(Span::minutes(1));
        }
        prop_assert_eq!(world.fleet.load, Load::default(), "sums are exact");
        prop_assert_eq!(world.account.breach(world.now, &world.policy), None);
        world.pass(Span::hours(24));
        prop_assert_eq!(world.fleet.breach(&world.policy), None);
    }

    #[test]
    fn l12_a_restart_at_any_point_changes_nothing(deeds in deeds(), at in 0..60_usize) {
        let (mut steady, mut restarted) = (limited(), limited());
        for (number, deed) in deeds.iter().enumerate() {
            if number == at {
                restarted.account = from_row(&to_row(&restarted.account)).expect("a row just written");
                restarted.fleet = from_row(&to_row(&restarted.fleet)).expect("a row just written");
            }
            perform(&mut steady, deed);
            perform(&mut restarted, deed);
        }
        prop_assert_eq!(steady.changes, restarted.changes);
        prop_assert_eq!((steady.account, steady.fleet), (restarted.account, restarted.fleet));
    }

    #[test]
    fn l12_no_report_counts_more_than_a_model_can_answer(totals in prop::collection::vec(any::<u64>(), 0..50)) {
        let mut world = World::with(|_| {});
        let mut secs = 0;
        for total in totals {
            world.used(Some(total), Some(total));
            world.pass(Span::secs(1));
            secs += 61;
        }
        prop_assert!(world.account.life.tokens <= secs * 1_000_000);
        prop_assert!(world.account.life.cost_micros <= secs * 100_000_000);
    }

    #[test]
    fn l12_a_damaged_row_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut world = limited();
        world.account = from_row(&bytes).unwrap_or_default();
        world.fleet = from_row(&bytes).unwrap_or_default();
        world.used(Some(7), Some(7));
        world.holds(7, 7);
        world.living(3);
        world.wake();
        let _ = (world.deadline(), world.account.breach(world.now, &world.policy));
        world.step(|_, fleet, step| fleet.on_growth(step, Used { tokens: u64::MAX, cost_micros: u64::MAX }));
    }
}
