//! How a fleet is put together.
//!
//! Up to ten agents share a host, a small fleet still has three of them, and three providers serve the
//! fleet. The four ways of connecting come in a fixed proportion, so that a small fleet has all of them;
//! everything else is chance.

use std::collections::VecDeque;

use verger_core::id::{AgentId, HostId};

use super::manner::Manner;
use super::plan::Plan;
use super::state::{Agent, Tally};
use crate::rng::Rng;
use crate::world::condition::Condition;
use crate::world::connection::{Connection, Link};
use crate::world::service::Client;
use crate::world::starter::is_startable;
use crate::world::text::Voice;
use crate::world::time::SimTime;
use crate::world::truth::{AgentFacts, Truth};

/// Agents that share a host at most.
const PER_HOST_MAX: u32 = 10;
/// Hosts that even a small fleet has, so that losing one is not losing all.
const HOSTS_MIN: u32 = 3;
/// How many providers there are.
const PROVIDERS: u64 = 3;
/// In every twenty agents: three wrapped, seven with hooks alone, six with the SDK, four remote.
const MIX: [Connection; 20] = {
    use Connection::{Hook, Remote, Sdk, Wrapped};
    [
        Wrapped, Hook, Sdk, Remote, Hook, Sdk, Hook, Wrapped, Remote, Hook, Sdk, Hook, Sdk, Remote, Wrapped,
        Hook, Sdk, Hook, Remote, Sdk,
    ]
};

/// How many hosts so many agents have.
pub(crate) fn hosts(agents: u32) -> usize {
    agents.div_ceil(per_host(agents)) as usize
}

fn per_host(agents: u32) -> u32 {
    agents.div_ceil(HOSTS_MIN).clamp(1, PER_HOST_MAX)
}

impl Agent {
    /// The agent of this number in the world of this seed, written down in the truth.
    pub(crate) fn draw(seed: u64, place: u32, agents: u32, truth: &mut Truth) -> Self {
        let mut rng = Rng::stream(seed, 1_000 + 2 * u64::from(place));
        let link = Link::draw(&mut rng, MIX[place as usize % MIX.len()]);
        let host = place / per_host(agents);
        let provider = rng.range(0, PROVIDERS) as u32;
        let (connection, startable) = (link.connection, place.is_multiple_of(2));
        let id = AgentId::from(format!("agent-{place:04}"));
        let host_id = HostId::from(format!("host-{host:02}"));
        truth.enrol(AgentFacts {
            id: id.clone(),
            role: link.role.clone(),
            connection: link.connection,
            pinged: link.channel,
            beat_ms: link.beat,
            verified: link.verified,
            reports_tools: link.reports.tools,
            host: host_id.clone(),
            provider: format!("provider-{provider}").into(),
        });
        Self {
            place,
            id,
            host,
            host_id,
            provider,
            link,
            manner: Manner::draw(&mut rng),
            rng,
            voice: Voice::draw(seed, place),
            wire: Rng::stream(seed, 1_001 + 2 * u64::from(place)),
            life: 0,
            alive: false,
            condition: Condition::Gone,
            epoch: 0,
            plan: Plan::default(),
            episode: None,
            task: None,
            working: false,
            work_until: SimTime::ZERO,
            tasks: 0,
            calls: 0,
            open: Vec::new(),
            tally: Tally::default(),
            fault: None,
            doomed: None,
            frozen: false,
            refused: false,
            saved: Vec::new(),
            startable: is_startable(connection, startable),
            starting: None,
            cursed: 0,
            handed_over: false,
            cut: 0,
            skew_ms: 0,
            kept: VecDeque::new(),
            flushing: false,
            nudges: Vec::new(),
            mail: Vec::new(),
            pen: Self::pen(seed, place),
            client: Client::draw(seed, place),
        }
    }
}
