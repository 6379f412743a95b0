//! The monitor as a service: started, running until it is told to end, ended.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use verger_api::Cursors;
use verger_api::ingest::Limits;
use verger_config::{Configuration, Server, Storage};
use verger_engine::Settings;
use verger_store::{Archive, EngineStore};

use super::connections::Connections;
use super::listener::Listener;
use super::{ServeError, tls, welcome};
use crate::access::{Doorkeeper, Origin, admin_secret};
use crate::http::{self, App, Parts};
use crate::monitor::{Monitor, Started};
use crate::wire::Encoder;

/// How often it is looked whether the loop is still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The name of the file that says where the monitor answers.
const URL_FILE: &str = "verger.url";

/// Takes a line for whoever operates the monitor.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// What a monitor is started with.
pub struct Options {
    /// What it is told.
    pub configuration: Configuration,
    /// The version of the program.
    pub version: &'static str,
    /// Where lines for the operator go.
    pub log: Log,
}

/// A monitor that is watching and can be served.
pub struct Serving {
    started: Started,
    connections: Connections,
    listener: Listener,
    url: String,
    welcome: String,
    data_dir: PathBuf,
}

impl Serving {
    /// Starts a monitor. Its data directory is its own until the end; connections are taken in by [`run`](Self::run).
    pub async fn start(options: Options) -> Result<Self, ServeError> {
        let begun = Instant::now();
        let Options { configuration, version, log } = options;
        let Configuration { policies, server, storage, .. } = configuration;
        check_reach(&server)?;
        let tls = server.tls.as_ref().map(tls::acceptor).transpose()?;
        let (store, newest) = open(&server)?;
        let data_dir = store.1.directory().to_owned();
        let data_dir = fs::canonicalize(&data_dir).unwrap_or(data_dir);
        let admin = admin_secret(&data_dir)?;
        let listener = Listener::bind(server.listen, tls).await;
        let failed = |source| ServeError::Listen { address: server.listen, source };
        let listener = listener.map_err(failed)?;
        let address = listener.address().map_err(failed)?;
        let archive = store.1.clone();
        let started = Monitor::start(store, policies, settings(&storage), seed()?)?;
        let app = App::new(Parts {
            monitor: started.monitor.clone(),
            doorkeeper: Doorkeeper::new(archive, &admin),
            origin: Origin::new(address, []),
            cursors: Cursors::new(admin.reveal().as_bytes()),
            limits: Limits::default(),
            newest,
            started: begun,
            version,
        });
        let url = welcome::url(address, listener.is_encrypted());
        let agents = started.monitor.look(|fleet, _| fleet.len()).await.unwrap_or(0);
        let welcome = welcome::text(version, &url, &data_dir, &data_dir.join("admin.token"), agents);
        let file = data_dir.join(URL_FILE);
        fs::write(&file, format!("{url}\n")).map_err(|source| ServeError::File { path: file, source })?;
        if server.insecure && !address.ip().is_loopback() {
            log("connections from other machines are not encrypted: tokens can be read on the way");
        }
        let connections = Connections::new(http::router(app));
        Ok(Self { started, connections, listener, url, welcome, data_dir })
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What a person who started it wants to know.
    pub fn welcome(&self) -> &str {
        &self.welcome
    }

    /// Serves until `shutdown` is done; then answers what is under way, writes down what is known, and ends.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Self { started, connections, listener, data_dir, .. } = self;
        let ended_by_itself = tokio::select! {
            () = shutdown => false,
            () = listener.run(&connections) => false,
            () = loop_ends(&started) => true,
        };
        // Nobody new is let in.
        drop(listener);
        connections.finish().await;
        // It waits for the disk. A panic in it was reported by its thread.
        let _ = tokio::task::spawn_blocking(|| started.stop()).await;
        // That it is no longer there is not worth a failure.
        let _ = fs::remove_file(data_dir.join(URL_FILE));
        if ended_by_itself { Err(ServeError::LoopEnded) } else { Ok(()) }
    }
}

/// Beyond this machine it needs encryption, or somebody who asked for none.
fn check_reach(server: &Server) -> Result<(), ServeError> {
    let is_near = server.listen.ip().to_canonical().is_loopback();
    if is_near || server.tls.is_some() || server.insecure {
        return Ok(());
    }
    Err(ServeError::Exposed(server.listen))
}

type Opened = ((EngineStore, Archive), watch::Receiver<i64>);

fn open(server: &Server) -> Result<Opened, ServeError> {
    let encoder = Arc::new(Encoder { source: "/verger".to_owned() });
    let (tell, newest) = watch::channel(0);
    let mut options = verger_store::Options::new(&server.data_dir, encoder);
    options.on_events = Some(Box::new(move |id| {
        tell.send_replace(id);
    }));
    Ok((verger_store::open(options)?, newest))
}

/// How the loop is paced: it never sleeps longer than an evaluation may be late.
fn settings(storage: &Storage) -> Settings {
    let Settings { mark_every, .. } = Settings::default();
    let mark_every = storage.evaluate_within.map_or(mark_every, |within| within.min(mark_every));
    Settings { mark_every, strict: storage.strict, ..Settings::default() }
}

/// Any number: it spreads what would happen at one moment.
fn seed() -> Result<u64, ServeError> {
    let mut bytes = [0; 8];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(ServeError::Random)?;
    Ok(u64::from_le_bytes(bytes))
}

async fn loop_ends(started: &Started) {
    while !started.has_ended() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
