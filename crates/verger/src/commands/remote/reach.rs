//! Which monitor is meant, and how one is known there.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use verger_api::Time;
use verger_client::{Access, Control, Surroundings};
use verger_config::Environment;

/// Which monitor is asked. Without options: the one of this user on this machine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Reach {
    /// Where the monitor is; without it `$VERGER_URL`, then what runs in the data directory
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Where its data is; without it `$VERGER_DATA_DIR`, then `$XDG_STATE_HOME/verger` (root: `/var/lib/verger`)
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Reach {
    /// Where the monitor's data is, if that can be told.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let environment: Environment = std::env::vars_os().filter_map(text).collect();
        let root = rustix::process::geteuid().is_root();
        verger_config::data_dir(self.data_dir.as_deref(), &environment, root).ok()
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
