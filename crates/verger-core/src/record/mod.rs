//! The one encoding of the core's state: rows of bytes, versioned, read back at a restart.
//!
//! Every stored type is listed here with all its fields, in one file for each machine. A field that is added to a type and not to its list stops
//! the build, and a row that does not read to its last byte is refused, so nothing is ever half restored.
//! Integers are stored as variable-length numbers: most are small, and a row is written every second.

/// A row that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the row is damaged")]
pub struct Damaged;

/// A value that a row holds.
pub(crate) trait Stored: Sized {
    fn put(&self, row: &mut Vec<u8>);
    fn take(row: &mut &[u8]) -> Result<Self, Damaged>;
}

/// Writes a value as a row of its own.
pub(crate) fn to_row(value: &impl Stored) -> Vec<u8> {
    let mut row = Vec::with_capacity(192);
    value.put(&mut row);
    row
}

/// Reads a row to its last byte.
pub(crate) fn from_row<T: Stored>(mut row: &[u8]) -> Result<T, Damaged> {
    let value = T::take(&mut row)?;
    if row.is_empty() { Ok(value) } else { Err(Damaged) }
}

/// Lists all fields of a struct.
macro_rules! fields {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.put(row);)*
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                Ok(Self { $($field: Stored::take(row)?),* })
            }
        }
    };
}

/// Lists all variants of an enum, each with the number it is stored under for ever.
macro_rules! variants {
    ($type:ty { $($tag:literal = $variant:ident $(($inner:ident))? $({ $($field:ident),* })?),* $(,)? }) => {
        impl Stored for $type {
            fn put(&self, row: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($inner))? $({ $($field),* })? => {
                        row.push($tag);
                        $($inner.put(row);)?
                        $($($field.put(row);)*)?
                    })*
                }
            }

            fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
                Ok(match u8::take(row)? {
                    $($tag => Self::$variant
                        $(({ let $inner = Stored::take(row)?; $inner }))?
                        $({ $($field: Stored::take(row)?),* })?,)*
                    _ => return Err(Damaged),
                })
            }
        }
    };
}

mod agent;
mod breaker;
mod correlation;
mod effects;
mod errands;
mod messages;
mod probe;
mod recovery;
mod resources;
mod steps;
mod tasks;
mod values;
mod verdicts;
mod waste;

pub use effects::{EffectError, effect_from_bytes, effect_to_bytes};
