//! Where the monitor listens, what it keeps, whom it tells, and by what means it acts.

use crate::kind::{Kind, span};
use crate::shape::{Entry, Shape, section, value};
use crate::value::MODES;

use super::limits;

/// How vital signs are written.
pub(crate) const DURABILITY: &[&str] = &["normal", "strict"];

/// Kinds of data that are kept for a while (L46). Checkpoints of open tasks are always kept.
pub(crate) const RETENTION: [(&str, Kind, &str); 5] = [
    ("history", span(), "Samples of how agents did."),
    ("events", span(), "What happened, as it can be read again."),
    ("checkpoints", span(), "Checkpoints of tasks that are over."),
    ("messages", span(), "Messages that are over."),
    ("audit", Kind::Optional(&span()), "The audit of interventions; `none` keeps it for ever."),
];

/// What people and programs can be told of.
pub(crate) const EVENTS: &[&str] = &[
    "HEALTH_STATE_CHANGED",
    "NUDGE_SENT",
    "NUDGE_DELIVERED",
    "NUDGE_ANSWERED",
    "ESCALATION_TRIGGERED",
    "ESCALATION_DECIDED",
    "AGENT_TERMINATED",
    "RECOVERY_INITIATED",
    "RECOVERY_COMPLETED",
    "RECOVERY_FAILED",
    "CIRCUIT_BREAKER_STATE_CHANGED",
    "agent-healthy",
    "agent-degraded",
    "agent-disconnected",
    "agent-reconnected",
    "agent-health-critical",
    "WORKER_ESCALATION_TICKET",
    "QUEEN_INTERVENTION_REQUESTED",
    "INCIDENT_OPENED",
    "INCIDENT_RESOLVED",
    "MONITOR_BLIND",
];

/// Ways to an agent's context.
pub(crate) const CHANNELS: &[&str] = &["hook", "mcp", "inbox", "pty", "tmux", "webhook"];

/// The keys at the top, in the order in which they are documented.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = vec![
        value(
            "listen",
            Kind::Address,
            "Where the monitor answers. Beyond this machine it needs `access.tls`.",
        ),
        value("data_dir", Kind::Path, "Where everything is kept, tokens included."),
        value("mode", Kind::Choice(MODES), "What may be done without a person, for roles that do not say."),
        value("durability", Kind::Choice(DURABILITY), "`strict` makes vital signs wait for the disk too."),
        section("retention", retention(), "How long data is kept."),
        section("access", vec![tls()], "Who may reach the monitor."),
        section("messages", vec![open()], "Messages between agents."),
        section("notify", notify(), "A program that is run when people should hear of something."),
        section("orchestrator", vec![orchestrator()], "Whoever directs the agents."),
    ];
    entries.extend(means());
    entries
}

/// `agents:`.
pub(crate) fn agents() -> Entry {
    let channels =
        value("channels", Kind::Choices(CHANNELS), "By which ways it is reminded, the first that works.");
    let mut entries = vec![
        value("role", Kind::Text, "Its role, whatever it claims."),
        value("task", Kind::Text, "The task that it has."),
        value("mode", Kind::Choice(MODES), "What may be done to it without a person."),
        limits::section_of("limits", "What one life of it may use; what is not named is as in its role."),
        section("nudge", vec![channels], "How it is reminded."),
    ];
    entries.extend(means());
    Entry { name: "agents", meaning: "Settings of single agents, by id.", shape: Shape::Named(entries) }
}

/// `termination:` and `spawn:`, which may stand at the top, in a role, or at an agent; the nearest counts.
pub(crate) fn means() -> Vec<Entry> {
    let by = || {
        let mut entries = command("The program that does it, and its arguments. No shell reads them.");
        entries.push(section("webhook", webhook(), "The address that does it, instead of a program."));
        entries
    };
    vec![
        section("termination", by(), "How an agent is ended: by a program or by a webhook."),
        section("spawn", by(), "How an agent is started again: by a program or by a webhook."),
    ]
}

fn retention() -> Vec<Entry> {
    RETENTION.iter().map(|(name, kind, meaning)| value(name, *kind, meaning)).collect()
}

fn tls() -> Entry {
    let files = vec![
        value("cert", Kind::Path, "The certificate chain, PEM."),
        value("key", Kind::Path, "Its private key, PEM."),
        value(
            "client_ca",
            Kind::Path,
            "Who vouches for clients, PEM. With it, clients must present a certificate.",
        ),
    ];
    section("tls", files, "Encryption. Certificate and key, or neither.")
}

fn open() -> Entry {
    value("open", Kind::Bool, "Whether messages are taken without a token, from this machine.")
}

fn notify() -> Vec<Entry> {
    let mut entries = command("The program and its arguments. The event is its standard input, as JSON.");
    entries.push(events());
    entries
}

fn orchestrator() -> Entry {
    let mut entries = webhook();
    entries.push(events());
    section("webhook", entries, "Told of trouble and asked in escalations; it may answer with a decision.")
}

fn events() -> Entry {
    value(
        "events",
        Kind::Choices(EVENTS),
        "Of what it is told. Without this: agents that are stuck, failing or dead, escalations, and what could not be recovered or ended.",
    )
}

fn command(meaning: &'static str) -> Vec<Entry> {
    vec![
        value("command", Kind::Argv, meaning),
        value("cwd", Kind::Path, "The folder in which the program runs."),
        value("env", Kind::Env, "Variables that it gets besides the monitor's own."),
    ]
}

fn webhook() -> Vec<Entry> {
    vec![
        value("url", Kind::Url, "The address."),
        value("secret_file", Kind::Path, "A file with the secret by which requests are signed."),
    ]
}
