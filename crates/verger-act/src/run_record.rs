//! What a run of a program leaves in the data directory, so that a monitor can end it, measure it and finish its job.
//!
//! ```text
//! wrapper ── writes ──► run/NAME.json ◄── reads ── monitor
//!         ── removes, at an orderly end
//! ```
//!
//! A record whose wrapper is gone is that of a wrapper that was killed. Processes are named beyond doubt (X10), so an old
//! record touches nobody.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::process::{Identity, TreeRecord};

/// The folder of records in the data directory.
const FOLDER: &str = "run";
/// The file in a run's own folder that says that its program is to end.
const ENDING: &str = "ending";
/// Larger ones are none of ours.
const BYTES_MAX: u64 = 1 << 20;

/// A program that runs under a wrapper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Whom it is watched as.
    pub agent_id: String,
    /// Which of its lives this is, where the wrapper knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
    /// The process that stands between the program and whoever started it.
    pub wrapper: Identity,
    /// The process that reaps, if it could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeper: Option<Identity>,
    /// The program, and all that it started; none while it waits to be brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeRecord>,
    /// The run's own folder, with its sockets.
    pub folder: PathBuf,
    /// How the program ended, if nobody could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RunEnded>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnded {
    /// The exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl RunRecord {
    /// The name of the socket in the run's folder at which it can be told to bring its program back.
    pub const CONTROL: &str = "control";

    /// Where the records of a data directory are.
    pub fn folder_in(data_dir: &Path) -> PathBuf {
        data_dir.join(FOLDER)
    }

    /// The record of an agent, if it has one that can be read.
    pub fn of(data_dir: &Path, agent: &str) -> Option<Self> {
        Self::read(&path(data_dir, agent)).filter(|record| record.agent_id == agent)
    }

    /// All that can be read.
    pub fn all(data_dir: &Path) -> Vec<Self> {
        let entries = fs::read_dir(Self::folder_in(data_dir)).into_iter().flatten().flatten();
        entries.filter_map(|entry| Self::read(&entry.path())).collect()
    }

    /// Writes it, in place of the one before.
    pub fn write(&self, data_dir: &Path) -> io::Result<()> {
        let folder = Self::folder_in(data_dir);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let (file, new) = (path(data_dir, &self.agent_id), folder.join(format!(".{}", self.wrapper.pid)));
        let mut out = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        out.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(new, file)
    }

    /// Removes it, unless it is another wrapper's by now.
    pub fn remove(&self, data_dir: &Path) {
        if Self::of(data_dir, &self.agent_id).is_some_and(|present| present.wrapper == self.wrapper) {
            let _ = fs::remove_file(path(data_dir, &self.agent_id));
        }
    }

    /// Has the wrapper know that what the program leaves is to end too, however well it ends itself.
    pub fn announce_end(&self) {
        // A folder that is gone has no wrapper that would look.
        let _ = File::create(self.folder.join(ENDING));
    }

    /// Whether that was said.
    pub fn is_end_announced(folder: &Path) -> bool {
        folder.join(ENDING).exists()
    }

    /// It was said of an earlier life.
    pub fn forget_end(folder: &Path) {
        let _ = fs::remove_file(folder.join(ENDING));
    }

    fn read(path: &Path) -> Option<Self> {
        let is_record = path.extension().is_some_and(|extension| extension == "json");
        let is_small = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= BYTES_MAX);
        if !is_record || !is_small {
            return None;
        }
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }
}

/// Names may hold anything, so a file is named after their fingerprint.
fn path(data_dir: &Path, agent: &str) -> PathBuf {
    let print = agent.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |print, byte| {
        (print ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    RunRecord::folder_in(data_dir).join(format!("{print:016x}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(agent: &str) -> RunRecord {
        let wrapper = Identity::own();
        let (agent_id, folder) = (agent.to_owned(), PathBuf::from("/nowhere"));
        RunRecord { agent_id, incarnation: Some(3), wrapper, keeper: None, tree: None, folder, ended: None }
    }

    #[test]
    fn a_record_is_found_by_its_agent_and_removed_by_its_wrapper_alone() {
        let data = tempfile::tempdir().expect("a folder");
        let own = record("a/../b");
        own.write(data.path()).expect("it can be written");
        record("c").write(data.path()).expect("it can be written");
        assert_eq!(RunRecord::of(data.path(), "a/../b"), Some(own.clone()));
        assert_eq!((RunRecord::of(data.path(), "b"), RunRecord::all(data.path()).len()), (None, 2));
        let other = RunRecord { wrapper: Identity { started: 1, ..own.wrapper }, ..own.clone() };
        other.remove(data.path());
        assert!(RunRecord::of(data.path(), "a/../b").is_some());
        own.remove(data.path());
        assert_eq!(RunRecord::all(data.path()), [record("c")]);
    }
}
