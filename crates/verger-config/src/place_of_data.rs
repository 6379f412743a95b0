//! Where the data is, by the one rule that every command follows.
//!
//! `--data-dir`, else `$VERGER_DATA_DIR`, else `data_dir` of the file, else `$XDG_STATE_HOME/verger`, else
//! `~/.local/state/verger`; for root, `/var/lib/verger` instead of the last two. So every command finds token and
//! socket from anywhere. The environment is an argument: tests need not change the process's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::show::Origin;

/// Variables by name. A variable that is empty counts as not set, as is the habit of shells.
pub type Environment = BTreeMap<String, String>;

/// There is no folder that could be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no data folder is known: set VERGER_DATA_DIR, or HOME, or use --data-dir")]
pub struct NoDataDir;

/// The data folder for commands that read no configuration file.
pub fn data_dir(flag: Option<&Path>, environment: &Environment, root: bool) -> Result<PathBuf, NoDataDir> {
    chosen(flag, environment, None, root).map(|(path, _)| path)
}

/// The data folder and where it comes from; `file` is what the configuration says and where.
pub(crate) fn chosen(
    flag: Option<&Path>,
    environment: &Environment,
    file: Option<(PathBuf, Origin)>,
    root: bool,
) -> Result<(PathBuf, Origin), NoDataDir> {
    if let Some(path) = flag {
        return Ok((path.to_path_buf(), Origin::Flag("--data-dir")));
    }
    if let Some(path) = variable(environment, "VERGER_DATA_DIR") {
        return Ok((path.into(), Origin::Environment("VERGER_DATA_DIR")));
    }
    if let Some(chosen) = file {
        return Ok(chosen);
    }
    if root {
        return Ok(("/var/lib/verger".into(), Origin::Default));
    }
    // The XDG rules say to ignore paths that are not absolute.
    let absolute = |name| variable(environment, name).map(Path::new).filter(|path| path.is_absolute());
    if let Some(state) = absolute("XDG_STATE_HOME") {
        return Ok((state.join("verger"), Origin::Environment("XDG_STATE_HOME")));
    }
    let home = absolute("HOME").ok_or(NoDataDir)?;
    Ok((home.join(".local/state/verger"), Origin::Default))
}

pub(crate) fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(flag: Option<&str>, environment: &[(&str, &str)], root: bool) -> String {
        let environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        match data_dir(flag.map(Path::new), &environment, root) {
            Ok(path) => path.display().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_data_folder_is_found_by_one_rule() {
        let all = [("VERGER_DATA_DIR", "/env"), ("XDG_STATE_HOME", "/xdg"), ("HOME", "/home/a")];
        assert_eq!(found(Some("flag"), &all, false), "flag");
        assert_eq!(found(None, &all, true), "/env");
        assert_eq!(found(None, &all[1..], false), "/xdg/verger");
        assert_eq!(found(None, &all[1..], true), "/var/lib/verger");
        assert_eq!(found(None, &all[2..], false), "/home/a/.local/state/verger");
        assert_eq!(
            found(None, &[("VERGER_DATA_DIR", ""), ("XDG_STATE_HOME", "rel"), all[2]], false),
            "/home/a/.local/state/verger"
        );
        assert!(found(None, &[], false).starts_with("no data folder is known"));
    }
}
