//! What surrounds a configuration: flags, the environment, and who runs the program.

use verger_config::{Environment, Flags, Surroundings};

use crate::cli::Place;

/// What this process was started with. Variables that are not text are not ours.
pub(crate) fn of(place: &Place) -> Surroundings {
    let flags = Flags { config: place.config.clone(), data_dir: place.data_dir.clone(), ..Flags::default() };
    let root = rustix::process::geteuid().is_root();
    Surroundings { flags, environment: environment(), root }
}

fn environment() -> Environment {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}
