//! What the other parts of the program are told, as types that they can rely on.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use verger_core::id::{AgentId, RoleName, TaskId};
use verger_core::policy::{Mode, Policies};
use verger_core::resources::Limits;
use verger_core::time::Span;

use crate::show::Effective;
use crate::telemetry::Telemetry;

/// A whole configuration, checked. There is no half of one.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The thresholds by which the core decides.
    pub policies: Policies,
    /// Where the monitor listens and keeps its data.
    pub server: Server,
    /// How much it takes from whom.
    pub traffic: Traffic,
    /// How the engine and the store write.
    pub storage: Storage,
    /// Whom it tells, besides the API.
    pub outward: Outward,
    /// By what means agents are ended and started.
    pub means: MeansBook,
    /// Settings of single agents.
    pub agents: BTreeMap<AgentId, AgentSettings>,
    /// Conditions and whom they are told to. Not used until alerts exist.
    pub alerting: BTreeMap<String, Alert>,
    /// What is told of the monitor itself.
    pub telemetry: Telemetry,
    /// How the command line reaches a monitor.
    pub client: Client,
    pub(crate) effective: Vec<Effective>,
}

/// Where the monitor listens and keeps its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it answers.
    pub listen: SocketAddr,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// Encryption.
    pub tls: Option<Tls>,
    /// Whether listening beyond this machine without encryption was asked for by a flag.
    pub insecure: bool,
    /// Whether messages are taken without a token.
    pub messages_open: bool,
}

/// Files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Certificates of those who vouch for clients; with them, clients must present one.
    pub client_ca: Option<PathBuf>,
}

/// How much the monitor takes from whom (X13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Connections at one time.
    pub connections: u32,
    /// Of these from one address that is not this machine's.
    pub connections_per_address: u32,
    /// How long a connection may be silent before a request, and its head may take.
    pub head_timeout: Span,
    /// Bytes of a head.
    pub head: u64,
    /// Headers of a request.
    pub headers: u16,
    /// Bytes of a body.
    pub body: u64,
    /// Bytes of all bodies that are being read and taken in.
    pub bodies: u64,
    /// How long all of a body may take.
    pub body_timeout: Span,
    /// Heartbeats or signals in a body.
    pub batch: u32,
    /// Heartbeats and signals of one agent in a second; none is no limit.
    pub agent_rate: Option<u64>,
    /// So many more at once.
    pub agent_burst: u32,
    /// Requests by one token that may only read, in a second; none is no limit.
    pub reader_rate: Option<u64>,
    /// So many more at once.
    pub reader_burst: u32,
    /// Answers that do not end, at one time.
    pub streams: u32,
    /// Who takes next to nothing of its answer for so long is cut off.
    pub answer_timeout: Span,
}

impl Default for Traffic {
    /// Sizes are a few times what the largest fleet on one machine needs. The rate of an agent is ten times that of one
    /// that tells of every step, and its burst ten times what its client keeps through an outage.
    fn default() -> Self {
        Self {
            connections: 16_384,
            connections_per_address: 4_096,
            head_timeout: Span::secs(75),
            head: 32 << 10,
            headers: 64,
            body: 16 << 20,
            bodies: 128 << 20,
            body_timeout: Span::minutes(1),
            batch: 10_000,
            agent_rate: Some(200),
            agent_burst: 10_000,
            reader_rate: Some(100),
            reader_burst: 1_000,
            streams: 12_000,
            answer_timeout: Span::secs(30),
        }
    }
}

/// How the engine and the store write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Vital signs wait for the disk too.
    pub strict: bool,
    /// How late an evaluation may be at most (`health_check.interval_seconds`): the loop never sleeps longer. None
    /// leaves it to the engine, which sleeps for less by default.
    pub evaluate_within: Option<Span>,
    /// How long data is kept.
    pub retention: Retention,
}

/// How long data is kept (L46).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Samples of how agents did.
    pub history: Span,
    /// What happened.
    pub events: Span,
    /// Checkpoints of tasks that are over.
    pub checkpoints: Span,
    /// Messages that are over.
    pub messages: Span,
    /// The audit; none keeps it for ever.
    pub audit: Option<Span>,
}

impl Default for Retention {
    fn default() -> Self {
        let month = Span::hours(30 * 24);
        Self { history: month, events: month, checkpoints: month, messages: month, audit: None }
    }
}

/// Whom the monitor tells by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outward {
    /// A program that is run when people should hear of something.
    pub notify: Option<Notify>,
    /// Whoever directs the agents.
    pub orchestrator: Option<Orchestrator>,
}

/// A program that is run when people should hear of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    /// The program.
    pub command: Command,
    /// Of what it is told; none means trouble: stuck, failing and dead agents,
    /// escalations, and what could not be recovered or ended.
    pub events: Option<Vec<String>>,
}

/// The webhook of whoever directs the agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orchestrator {
    /// Where it is.
    pub webhook: Webhook,
    /// Of what it is told; none means trouble: stuck, failing and dead agents,
    /// escalations, and what could not be recovered or ended.
    pub events: Option<Vec<String>>,
}

/// A program with its arguments; no shell ever reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments. Never empty.
    pub argv: Vec<String>,
    /// Where it runs.
    pub cwd: Option<PathBuf>,
    /// Variables that it gets.
    pub env: Vec<(String, Secret)>,
}

/// An address that is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The address.
    pub url: String,
    /// A file with the secret by which requests are signed.
    pub secret_file: Option<PathBuf>,
}

/// How something is done to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// By running a program.
    Command(Command),
    /// By calling an address.
    Webhook(Webhook),
}

/// How one agent, one role or everybody is ended and started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeansPair {
    /// How it is ended.
    pub termination: Option<Means>,
    /// How it is started again.
    pub spawn: Option<Means>,
}

/// All means, from the general to the particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeansBook {
    /// For everybody.
    pub all: MeansPair,
    /// For agents of a role.
    pub roles: BTreeMap<RoleName, MeansPair>,
    /// For single agents.
    pub agents: BTreeMap<AgentId, MeansPair>,
}

impl MeansBook {
    /// How this agent is ended: by its own means, else its role's, else everybody's.
    pub fn termination(&self, agent: &AgentId, role: Option<&RoleName>) -> Option<&Means> {
        self.nearest(agent, role, |pair| pair.termination.as_ref())
    }

    /// How this agent is started again.
    pub fn spawn(&self, agent: &AgentId, role: Option<&RoleName>) -> Option<&Means> {
        self.nearest(agent, role, |pair| pair.spawn.as_ref())
    }

    fn nearest<'a>(
        &'a self,
        agent: &AgentId,
        role: Option<&RoleName>,
        which: impl Fn(&'a MeansPair) -> Option<&'a Means>,
    ) -> Option<&'a Means> {
        let own = self.agents.get(agent).and_then(&which);
        let of_role = || role.and_then(|role| self.roles.get(role)).and_then(&which);
        own.or_else(of_role).or_else(|| which(&self.all))
    }
}

/// What is set for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSettings {
    /// Its role, whatever it claims.
    pub role: Option<RoleName>,
    /// The task that it has.
    pub task: Option<TaskId>,
    /// What may be done to it without a person.
    pub mode: Option<Mode>,
    /// What one life of it may use, in full.
    pub limits: Option<Limits>,
    /// By which ways it is reminded.
    pub nudge_channels: Option<Vec<String>>,
}

/// Whom a condition is told to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    /// Names of channels.
    pub channels: Vec<String>,
    /// `info`, `warning`, `error` or `critical`.
    pub severity: Option<String>,
}

/// How the command line reaches a monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Its address; none means the local one.
    pub url: Option<String>,
    /// What it is let in with; none means the local one.
    pub token: Option<Secret>,
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever has to use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("set")
    }
}
