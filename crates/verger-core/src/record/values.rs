//! How numbers, names, times and collections are stored.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::{Damaged, Stored};
use crate::id::{
    Actor, AgentId, CheckpointId, HostId, Incarnation, MessageId, ProbeName, ProviderId, RoleName, SessionId,
    TaskId, TicketId, ToolName,
};
use crate::policy::RoleIndex;
use crate::time::{AgentTime, Span, Timestamp, WallTime};

/// Stores a name as its text.
macro_rules! names {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                put_text(self.as_str(), row);
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                take_text(row).map(Self::from)
            }
        })*
    };
}

/// Stores an unsigned number in as many bytes as it needs.
macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                put_number(u64::from(*self), row);
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                Self::try_from(take_number(row)?).map_err(|_| Damaged)
            }
        })*
    };
}

numbers!(u16, u32, u64);
names!(
    Actor,
    AgentId,
    CheckpointId,
    HostId,
    MessageId,
    ProbeName,
    ProviderId,
    RoleName,
    SessionId,
    TaskId,
    TicketId,
    ToolName
);

/// Stores a type as the one value that it wraps.
macro_rules! wrapped {
    ($($type:ty: $inner:ty, $get:expr, $make:expr;)*) => {
        $(impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                let get: fn($type) -> $inner = $get;
                get(*self).put(row);
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                <$inner>::take(row).map($make)
            }
        })*
    };
}

wrapped! {
    Timestamp: u64, |at| at.as_millis(), Timestamp::from_millis;
    Span: u64, |span| span.as_millis(), Span::millis;
    WallTime: i64, |at| at.0, WallTime;
    AgentTime: i64, |at| at.0, AgentTime;
    Incarnation: u32, |life| life.0, Incarnation;
    RoleIndex: u8, |role| role.0, RoleIndex;
}

impl Stored for u8 {
    fn put(&self, row: &mut Vec<u8>) {
        row.push(*self);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let (first, rest) = row.split_first().ok_or(Damaged)?;
        *row = rest;
        Ok(*first)
    }
}

impl Stored for bool {
    fn put(&self, row: &mut Vec<u8>) {
        row.push(u8::from(*self));
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        match u8::take(row)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }
}

impl Stored for i64 {
    fn put(&self, row: &mut Vec<u8>) {
        // Zigzag: small numbers of either sign stay short.
        put_number(((*self << 1) ^ (*self >> 63)).cast_unsigned(), row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let number = take_number(row)?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

impl Stored for i32 {
    fn put(&self, row: &mut Vec<u8>) {
        i64::from(*self).put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Self::try_from(i64::take(row)?).map_err(|_| Damaged)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, row: &mut Vec<u8>) {
        self.is_some().put(row);
        if let Some(value) = self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        if bool::take(row)? { T::take(row).map(Some) } else { Ok(None) }
    }
}

impl<T: Stored> Stored for Box<T> {
    fn put(&self, row: &mut Vec<u8>) {
        T::put(self, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        T::take(row).map(Self::new)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, row: &mut Vec<u8>) {
        self.0.put(row);
        self.1.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok((A::take(row)?, B::take(row)?))
    }
}

impl<T: Stored + Copy + Default, const N: usize> Stored for [T; N] {
    fn put(&self, row: &mut Vec<u8>) {
        for value in self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::take(row)?;
        }
        Ok(values)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for value in self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let length = take_number(row)?;
        // Every value takes a byte at least: a length beyond that is a lie, and must not reserve memory.
        if length > row.len() as u64 {
            return Err(Damaged);
        }
        (0..length).map(|_| T::take(row)).collect()
    }
}

impl<T: Stored> Stored for VecDeque<T> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for value in self {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Vec::take(row).map(Self::from)
    }
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for (key, value) in self {
            key.put(row);
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Vec::<(K, V)>::take(row).map(Self::from_iter)
    }
}

impl<T: Stored> Stored for Arc<[T]> {
    fn put(&self, row: &mut Vec<u8>) {
        put_number(self.len() as u64, row);
        for value in self.iter() {
            value.put(row);
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Vec::take(row).map(Self::from)
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn put(&self, row: &mut Vec<u8>) {
        T::put(self, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        T::take(row).map(Self::new)
    }
}

impl Stored for Arc<str> {
    fn put(&self, row: &mut Vec<u8>) {
        put_text(self, row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        take_text(row).map(Self::from)
    }
}

/// Seven bits to a byte, the lowest first; every byte but the last has its highest bit set.
///
/// Those of a long number are made at once: most of a row are fingerprints, of ten bytes each.
fn put_number(number: u64, row: &mut Vec<u8>) {
    match number {
        0..0x80 => row.push(number as u8),
        0x80..0x4000 => row.extend_from_slice(&[number as u8 | 0x80, (number >> 7) as u8]),
        _ => put_long(number, row),
    }
}

fn put_long(number: u64, row: &mut Vec<u8>) {
    let digits = u128::from(in_sevens(number)) | u128::from(in_sevens(number >> 56)) << 64;
    let end = row.len() + number.ilog2() as usize / 7 + 1;
    // More than is needed, and then as much as is needed: whole words are written faster than single bytes.
    row.extend_from_slice(&(digits | MORE).to_le_bytes());
    row.truncate(end);
    row[end - 1] &= 0x7f;
}

/// Another byte follows, in every byte.
const MORE: u128 = u128::from_le_bytes([0x80; 16]);

/// The lowest 56 bits, seven in each byte.
fn in_sevens(number: u64) -> u64 {
    let by_28 = (number & 0x0fff_ffff) | (number & 0x00ff_ffff_f000_0000) << 4;
    let by_14 = (by_28 & 0x0000_3fff_0000_3fff) | (by_28 & 0x0fff_c000_0fff_c000) << 2;
    (by_14 & 0x007f_007f_007f_007f) | (by_14 & 0x3f80_3f80_3f80_3f80) << 1
}

fn take_number(row: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = u8::take(row)?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Err(Damaged);
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damaged)
}

fn put_text(text: &str, row: &mut Vec<u8>) {
    put_number(text.len() as u64, row);
    row.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(row: &mut &'a [u8]) -> Result<&'a str, Damaged> {
    let length = usize::try_from(take_number(row)?).map_err(|_| Damaged)?;
    let (text, rest) = row.split_at_checked(length).ok_or(Damaged)?;
    *row = rest;
    std::str::from_utf8(text).map_err(|_| Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the layout is told, byte by byte.
    fn told(mut number: u64) -> Vec<u8> {
        let mut row = Vec::new();
        while number >= 0x80 {
            row.push(number as u8 | 0x80);
            number >>= 7;
        }
        row.push(number as u8);
        row
    }

    #[test]
    fn a_number_takes_seven_bits_to_a_byte_and_is_read_back() {
        let edges = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let mixed = (1..=64).map(|number: u64| (u64::MAX / number) ^ (number << (number % 64)));
        for number in edges.chain(mixed).chain([u64::MAX]) {
            let mut row = vec![0xff];
            put_number(number, &mut row);
            assert_eq!(row.split_off(1), told(number), "{number:#x}");
            let written = told(number);
            let mut rest = written.as_slice();
            assert_eq!(take_number(&mut rest), Ok(number));
            assert!(rest.is_empty());
        }
    }
}
