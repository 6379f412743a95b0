//! What is stored of effects whose outcome is waited for.

use super::{Damaged, Stored};
use crate::effect::EffectKey;
use crate::fleet::Errand;

fields!(EffectKey { agent, incarnation, seq });

impl Stored for Errand {
    fn put(&self, row: &mut Vec<u8>) {
        match self {
            Self::Survey(task) => {
                row.push(0);
                task.put(row);
            }
            Self::Start(task, start) => {
                row.push(1);
                task.put(row);
                start.put(row);
            }
            Self::Withdraw(task, start) => {
                row.push(2);
                task.put(row);
                start.put(row);
            }
        }
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(match u8::take(row)? {
            0 => Self::Survey(Stored::take(row)?),
            1 => Self::Start(Stored::take(row)?, Stored::take(row)?),
            2 => Self::Withdraw(Stored::take(row)?, Stored::take(row)?),
            _ => return Err(Damaged),
        })
    }
}
