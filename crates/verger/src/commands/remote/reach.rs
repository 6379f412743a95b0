//! Which monitor is meant, and how one is known there.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use verger_api::Time;
use verger_client::{Access, Control, Surroundings};

use crate::cli::Place;
use crate::surroundings;

/// Which monitor is asked. Without options: the one of this user on this machine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Reach {
    /// Where the monitor is [else `$VERGER_URL`, else what runs on the data directory]
    #[arg(long, value_name = "URL", help_heading = "Which monitor")]
    pub(crate) url: Option<String>,
    /// Where its data is [else `$VERGER_DATA_DIR`, else `$XDG_STATE_HOME/verger`; root: `/var/lib/verger`]
    #[arg(long, value_name = "DIR", help_heading = "Which monitor")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

impl Reach {
    /// Where the monitor's data is, if that can be told.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let around = surroundings::of(&Place { data_dir: self.data_dir.clone(), config: None });
        // A configuration that VERGER_CONFIG names may say where the data is; a wrong one says nothing.
        let told = around.file().and_then(|_| verger_config::read_and_load(&around).ok());
        match told {
            Some(configuration) => Some(configuration.server.data_dir),
            None => verger_config::data_dir(self.data_dir.as_deref(), &around.environment, around.root).ok(),
        }
    }

    /// The address that a monitor left in its data, if one runs there.
    pub(crate) fn url_left(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.folder()?.join("verger.url")).ok()?;
        Some(text.trim().to_owned())
    }

    /// The address and the token that are used.
    pub(crate) fn access(&self) -> Result<Access, verger_client::Error> {
        Ok(Access::discover(&Surroundings::here(self.url.clone(), self.folder()))?)
    }

    /// The monitor.
    pub(crate) fn control(&self) -> Result<Control, verger_client::Error> {
        Control::new(&self.access()?)
    }
}

/// What people's clocks show.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
