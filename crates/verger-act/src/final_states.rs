//! Final states of programs that were ended or ended badly (L22), a bounded number of files in the data directory.
//!
//! Two know a part each: whoever ends a program sees what it has open, its wrapper what it printed last. The first who
//! comes makes the file, the other adds to it.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::process::FinalState;

const FOLDER: &str = "final-states";
/// More than anybody looks through; the oldest go.
const FILES_MAX: usize = 200;

/// The final state of one life of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalStateFile {
    /// Whose it is.
    pub agent_id: String,
    /// Of which of its lives.
    pub incarnation: Option<u32>,
    /// The number of its first process.
    pub pid: u32,
    /// How it ended, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// How it stood.
    pub state: FinalState,
}

impl FinalStateFile {
    /// Writes it, or adds to what another wrote of the same life.
    pub fn keep(mut self, data_dir: &Path) -> io::Result<PathBuf> {
        let folder = data_dir.join(FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let file = folder.join(self.name());
        if let Some(other) = read(&file) {
            self.add(other);
        } else {
            make_room(&folder);
        }
        let new = folder.join(format!(".{}-{}", self.pid, std::process::id()));
        let mut out = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        out.write_all(&serde_json::to_vec_pretty(&self)?)?;
        fs::rename(new, &file)?;
        Ok(file)
    }

    /// Those of an agent, with their files, the latest life last.
    pub fn of(data_dir: &Path, agent: &str) -> Vec<(PathBuf, Self)> {
        let files = files(&data_dir.join(FOLDER)).into_iter();
        let mut found: Vec<_> =
            files.filter_map(|(_, path)| read(&path).map(|state| (path, state))).collect();
        found.retain(|(_, state)| state.agent_id == agent);
        found.sort_by_key(|(_, state)| state.incarnation);
        found
    }

    fn name(&self) -> String {
        let letters = self.agent_id.chars().map(|letter| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => letter,
            _ => '_',
        });
        let name: String = letters.take(80).collect();
        format!("{name}.{}.{}.json", self.incarnation.unwrap_or(0), self.pid)
    }

    /// What was seen while it ran is worth more than what is left.
    fn add(&mut self, other: Self) {
        let Self { end, state, .. } = other;
        self.end = self.end.take().or(end);
        let has_seen_more = !state.open_files.is_empty() || self.state.open_files.is_empty();
        let (output, output_cut) = if self.state.output.is_empty() {
            (state.output.clone(), state.output_cut)
        } else {
            (std::mem::take(&mut self.state.output), self.state.output_cut)
        };
        if has_seen_more {
            self.state = state;
        }
        (self.state.output, self.state.output_cut) = (output, output_cut);
    }
}

fn read(path: &Path) -> Option<FinalStateFile> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn files(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    let mut files: Vec<_> =
        files.filter(|(_, path)| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

fn make_room(folder: &Path) {
    let files = files(folder);
    let surplus = (files.len() + 1).saturating_sub(FILES_MAX);
    for (_, path) in files.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::OpenFile;

    #[test]
    fn l22_what_both_know_of_an_end_is_kept_in_one_file() {
        let data = tempfile::tempdir().expect("a folder");
        let of = |state| FinalStateFile {
            agent_id: "a/b".to_owned(),
            incarnation: Some(2),
            pid: 7,
            end: None,
            state,
        };
        let open_files = vec![OpenFile { number: 3, target: "/x".to_owned() }];
        let seen = FinalState { open_files: open_files.clone(), ..FinalState::default() };
        let heard = FinalState { output: "the end".to_owned(), ..FinalState::default() };
        for order in [[seen.clone(), heard.clone()], [heard, seen]] {
            let files = order.map(|state| of(state).keep(data.path()).expect("it can be written"));
            assert_eq!(files[0], files[1]);
            let found = FinalStateFile::of(data.path(), "a/b");
            let [(_, kept)] = &found[..] else { panic!("{found:?}") };
            assert_eq!((&kept.state.output[..], &kept.state.open_files), ("the end", &open_files));
            fs::remove_file(&files[0]).expect("it is there");
        }
        assert_eq!(FinalStateFile::of(data.path(), "b"), []);
    }
}
