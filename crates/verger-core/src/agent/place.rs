//! Where an agent belongs: its host, whose model it uses, and how it stands among the others there.
//!
//! Most agents of a large fleet say nothing of it and are well; those have no place of their own, and cost nothing.

use super::Agent;
use crate::correlation::Membership;
use crate::id::{HostId, ProviderId};

/// Where an agent belongs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) host: Option<HostId>,
    pub(crate) provider: Option<ProviderId>,
    pub(crate) membership: Membership,
}

impl Place {
    /// Nobody counts it yet.
    pub(crate) fn nowhere() -> Self {
        Self { host: None, provider: None, membership: Membership::default() }
    }

    /// Somewhere in the fleet.
    pub(crate) fn anywhere() -> Self {
        Self { host: None, provider: None, membership: Membership::of_the_fleet() }
    }
}

impl Agent {
    /// It said where it runs or whose model it uses; what it does not say stays as it was.
    pub(super) fn settle(&mut self, host: Option<&HostId>, provider: Option<&ProviderId>) {
        if host.is_none() && provider.is_none() {
            return;
        }
        let place = self.place.get_or_insert_with(|| Box::new(Place::anywhere()));
        place.host = host.or(place.host.as_ref()).cloned();
        place.provider = provider.or(place.provider.as_ref()).cloned();
    }

    /// Where it runs.
    pub(crate) fn host(&self) -> Option<&HostId> {
        self.place.as_ref().and_then(|place| place.host.as_ref())
    }

    /// How it stands among the others.
    pub(crate) fn membership(&self) -> Membership {
        self.place.as_ref().map_or_else(Membership::of_the_fleet, |place| place.membership.clone())
    }

    /// Puts back how it stands.
    pub(crate) fn set_membership(&mut self, membership: Membership) {
        let place = self.place.get_or_insert_with(|| Box::new(Place::anywhere()));
        place.membership = membership;
        if **place == Place::anywhere() {
            self.place = None;
        }
    }
}
