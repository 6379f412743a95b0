//! What is stored of breakers and of the checkpoints that wait behind them.

use std::num::NonZeroU64;
use std::sync::Arc;

use super::{Damaged, Stored};
use crate::breaker::{
    Breaker, BreakerName, FailureKind, InFlight, Mode, Permit, PermitNumber, Phase, Queue, Window,
};

fields!(Breaker {
    phase,
    mode,
    openings,
    streak,
    window,
    last_failure,
    last_failure_kind,
    used,
    next,
    given,
    pending,
    older,
});
fields!(Window { failed, slow, calls });
fields!(Permit { own, shared });
fields!(InFlight { permit, until });
fields!(Queue { waiting, in_flight, failures, next_at, failing_since, alarmed, overflowed });

variants!(Phase {
    0 = Closed { since }, 1 = Open { since, until }, 2 = HalfOpen { opened_at, since, probe_until, good },
});
variants!(Mode { 0 = Normal, 1 = ForcedOpen, 2 = Disabled, 3 = MetricsOnly });
variants!(FailureKind { 0 = Failed, 1 = Outage, 2 = Slow, 3 = Expired });

impl Stored for PermitNumber {
    fn put(&self, row: &mut Vec<u8>) {
        self.0.get().put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        NonZeroU64::new(u64::take(row)?).map(Self).ok_or(Damaged)
    }
}

impl Stored for u128 {
    fn put(&self, row: &mut Vec<u8>) {
        ((*self >> 64) as u64).put(row);
        (*self as u64).put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(Self::from(u64::take(row)?) << 64 | Self::from(u64::take(row)?))
    }
}

impl Stored for BreakerName {
    fn put(&self, row: &mut Vec<u8>) {
        Arc::<str>::from(self.as_str()).put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Arc::<str>::take(row)?.parse().map_err(|_| Damaged)
    }
}
