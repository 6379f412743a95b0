//! What runs beside the loop and the connections: carrying effects out, telling of events, looking after the disk.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use verger_act::{Carrier, Options};
use verger_config::{MeansBook, Outward, Retention};
use verger_core::effect::Effect;

use super::{Log, ServeError};
use crate::carry::{Carrying, Told, Way, check_means, follow, keep_up, look_for_damage, tell_of_trouble};
use crate::history::{Sampler, Sampling};
use crate::monitor::Started;

/// Kinds of events that the orchestrator is asked about, and need not be told of again.
const ASKED: &[&str] = &["ESCALATION_TRIGGERED"];

/// By what the monitor acts on the world.
pub(super) struct Reach {
    pub(super) means: MeansBook,
    pub(super) outward: Outward,
    pub(super) retention: Retention,
    pub(super) chain_max: usize,
}

/// Everything in the background, until it is [ended](Self::end).
pub(super) struct Background {
    carrier: Arc<Carrier>,
    closing: watch::Sender<bool>,
    carrying: JoinHandle<mpsc::UnboundedReceiver<Effect>>,
    others: JoinSet<()>,
}

impl Reach {
    /// Says what is wrong with addresses and secrets before anything is watched.
    pub(super) fn check(&self) -> Result<(), ServeError> {
        check_means(&self.means)?;
        self.orchestrator().map(drop)
    }

    /// The secret of whoever directs the agents, if there is one.
    pub(super) fn secret(&self) -> Result<Option<verger_act::Secret>, ServeError> {
        let webhook = self.outward.orchestrator.as_ref().map(|orchestrator| &orchestrator.webhook);
        let file = webhook.and_then(|webhook| webhook.secret_file.as_deref());
        Ok(file.map(verger_act::Secret::read).transpose()?)
    }

    fn orchestrator(&self) -> Result<Option<Told>, ServeError> {
        let Some(orchestrator) = &self.outward.orchestrator else { return Ok(None) };
        let way = Way::hook(&orchestrator.webhook, "orchestrator.webhook")?;
        Ok(Some(Told { name: "orchestrator", way, events: orchestrator.events.clone(), except: ASKED }))
    }

    fn notify(&self) -> Option<Told> {
        let notify = self.outward.notify.as_ref()?;
        let way = Way::Program(notify.command.clone());
        Some(Told { name: "notify", way, events: notify.events.clone(), except: &[] })
    }
}

impl Background {
    /// Begins to work for a monitor that was started.
    pub(super) fn start(
        started: &mut Started,
        reach: Reach,
        newest: &watch::Receiver<i64>,
        url: &str,
        log: &Log,
    ) -> Result<Self, ServeError> {
        let carrier = Arc::new(Carrier::new(Options::default())?);
        let (closing, closes) = watch::channel(false);
        let monitor = started.monitor.clone();
        let (orchestrator, notify) = (reach.orchestrator()?, reach.notify());
        let is_asked = |told: &Told| {
            told.events.as_ref().is_none_or(|kinds| kinds.iter().any(|kind| ASKED.contains(&kind.as_str())))
        };
        let carrying = Carrying {
            monitor: monitor.clone(),
            carrier: Arc::clone(&carrier),
            means: reach.means,
            orchestrator: orchestrator.as_ref().filter(|told| is_asked(told)).map(|told| told.way.clone()),
            url: url.to_owned(),
            chain_max: reach.chain_max,
            log: Arc::clone(log),
        };
        let carrying = tokio::spawn(carrying.run(started.take_effects(), closes));
        let mut others = JoinSet::new();
        for told in [orchestrator, notify].into_iter().flatten() {
            let (archive, newest) = (monitor.archive().clone(), newest.clone());
            others.spawn(follow(told, archive, newest, Arc::clone(&carrier), Arc::clone(log)));
        }
        others.spawn(Sampler::new(monitor.clone(), newest.clone(), Sampling::default()).run());
        others.spawn(tell_of_trouble(monitor.clone(), Arc::clone(log)));
        others.spawn(look_for_damage(monitor.archive().clone(), Arc::clone(log)));
        others.spawn(keep_up(monitor.archive().clone(), reach.retention, Arc::clone(log)));
        Ok(Self { carrier, closing, carrying, others })
    }

    /// Waits until a part of it ends by itself. None ever should: it has panicked, and what it did nobody does any more.
    pub(super) async fn breaks(&mut self) {
        tokio::select! {
            Some(_) = self.others.join_next() => {}
            _ = &mut self.carrying => {}
        }
    }

    /// Ends all of it. What is given back must be kept until the loop has ended.
    pub(super) async fn end(mut self) -> Option<mpsc::UnboundedReceiver<Effect>> {
        self.closing.send_replace(true);
        self.others.shutdown().await;
        self.carrier.end().await;
        // One that has ended by itself gives nothing back, and must not be asked again.
        if self.carrying.is_finished() { None } else { self.carrying.await.ok() }
    }
}
