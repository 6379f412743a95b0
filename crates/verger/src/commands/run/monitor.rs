//! Finds the monitor that watches, starts one for this user if there is none, and gets what the agent is known by there.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::setsid;
use verger_api::{NewToken, Scope};
use verger_client::{Access, Control, Error};

use crate::commands::remote::Reach;

/// The name of the word that has this program start another that outlives whoever asked.
pub(super) const DETACH: &str = "__detach";
/// How long a monitor that was started has to answer.
const UP_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LOG: &str = "monitor.log";

/// What an agent is known by at its monitor.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// With the agent's own token.
    pub(super) access: Access,
    /// The secret of that token, for the program.
    pub(super) token: Option<String>,
    /// The token's name, if it was made for this run.
    token_id: Option<String>,
    /// Where programs find the monitor.
    pub(super) url: String,
    /// Which life of the agent this will be.
    pub(super) incarnation: Option<u32>,
}

/// Where monitors are looked for.
pub(super) struct Finder {
    reach: Reach,
    agent: String,
}

impl Finder {
    pub(super) fn new(reach: Reach, agent: &str) -> Self {
        Self { reach, agent: agent.to_owned() }
    }

    /// Whether it is this user's own monitor, on this machine, that is meant.
    pub(super) fn is_own(&self) -> bool {
        self.reach.url.is_none() && std::env::var_os("VERGER_URL").is_none_or(|url| url.is_empty())
    }

    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.reach.folder().filter(|_| self.is_own())
    }

    /// The monitor, if it answers. The agent is given a token of its own there.
    pub(super) async fn find(&self) -> Result<Known, Error> {
        let access = self.reach.access()?;
        let control = Control::new(&access)?;
        control.health().await?;
        let incarnation = match control.agent(&self.agent).await {
            Ok(agent) => Some(agent.incarnation.saturating_add(1)),
            Err(error) if error.problem().is_some_and(|problem| problem.status == 404) => Some(1),
            Err(_) => None,
        };
        let url = self.reach.url_left().filter(|_| self.is_own());
        let url = url.unwrap_or_else(|| access.address.to_string());
        let wanted = NewToken {
            scope: Scope::Agent,
            agent_id: Some(self.agent.clone()),
            label: Some("verger run".to_owned()),
            expires_in: None,
        };
        match control.create_token(&wanted).await {
            Ok(made) => {
                let access = Access::new(access.address, Some(made.secret.clone()));
                let (token, token_id) = (Some(made.secret), Some(made.token.id));
                Ok(Known { access, token, token_id, url, incarnation })
            }
            // Whoever may make no tokens has one that speaks for the agent, or is not believed everything.
            Err(error) if error.problem().is_some_and(|problem| matches!(problem.status, 401 | 403)) => {
                let token = std::env::var("VERGER_TOKEN").ok().filter(|token| !token.is_empty());
                Ok(Known { access, token, token_id: None, url, incarnation })
            }
            Err(error) => Err(error),
        }
    }

    /// The same, after starting one for this user.
    pub(super) async fn start(&self) -> anyhow::Result<Known> {
        let folder = self.reach.folder().context("nobody says where its data would be")?;
        start(&folder)?;
        let until = Instant::now() + UP_WITHIN;
        loop {
            match self.find().await {
                Ok(known) => return Ok(known),
                Err(error) if until <= Instant::now() => {
                    let log = folder.join(LOG);
                    let why = format!("it did not come up; {} says why", log.display());
                    return Err(anyhow::Error::new(error).context(why));
                }
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    /// The monitor, for questions of the person who runs this.
    pub(super) fn control(&self) -> Option<Control> {
        self.reach.control().ok()
    }

    /// The run is over: its token opens nothing any more.
    pub(super) async fn forget(&self, known: &Known) {
        let Some(id) = &known.token_id else { return };
        if let Ok(control) = self.reach.control() {
            let _ = tokio::time::timeout(Duration::from_secs(1), control.revoke_token(id)).await;
        }
    }
}

/// Starts a monitor that is nobody's child.
fn start(folder: &Path) -> anyhow::Result<()> {
    let cannot = || format!("could not write in {}", folder.display());
    DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(cannot)?;
    let log = folder.join(LOG);
    let log = File::options().append(true).create(true).mode(0o600).open(log).with_context(cannot)?;
    let mut command = Command::new(super::own_program());
    command.args([DETACH, "serve", "--data-dir"]).arg(folder).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let started = command.status().context("the monitor could not be started")?;
    anyhow::ensure!(started.success(), "the monitor could not be started");
    Ok(())
}

/// What this program does when it is called to start another and leave it alone.
pub(super) fn detach(arguments: &[OsString]) -> ExitCode {
    let started: io::Result<()> = setsid()
        .map_err(io::Error::from)
        .and_then(|_| Command::new(super::own_program()).args(arguments).spawn().map(drop));
    if started.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
