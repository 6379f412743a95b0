//! What runs beside the loop and the connections: carrying effects out, telling of events, looking after the disk.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use verger_act::{Carrier, Options, Webhooks};
use verger_core::effect::Effect;

use super::{Log, ServeError};
use crate::carry::{
    Carrying, Live, Receiver, Which, call_while_well, follow, keep_up, look_for_damage, narrate,
    tell_of_trouble,
};
use crate::history::{Sampler, Sampling};
use crate::monitor::Started;
use crate::runs::{Runs, watch as watch_runs};
use crate::trace::{Exporter, Tracer, flush};

/// Everything in the background, until it is [ended](Self::end).
pub(super) struct Background {
    carrier: Arc<Carrier>,
    closing: watch::Sender<bool>,
    carrying: JoinHandle<mpsc::UnboundedReceiver<Effect>>,
    others: JoinSet<()>,
    last: Last,
}

/// What is done last: spans that wait are sent.
struct Last {
    tracer: Arc<Tracer>,
    webhooks: Webhooks,
    live: Live,
    version: &'static str,
}

/// The time that a connection may take to be made.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Who may be told of events, under the names by which their places are kept.
const RECEIVERS: [(&str, Which); 2] =
    [("orchestrator", |reach| reach.orchestrator.as_ref()), ("notify", |reach| reach.notify.as_ref())];

impl Background {
    /// Begins to work for a monitor that was started.
    pub(super) fn start(
        started: &mut Started,
        live: &Live,
        newest: &watch::Receiver<i64>,
        runs: &Runs,
        url: &str,
        version: &'static str,
        log: &Log,
    ) -> Result<Self, ServeError> {
        let carrier = Arc::new(Carrier::new(Options::default())?);
        let (closing, closes) = watch::channel(false);
        let monitor = started.monitor.clone();
        let carrying = Carrying {
            monitor: monitor.clone(),
            carrier: Arc::clone(&carrier),
            live: live.clone(),
            runs: runs.clone(),
            url: url.to_owned(),
            log: log.clone(),
        };
        let carrying = tokio::spawn(carrying.run(started.take_effects(), closes));
        let mut others = JoinSet::new();
        let webhooks = Webhooks::new(CONNECT_WITHIN)?;
        let tracer = Arc::clone(monitor.tracer());
        let exporter =
            Exporter { tracer, webhooks: webhooks.clone(), live: live.clone(), version, log: log.clone() };
        let last = Last { tracer: Arc::clone(&exporter.tracer), webhooks, live: live.clone(), version };
        others.spawn(call_while_well(monitor.clone(), last.webhooks.clone(), live.clone(), log.clone()));
        others.spawn(narrate(monitor.archive().clone(), newest.clone(), log.clone()));
        others.spawn(exporter.run());
        others.spawn(watch_runs(runs.clone(), monitor.clone(), log.clone()));
        for (name, told) in RECEIVERS {
            let receiver = Receiver { name, told, live: live.clone() };
            let (archive, newest) = (monitor.archive().clone(), newest.clone());
            others.spawn(follow(receiver, archive, newest, Arc::clone(&carrier), log.clone()));
        }
        others.spawn(Sampler::new(monitor.clone(), newest.clone(), Sampling::default()).run());
        others.spawn(tell_of_trouble(monitor.clone(), log.clone()));
        others.spawn(look_for_damage(monitor.archive().clone(), log.clone()));
        others.spawn(keep_up(monitor.archive().clone(), live.clone(), log.clone()));
        Ok(Self { carrier, closing, carrying, others, last })
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
        let Last { tracer, webhooks, live, version } = self.last;
        let reach = Arc::clone(&live.borrow());
        flush(&tracer, &webhooks, &reach, version).await;
        // One that has ended by itself gives nothing back, and must not be asked again.
        if self.carrying.is_finished() { None } else { self.carrying.await.ok() }
    }
}
