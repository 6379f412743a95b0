//! L26: checkpoints that wait for their breaker.

use crate::breaker::pause::{longest_pause, pause_after};
use crate::breaker::{
    BreakerName, Breakers, Change, Kind, Policies, Submitted, WriteChange, WriteOutcome, WriteStep, Writes,
    WritesPolicy,
};
use crate::id::{AgentId, CheckpointId};
use crate::time::{Span, Timestamp};

use super::at;

/// Writes, their breakers, and what they said.
struct Desk {
    writes: Writes,
    breakers: Breakers,
    breaker: BreakerName,
    log: Vec<String>,
}

impl Desk {
    fn new(policy: WritesPolicy) -> Self {
        Self {
            writes: Writes::new(policy),
            breakers: Breakers::new(Policies::default(), 7),
            breaker: "a/checkpoint/store".parse().expect("a name"),
            log: Vec::new(),
        }
    }

    fn step<T>(
        &mut self,
        now: Timestamp,
        run: impl FnOnce(&mut Writes, &mut WriteStep<'_>, &BreakerName) -> T,
    ) -> T {
        let (mut changes, mut out): (Vec<Change>, _) = (Vec::new(), Vec::new());
        let breakers = &mut self.breakers;
        let mut step = WriteStep { now, breakers, changes: &mut changes, out: &mut out };
        let result = run(&mut self.writes, &mut step, &self.breaker);
        let states = changes.iter().map(|change| format!("{now} {}", change.transition.to));
        let said = out.iter().map(|change| format!("{now} {}", tell(change)));
        self.log.extend(states.chain(said));
        result
    }

    fn submit(&mut self, secs: u64, id: &str) -> Submitted {
        self.step(at(secs), |writes, step, breaker| writes.submit(step, breaker, &id.into()))
    }

    fn ended(&mut self, now: Timestamp, id: &str, outcome: WriteOutcome) {
        self.step(now, |writes, step, breaker| writes.on_outcome(step, breaker, &id.into(), outcome));
    }

    /// Lets time pass, waking as asked; the store answers every write at once.
    fn pass(&mut self, from: Timestamp, until: Timestamp, store: WriteOutcome) {
        let mut now = from;
        while let Some(due) = self.writes.deadline(now).filter(|due| *due <= until) {
            now = due;
            let told = self.log.len();
            self.step(now, |writes, step, _| writes.wake(step));
            let mut begun = self.begun_since(told);
            while let Some(id) = begun {
                let told = self.log.len();
                self.ended(now, &id, store);
                begun = self.begun_since(told);
            }
        }
    }

    fn begun_since(&self, told: usize) -> Option<String> {
        let begun = self.log[told..].iter().find_map(|line| line.split_once("write "))?;
        begun.1.split_once(' ').map(|(id, _)| id.to_owned())
    }

    fn told(&mut self) -> String {
        std::mem::take(&mut self.log).join("\n")
    }

    fn waiting(&self) -> Vec<CheckpointId> {
        self.writes.view(&self.breaker).map(|view| view.waiting).unwrap_or_default()
    }
}

fn tell(change: &WriteChange) -> String {
    match change {
        WriteChange::Begin { id, attempt, .. } => format!("write {id} (try {attempt})"),
        WriteChange::Queued { id, ahead, .. } => format!("{id} waits behind {ahead}"),
        WriteChange::Overflowed { id, waiting, .. } => format!("{id} is refused: {waiting} wait"),
        WriteChange::Written { id, .. } => format!("{id} is safe"),
        WriteChange::Dropped { id, .. } => format!("{id} is dropped"),
        WriteChange::Persistent { since, waiting, .. } => format!("ALERT: {waiting} wait since {since}"),
        WriteChange::Recovered { lasted, .. } => format!("over after {lasted}"),
    }
}

#[test]
fn l26_writes_go_one_at_a_time_and_in_order() {
    let mut desk = Desk::new(WritesPolicy::default());
    assert_eq!(desk.submit(0, "c1"), Submitted::Begun);
    assert_eq!(desk.submit(0, "c2"), Submitted::Queued { ahead: 1 });
    assert_eq!(desk.submit(0, "c3"), Submitted::Queued { ahead: 2 });
    assert_eq!(desk.submit(0, "c2"), Submitted::Queued { ahead: 1 }, "handed in again, it keeps its place");
    for id in ["c1", "c2", "c3"] {
        desk.ended(at(1), id, WriteOutcome::Written);
    }
    insta::assert_snapshot!(desk.told(), @r"
    0s write c1 (try 1)
    0s c2 waits behind 1
    0s c3 waits behind 2
    1s c1 is safe
    1s write c2 (try 1)
    1s c2 is safe
    1s write c3 (try 1)
    1s c3 is safe
    ");
    assert_eq!(desk.writes.deadline(at(1)), None);
    assert_eq!(desk.writes.breakers().count(), 0, "an empty line costs nothing");
}

#[test]
fn l26_during_open_writes_are_queued_retried_with_growing_pauses_and_alerted_once() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.ended(at(0), "c1", WriteOutcome::Failed);
    desk.pass(at(0), at(100), WriteOutcome::Failed);
    desk.submit(100, "c2");
    desk.pass(at(100), at(700), WriteOutcome::Failed);
    desk.pass(at(700), at(1_500), WriteOutcome::Written);
    insta::assert_snapshot!(desk.told(), @r"
    0s write c1 (try 1)
    5s832ms write c1 (try 2)
    17s704ms write c1 (try 3)
    17s704ms OPEN
    1m40s c2 waits behind 1
    2m17s HALF_OPEN
    2m17s write c1 (try 4)
    2m17s OPEN
    4m17s HALF_OPEN
    4m17s write c1 (try 5)
    4m17s OPEN
    5m ALERT: 2 wait since 0s
    6m17s HALF_OPEN
    6m17s write c1 (try 6)
    6m17s OPEN
    9m30s HALF_OPEN
    9m30s write c1 (try 7)
    9m30s OPEN
    15m30s HALF_OPEN
    15m30s write c1 (try 8)
    15m30s CLOSED
    15m30s c1 is safe
    15m30s over after 15m30s
    15m30s write c2 (try 1)
    15m30s c2 is safe
    ");
    assert_eq!(desk.writes.breakers().count(), 0);
}

#[test]
fn l26_a_full_line_refuses_what_comes_on_top_and_says_so() {
    let mut desk = Desk::new(WritesPolicy { queue_max: 2, ..WritesPolicy::default() });
    desk.submit(0, "c1");
    desk.submit(0, "c2");
    assert_eq!(desk.submit(1, "c3"), Submitted::Full);
    assert_eq!(desk.submit(2, "c4"), Submitted::Full);
    desk.ended(at(3), "c1", WriteOutcome::Written);
    assert_eq!(desk.submit(4, "c3"), Submitted::Queued { ahead: 1 });
    assert_eq!(desk.submit(5, "c4"), Submitted::Full);
    insta::assert_snapshot!(desk.told(), @r"
    0s write c1 (try 1)
    0s c2 waits behind 1
    1s c3 is refused: 2 wait
    3s c1 is safe
    3s write c2 (try 1)
    4s c3 waits behind 1
    5s c4 is refused: 2 wait
    ");
    let mut desk = Desk::new(WritesPolicy { queues_max: 0, ..WritesPolicy::default() });
    assert_eq!(desk.submit(0, "c1"), Submitted::Full);
    assert_eq!(desk.told(), "0s c1 is refused: 0 wait");
}

#[test]
fn l26_a_write_whose_end_is_never_told_is_tried_again_and_a_late_end_still_counts() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.submit(0, "c2");
    desk.step(at(60), |writes, step, _| writes.wake(step));
    assert_eq!(desk.waiting(), ["c1".into(), "c2".into()], "nothing is lost");
    desk.ended(at(61), "c1", WriteOutcome::Written);
    insta::assert_snapshot!(desk.told(), @r"
    0s write c1 (try 1)
    0s c2 waits behind 1
    1m1s c1 is safe
    1m1s write c2 (try 1)
    ");
}

#[test]
fn l26_what_can_never_be_written_does_not_hold_up_the_rest_for_ever() {
    let mut desk = Desk::new(WritesPolicy::default());
    for id in ["c1", "c2", "c3", "c4"] {
        desk.submit(0, id);
    }
    desk.ended(at(1), "c1", WriteOutcome::Rejected);
    desk.step(at(2), |writes, step, breaker| assert!(writes.discard(step, breaker, &"c3".into())));
    desk.step(at(2), |writes, step, breaker| assert!(writes.discard(step, breaker, &"c2".into())));
    desk.step(at(2), |writes, step, breaker| assert!(!writes.discard(step, breaker, &"c9".into())));
    desk.ended(at(3), "c4", WriteOutcome::Written);
    insta::assert_snapshot!(desk.told(), @r"
    0s write c1 (try 1)
    0s c2 waits behind 1
    0s c3 waits behind 2
    0s c4 waits behind 3
    1s c1 is dropped
    1s write c2 (try 1)
    2s c3 is dropped
    2s c2 is dropped
    2s write c4 (try 1)
    3s c4 is safe
    ");
}

#[test]
fn l26_giving_up_the_first_in_line_ends_no_alert_while_others_wait() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.submit(0, "c2");
    desk.ended(at(0), "c1", WriteOutcome::Failed);
    desk.pass(at(0), at(320), WriteOutcome::Failed);
    desk.told();
    desk.submit(320, "c3");
    desk.ended(at(320), "c3", WriteOutcome::Written);
    assert_eq!(
        desk.told(),
        "5m20s c3 waits behind 2\n5m20s c3 is safe",
        "nor does one that was written out of turn"
    );
    desk.step(at(320), |writes, step, breaker| writes.discard(step, breaker, &"c1".into()));
    assert!(!desk.told().contains("over"));
    desk.step(at(320), |writes, step, breaker| writes.discard(step, breaker, &"c2".into()));
    assert!(desk.told().contains("over after"));
}

#[test]
fn l26_when_the_breaker_is_reset_the_line_need_not_wait_any_longer() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.ended(at(0), "c1", WriteOutcome::Failed);
    desk.pass(at(0), at(30), WriteOutcome::Failed);
    desk.told();
    desk.step(at(31), Writes::retry_now);
    assert_eq!(desk.told(), "", "it is open");
    desk.step(at(32), |writes, step, breaker| {
        step.breakers.reset(step.now, breaker, step.changes).expect("it is there");
        writes.retry_now(step, breaker);
        writes.retry_now(step, breaker);
    });
    assert_eq!(desk.told(), "32s CLOSED\n32s write c1 (try 4)");
}

#[test]
fn l26_nothing_queued_is_lost_across_a_restart() {
    let mut desk = Desk::new(WritesPolicy::default());
    for id in ["c1", "c2", "c3"] {
        desk.submit(0, id);
    }
    desk.ended(at(1), "c1", WriteOutcome::Failed);
    let mut rows = Vec::new();
    desk.writes.take_changed_rows(&mut |row| rows.extend(row.bytes.map(|bytes| (row.name, bytes))));
    desk.writes = Writes::restore(WritesPolicy::default(), rows, at(1)).expect("our own rows");
    desk.breakers = Breakers::new(Policies::default(), 7);
    assert_eq!(desk.waiting(), ["c1".into(), "c2".into(), "c3".into()]);
    desk.pass(at(1), at(60), WriteOutcome::Written);
    assert_eq!(desk.writes.breakers().count(), 0, "{}", desk.told());
    assert!(desk.told().ends_with("c3 is safe"));
    let mut gone = Vec::new();
    desk.writes.take_changed_rows(&mut |row| gone.push(row));
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].bytes, None, "and the row goes when all is written");
}

#[test]
fn l26_a_damaged_row_holds_nothing_back_for_ever() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.ended(at(0), "c1", WriteOutcome::Failed);
    let breaker = desk.breaker.clone();
    let restore = |next_at, until: Option<Timestamp>| {
        let queue = crate::breaker::Queue {
            waiting: ["c1".into()].into(),
            in_flight: until.map(|until| crate::breaker::InFlight {
                permit: crate::breaker::Permit { own: None, shared: None },
                until,
            }),
            failures: u32::MAX,
            next_at,
            failing_since: Some(Timestamp::NEVER),
            alarmed: true,
            overflowed: true,
        };
        let row = crate::record::to_row(&queue);
        Writes::restore(WritesPolicy::default(), [(breaker.clone(), row)], at(5)).expect("it can be read")
    };
    let due = restore(Timestamp::NEVER, None).deadline(at(5)).expect("something waits");
    assert!(due <= at(5) + Span::secs(375), "{due}");
    let due = restore(at(0), Some(Timestamp::NEVER)).deadline(at(5)).expect("something waits");
    assert!(due <= at(65), "{due}");
}

#[test]
fn l42_lines_are_written_when_they_changed_or_all_are_asked_for() {
    let mut desk = Desk::new(WritesPolicy::default());
    let rows = |desk: &mut Desk| {
        let mut rows = Vec::new();
        desk.writes.take_changed_rows(&mut |row| rows.push((row.name, row.bytes.unwrap_or_default())));
        rows
    };
    assert!(!desk.writes.has_changes());
    desk.submit(0, "c1");
    assert!(desk.writes.has_changes() && desk.writes.contains(&desk.breaker));
    assert_eq!(rows(&mut desk).len(), 1);
    assert!(!desk.writes.has_changes());
    desk.writes.mark_all();
    let line = rows(&mut desk);
    assert_eq!(line.len(), 1);
    let twice = line.iter().chain(&line).cloned();
    assert!(Writes::restore(WritesPolicy::default(), twice, at(1)).is_err(), "one line, one row");
    assert!(Writes::restore(WritesPolicy::default(), line, at(1)).is_ok());
    let late = at(9_999);
    assert!(desk.writes.deadline(late).is_some_and(|due| late < due), "never in the past");
    desk.ended(at(1), "c1", WriteOutcome::Written);
    assert!(!desk.writes.contains(&desk.breaker));
}

#[test]
fn l42_a_restart_does_not_shorten_the_longest_pause() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.ended(at(0), "c1", WriteOutcome::Failed);
    desk.pass(at(0), at(6 * 3_600), WriteOutcome::Failed);
    let mut rows = Vec::new();
    desk.writes.take_changed_rows(&mut |row| rows.push((row.name, row.bytes.unwrap_or_default())));
    let now = at(6 * 3_600);
    let restored = Writes::restore(WritesPolicy::default(), rows, now).expect("it was just written");
    assert!(restored.deadline(now).is_some(), "it is tried again");
    assert_eq!(restored.deadline(now), desk.writes.deadline(now));
}

#[test]
fn l42_no_line_waits_longer_than_a_restart_lets_it() {
    let policy = WritesPolicy::default();
    let mut longest = Span::ZERO;
    for number in 0..1_000 {
        let agent = AgentId::from(format!("a{number}"));
        let name = BreakerName::of_agent(&agent, Kind::Checkpoint, "store").expect("a name");
        longest = longest.max(pause_after(40, &name, &policy));
    }
    assert!(policy.pause_max < longest && longest <= longest_pause(&policy), "{longest}");
}

#[test]
fn x15_another_policy_holds_for_what_is_under_way_is_written_down_and_leaves_nothing_behind() {
    let mut desk = Desk::new(WritesPolicy::default());
    desk.submit(0, "c1");
    desk.writes.take_changed_rows(&mut |_| ());
    desk.writes.set_policy(at(1), WritesPolicy { timeout: Span::secs(3), ..WritesPolicy::default() });
    assert!(desk.writes.has_changes(), "a restart must not wait for longer");
    assert_eq!(desk.writes.deadline(at(1)), Some(at(4)));
    desk.ended(at(2), "c1", WriteOutcome::Written);
    assert_eq!(desk.writes.deadline(at(2)), None, "nothing waits");
}
