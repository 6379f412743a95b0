//! The monitor as a service: started, running until it is told to end, ended.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use verger_api::Cursors;
use verger_api::ingest::Limits;
use verger_config::{Configuration, Server};
use verger_store::{Archive, EngineStore};

use super::background::Background;
use super::connections::Connections;
use super::listener::Listener;
use super::pace::settings;
use super::reload::{Ready, Reload, Reloader};
use super::{Log, ServeError, Systemd, welcome};
use crate::access::{Doorkeeper, Origin, admin_secret};
use crate::http::{self, App, Parts};
use crate::monitor::{Monitor, Started};
use crate::runs::Runs;
use crate::trace::Tracer;
use crate::traffic::Traffic;
use crate::unix::{self, Socket};
use crate::wire::{Encoder, SOURCE};

/// How often it is looked whether the loop is still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The name of the file that says where the monitor answers.
const URL_FILE: &str = "verger.url";
/// The name of the socket for local clients.
const SOCKET_FILE: &str = "verger.sock";
/// How long local clients have to finish what is under way.
const LOCAL_WITHIN: Duration = Duration::from_secs(3);

/// What a monitor is started with.
pub struct Options {
    /// What it is told.
    pub configuration: Configuration,
    /// The version of the program.
    pub version: &'static str,
    /// Where lines for the operator go.
    pub log: Log,
    /// How the configuration is loaded again, if it can be.
    pub reload: Option<Reload>,
    /// Who started it, if it wants to be told how it does.
    pub systemd: Systemd,
}

/// A monitor that is watching and can be served.
pub struct Serving {
    started: Started,
    background: Background,
    connections: Connections,
    listener: Listener,
    local: Local,
    reloader: Reloader,
    systemd: Arc<Systemd>,
    url: String,
    welcome: String,
    data_dir: PathBuf,
}

impl Serving {
    /// Starts a monitor. Its data directory is its own until the end; connections are taken in by [`run`](Self::run).
    pub async fn start(options: Options) -> Result<Self, ServeError> {
        let begun = Instant::now();
        let Options { configuration, version, log, mut reload, systemd } = options;
        log.set(configuration.telemetry.log);
        check_reach(&configuration.server)?;
        if let Some(reload) = &mut reload {
            reload.follow(&configuration);
        }
        let (configuration, places) = Ready::of(configuration)?.spread();
        let server = configuration.server.clone();
        let seed = seed()?;
        let tracer = Arc::new(Tracer::new(seed.rotate_left(32)));
        let (store, newest) = open(&server, Arc::clone(&tracer))?;
        let data_dir = store.1.directory().to_owned();
        let data_dir = fs::canonicalize(&data_dir).unwrap_or(data_dir);
        let admin = admin_secret(&data_dir)?;
        let socket = Socket::bind(&data_dir.join(SOCKET_FILE))?;
        let listener = Listener::bind(server.listen, places.tls.subscribe());
        let failed = |source| ServeError::Listen { address: server.listen, source };
        let listener = listener.map_err(failed)?;
        let address = listener.address().map_err(failed)?;
        let archive = store.1.clone();
        let (policies, pace) = (configuration.policies.clone(), settings(&configuration.storage));
        let mut started = Monitor::start_traced(store, policies, pace, seed, tracer)?;
        let doorkeeper = Doorkeeper::new(archive, &admin);
        let live = places.live.subscribe();
        doorkeeper.set_orchestrator(live.borrow().secret.clone());
        let runs = Runs::in_data(data_dir.clone());
        let url = welcome::url(address, listener.is_encrypted());
        let background = Background::start(&mut started, &live, &newest, &runs, &url, version, &log)?;
        let origin = Origin::new(address, []);
        let origin = if listener.is_encrypted() { origin.through_tls() } else { origin };
        let traffic = Traffic::new(configuration.traffic.clone());
        let app = App::new(Parts {
            monitor: started.monitor.clone(),
            doorkeeper,
            origin,
            cursors: Cursors::new(admin.reveal().as_bytes()),
            limits: Limits::default(),
            traffic: Arc::clone(&traffic),
            newest,
            started: begun,
            version,
        });
        let agents = started.monitor.look(|fleet, _| fleet.len()).await.unwrap_or(0);
        let welcome = welcome::text(version, &url, &data_dir, &data_dir.join("admin.token"), agents);
        let file = data_dir.join(URL_FILE);
        fs::write(&file, format!("{url}\n")).map_err(|source| ServeError::File { path: file, source })?;
        if server.insecure && !address.ip().is_loopback() {
            log.warn("connections from other machines are not encrypted: tokens can be read on the way");
        }
        let router = http::router(app.clone());
        let systemd = Arc::new(systemd);
        let reloader =
            Reloader { reload, present: configuration, places, app, log, systemd: Arc::clone(&systemd) };
        let local = Local::serve(socket, router.clone());
        let connections = Connections::new(router, traffic);
        Ok(Self {
            started,
            background,
            connections,
            listener,
            local,
            reloader,
            systemd,
            url,
            welcome,
            data_dir,
        })
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
        let Self { started, mut background, connections, listener, local, mut reloader, .. } = self;
        let (systemd, url, data_dir) = (self.systemd, self.url, self.data_dir);
        systemd.ready(&url);
        let broken = tokio::select! {
            () = shutdown => None,
            () = listener.run(&connections) => None,
            () = reloader.run() => None,
            () = systemd.feed(&started.monitor) => None,
            () = loop_ends(&started) => Some(ServeError::LoopEnded),
            () = background.breaks() => Some(ServeError::PartEnded),
        };
        systemd.stopping();
        // Nobody new is let in.
        drop(listener);
        tokio::join!(connections.finish(), local.finish());
        let _kept = background.end().await;
        let trouble = started.monitor.pulse().trouble();
        // It waits for the disk. A panic in it was reported by its thread.
        let _ = tokio::task::spawn_blocking(|| started.stop()).await;
        let unwritten =
            trouble.borrow().as_ref().map(|trouble| ServeError::Unwritten(trouble.why.to_string()));
        // That it is no longer there is not worth a failure.
        let _ = fs::remove_file(data_dir.join(URL_FILE));
        broken.or(unwritten).map_or(Ok(()), Err)
    }
}

/// The way in for local clients.
struct Local {
    end: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Local {
    fn serve(socket: Socket, router: Router) -> Self {
        let (end, ends) = oneshot::channel();
        let ended = async {
            // That nobody is left who could say so says it too.
            let _ = ends.await;
        };
        Self { end, serving: tokio::spawn(unix::serve(socket, router, ended)) }
    }

    /// Waits until requests that are under way are answered, or their time is up.
    async fn finish(mut self) {
        let _ = self.end.send(());
        if tokio::time::timeout(LOCAL_WITHIN, &mut self.serving).await.is_err() {
            self.serving.abort();
        }
    }
}

/// Beyond this machine it needs encryption, or somebody who asked for none.
pub(super) fn check_reach(server: &Server) -> Result<(), ServeError> {
    let is_near = server.listen.ip().to_canonical().is_loopback();
    if is_near || server.tls.is_some() || server.insecure {
        return Ok(());
    }
    Err(ServeError::Exposed(server.listen))
}

type Opened = ((EngineStore, Archive), watch::Receiver<i64>);

fn open(server: &Server, tracer: Arc<Tracer>) -> Result<Opened, ServeError> {
    let encoder = Arc::new(Encoder { source: SOURCE.to_owned(), tracer });
    let (tell, newest) = watch::channel(0);
    let mut options = verger_store::Options::new(&server.data_dir, encoder);
    options.on_events = Some(Box::new(move |id| {
        tell.send_replace(id);
    }));
    Ok((verger_store::open(options)?, newest))
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
