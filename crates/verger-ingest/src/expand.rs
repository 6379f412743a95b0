//! Files and folders as people name them → recordings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::flaw::ReadError;

/// How the names of recordings end.
const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "traj", "db"];

/// Folders below a folder that are looked into, one below the other. Sessions lie five deep; links may lie in circles.
const DEPTH_MAX: usize = 12;

/// One or more files that are read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    files: Vec<PathBuf>,
    name: PathBuf,
}

impl Recording {
    /// One file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { files: vec![path.clone()], name: path }
    }

    /// What people call it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// How many bytes there are to be read.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| fs::metadata(file).ok()).map(|data| data.len()).sum()
    }

    /// Whether each file of it holds one event.
    pub(crate) fn is_of_events(&self) -> bool {
        self.files[0] != self.name
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(crate) fn first(&self) -> &Path {
        &self.files[0]
    }

    /// What a run is called that says no name of its own: the file, without what all of its kind have.
    pub(crate) fn default_id(&self) -> String {
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parents = || self.name.ancestors().skip(1);
        match stem(&self.name).as_str() {
            // sessions/ID/logs/tool_logs.jsonl
            "tool_logs" => parents().nth(1).map(stem).unwrap_or_default(),
            // conversations/ID/events
            "events" => parents().next().map(stem).unwrap_or_default(),
            name => name.strip_suffix(".traj").unwrap_or(name).to_owned(),
        }
    }
}

/// What names of files and folders stand for.
#[derive(Debug, Default)]
pub struct Expanded {
    /// What can be read, in the order of the names, inside folders by path.
    pub recordings: Vec<Recording>,
    /// What cannot.
    pub errors: Vec<ReadError>,
}

/// Finds the recordings. A folder stands for every recording below it; a folder of events of one conversation, one
/// event a file, for that conversation.
pub fn expand<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Expanded {
    let mut expanded = Expanded::default();
    for path in paths {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => {
                let before = expanded.recordings.len();
                below(path, 0, &mut expanded);
                if expanded.recordings.len() == before {
                    expanded.errors.push(ReadError::NothingInside(path.to_path_buf()));
                }
            }
            Ok(_) => expanded.recordings.push(Recording::file(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                expanded.errors.push(ReadError::NotFound(path.to_path_buf()));
            }
            Err(error) => expanded.errors.push(ReadError::Unreadable { path: path.to_path_buf(), error }),
        }
    }
    expanded
}

fn below(folder: &Path, depth: usize, expanded: &mut Expanded) {
    let mut entries: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) => {
            expanded.errors.push(ReadError::Unreadable { path: folder.to_path_buf(), error });
            return;
        }
    };
    entries.sort();
    let (events, others): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|path| is_event_file(folder, path));
    if !events.is_empty() {
        expanded.recordings.push(Recording { files: by_number(events), name: folder.to_path_buf() });
    }
    for path in others {
        if path.is_dir() {
            if depth < DEPTH_MAX {
                below(&path, depth + 1, expanded);
            }
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
            expanded.recordings.push(Recording::file(path));
        }
    }
}

/// Whether this is one event of a conversation: `event-00012-….json`, or `events/12.json`.
fn is_event_file(folder: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(name) = name.strip_suffix(".json") else { return false };
    let numbered = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let in_events = folder.file_name().is_some_and(|folder| folder == "events") && numbered(name);
    in_events
        || name.strip_prefix("event-").is_some_and(|rest| numbered(rest.split('-').next().unwrap_or(rest)))
}

/// In the order of their numbers: `9` before `10`.
fn by_number(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let digits: String =
            name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        (digits.parse::<u64>().unwrap_or(u64::MAX), name)
    });
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_every_recording_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        };
        for name in [
            "b.jsonl",
            "a/x.traj",
            "a/notes.md",
            "c1/events/10.json",
            "c1/events/9.json",
            "c2/event-00001-ab.json",
        ] {
            write(name);
        }
        let expanded = expand([folder.path(), &folder.path().join("no")]);
        let names: Vec<_> = expanded
            .recordings
            .iter()
            .map(|recording| {
                let name = recording.name().strip_prefix(folder.path()).unwrap();
                (name.display().to_string(), recording.files().len(), recording.default_id())
            })
            .collect();
        let found = |name: &str, files, id: &str| (name.to_owned(), files, id.to_owned());
        assert_eq!(
            names,
            [
                found("a/x.traj", 1, "x"),
                found("b.jsonl", 1, "b"),
                found("c1/events", 2, "c1"),
                found("c2", 1, "c2")
            ]
        );
        let files = expanded.recordings[2].files();
        assert!(files[0].ends_with("9.json"), "{files:?}");
        assert!(matches!(expanded.errors.as_slice(), [ReadError::NotFound(_)]));
    }
}
