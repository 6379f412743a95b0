//! Whatever is said about three agents and two tasks, in whatever order: nobody is started who lives, nothing that is
//! done is begun again, and nobody who is well is ended for a start that was taken back.

use std::collections::{BTreeMap, BTreeSet};

use verger_core::AgentId;
use verger_core::effect::{Action, Effect, Outcome};
use verger_core::health::HealthState;
use verger_core::notice::Notice;
use verger_core::recovery::{Order, Spawn};
use verger_core::signal::Body;
use verger_core::tasks::{self, TaskStatus};

use crate::timeline::Timeline;

/// Stories that are tried.
const STORIES: u64 = 600;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap_or_default()]
    }
}

struct Story {
    dice: Dice,
    timeline: Timeline,
    answered: BTreeSet<(AgentId, u32)>,
    seen: usize,
}

impl Story {
    fn new(seed: u64) -> Self {
        let timeline = Timeline::unattended_with(|policies| policies.correlation.agents_min = u32::MAX);
        Self { dice: Dice(seed), timeline, answered: BTreeSet::new(), seen: 0 }
    }

    /// Tells what went wrong, if anything did.
    fn tell(mut self) -> Option<String> {
        for _ in 0..60 {
            let at = self.timeline.now.as_millis() / 1_000 + self.dice.pick(&[0, 1, 5, 31, 61, 300, 700]);
            self.timeline = self.timeline.play(&format!("{at}s"));
            if let Some(wrong) = self.look() {
                return Some(wrong);
            }
            self.go_on();
            if let Some(wrong) = self.look() {
                return Some(wrong);
            }
        }
        None
    }

    /// Looks at what was newly decided, as things stand now.
    fn look(&mut self) -> Option<String> {
        let seen = std::mem::replace(&mut self.seen, self.timeline.effects.len());
        let wrong = self.timeline.effects[seen..].iter().find_map(|effect| self.wrong(effect))?;
        Some(format!("{wrong}\n{}", self.timeline.so_far()))
    }

    fn go_on(&mut self) {
        let agent = self.dice.pick(&["a", "b", "c"]);
        let task = self.dice.pick(&["t", "u"]);
        let words = match self.dice.roll(25) {
            0..4 => format!("spawn task={task}"),
            4..6 => "spawn".to_owned(),
            6..9 => "beat".to_owned(),
            9 => format!("beat task={task}"),
            10 => format!("assign {task}"),
            11 => format!("end-task {task}"),
            12..16 => "exit signal=11".to_owned(),
            16 => "exit code=0".to_owned(),
            17..19 => format!("checkpoint c{}", self.dice.roll(4)),
            19 => format!("close {task} cancelled"),
            20 => format!("give {task} again"),
            21 => "order terminate".to_owned(),
            22 => return self.order(task),
            _ => return self.answer(),
        };
        self.timeline.do_words(&format!("@{agent} {words}"));
    }

    fn order(&mut self, task: &str) {
        let order = Order::Recover { from: None };
        // It may be refused.
        let _ = self.timeline.notice(&Notice::Recovery { task: task.into(), by: "ada".into(), order });
    }

    /// What became of something that was to be done.
    fn answer(&mut self) {
        let is_open = |effect: &&Effect| {
            let key = (effect.key.agent.clone(), effect.key.seq);
            let kind = matches!(
                effect.action,
                Action::Survey { .. } | Action::Spawn(_) | Action::Withdraw { .. } | Action::Stop { .. }
            );
            kind && !self.answered.contains(&key)
        };
        let Some(effect) = self.timeline.effects.iter().rev().find(is_open).cloned() else { return };
        let key = effect.key;
        self.answered.insert((key.agent.clone(), key.seq));
        let outcomes = match effect.action {
            Action::Survey { .. } => {
                let agent = key.agent.to_string();
                return self.timeline.tell(&agent, Body::Surveyed { key, checkpoints: Vec::new().into() });
            }
            Action::Spawn(_) => {
                [Outcome::Delivered, Outcome::Delivered, Outcome::Failed, Outcome::Unreachable]
            }
            _ => [Outcome::Stopped, Outcome::Stopped, Outcome::Delivered, Outcome::Unreachable],
        };
        let outcome = self.dice.pick(&outcomes);
        // What was ended is seen to end.
        if let (Outcome::Stopped, Action::Withdraw { incarnation: Some(_), .. }) = (outcome, &effect.action) {
            self.timeline.do_words(&format!("@{} exit signal=15", key.agent));
        }
        self.timeline.tell_outcome(key, outcome);
    }

    fn wrong(&self, effect: &Effect) -> Option<String> {
        match &effect.action {
            Action::Spawn(spawn) => self.wrong_start(spawn),
            Action::Withdraw { task, incarnation, .. } => {
                let view = self.timeline.fleet.view(self.timeline.now, &effect.key.agent)?;
                let is_meant = incarnation.is_some_and(|life| life == view.incarnation);
                let is_well =
                    view.state == HealthState::Healthy && is_meant && view.task.as_ref() != Some(task);
                is_well.then(|| format!("{} is well, works on other work, and is ended", view.id))
            }
            _ => None,
        }
    }

    fn wrong_start(&self, spawn: &Spawn) -> Option<String> {
        let now = self.timeline.now;
        let lives = self.timeline.fleet.view(now, &spawn.agent);
        if lives.is_some_and(|view| view.state != HealthState::Terminated) {
            return Some(format!("{} is started and lives", spawn.agent));
        }
        let task = self.timeline.fleet.tasks().view(now, &tasks::Policy::default(), &spawn.task)?;
        let is_over = matches!(task.status, TaskStatus::Done | TaskStatus::Cancelled);
        is_over.then(|| format!("{} is over and begun again", spawn.task))
    }
}

#[test]
fn x14_no_story_begins_what_is_done_or_whoever_lives() {
    let mut shortest = BTreeMap::<String, String>::new();
    for seed in 0..STORIES {
        if let Some(wrong) = Story::new(seed * 7_919 + 1).tell() {
            let kind = wrong.lines().next().unwrap_or_default().to_owned();
            let known = shortest.entry(kind).or_insert_with(|| wrong.clone());
            if wrong.len() < known.len() {
                *known = wrong;
            }
        }
    }
    let all: Vec<String> = shortest.into_values().collect();
    assert!(all.is_empty(), "{}", all.join("\n-----\n"));
}
