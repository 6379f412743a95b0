//! When to look at whom: a lazy ring of 100 ms buckets.
//!
//! A signal usually moves its agent's deadline further away. The ring does not follow: the agent stays in its
//! bucket, is looked at too early once, and is then put where it belongs. So re-arming costs a comparison, and
//! a million agents that beat cost one look each per timeout. A deadline beyond the ring's horizon waits in the
//! last bucket and is put further from there.

use crate::time::Timestamp;

/// Width of a bucket: how late a deadline may be noticed at most.
const BUCKET_MS: u64 = 100;
/// Buckets in the ring: a horizon of 13 minutes, just beyond 000's heartbeat timeout.
const BUCKETS: u64 = 8_192;
/// Words in which there is one bit for each bucket.
const WORDS: u64 = BUCKETS / 64;
/// Not in the ring.
const DISARMED: u64 = u64::MAX;

/// Deadlines of all slots.
#[derive(Debug)]
pub(crate) struct DeadlineRing {
    buckets: Vec<Vec<u32>>,
    /// One bit for each bucket that is not empty, to find the next one fast.
    occupied: Vec<u64>,
    places: Vec<Place>,
    /// The first tick not yet taken.
    tick: u64,
}

/// Where one slot stands. Both in one place, since both are touched by every signal.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The tick in whose bucket the slot waits; an entry in another bucket is left over.
    armed: u64,
    /// When it really wants to be looked at.
    wanted: Timestamp,
}

impl Place {
    const NOWHERE: Self = Self { armed: DISARMED, wanted: Timestamp::NEVER };
}

impl DeadlineRing {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            buckets: vec![Vec::new(); BUCKETS as usize],
            occupied: vec![0; WORDS as usize],
            places: Vec::new(),
            tick: now.as_millis() / BUCKET_MS,
        }
    }

    /// Makes room for slots below `slots`.
    pub(crate) fn grow(&mut self, slots: u32) {
        if self.places.len() < slots as usize {
            self.places.resize(slots as usize, Place::NOWHERE);
        }
    }

    /// Has the slot looked at when `deadline` is past.
    pub(crate) fn arm(&mut self, slot: u32, deadline: Timestamp) {
        let place = &mut self.places[slot as usize];
        place.wanted = deadline;
        // The first tick at whose beginning the deadline is past: rounding up, nobody is looked at too early.
        let tick =
            deadline.as_millis().div_ceil(BUCKET_MS).clamp(self.tick, self.tick.saturating_add(BUCKETS - 1));
        if tick < place.armed {
            self.enter(slot, tick);
        }
    }

    fn enter(&mut self, slot: u32, tick: u64) {
        self.places[slot as usize].armed = tick;
        let bucket = tick % BUCKETS;
        self.buckets[bucket as usize].push(slot);
        self.occupied[(bucket / 64) as usize] |= 1 << (bucket % 64);
    }

    /// The slot wants nothing any more. Its entry stays where it is and is dropped when its bucket comes.
    pub(crate) fn disarm(&mut self, slot: u32) {
        self.places[slot as usize].wanted = Timestamp::NEVER;
    }

    /// Takes out everybody whose deadline has come; the caller arms them anew.
    pub(crate) fn take_due(&mut self, now: Timestamp, due: &mut Vec<u32>) {
        let last = now.as_millis() / BUCKET_MS;
        let first_due = due.len();
        while let Some(next) = self.next_occupied().filter(|tick| *tick <= last) {
            self.tick = next + 1;
            let bucket = (next % BUCKETS) as usize;
            self.occupied[bucket / 64] &= !(1 << (bucket % 64));
            let mut waiting = std::mem::take(&mut self.buckets[bucket]);
            for slot in waiting.drain(..) {
                let place = &mut self.places[slot as usize];
                if place.armed == next {
                    place.armed = DISARMED;
                    due.push(slot);
                }
            }
            // An emptied bucket keeps its memory only while it is small: a burst should not stay for ever.
            if waiting.capacity() <= 64 {
                self.buckets[bucket] = waiting;
            }
        }
        self.tick = self.tick.max(last.saturating_add(1));
        self.put_further(now, due, first_due);
    }

    /// Puts those whose deadline has moved where it is now; only once the clock stands, so that a long jump of time
    /// is one step and not one for every round of the ring.
    fn put_further(&mut self, now: Timestamp, due: &mut Vec<u32>, first_due: usize) {
        let mut kept = first_due;
        for at in first_due..due.len() {
            let slot = due[at];
            let wanted = self.places[slot as usize].wanted;
            if wanted <= now {
                due[kept] = slot;
                kept += 1;
            } else if wanted != Timestamp::NEVER {
                self.arm(slot, wanted);
            }
        }
        due.truncate(kept);
    }

    /// When the next bucket comes.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.next_occupied().map(|tick| Timestamp::from_millis(tick.saturating_mul(BUCKET_MS)))
    }

    fn next_occupied(&self) -> Option<u64> {
        let start = self.tick % BUCKETS;
        for step in 0..=WORDS {
            let word = (start / 64 + step) % WORDS;
            let mut bits = self.occupied[word as usize];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == WORDS {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let bucket = word * 64 + u64::from(bits.trailing_zeros());
                return Some(self.tick + (bucket + BUCKETS - start) % BUCKETS);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn due_at(ring: &mut DeadlineRing, now: u64) -> Vec<u32> {
        let mut due = Vec::new();
        ring.take_due(at(now), &mut due);
        due
    }

    #[test]
    fn a_deadline_is_noticed_within_a_bucket_and_never_before_it() {
        let mut ring = DeadlineRing::new(at(0));
        ring.grow(2);
        ring.arm(0, at(1_001));
        assert_eq!(ring.next(), Some(at(1_100)));
        assert_eq!(due_at(&mut ring, 1_099), []);
        assert_eq!(due_at(&mut ring, 1_100), [0]);
        assert_eq!(ring.next(), None);
    }

    #[test]
    fn a_deadline_that_moves_away_costs_one_look_and_one_that_comes_nearer_is_met() {
        let mut ring = DeadlineRing::new(at(0));
        ring.grow(1);
        ring.arm(0, at(1_000));
        ring.arm(0, at(9_000));
        assert_eq!(due_at(&mut ring, 1_000), [], "looked at where it was, and put further");
        assert_eq!(ring.next(), Some(at(9_000)));
        ring.arm(0, at(2_000));
        assert_eq!(due_at(&mut ring, 2_000), [0]);
        assert_eq!(due_at(&mut ring, 9_000), [], "what is left over is nobody's");
    }

    #[test]
    fn a_deadline_beyond_the_horizon_waits_in_the_last_bucket() {
        let mut ring = DeadlineRing::new(at(0));
        ring.grow(1);
        ring.arm(0, at(0) + Span::hours(24));
        let first = ring.next().expect("it is armed");
        assert_eq!(first, at((BUCKETS - 1) * BUCKET_MS));
        assert_eq!(due_at(&mut ring, first.as_millis()), [], "it is not due yet");
        assert_eq!(ring.next(), Some(at((2 * BUCKETS - 1) * BUCKET_MS)), "a round further");
        assert_eq!(due_at(&mut ring, 86_400_000), [0]);
    }

    #[test]
    fn a_long_jump_finds_everybody_in_order_of_their_buckets() {
        let mut ring = DeadlineRing::new(at(0));
        ring.grow(3);
        ring.arm(2, at(500));
        ring.arm(0, at(800_000));
        ring.arm(1, at(70_000));
        assert_eq!(due_at(&mut ring, 100_000_000), [2, 1, 0]);
        ring.arm(1, at(3));
        assert_eq!(due_at(&mut ring, 100_000_100), [1], "a deadline in the past is met at once");
    }
}
