//! A fingerprint as bytes, for whoever keeps the last ones: of what was printed, nothing is lost.
//!
//! The first byte names the layout. Digests are as random as they are, so they take their full width; a print is
//! never longer than in memory, but for that byte.

use super::call::{BODY, SAID};
use super::outcome::TOLD;
use super::print::{Marks, Role, StepKind, StepPrint};
use super::sketch::{Narrow, Sketch};
use crate::record::{Damaged, Stored};

/// The layout of a print. A change of layout raises it, and keeps a reader for the one before.
const VERSION: u8 = 1;

/// Each mark is the bit of its place here, for ever.
const MARKS: [Marks; 15] = [
    Marks::ASKS,
    Marks::CHANGES,
    Marks::WAITS,
    Marks::NO_STEP,
    Marks::IDLES,
    Marks::PROSE,
    Marks::SOLID,
    Marks::FAILED,
    Marks::NOTHING,
    Marks::EMPTY,
    Marks::PAGE,
    Marks::TIMED,
    Marks::EDITS,
    Marks::TESTS,
    Marks::HELD,
];

impl Stored for StepPrint {
    fn put(&self, row: &mut Vec<u8>) {
        let Self {
            call,
            started_ms,
            took_ms,
            told,
            gist,
            target,
            replaced,
            written,
            count,
            said,
            body,
            lines,
            words,
            kind,
            marks,
        } = self;
        row.extend([VERSION, kind_to_byte(*kind)]);
        row.extend(bits(*marks).to_le_bytes());
        row.extend(call.to_le_bytes());
        started_ms.put(row);
        took_ms.put(row);
        // Most count nothing: so that takes one byte.
        count.wrapping_add(1).put(row);
        for digest in [told, gist, target, replaced, written] {
            row.extend(digest.to_le_bytes());
        }
        put_narrow(said, row);
        put_sketch(body, row);
        put_sketch(lines, row);
        put_sketch(words, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        if u8::take(row)? != VERSION {
            return Err(Damaged);
        }
        let kind = kind_from_byte(u8::take(row)?)?;
        let marks = marks(u16::from_le_bytes(chunk(row)?))?;
        let call = u64::from_le_bytes(chunk(row)?);
        let started_ms = i64::take(row)?;
        let took_ms = u32::take(row)?;
        let count = u32::take(row)?.wrapping_sub(1);
        let mut digest = || chunk(row).map(u32::from_le_bytes);
        let [told, gist, target, replaced, written] = [digest()?, digest()?, digest()?, digest()?, digest()?];
        let (said, body) = (take_narrow::<SAID>(row)?, take_sketch::<BODY>(row)?);
        let (lines, words) = (take_sketch::<TOLD>(row)?, take_sketch::<TOLD>(row)?);
        Ok(Self {
            call,
            started_ms,
            took_ms,
            told,
            gist,
            target,
            replaced,
            written,
            count,
            said,
            body,
            lines,
            words,
            kind,
            marks,
        })
    }
}

impl StepPrint {
    /// Whether a person, or whoever gives the agent its work, said something.
    pub(crate) fn is_said_by_person(&self) -> bool {
        self.kind == StepKind::Said(Role::User)
    }
}

pub(super) fn kind_to_byte(kind: StepKind) -> u8 {
    match kind {
        StepKind::Call => 0,
        StepKind::Said(Role::Agent) => 1,
        StepKind::Said(Role::User) => 2,
        StepKind::Said(Role::Other) => 3,
        StepKind::Output => 4,
    }
}

pub(super) fn kind_from_byte(byte: u8) -> Result<StepKind, Damaged> {
    Ok(match byte {
        0 => StepKind::Call,
        1 => StepKind::Said(Role::Agent),
        2 => StepKind::Said(Role::User),
        3 => StepKind::Said(Role::Other),
        4 => StepKind::Output,
        _ => return Err(Damaged),
    })
}

pub(super) fn bits(marks: Marks) -> u16 {
    let set = MARKS.iter().enumerate().filter(|(_, mark)| marks.has(**mark));
    set.fold(0, |bits, (place, _)| bits | 1 << place)
}

pub(super) fn marks(bits: u16) -> Result<Marks, Damaged> {
    if bits >> MARKS.len() != 0 {
        return Err(Damaged);
    }
    let mut marks = Marks::default();
    for (place, mark) in MARKS.into_iter().enumerate() {
        marks.set(mark, bits & 1 << place != 0);
    }
    Ok(marks)
}

pub(super) fn put_sketch<const N: usize>(sketch: &Sketch<N>, row: &mut Vec<u8>) {
    row.push(sketch.digests().len() as u8);
    row.extend(sketch.digests().iter().flat_map(|digest| digest.to_le_bytes()));
}

pub(super) fn put_narrow<const N: usize>(narrow: &Narrow<N>, row: &mut Vec<u8>) {
    row.push(narrow.digests().len() as u8);
    row.extend(narrow.digests().iter().flat_map(|digest| digest.to_le_bytes()));
}

pub(super) fn take_sketch<const N: usize>(row: &mut &[u8]) -> Result<Sketch<N>, Damaged> {
    let (length, mut sketch) = (u8::take(row)?, Sketch::default());
    for _ in 0..length {
        sketch.insert(u32::from_le_bytes(chunk(row)?));
    }
    if sketch.digests().len() == usize::from(length) { Ok(sketch) } else { Err(Damaged) }
}

pub(super) fn take_narrow<const N: usize>(row: &mut &[u8]) -> Result<Narrow<N>, Damaged> {
    let (length, mut wide) = (u8::take(row)?, Sketch::<N>::default());
    for _ in 0..length {
        wide.insert(u32::from(u16::from_le_bytes(chunk(row)?)) << 16);
    }
    if wide.digests().len() == usize::from(length) { Ok(wide.narrow()) } else { Err(Damaged) }
}

pub(super) fn chunk<const N: usize>(row: &mut &[u8]) -> Result<[u8; N], Damaged> {
    let (chunk, rest) = row.split_first_chunk().ok_or(Damaged)?;
    *row = rest;
    Ok(*chunk)
}

#[cfg(test)]
mod tests {
    use super::super::ToolStep;
    use super::*;
    use crate::record::{from_row, to_row};

    fn print() -> StepPrint {
        let mut print = StepPrint::of_message(Role::User, "");
        print.kind = StepKind::Call;
        (print.call, print.told, print.written) = (0x0102_0304_0506_0708, 9, 0xffff_ffff);
        (print.started_ms, print.took_ms) = (1_000, 250);
        for digest in [7_u32 << 16, 3 << 16] {
            print.body.insert(digest);
        }
        print.said = print.body_as_said();
        print.marks.set(Marks::WAITS, true);
        print.marks.set(Marks::EDITS, true);
        print
    }

    impl StepPrint {
        fn body_as_said(&self) -> Narrow<SAID> {
            let mut said = Sketch::<SAID>::default();
            self.body.digests().iter().for_each(|digest| said.insert(*digest));
            said.narrow()
        }
    }

    #[test]
    fn x20_a_stored_print_is_these_bytes_for_ever() {
        let bytes = to_row(&print());
        let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        assert_eq!(
            hex,
            "010004100807060504030201d00ffa010009000000000000000000000000000000ffffffff0203000700\
             0200000300000007000000"
        );
        assert_eq!(from_row::<StepPrint>(&bytes), Ok(print()));
    }

    #[test]
    fn x20_every_print_comes_back_as_it_was_and_is_small() {
        let text = (0..2_000).map(|n| format!("line {n} tells of word{n}\n")).collect::<Vec<_>>().concat();
        let full = ToolStep { tool: "run", args: &text, result: &text, ..ToolStep::default() };
        let timed = ToolStep { started_ms: Some(i64::MIN), ended_ms: Some(i64::MAX), ..full };
        let prints = [
            StepPrint::of_call(&full),
            StepPrint::of_call(&timed),
            StepPrint::of_call(&ToolStep::default()),
            StepPrint::of_message(Role::Agent, &text),
            StepPrint::of_output(Some(1), None, Some(u32::MAX)),
        ];
        for print in prints {
            let bytes = to_row(&print);
            assert!(bytes.len() <= 256, "{} bytes", bytes.len());
            assert_eq!(from_row::<StepPrint>(&bytes), Ok(print));
        }
    }

    #[test]
    fn x20_what_is_no_print_is_refused() {
        let good = to_row(&print());
        for length in 0..good.len() {
            assert!(from_row::<StepPrint>(&good[..length]).is_err(), "{length} bytes");
        }
        for (place, byte) in [(0, 2), (1, 9), (3, 0xff)] {
            let mut bad = good.clone();
            bad[place] = byte;
            assert!(from_row::<StepPrint>(&bad).is_err(), "byte {place}");
        }
    }
}
