//! Which services there are, and who uses them.
//!
//! All agents put their results into one artifact store, six in ten search through one API, four in ten work with one
//! issue tracker, and four in ten have an endpoint of their own: a customer's database, a staging system.

use verger_core::breaker::{BreakerName, Kind};

use super::facts::ServiceFacts;
use super::state::{Service, Services};
use crate::rng::Rng;
use crate::world::agent::Agent;
use crate::world::truth::Truth;

/// The stream of chance that decides who uses what, and what becomes of services.
pub(super) const STREAM: u64 = 0x5345_5256_4943_4500;

/// What many share: its name, which share of agents uses it, how often compared with the others, and the seconds in
/// which it answers half of the calls.
const SHARED: [(&str, f64, u32, f64); 3] =
    [("artifact-store", 1.0, 5, 0.25), ("search-api", 0.6, 3, 0.6), ("issue-tracker", 0.4, 2, 0.4)];
/// How many agents have an endpoint of their own, how often they use it, and in how many seconds it answers.
const OWN: (f64, u32, f64) = (0.4, 6, 0.15);

/// Puts the services of a world together.
pub(crate) struct Catalogue;

impl Catalogue {
    /// Draws the services of this fleet, tells every client which ones it uses, and writes them down in the truth.
    pub(crate) fn draw(seed: u64, agents: &mut [Agent], truth: &mut Truth) -> Services {
        let mut rng = Rng::stream(seed, STREAM);
        let mut services = Vec::new();
        let mut found = |name: Option<BreakerName>, median: f64, truth: &mut Truth| {
            let place = services.len() as u32;
            truth.services_mut().push(ServiceFacts::new(name?));
            services.push(Service::new(median));
            Some(place)
        };
        for (name, share, weight, median) in SHARED {
            let Some(place) = found(BreakerName::shared(name).ok(), median, truth) else { continue };
            for agent in agents.iter_mut().filter(|_| rng.chance(share)) {
                agent.client.uses(place, weight);
            }
        }
        let (share, weight, median) = OWN;
        for agent in agents.iter_mut() {
            if !rng.chance(share) {
                continue;
            }
            let name = BreakerName::of_agent(&agent.id, Kind::Api, "backend").ok();
            if let Some(place) = found(name, rng.log_normal(median, 0.7), truth) {
                agent.client.uses(place, weight);
            }
        }
        Services::new(rng, services)
    }
}
