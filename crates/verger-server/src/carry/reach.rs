//! By what the monitor acts on the world and whom it tells, as configured; another one when that is loaded again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use verger_act::{Secret, Target};
use verger_config::{Configuration, MeansBook, Notify, Orchestrator, Retention, Traces};

use super::dead_man::DeadMan;
use super::follower::Told;
use super::way::{Way, check_means};
use crate::serve::ServeError;
use crate::trace;

/// Kinds of events that the orchestrator is asked about, and need not be told of again.
const ASKED: &[&str] = &["ESCALATION_TRIGGERED"];

/// What holds at present, and when it changes.
pub(crate) type Live = watch::Receiver<Arc<Reach>>;

/// By what the monitor acts on the world, whom it tells, and how long it remembers.
pub(crate) struct Reach {
    pub(crate) means: MeansBook,
    pub(crate) orchestrator: Option<Arc<Told>>,
    pub(crate) notify: Option<Arc<Told>>,
    /// By which whoever directs the agents signs.
    pub(crate) secret: Option<Secret>,
    pub(crate) retention: Retention,
    /// Where traces go.
    pub(crate) traces: Option<trace::Receiver>,
    /// What is called for as long as all is well.
    pub(crate) dead_man: Option<DeadMan>,
    /// Agents that `/metrics` names one by one.
    pub(crate) agents_max: usize,
    /// How many checkpoints the core walks through.
    pub(crate) chain_max: usize,
}

impl Reach {
    /// Says what is wrong with addresses and secrets before anything relies on them.
    pub(crate) fn of(configuration: &Configuration) -> Result<Self, ServeError> {
        let Configuration { policies, storage, outward, means, telemetry, .. } = configuration;
        check_means(means)?;
        let orchestrator = outward.orchestrator.as_ref();
        let secret = orchestrator.and_then(|it| it.webhook.secret_file.as_deref());
        Ok(Self {
            means: means.clone(),
            orchestrator: orchestrator.map(told_orchestrator).transpose()?,
            notify: outward.notify.as_ref().map(told_people),
            secret: secret.map(Secret::read).transpose()?,
            retention: storage.retention.clone(),
            traces: telemetry.traces.as_ref().map(receiver_of_traces).transpose()?,
            dead_man: telemetry.dead_man.as_ref().map(dead_man).transpose()?,
            agents_max: telemetry.agents_max,
            chain_max: policies.recovery.chain_max,
        })
    }

    /// Whoever directs the agents, if escalations go there.
    pub(crate) fn asked(&self) -> Option<&Way> {
        let told = self.orchestrator.as_ref()?;
        let is_asked = |kinds: &Vec<String>| kinds.iter().any(|kind| ASKED.contains(&kind.as_str()));
        told.events.as_ref().is_none_or(is_asked).then_some(&told.way)
    }
}

fn receiver_of_traces(traces: &Traces) -> Result<trace::Receiver, ServeError> {
    let target = target(&traces.url, "telemetry.traces.endpoint")?;
    let receiver = trace::Receiver::new(target, &traces.headers, traces.sample_percent);
    receiver.map_err(|why| ServeError::Header { place: "telemetry.traces.headers", why })
}

fn dead_man(set: &verger_config::DeadMan) -> Result<DeadMan, ServeError> {
    let every = Duration::from_millis(set.interval.as_millis());
    Ok(DeadMan { target: target(&set.url, "telemetry.dead_man.url")?, every })
}

fn target(url: &str, place: &'static str) -> Result<Target, ServeError> {
    Target::new(url, None).map_err(|source| ServeError::Target { place, source })
}

fn told_orchestrator(orchestrator: &Orchestrator) -> Result<Arc<Told>, ServeError> {
    let way = Way::hook(&orchestrator.webhook, "orchestrator.webhook")?;
    Ok(Arc::new(Told { way, events: orchestrator.events.clone(), except: ASKED }))
}

fn told_people(notify: &Notify) -> Arc<Told> {
    Arc::new(Told { way: Way::Program(notify.command.clone()), events: notify.events.clone(), except: &[] })
}
