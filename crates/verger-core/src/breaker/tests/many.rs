//! Many breakers and lines of checkpoints, whatever happens to them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::at;
use super::properties::outcome;
use crate::breaker::{
    Bounds, BreakerName, Breakers, Change, Mode, Outcome, Permit, Policies, Policy, State, WriteChange,
    WriteOutcome, WriteStep, Writes, WritesPolicy,
};
use crate::id::{AgentId, CheckpointId};
use crate::time::{Span, Timestamp};

#[derive(Clone, Debug)]
enum Happening {
    Ask(usize),
    Report(usize, Outcome),
    See(usize, Outcome),
    Wake,
    Reset(usize),
    Set(usize, Mode),
    Leave(usize),
}

/// Three agents with endpoints in and out of a group, and tools; shared ones; one agent that is called like them.
fn name(nth: usize) -> BreakerName {
    const NAMES: [&str; 14] = [
        "a/api/chat",
        "a/api/embed",
        "a/api/other",
        "a/tool/x",
        "a/tool/y",
        "b/api/chat",
        "b/api/embed",
        "b/tool/x",
        "b/checkpoint/s",
        "b/recovery/t",
        "shared/provider",
        "shared/db",
        "shared/tool/x",
        "shared/api/chat",
    ];
    NAMES[nth % NAMES.len()].parse().expect("a name")
}

fn policies() -> Policies {
    let groups = [("chat", "provider"), ("embed", "provider")];
    Policies {
        groups: groups.map(|(endpoint, group)| (endpoint.to_owned(), group.to_owned())).to_vec(),
        bounds: Bounds { per_agent_max: 3, shared_max: 2, total_max: 7 },
        tool: Policy { half_open_requests: 2, growth_percent: 150, ..Policies::default().tool },
        ..Policies::default()
    }
}

fn story(length: usize) -> impl Strategy<Value = Vec<(u64, Happening)>> {
    let which = 0..14_usize;
    let modes = prop_oneof![2 => Just(Mode::Normal), 1 => Just(Mode::ForcedOpen), 1 => Just(Mode::Disabled)];
    let happening = prop_oneof![
        6 => which.clone().prop_map(Happening::Ask),
        6 => (0..9_usize, outcome()).prop_map(|(nth, outcome)| Happening::Report(nth, outcome)),
        9 => (which.clone(), outcome()).prop_map(|(nth, outcome)| Happening::See(nth, outcome)),
        4 => Just(Happening::Wake),
        1 => which.clone().prop_map(Happening::Reset),
        1 => (which.clone(), modes).prop_map(|(nth, mode)| Happening::Set(nth, mode)),
        1 => which.prop_map(Happening::Leave),
    ];
    vec((prop_oneof![3 => Just(0), 3 => 0..5_000_u64, 1 => 0..200_000_u64], happening), 1..length)
}

struct Player {
    breakers: Breakers,
    now: Timestamp,
    permits: Vec<(BreakerName, Permit)>,
    /// The rows as a store holds them.
    rows: BTreeMap<BreakerName, Vec<u8>>,
    said: Vec<String>,
}

impl Player {
    fn new() -> Self {
        let breakers = Breakers::new(policies(), 7);
        Self { breakers, now: at(0), permits: Vec::new(), rows: BTreeMap::new(), said: Vec::new() }
    }

    fn play(&mut self, after: u64, happening: &Happening) -> Vec<Change> {
        self.now += Span::millis(after);
        let (now, mut out) = (self.now, Vec::new());
        let breakers = &mut self.breakers;
        match happening {
            Happening::Ask(nth) => match breakers.acquire(now, &name(*nth), &mut out) {
                Ok(permit) => self.permits.push((name(*nth), permit)),
                Err(denied) => self.said.push(denied.to_string()),
            },
            Happening::Report(nth, outcome) => {
                if let Some((name, permit)) = self.permits.iter().rev().nth(*nth) {
                    let reported = breakers.report(now, name, *permit, *outcome, &mut out);
                    self.said.push(format!("{reported:?}"));
                }
            }
            Happening::See(nth, outcome) => breakers.observe(now, &name(*nth), *outcome, &mut out),
            Happening::Wake => breakers.wake(now, &mut out),
            Happening::Reset(nth) => {
                self.said.push(format!("{:?}", breakers.reset(now, &name(*nth), &mut out)));
            }
            Happening::Set(nth, mode) => {
                self.said.push(format!("{:?}", breakers.set_mode(now, &name(*nth), *mode, &mut out)));
            }
            Happening::Leave(nth) => breakers.drop_agent(&name(*nth).agent().unwrap_or("a".into()), &mut out),
        }
        self.said.extend(out.iter().map(|change| format!("{now} {change:?}")));
        self.keep_rows();
        out
    }

    fn keep_rows(&mut self) {
        let rows = &mut self.rows;
        self.breakers.take_changed_rows(&mut |row| match row.bytes {
            Some(bytes) => drop(rows.insert(row.name, bytes)),
            None => drop(rows.remove(&row.name)),
        });
    }

    fn restart(&mut self) {
        self.breakers = Breakers::restore(policies(), 7, self.rows.clone(), self.now).expect("our own rows");
    }

    fn names(&self) -> BTreeSet<BreakerName> {
        self.breakers.page(self.now, None, usize::MAX).into_iter().map(|view| view.name).collect()
    }
}

proptest! {
    #[test]
    fn x11_bounds_hold_and_nothing_that_is_open_is_dropped_silently(story in story(80)) {
        let mut player = Player::new();
        for (after, happening) in &story {
            let before = player.breakers.page(player.now, None, usize::MAX);
            let told = player.play(*after, happening);
            let left = player.names();
            prop_assert!(left.len() <= 7);
            for agent in ["a", "b", "shared"].map(AgentId::from) {
                prop_assert!(player.breakers.of_agent(player.now, &agent).len() <= 3);
            }
            prop_assert!(left.iter().filter(|name| name.is_shared()).count() <= 2);
            for gone in before.into_iter().filter(|view| !left.contains(&view.name)) {
                let left_with_its_agent = matches!(happening, Happening::Leave(_));
                prop_assert!(gone.state != State::Open || left_with_its_agent, "{:?}", gone);
                let silent = told.iter().all(|change| change.name != gone.name);
                prop_assert!(!silent || (gone.state == State::Closed && gone.mode == Mode::Normal), "{:?}", gone);
            }
            prop_assert_eq!(player.rows.keys().cloned().collect::<BTreeSet<_>>(), left, "a row for each");
        }
    }

    #[test]
    fn the_deadline_is_that_of_the_earliest_and_waking_early_changes_nothing(story in story(60)) {
        let mut player = Player::new();
        for (after, happening) in &story {
            player.play(*after, happening);
            player.play(0, &Happening::Wake);
            let views = player.breakers.page(player.now, None, usize::MAX);
            let open = views.iter().filter(|view| view.state == State::Open).filter_map(|view| view.half_open_at).min();
            let deadline = player.breakers.deadline(player.now);
            prop_assert!(open.is_none_or(|open| deadline.is_some_and(|deadline| deadline <= open)));
            let Some(deadline) = deadline else { continue };
            prop_assert!(player.now < deadline);
            let early = player.play((deadline.since(player.now) + Span::ZERO).as_millis() - 1, &Happening::Wake);
            prop_assert_eq!(early, &[]);
            prop_assert_ne!(player.play(1, &Happening::Wake), &[]);
        }
    }

    #[test]
    fn a_restart_at_any_point_gives_the_same_future(story in story(80), cut in 0..80_usize) {
        let (mut player, mut restarted) = (Player::new(), Player::new());
        for (at, (after, happening)) in story.iter().enumerate() {
            if at == cut {
                restarted.restart();
                // For how long no room is looked for is the one thing that is not written.
                restarted.breakers.crowded_until = player.breakers.crowded_until;
                restarted.breakers.told_crowded_until = player.breakers.told_crowded_until;
            }
            player.play(*after, happening);
            restarted.play(*after, happening);
        }
        prop_assert_eq!(&player.said, &restarted.said);
        let views = |player: &Player| player.breakers.page(player.now, None, usize::MAX);
        prop_assert_eq!(views(&player), views(&restarted));
    }
}

#[derive(Clone, Debug)]
enum Write {
    Submit(u8),
    End(u8, WriteOutcome),
    /// Whatever is under way ends.
    EndFirst(WriteOutcome),
    Discard(u8),
    Retry,
    Wake,
}

fn write_story(length: usize) -> impl Strategy<Value = Vec<(u64, Write)>> {
    let ends = || {
        prop_oneof![
            3 => Just(WriteOutcome::Failed), 2 => Just(WriteOutcome::Written), 1 => Just(WriteOutcome::Rejected)
        ]
    };
    let write = prop_oneof![
        6 => any::<u8>().prop_map(Write::Submit),
        1 => (any::<u8>(), ends()).prop_map(|(id, end)| Write::End(id, end)),
        6 => ends().prop_map(Write::EndFirst),
        1 => any::<u8>().prop_map(Write::Discard),
        1 => Just(Write::Retry),
        6 => Just(Write::Wake),
    ];
    vec((prop_oneof![2 => Just(0), 3 => 0..20_000_u64, 1 => 0..400_000_u64], write), 1..length)
}

struct Desk {
    writes: Writes,
    breakers: Breakers,
    breaker: BreakerName,
    now: Timestamp,
    rows: BTreeMap<BreakerName, Vec<u8>>,
    said: Vec<WriteChange>,
}

impl Desk {
    fn policy() -> WritesPolicy {
        WritesPolicy { queue_max: 5, ..WritesPolicy::default() }
    }

    fn new() -> Self {
        Self {
            writes: Writes::new(Self::policy()),
            breakers: Breakers::new(Policies::default(), 7),
            breaker: "a/checkpoint/store".parse().expect("a name"),
            now: at(0),
            rows: BTreeMap::new(),
            said: Vec::new(),
        }
    }

    fn waiting(&self) -> Vec<CheckpointId> {
        self.writes.view(&self.breaker).map(|view| view.waiting).unwrap_or_default()
    }

    fn play(&mut self, after: u64, write: &Write) {
        self.now += Span::millis(after);
        let id = |id: u8| CheckpointId::from(format!("c{}", id % 12));
        let first = self.waiting().first().cloned();
        let under_way = self.writes.view(&self.breaker).is_some_and(|view| view.next_at.is_none());
        let (writes, breaker, mut changes) = (&mut self.writes, &self.breaker, Vec::new());
        let breakers = &mut self.breakers;
        let mut step = WriteStep { now: self.now, breakers, changes: &mut changes, out: &mut self.said };
        match write {
            Write::Submit(nth) => drop(writes.submit(&mut step, breaker, &id(*nth))),
            Write::End(nth, end) => writes.on_outcome(&mut step, breaker, &id(*nth), *end),
            Write::EndFirst(end) => {
                if let Some(first) = first.filter(|_| under_way) {
                    writes.on_outcome(&mut step, breaker, &first, *end);
                }
            }
            Write::Discard(nth) => drop(writes.discard(&mut step, breaker, &id(*nth))),
            Write::Retry => writes.retry_now(&mut step, breaker),
            Write::Wake => writes.wake(&mut step),
        }
        let rows = &mut self.rows;
        self.writes.take_changed_rows(&mut |row| match row.bytes {
            Some(bytes) => drop(rows.insert(row.name, bytes)),
            None => drop(rows.remove(&row.name)),
        });
    }
}

proptest! {
    #[test]
    fn l26_whatever_was_taken_in_waits_in_order_until_it_is_written_or_dropped(story in write_story(80)) {
        let mut desk = Desk::new();
        let mut expected: Vec<CheckpointId> = Vec::new();
        let mut alarmed = false;
        for (after, write) in &story {
            let told = desk.said.len();
            desk.play(*after, write);
            for change in &desk.said[told..] {
                match change {
                    WriteChange::Begin { id, attempt: 1, .. } if !expected.contains(id) => expected.push(id.clone()),
                    WriteChange::Begin { id, .. } => prop_assert_eq!(expected.first(), Some(id), "in order"),
                    WriteChange::Queued { id, .. } => expected.push(id.clone()),
                    WriteChange::Written { id, .. } | WriteChange::Dropped { id, .. } => {
                        let at = expected.iter().position(|waiting| waiting == id);
                        expected.remove(at.expect("only what waited"));
                    }
                    WriteChange::Persistent { .. } => prop_assert!(!std::mem::replace(&mut alarmed, true)),
                    WriteChange::Recovered { .. } => prop_assert!(std::mem::replace(&mut alarmed, false)),
                    WriteChange::Overflowed { waiting, .. } => prop_assert_eq!(*waiting, 5),
                }
            }
            prop_assert_eq!(desk.waiting(), expected.clone());
            prop_assert!(expected.len() <= 5);
            prop_assert_eq!(desk.rows.len(), usize::from(!expected.is_empty()));
        }
    }

    #[test]
    fn l26_all_is_written_once_the_store_works(story in write_story(60)) {
        let mut desk = Desk::new();
        for (after, write) in &story {
            desk.play(*after, write);
        }
        let begun = desk.now;
        for _ in 0..40 {
            let Some(deadline) = desk.writes.deadline(desk.now) else { break };
            let under_way = desk.writes.view(&desk.breaker).is_some_and(|view| view.next_at.is_none());
            let after = if under_way { 0 } else { deadline.since(desk.now).as_millis() };
            desk.play(after, &Write::Wake);
            desk.play(0, &Write::EndFirst(WriteOutcome::Written));
        }
        prop_assert_eq!(desk.waiting(), Vec::<CheckpointId>::new());
        prop_assert!(desk.now.since(begun) <= Span::minutes(20), "{}", desk.now.since(begun));
        let alarms = desk.said.iter().filter(|change| matches!(change, WriteChange::Persistent { .. })).count();
        let ends = desk.said.iter().filter(|change| matches!(change, WriteChange::Recovered { .. })).count();
        prop_assert_eq!(alarms, ends, "one alert, and one when it is over");
    }

    #[test]
    fn l26_a_restart_at_any_point_gives_the_same_future(story in write_story(60), cut in 0..60_usize) {
        let (mut desk, mut restarted) = (Desk::new(), Desk::new());
        for (at, (after, write)) in story.iter().enumerate() {
            if at == cut {
                let rows = restarted.rows.clone();
                restarted.writes = Writes::restore(Desk::policy(), rows, restarted.now).expect("our own rows");
            }
            desk.play(*after, write);
            restarted.play(*after, write);
        }
        prop_assert_eq!(&desk.said, &restarted.said);
        prop_assert_eq!(desk.writes.deadline(desk.now), restarted.writes.deadline(restarted.now));
    }

    #[test]
    fn l26_waking_early_changes_nothing(story in write_story(40)) {
        let mut desk = Desk::new();
        for (after, write) in &story {
            desk.play(*after, write);
            desk.play(0, &Write::Wake);
            let Some(deadline) = desk.writes.deadline(desk.now) else { continue };
            prop_assert!(desk.now < deadline);
            let (told, before) = (desk.said.len(), desk.writes.view(&desk.breaker));
            desk.play(deadline.since(desk.now).as_millis() - 1, &Write::Wake);
            prop_assert_eq!((desk.said.len(), desk.writes.view(&desk.breaker)), (told, before));
        }
    }
}
