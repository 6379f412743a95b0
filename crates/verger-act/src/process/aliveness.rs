//! Whether a tree is at work, waits, or was stopped: judged from two looks at it, never from one sign alone (H03).
//!
//! A processor that was used, an output, a child that came or went: each shows work, whatever else looks still. Without
//! them a program may just wait, for a person, a timer or the network, and that is no freeze. Frozen is who is stopped
//! by a signal in two looks in a row, and did nothing between them; a person who pressed Ctrl-Z has not frozen it, and
//! neither has a debugger.

use std::time::Duration;

use super::proc::State;
use super::sample::Sample;

/// What the caller knows besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// How long ago it printed something; `None` if it never did, or nobody listens.
    pub output_age: Option<Duration>,
    /// Whether a person stopped it, with Ctrl-Z on its terminal.
    pub stopped_by_person: bool,
    /// How long it may wait for a device or a lock of the kernel before that is no longer usual.
    pub blocked_limit: Duration,
}

impl Default for Seen {
    /// Nobody stopped it, nothing was heard, and disks are slow at times.
    fn default() -> Self {
        Self { output_age: None, stopped_by_person: false, blocked_limit: Duration::from_mins(2) }
    }
}

/// How a tree stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliveness {
    /// It works.
    Running(Sign),
    /// Nothing moves, and everybody sleeps: for a timer, an answer, a person. No freeze.
    Waiting,
    /// The root is stopped by a signal, and nothing moves.
    Stopped {
        /// Whether a person did it; then it is no freeze.
        by_person: bool,
    },
    /// The root is not, some below it are, and nothing moves. A shell whose job was stopped looks so.
    PartlyStopped {
        /// Whether a person did it.
        by_person: bool,
    },
    /// A debugger holds it. No freeze.
    Traced,
    /// It hangs in the kernel, and has for longer than is usual.
    Blocked {
        /// For how long.
        since: Duration,
    },
    /// The root has ended.
    Ended,
    /// One look is not enough.
    Undecided,
}

/// What shows that a tree works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It used a processor.
    Processor,
    /// It printed something.
    Output,
    /// Processes came or went.
    Children,
}

impl Aliveness {
    /// Whether it cannot go on by itself, though it has not ended and nobody wants it so.
    pub fn is_freeze(self) -> bool {
        matches!(
            self,
            Self::Stopped { by_person: false }
                | Self::PartlyStopped { by_person: false }
                | Self::Blocked { .. }
        )
    }
}

/// How a tree stands, from the look before and this one.
pub fn look(previous: Option<&Sample>, now: &Sample, seen: &Seen) -> Aliveness {
    let Some(root) = now.root.filter(|root| root.state != State::Zombie) else { return Aliveness::Ended };
    if root.state == State::Traced {
        return Aliveness::Traced;
    }
    let Some(previous) = previous else { return Aliveness::Undecided };
    if let Some(sign) = work(previous, now, seen) {
        return Aliveness::Running(sign);
    }
    let by_person = seen.stopped_by_person;
    let was_stopped = |sample: &Sample| sample.root.is_some_and(|root| root.state == State::Stopped);
    if root.state == State::Stopped {
        // It may have been stopped just now, for a moment.
        return if was_stopped(previous) { Aliveness::Stopped { by_person } } else { Aliveness::Undecided };
    }
    if 0 < previous.stopped.min(now.stopped) {
        return Aliveness::PartlyStopped { by_person };
    }
    let blocked = now.blocked_since.map(|since| now.at.saturating_duration_since(since));
    match blocked.filter(|since| seen.blocked_limit <= *since) {
        Some(since) => Aliveness::Blocked { since },
        None => Aliveness::Waiting,
    }
}

fn work(previous: &Sample, now: &Sample, seen: &Seen) -> Option<Sign> {
    let between = now.at.saturating_duration_since(previous.at);
    if seen.output_age.is_some_and(|age| age < between) {
        Some(Sign::Output)
    } else if previous.cpu < now.cpu {
        Some(Sign::Processor)
    } else if previous.family != now.family {
        Some(Sign::Children)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::sample::RootSample;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Two looks, a second apart, at a tree in which nothing moves.
    fn still(state: State) -> (Sample, Sample) {
        let before = Sample {
            at: Instant::now(),
            root: Some(RootSample { state, tracer: None }),
            processes: 2,
            stopped: u32::from(state == State::Stopped),
            blocked: u32::from(state == State::Blocked),
            blocked_since: None,
            cpu: SECOND,
            memory: 0,
            family: 7,
        };
        let now = Sample { at: before.at + SECOND, ..before.clone() };
        (before, now)
    }

    fn told(looks: &(Sample, Sample), seen: &Seen) -> Aliveness {
        look(Some(&looks.0), &looks.1, seen)
    }

    #[test]
    fn h03_each_sign_of_work_alone_shows_that_it_works_also_while_it_looks_stopped() {
        for state in [State::Running, State::Sleeping, State::Blocked, State::Stopped] {
            let seen = Seen::default();
            let mut looks = still(state);
            looks.1.cpu += Duration::from_millis(10);
            assert_eq!(told(&looks, &seen), Aliveness::Running(Sign::Processor));
            let mut looks = still(state);
            looks.1.family = 8;
            assert_eq!(told(&looks, &seen), Aliveness::Running(Sign::Children));
            let spoke = Seen { output_age: Some(SECOND / 2), ..seen };
            assert_eq!(told(&still(state), &spoke), Aliveness::Running(Sign::Output));
        }
    }

    #[test]
    fn h03_who_waits_is_not_frozen() {
        let old = Seen { output_age: Some(Duration::from_hours(9)), ..Seen::default() };
        for seen in [old, Seen::default()] {
            assert_eq!(told(&still(State::Sleeping), &seen), Aliveness::Waiting);
            assert!(!told(&still(State::Sleeping), &seen).is_freeze());
        }
    }

    #[test]
    fn h03_who_is_stopped_in_two_looks_is_frozen_unless_a_person_did_it() {
        let looks = still(State::Stopped);
        assert_eq!(told(&looks, &Seen::default()), Aliveness::Stopped { by_person: false });
        assert!(told(&looks, &Seen::default()).is_freeze());
        let person = Seen { stopped_by_person: true, ..Seen::default() };
        assert!(!told(&looks, &person).is_freeze());
        let just_now = (still(State::Sleeping).0, looks.1.clone());
        assert_eq!(told(&just_now, &Seen::default()), Aliveness::Undecided);
        assert_eq!(look(None, &looks.1, &Seen::default()), Aliveness::Undecided);
    }

    #[test]
    fn h03_a_shell_whose_job_is_stopped_is_told_apart() {
        let mut looks = still(State::Sleeping);
        (looks.0.stopped, looks.1.stopped) = (1, 1);
        assert_eq!(told(&looks, &Seen::default()), Aliveness::PartlyStopped { by_person: false });
    }

    #[test]
    fn h03_a_debugger_freezes_nobody() {
        assert_eq!(told(&still(State::Traced), &Seen::default()), Aliveness::Traced);
        assert!(!Aliveness::Traced.is_freeze());
    }

    #[test]
    fn h03_who_hangs_in_the_kernel_is_frozen_only_after_a_while() {
        let mut looks = still(State::Blocked);
        let seen = Seen { blocked_limit: 10 * SECOND, ..Seen::default() };
        looks.1.blocked_since = Some(looks.0.at);
        assert_eq!(told(&looks, &seen), Aliveness::Waiting);
        looks.1.at += 9 * SECOND;
        assert_eq!(told(&looks, &seen), Aliveness::Blocked { since: 10 * SECOND });
        assert!(told(&looks, &seen).is_freeze());
    }

    #[test]
    fn who_has_ended_is_neither_alive_nor_frozen() {
        let mut looks = still(State::Zombie);
        assert_eq!(told(&looks, &Seen::default()), Aliveness::Ended);
        looks.1.root = None;
        assert_eq!(told(&looks, &Seen::default()), Aliveness::Ended);
    }
}
