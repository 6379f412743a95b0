//! The state in which a program was ended (L22): enough to understand what it was doing, and no secret.
//!
//! Taken before it is told to end, because a process that has ended has no files. Of its environment only the names are
//! kept, of its command only the program's name: both may hold credentials. Whatever cannot be read is absent.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::git::GitState;
use super::mark;
use super::proc::{self, State};
use super::tree::{Reach, Tree};
use crate::tail::Tail;

const VARIABLES_MAX: usize = 512;
const OPEN_FILES_MAX: usize = 256;
const PROCESSES_MAX: usize = 256;

/// A program as it was last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalState {
    /// The end of what it printed.
    pub output: String,
    /// Whether it printed more than that.
    pub output_cut: bool,
    /// The names of its environment variables, in order; never their values.
    pub variables: Vec<String>,
    /// What it has open.
    pub open_files: Vec<OpenFile>,
    /// The directory it works in.
    pub directory: Option<PathBuf>,
    /// How the work tree stands that this directory is in.
    pub git: Option<GitState>,
    /// All of its processes.
    pub processes: Vec<ProcessAtEnd>,
}

/// Something that a process has open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFile {
    /// Its number.
    pub number: u32,
    /// A path, or what the kernel calls it, such as `socket:[123]`.
    pub target: String,
}

/// A process of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessAtEnd {
    /// Its number.
    pub pid: u32,
    /// That of its parent.
    pub parent: u32,
    /// The name of its program.
    pub name: String,
    /// What it was doing.
    pub state: State,
    /// Resident memory, in bytes.
    pub memory: u64,
    /// Its time on processors, in milliseconds.
    pub cpu_ms: u64,
}

impl FinalState {
    /// How a tree stands now. Blocks for at most a few seconds, if `git` is slow.
    pub fn take(tree: &mut Tree, output: &Tail) -> Self {
        let root = tree.root();
        let directory = root.is_same().then(|| fs::read_link(proc::path(root.pid, "cwd")).ok()).flatten();
        let state = Self {
            output: output.text(),
            output_cut: output.is_cut(),
            variables: variables(root.pid),
            open_files: open_files(root.pid),
            git: directory.as_deref().and_then(GitState::of),
            directory,
            processes: processes(tree),
        };
        // What was read is another's if its number has become another's meanwhile.
        if root.is_same() {
            return state;
        }
        Self {
            output: state.output,
            output_cut: state.output_cut,
            processes: state.processes,
            ..Self::default()
        }
    }

    /// The same of a program that has ended, in the directory where it was started.
    pub fn after(tree: &mut Tree, output: &Tail, directory: &Path) -> Self {
        Self {
            output: output.text(),
            output_cut: output.is_cut(),
            git: GitState::of(directory),
            directory: Some(directory.to_owned()),
            processes: processes(tree),
            ..Self::default()
        }
    }
}

fn variables(pid: u32) -> Vec<String> {
    let environment = proc::environment(pid).unwrap_or_default();
    let names = mark::names(&environment).map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<_> = names.take(VARIABLES_MAX).collect();
    names.sort();
    names.dedup();
    names
}

fn open_files(pid: u32) -> Vec<OpenFile> {
    let entries = fs::read_dir(proc::path(pid, "fd")).into_iter().flatten().flatten();
    let files = entries.take(OPEN_FILES_MAX).filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some(OpenFile { number, target: fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned() })
    });
    let mut files: Vec<_> = files.collect();
    files.sort_by_key(|file| file.number);
    files
}

fn processes(tree: &mut Tree) -> Vec<ProcessAtEnd> {
    let page = rustix::param::page_size() as u64;
    let members = tree.look(Reach::Far).into_iter().filter(proc::Stat::is_alive).take(PROCESSES_MAX);
    members
        .map(|stat| ProcessAtEnd {
            pid: stat.pid,
            parent: stat.parent,
            name: stat.name,
            state: stat.state,
            memory: stat.resident_pages.saturating_mul(page),
            cpu_ms: u64::try_from(proc::time_of(stat.cpu_ticks).as_millis()).unwrap_or(u64::MAX),
        })
        .collect()
}
