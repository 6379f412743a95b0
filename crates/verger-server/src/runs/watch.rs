//! Follows every run for as long as its wrapper lives, and finishes the job of one that was killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use tokio::task::JoinSet;
use tokio::time::sleep;
use verger_act::process::{Handle, Identity, OpenError, Patience, Tree};
use verger_act::{RunEnded, RunRecord};
use verger_core::id::{AgentId, Incarnation};
use verger_core::resources::Load;
use verger_core::signal::{Body, Content, Exit, Signal, Trust};
use verger_engine::Message;

use super::Runs;
use super::stop::end;
use crate::monitor::{Monitor, wall_now};
use crate::serve::Log;

/// How often it is looked for new runs.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often memory and processor are measured.
const MEASURE_EVERY: Duration = Duration::from_secs(5);
/// An orderly end removes the record in this time.
const ORDERLY: Duration = Duration::from_millis(500);
/// How long the tree of a wrapper that was killed has.
const PATIENCE: Patience = Patience { grace: Duration::from_secs(5), limit: Duration::from_secs(20) };
/// Somebody who cannot be ended is tried again after this.
const AGAIN: Duration = Duration::from_secs(30);

/// Follows all runs until it is dropped.
pub(crate) async fn watch(runs: Runs, monitor: Monitor, log: Log) {
    let mut tasks = JoinSet::new();
    let mut followed = BTreeSet::new();
    let mut seen = None;
    loop {
        while let Some(over) = tasks.try_join_next() {
            if let Ok(who) = over {
                followed.remove(&who);
                seen = None;
            }
        }
        let now = changed_at(&runs.data_dir);
        if now.is_some() && seen != now {
            seen = now;
            let data_dir = runs.data_dir.clone();
            let records = tokio::task::spawn_blocking(move || RunRecord::all(&data_dir)).await;
            for record in records.unwrap_or_default() {
                let who = (record.agent_id.clone(), record.wrapper);
                if followed.insert(who.clone()) {
                    let following =
                        Following { runs: runs.clone(), monitor: monitor.clone(), log: log.clone(), who };
                    tasks.spawn(following.run());
                }
            }
        }
        sleep(LOOK_EVERY).await;
    }
}

/// A record is written by renaming it into the folder, which shows there.
fn changed_at(data_dir: &Path) -> Option<SystemTime> {
    fs::metadata(RunRecord::folder_in(data_dir)).and_then(|folder| folder.modified()).ok()
}

/// One wrapper that is followed.
struct Following {
    runs: Runs,
    monitor: Monitor,
    log: Log,
    who: (String, Identity),
}

impl Following {
    async fn run(self) -> (String, Identity) {
        let wrapper = match self.who.1.open() {
            Ok(handle) => Some(handle),
            Err(OpenError::Gone) => None,
            Err(error) => {
                self.log.warn(&format!("the wrapper of {} cannot be watched: {error}", self.who.0));
                return self.who;
            }
        };
        if let Some(wrapper) = &wrapper {
            self.measure_until_end_of(wrapper).await;
            sleep(ORDERLY).await;
        }
        while let Some(record) = self.record() {
            if self.finish(record).await {
                break;
            }
            sleep(AGAIN).await;
        }
        self.who
    }

    /// What it says now, if it is still this wrapper's.
    fn record(&self) -> Option<RunRecord> {
        RunRecord::of(&self.runs.data_dir, &self.who.0).filter(|record| record.wrapper == self.who.1)
    }

    async fn measure_until_end_of(&self, wrapper: &Handle) {
        let mut meter = None;
        let ended = wrapper.ended();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                _ = &mut ended => return,
                () = sleep(MEASURE_EVERY) => {}
            }
            let Some(record) = self.record() else { continue };
            let before = meter.take();
            let measured = tokio::task::spawn_blocking(move || Meter::read(before, &record)).await;
            if let Ok(Some((now, load))) = measured {
                meter = Some(now);
                if let Some(load) = load {
                    self.tell(Body::Load(load));
                }
            }
        }
    }

    /// Whether nobody of the tree is left. Then its end is told, as the wrapper would have done.
    async fn finish(&self, record: RunRecord) -> bool {
        let (data_dir, ended) = (self.runs.data_dir.clone(), record.ended);
        let (stopping, folder) = (record.clone(), record.folder.clone());
        if record.tree.is_some() && ended.is_none() {
            let stopped = tokio::task::spawn_blocking(move || end(&data_dir, stopping, PATIENCE)).await;
            if let Ok(Some(stopped)) = stopped {
                if !stopped.is_complete() {
                    let left = stopped.left.len();
                    self.log.warn(&format!("{left} processes of {} do not end", record.agent_id));
                    return false;
                }
                self.log.warn(&format!(
                    "the wrapper of {} was killed; the {} processes that it left were ended",
                    record.agent_id,
                    stopped.asked + stopped.killed
                ));
            }
        }
        if record.tree.is_some() {
            let RunEnded { code, signal } = ended.unwrap_or(RunEnded { code: None, signal: None });
            self.tell_of(record.incarnation, Body::Exit(Exit { code, signal }));
        }
        record.remove(&self.runs.data_dir);
        // The sockets of a wrapper that is gone. The folder is named by its record, and nothing else is in it.
        if folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("verger-run-")) {
            let _ = fs::remove_dir_all(folder);
        }
        true
    }

    fn tell(&self, body: Body) {
        let incarnation = self.record().and_then(|record| record.incarnation);
        self.tell_of(incarnation, body);
    }

    fn tell_of(&self, incarnation: Option<u32>, body: Body) {
        let content = Content {
            incarnation: incarnation.map(Incarnation),
            sent_at: None,
            received_at: wall_now(),
            trust: Trust::Verified,
            body,
        };
        let agent = AgentId::from(self.who.0.as_str());
        // A loop that has no room for it hears the next one.
        let _ = self.monitor.send(vec![Message::Signal(Signal { agent, content })]);
    }
}

/// Measures one tree again and again.
struct Meter {
    tree: Tree,
    at: Instant,
    cpu: Duration,
}

impl Meter {
    /// Reads it; of the processor only the second reading tells something.
    fn read(before: Option<Self>, record: &RunRecord) -> Option<(Self, Option<Load>)> {
        let written = record.tree.clone()?;
        let before = before.filter(|before| before.tree.root() == written.root);
        let last = before.as_ref().map(|before| (before.at, before.cpu));
        let mut tree = before.map_or_else(|| Tree::of_record(written), |before| before.tree);
        let sample = tree.sample();
        let load = last.map(|(at, cpu)| {
            let (used, passed) = (sample.cpu.saturating_sub(cpu), sample.at.saturating_duration_since(at));
            let cpu_millis = used.as_millis().saturating_mul(1_000) / passed.as_millis().max(1);
            Load { memory_bytes: sample.memory, cpu_millis: u64::try_from(cpu_millis).unwrap_or(u64::MAX) }
        });
        Some((Self { tree, at: sample.at, cpu: sample.cpu }, load))
    }
}
