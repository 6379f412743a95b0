//! What is stored of failures that belong together: the membership in each agent's row, the rest in one of its own.

use super::{Damaged, Stored};
use crate::correlation::{Bad, Correlation, Incident, Kind, Membership, Outage, Scope, Stops};

fields!(Membership { joined, host, provider, bad });
fields!(Bad { second, kind, in_fleet, in_host, in_provider });
fields!(Incident { kind, opened_at, from, told, frozen_until, ask_at, clear_at, ends_at, outage });
fields!(Outage { successes, quiet_at });
fields!(Stops { under_way });
variants!(Kind { 0 = Silent, 1 = Stuck, 2 = Failing, 3 = Died, 4 = Provider });
variants!(Scope { 0 = Fleet, 1 = Host(host), 2 = Provider(provider) });

/// The counters are not stored: they are made again from the memberships of all agents.
impl Stored for Correlation {
    fn put(&self, row: &mut Vec<u8>) {
        self.incidents.put(row);
        self.settled.put(row);
        self.merged.put(row);
        self.resets.put(row);
        self.stops.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let mut read = Self::default();
        read.incidents = Stored::take(row)?;
        read.settled = Stored::take(row)?;
        read.merged = Stored::take(row)?;
        read.resets = Stored::take(row)?;
        read.stops = Stored::take(row)?;
        Ok(read.with_agenda())
    }
}
