//! Reads a history: samples, and the changes of state that lie between them.
//!
//! Samples are taken from time to time and may be lost in a crash. Every change of state is in the journal, on disk
//! before anybody saw it. Read together they say at each moment in which state an agent was, whatever happened to the
//! monitor; at a change of which there is no sample, the counters are those of the sample before it.

use verger_api::{AgentMetrics, EventType, HealthSnapshot, HealthState, LivenessStatus, Time};
use verger_core::id::AgentId;
use verger_core::time::WallTime;
use verger_store::{Archive, Error, EventQuery, JournalEvent, Snapshot};

use crate::wire;

/// Changes of state that are read at once.
const READ: usize = 1_000;
/// How far back the counters are looked for that an agent had before the first change of a page.
const EARLIER_MS: i64 = 86_400_000;
/// Changes of state that are read for one page at most; of more, the latest.
const CHANGES_MAX: usize = 10_000;

/// A part of an agent's history.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Whose.
    pub agent: AgentId,
    /// From when on.
    pub from: WallTime,
    /// Until before when.
    pub until: WallTime,
    /// At most so many; more only where several are of one moment.
    pub limit: usize,
}

impl Stretch {
    /// What is known of it, oldest first, and whether there is more behind that.
    pub fn read(&self, archive: &Archive) -> Result<(Vec<HealthSnapshot>, bool), Error> {
        let mut samples = archive.history_page(&self.agent, self.from, self.until, self.limit + 1)?;
        let rest = samples.get(self.limit).map(|first| first.at.wall);
        samples.truncate(self.limit);
        let changes = self.changes(archive, rest.unwrap_or(self.until))?;
        let earlier = self.earlier(archive)?;
        let mut all = merged(earlier.as_ref(), samples.iter().filter_map(seen).collect(), &changes);
        let cut = cut(&all, self.limit);
        let has_more = rest.is_some() || cut < all.len();
        all.truncate(cut);
        Ok((all, has_more))
    }

    /// The last sample before it.
    fn earlier(&self, archive: &Archive) -> Result<Option<HealthSnapshot>, Error> {
        let from = WallTime(self.from.0.saturating_sub(EARLIER_MS));
        Ok(archive.history(&self.agent, from, self.from, 1)?.last().and_then(seen))
    }

    /// The changes of state until then, oldest first.
    fn changes(&self, archive: &Archive, until: WallTime) -> Result<Vec<JournalEvent>, Error> {
        let mut query = EventQuery {
            agent: Some(self.agent.clone()),
            kind: Some(EventType::HealthStateChanged.as_str().to_owned()),
            from: Some(self.from),
            until: Some(until),
            limit: READ,
            ..EventQuery::default()
        };
        let mut changes = Vec::new();
        loop {
            let mut found = archive.events(&query)?;
            let is_last = found.len() < READ || CHANGES_MAX <= changes.len() + found.len();
            query.before = found.last().map(|event| event.id);
            changes.append(&mut found);
            if is_last {
                changes.reverse();
                return Ok(changes);
            }
        }
    }
}

/// What was sampled; nothing if it cannot be read.
fn seen(sample: &Snapshot) -> Option<HealthSnapshot> {
    let told: HealthSnapshot = serde_json::from_str(&sample.body).ok()?;
    Some(HealthSnapshot { at: Time::from_millis(sample.at.wall.0), ..told })
}

/// How many are on the page: no moment is torn apart, for the next page begins after it.
fn cut(all: &[HealthSnapshot], limit: usize) -> usize {
    let Some(last) = limit.checked_sub(1).and_then(|at| all.get(at)) else { return all.len() };
    limit + all[limit..].iter().take_while(|next| next.at == last.at).count()
}

/// Both in the order of their moments. What was sampled at the moment of a change stands for it.
///
/// One that was taken a little later does not, though it says the same: of a second the latest sample is kept, so it may
/// be another one when the next page is read, and a change that moved with it would be on neither page.
fn merged(
    earlier: Option<&HealthSnapshot>,
    samples: Vec<HealthSnapshot>,
    changes: &[JournalEvent],
) -> Vec<HealthSnapshot> {
    let mut all = samples;
    for event in changes {
        let (at, to) = (Time::from_millis(event.at.wall.0), wire::state_after(event));
        let (Some(state), Some((_, incarnation))) = (to, &event.agent) else { continue };
        let is_of_it =
            |seen: &HealthSnapshot| (seen.at, seen.state, seen.incarnation) == (at, state, incarnation.0);
        let known = all.iter().position(is_of_it).map(|place| all.remove(place));
        let place = all.partition_point(|seen| seen.at <= at);
        let told = known.unwrap_or_else(|| {
            let before = place.checked_sub(1).and_then(|place| all.get(place)).or(earlier);
            let same_life = before.filter(|before| before.incarnation == incarnation.0);
            let told = same_life.cloned().unwrap_or_else(|| unseen(incarnation.0));
            HealthSnapshot { at, state, liveness: liveness(&told, state), ..told }
        });
        all.insert(place, told);
    }
    all
}

/// Of a life that was never sampled before, nothing is known but its state.
fn unseen(incarnation: u32) -> HealthSnapshot {
    HealthSnapshot {
        at: Time::from_millis(0),
        incarnation,
        state: HealthState::Unknown,
        liveness: LivenessStatus::Online,
        waiting_on: None,
        task_id: None,
        metrics: AgentMetrics::default(),
    }
}

fn liveness(before: &HealthSnapshot, state: HealthState) -> LivenessStatus {
    if state == HealthState::Terminated { LivenessStatus::Offline } else { before.liveness }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_core::id::Incarnation;
    use verger_core::time::Timestamp;
    use verger_store::Moment;

    fn sample(millis: i64, state: HealthState) -> HealthSnapshot {
        let metrics = AgentMetrics { token_count: millis.unsigned_abs(), ..AgentMetrics::default() };
        HealthSnapshot { at: Time::from_millis(millis), state, metrics, ..unseen(1) }
    }

    fn change(millis: i64, to: &str) -> JournalEvent {
        JournalEvent {
            id: millis,
            kind: EventType::HealthStateChanged.as_str().to_owned(),
            agent: Some(("a".into(), Incarnation::FIRST)),
            task: None,
            at: Moment { observed: Timestamp::ZERO, wall: WallTime(millis) },
            body: format!(r#"{{"data":{{"to":"{to}"}}}}"#),
        }
    }

    fn told(all: &[HealthSnapshot]) -> Vec<(i64, &'static str, u64)> {
        all.iter().map(|seen| (seen.at.as_millis(), seen.state.as_str(), seen.metrics.token_count)).collect()
    }

    #[test]
    fn l46_a_change_that_was_not_sampled_is_told_from_the_journal_with_the_counters_before_it() {
        let sampled = vec![sample(1_000, HealthState::Healthy), sample(9_000, HealthState::Stuck)];
        let all = merged(None, sampled, &[change(4_000, "DEGRADED"), change(8_000, "STUCK")]);
        assert_eq!(
            told(&all),
            [
                (1_000, "HEALTHY", 1_000),
                (4_000, "DEGRADED", 1_000),
                (8_000, "STUCK", 1_000),
                (9_000, "STUCK", 9_000)
            ]
        );
    }

    #[test]
    fn l46_a_change_that_was_sampled_is_told_once() {
        let sampled = vec![sample(4_000, HealthState::Degraded)];
        assert_eq!(told(&merged(None, sampled, &[change(4_000, "DEGRADED")])), [(4_000, "DEGRADED", 4_000)]);
    }

    #[test]
    fn l46_a_change_stays_at_its_moment_whichever_sample_of_its_second_is_kept() {
        let changes = [change(4_000, "HEALTHY"), change(4_000, "FAILING")];
        for taken in [4_000, 4_002, 4_900] {
            let all = merged(None, vec![sample(taken, HealthState::Failing)], &changes);
            let mut moments: Vec<_> = told(&all).iter().map(|(at, state, _)| (*at, *state)).collect();
            moments.truncate(2);
            assert_eq!(moments, [(4_000, "HEALTHY"), (4_000, "FAILING")], "sampled at {taken}");
            assert_eq!(cut(&all, 1), 2, "both are on the page");
        }
    }

    #[test]
    fn l46_of_two_changes_to_one_state_in_a_second_both_are_told() {
        let changes = [change(4_100, "DEGRADED"), change(4_200, "HEALTHY"), change(4_300, "DEGRADED")];
        let all = merged(None, vec![sample(4_300, HealthState::Degraded)], &changes);
        assert_eq!(told(&all), [(4_100, "DEGRADED", 0), (4_200, "HEALTHY", 0), (4_300, "DEGRADED", 4_300)]);
    }

    #[test]
    fn l46_of_two_changes_in_one_second_both_are_told_though_one_sample_is_kept() {
        let sampled = vec![sample(4_200, HealthState::Stuck)];
        let all = merged(None, sampled, &[change(4_100, "DEGRADED"), change(4_200, "STUCK")]);
        assert_eq!(told(&all), [(4_100, "DEGRADED", 0), (4_200, "STUCK", 4_200)]);
    }

    #[test]
    fn l46_a_page_that_begins_with_a_change_has_the_counters_of_the_page_before_it() {
        let earlier = sample(3_000, HealthState::Healthy);
        let all = merged(Some(&earlier), vec![], &[change(4_000, "STUCK")]);
        assert_eq!(told(&all), [(4_000, "STUCK", 3_000)]);
    }

    #[test]
    fn a_page_ends_between_two_moments() {
        let all: Vec<_> = [1, 2, 2, 2, 3].map(|at| sample(at, HealthState::Healthy)).into();
        assert_eq!([1, 2, 3, 4, 5, 9].map(|limit| cut(&all, limit)), [1, 4, 4, 4, 5, 5]);
    }
}
