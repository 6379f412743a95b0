//! All that a detector remembers, as bytes: what a restart goes on from, for the steps themselves are kept no longer.
//!
//! The first byte names the layout. Tables that are not full yet take no more than what is in them.

use super::detector::Detector;
use super::history::{History, Past};
use super::judgement::Evidence;
use super::memory::{Memory, Seen};
use super::recurrence::Recurrence;
use super::standstill::Standstill;
use super::stored::{
    bits, chunk, kind_from_byte, kind_to_byte, marks, put_narrow, put_sketch, take_narrow, take_sketch,
};
use crate::record::{Damaged, Stored};

/// The layout of a memory. A change of layout raises it, and keeps a reader for the one before.
const VERSION: u8 = 1;

impl Stored for Detector {
    fn put(&self, row: &mut Vec<u8>) {
        let Self {
            weights: _,
            history,
            memory,
            standstill,
            recurrence,
            place,
            calls,
            news_at,
            turn_at,
            heard_at,
            did_at,
            last_ended_ms,
            last_output,
        } = self;
        row.push(VERSION);
        history.put(row);
        memory.put(row);
        standstill.put(row);
        recurrence.put(row);
        for number in [place, calls, news_at, turn_at, heard_at, did_at] {
            number.put(row);
        }
        last_ended_ms.put(row);
        put_digests(last_output, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        if u8::take(row)? != VERSION {
            return Err(Damaged);
        }
        Ok(Self {
            weights: Default::default(),
            history: History::take(row)?,
            memory: Memory::take(row)?,
            standstill: Standstill::take(row)?,
            recurrence: Recurrence::take(row)?,
            place: u32::take(row)?,
            calls: u32::take(row)?,
            news_at: u32::take(row)?,
            turn_at: u32::take(row)?,
            heard_at: u32::take(row)?,
            did_at: u32::take(row)?,
            last_ended_ms: Stored::take(row)?,
            last_output: take_digests(row)?,
        })
    }
}

impl Stored for History {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { ring, next } = self;
        row.push(*next as u8);
        for past in ring {
            past.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let mut history = Self { next: usize::from(u8::take(row)?), ..Self::default() };
        for past in &mut history.ring {
            *past = Stored::take(row)?;
        }
        if history.next < history.ring.len() { Ok(history) } else { Err(Damaged) }
    }
}

impl Stored for Past {
    fn put(&self, row: &mut Vec<u8>) {
        let Self {
            step,
            place,
            call,
            told,
            gist,
            target,
            replaced,
            written,
            count,
            said,
            words,
            body,
            kind,
            marks,
            news,
            changed,
            redone,
            batched,
            overcome,
        } = self;
        step.put(row);
        place.put(row);
        row.extend(call.to_le_bytes());
        put_digests(&[*told, *gist, *target, *replaced, *written, *count], row);
        put_narrow(said, row);
        put_narrow(words, row);
        put_sketch(body, row);
        row.push(kind_to_byte(*kind));
        row.extend(bits(*marks).to_le_bytes());
        let flags = [news, changed, redone, batched, overcome];
        row.push(flags.iter().enumerate().fold(0, |byte, (place, flag)| byte | u8::from(**flag) << place));
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let (step, place, call) = (u32::take(row)?, u32::take(row)?, u64::from_le_bytes(chunk(row)?));
        let [told, gist, target, replaced, written, count] = take_digests(row)?;
        let (said, words, body) = (take_narrow(row)?, take_narrow(row)?, take_sketch(row)?);
        let (kind, marks) = (kind_from_byte(u8::take(row)?)?, marks(u16::from_le_bytes(chunk(row)?))?);
        let flags = u8::take(row)?;
        let [news, changed, redone, batched, overcome] = [0, 1, 2, 3, 4].map(|bit| flags & 1 << bit != 0);
        if flags >> 5 != 0 {
            return Err(Damaged);
        }
        Ok(Self {
            step,
            place,
            call,
            told,
            gist,
            target,
            replaced,
            written,
            count,
            said,
            words,
            body,
            kind,
            marks,
            news,
            changed,
            redone,
            batched,
            overcome,
        })
    }
}

impl Stored for Memory {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { seen, words } = self;
        seen.put(row);
        words.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(Self { seen: Seen::take(row)?, words: Seen::take(row)? })
    }
}

/// Each row of the table up to the last digest in it.
impl Stored for Seen {
    fn put(&self, row: &mut Vec<u8>) {
        for digests in &self.rows {
            let length = digests.iter().rposition(|digest| *digest != 0).map_or(0, |last| last + 1);
            row.push(length as u8);
            put_digests(&digests[..length], row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let mut seen = Self::default();
        for digests in &mut seen.rows {
            let length = usize::from(u8::take(row)?);
            for digest in digests.get_mut(..length).ok_or(Damaged)? {
                *digest = u32::from_le_bytes(chunk(row)?);
            }
        }
        Ok(seen)
    }
}

impl Stored for Standstill {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { evidence, since, looks, call, varied, shares } = self;
        evidence.put(row);
        since.put(row);
        looks.put(row);
        row.extend(call.to_le_bytes());
        varied.put(row);
        shares.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(Self {
            evidence: Evidence::take(row)?,
            since: u32::take(row)?,
            looks: u32::take(row)?,
            call: u64::from_le_bytes(chunk(row)?),
            varied: bool::take(row)?,
            shares: Stored::take(row)?,
        })
    }
}

impl Stored for Recurrence {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { evidence, since, kind, place, call } = self;
        evidence.put(row);
        since.put(row);
        kind.put(row);
        place.put(row);
        row.extend(call.to_le_bytes());
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(Self {
            evidence: Evidence::take(row)?,
            since: u32::take(row)?,
            kind: Stored::take(row)?,
            place: u32::take(row)?,
            call: u64::from_le_bytes(chunk(row)?),
        })
    }
}

impl Stored for Evidence {
    fn put(&self, row: &mut Vec<u8>) {
        row.push(self.steps().len() as u8);
        for step in self.steps() {
            step.put(row);
        }
        self.count.put(row);
        self.alike.put(row);
        self.points.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let (length, mut evidence) = (u8::take(row)?, Self::default());
        for _ in 0..length {
            evidence.push(u32::take(row)?);
        }
        if evidence.steps().len() != usize::from(length) {
            return Err(Damaged);
        }
        (evidence.count, evidence.alike, evidence.points) =
            (u32::take(row)?, u32::take(row)?, u32::take(row)?);
        Ok(evidence)
    }
}

/// Digests are as random as they are, so they take their full width.
fn put_digests(digests: &[u32], row: &mut Vec<u8>) {
    row.extend(digests.iter().flat_map(|digest| digest.to_le_bytes()));
}

fn take_digests<const N: usize>(row: &mut &[u8]) -> Result<[u32; N], Damaged> {
    let mut digests = [0; N];
    for digest in &mut digests {
        *digest = u32::from_le_bytes(chunk(row)?);
    }
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::super::{Role, StepPrint, ToolStep};
    use super::*;
    use crate::record::{from_row, to_row};

    /// A detector after so many steps of every kind.
    fn after(steps: u32) -> Detector {
        let mut detector = Detector::default();
        for number in 0..steps {
            let (args, result) =
                (format!("look at part {}", number % 7), format!("word{number} and more of it"));
            let call = ToolStep { tool: "run", args: &args, result: &result, ..ToolStep::default() };
            let timed = ToolStep { started_ms: Some(number.into()), ended_ms: Some(number.into()), ..call };
            let failed = ToolStep { result: "error: cannot look", error: Some(true), ..timed };
            detector.observe(
                number,
                &match number % 9 {
                    0..=3 => StepPrint::of_call(&failed),
                    4 => StepPrint::of_message(Role::Agent, "let me look at all of that once more"),
                    5 => StepPrint::of_message(Role::User, &result),
                    6 => StepPrint::of_output(Some(number), None, Some(3)),
                    _ => StepPrint::of_call(&timed),
                },
            );
        }
        detector
    }

    #[test]
    fn x20_a_memory_comes_back_as_it_was_and_is_no_larger_than_it_is_held() {
        for steps in [0, 1, 5, 63, 64, 1_000] {
            let (detector, bytes) = (after(steps), to_row(&after(steps)));
            assert!(bytes.len() <= size_of::<Detector>(), "{} bytes", bytes.len());
            assert_eq!(from_row::<Detector>(&bytes), Ok(detector), "after {steps} steps");
        }
    }

    #[test]
    fn x20_what_is_no_memory_is_refused() {
        let good = to_row(&after(100));
        for length in (0..good.len()).step_by(13) {
            assert!(from_row::<Detector>(&good[..length]).is_err(), "{length} bytes");
        }
        for (place, byte) in [(0, 2), (1, 200), (2, 7)] {
            let mut bad = good.clone();
            bad[place] = byte;
            assert!(from_row::<Detector>(&bad).is_err(), "byte {place}");
        }
    }
}
