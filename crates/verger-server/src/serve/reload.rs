//! Loads the configuration again while the monitor runs (X15): when it is asked to, and when one of the files changes.
//!
//! It is read, checked and made ready as a whole before any of it holds. What is wrong is said, and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;
use verger_config::{Configuration, Problems};

use super::files::Files;
use super::pace::settings;
use super::service::check_reach;
use super::{Log, ServeError, Systemd, tls};
use crate::carry::Reach;
use crate::http::App;
use crate::monitor::told;
use crate::runs::add_twins;

/// Keys that hold from the next start on only: they would be another monitor.
const AT_START: [&str; 2] = ["listen", "data_dir"];
/// Changes that are told one by one.
const TOLD_MAX: usize = 20;

/// Reads the configuration, each time as it is then.
pub type Load = Arc<dyn Fn() -> Result<Configuration, Problems> + Send + Sync>;

/// How a configuration is loaded again.
pub struct Reload {
    load: Load,
    file: Option<PathBuf>,
    asked: mpsc::Receiver<()>,
    files: Files,
}

impl Reload {
    /// How it is read, the file that it comes from, if it comes from one, and whoever wants it loaded. To be made before
    /// it is read for the first time: what changes after that is noticed.
    pub fn new(load: Load, file: Option<PathBuf>, asked: mpsc::Receiver<()>) -> Self {
        let files = Files::new(file.clone().into_iter().collect());
        Self { load, file, asked, files }
    }

    /// This was read, and the files that it names are about to be.
    pub(super) fn follow(&mut self, configuration: &Configuration) {
        self.files.watch(named(self.file.as_deref(), configuration));
    }
}

/// A configuration of which everything that can be wrong was found right.
pub(super) struct Ready {
    configuration: Configuration,
    reach: Reach,
    tls: Option<TlsAcceptor>,
}

/// Where the parts of a configuration go.
pub(super) struct Places {
    pub(super) live: watch::Sender<Arc<Reach>>,
    pub(super) tls: watch::Sender<Option<TlsAcceptor>>,
}

/// Loads it again for as long as the monitor runs.
pub(super) struct Reloader {
    pub(super) reload: Option<Reload>,
    pub(super) present: Configuration,
    pub(super) places: Places,
    pub(super) app: App,
    pub(super) log: Log,
    pub(super) systemd: Arc<Systemd>,
}

impl Ready {
    /// Checks what only the world can say: files that are named, and what is in them.
    pub(super) fn of(mut configuration: Configuration) -> Result<Self, ServeError> {
        add_twins(&mut configuration.policies);
        let reach = Reach::of(&configuration)?;
        let tls = configuration.server.tls.as_ref().map(tls::acceptor).transpose()?;
        Ok(Self { configuration, reach, tls })
    }

    /// The parts, on their way to where they are used.
    pub(super) fn spread(self) -> (Configuration, Places) {
        let (live, tls) = (watch::Sender::new(Arc::new(self.reach)), watch::Sender::new(self.tls));
        (self.configuration, Places { live, tls })
    }
}

impl Reloader {
    /// Never ends. To be dropped when the monitor is.
    pub(super) async fn run(&mut self) {
        let Some(mut reload) = self.reload.take() else { return std::future::pending().await };
        loop {
            tokio::select! {
                Some(()) = reload.asked.recv() => {}
                () = reload.files.change() => {}
            }
            self.systemd.reloads();
            let (load, file, files) = (Arc::clone(&reload.load), reload.file.clone(), reload.files.clone());
            // It reads files, which may take its time.
            let read = tokio::task::spawn_blocking(move || read(&load, file.as_deref(), files)).await;
            let ready = match read {
                Ok((ready, files)) => {
                    reload.files = files;
                    ready
                }
                Err(_) => Err("it could not be read because of a fault of the monitor".to_owned()),
            };
            match ready {
                Ok(ready) => self.apply(ready),
                Err(why) => self.refuse(&why),
            }
            self.systemd.reloaded();
        }
    }

    fn refuse(&self, why: &str) {
        self.app.monitor.counters().on_reload(false);
        let more: Vec<String> = why.trim_end().lines().map(str::to_owned).collect();
        self.log.warn_more("the configuration is wrong, so nothing was changed", &more);
    }

    fn apply(&mut self, ready: Ready) {
        let Ready { configuration, reach, tls } = ready;
        let lines = self.differences(&configuration, tls.is_some());
        self.app.doorkeeper.set_orchestrator(reach.secret.clone());
        self.app.monitor.reconfigure(configuration.policies.clone(), settings(&configuration.storage));
        self.app.traffic.set_limits(configuration.traffic.clone());
        self.places.live.send_replace(Arc::new(reach));
        if tls.is_some() == self.is_encrypted() {
            self.places.tls.send_replace(tls);
        }
        self.present = configuration;
        self.app.monitor.counters().on_reload(true);
        self.log.set(self.present.telemetry.log);
        if let Some((head, more)) = lines.split_first() {
            self.log.warn_more(head, more);
        }
    }

    fn is_encrypted(&self) -> bool {
        self.places.tls.borrow().is_some()
    }

    /// What is different now, a line each, for whoever operates the monitor.
    fn differences(&self, next: &Configuration, encrypted: bool) -> Vec<String> {
        let before = values(&self.present);
        let after = values(next);
        let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let differs = |key: &&&str| before.get(**key) != after.get(**key);
        let mut lines: Vec<_> = keys
            .into_iter()
            .filter(differs)
            .map(|key| {
                let of = |values: &BTreeMap<&str, &str>| {
                    values.get(key).map_or("not set", |value| value).to_owned()
                };
                let later = if AT_START.contains(key) { " (from the next start on)" } else { "" };
                format!("`{key}` is {}, was {}{later}", of(&after), of(&before))
            })
            .collect();
        let more = lines.len().saturating_sub(TOLD_MAX);
        if more > 0 {
            lines.truncate(TOLD_MAX);
            lines.push(format!("and {more} more; `verger config show` has all of it"));
        }
        if encrypted != self.is_encrypted() {
            lines.push("`access.tls` begins or ends with the next start".to_owned());
        }
        let head = if lines.is_empty() {
            "the configuration was loaded again; files that it names were read, no key is different"
        } else {
            "the configuration was loaded again:"
        };
        lines.insert(0, head.to_owned());
        lines
    }
}

/// Reads it and the files that it names, each looked at before it is read: so no later change is missed, and what was
/// read is not read again.
fn read(load: &Load, file: Option<&Path>, mut files: Files) -> (Result<Ready, String>, Files) {
    files.look();
    let mut ready = || {
        let configuration = load().map_err(|problems| problems.to_string())?;
        check_reach(&configuration.server).map_err(|error| told(&error))?;
        files.watch(named(file, &configuration));
        Ready::of(configuration).map_err(|error| told(&error))
    };
    (ready(), files)
}

fn values(configuration: &Configuration) -> BTreeMap<&str, &str> {
    configuration.effective().iter().map(|it| (it.key.as_str(), it.value.as_str())).collect()
}

/// The files whose change is one of the configuration.
fn named(file: Option<&Path>, configuration: &Configuration) -> Vec<PathBuf> {
    let tls = configuration.server.tls.iter();
    let tls = tls.flat_map(|tls| [Some(&tls.cert), Some(&tls.key), tls.client_ca.as_ref()]).flatten();
    let orchestrator = configuration.outward.orchestrator.iter();
    let secret = orchestrator.filter_map(|orchestrator| orchestrator.webhook.secret_file.as_ref());
    file.map(Path::to_path_buf).into_iter().chain(tls.chain(secret).cloned()).collect()
}
