//! How a work tree stands: what was checked out, and what is changed.
//!
//! `git` itself is asked, within a time and with a bound on what it says. It is told to take no locks and to run no
//! monitor or hook that the repository names. Filters of attributes may still run, with the rights of the caller: so it
//! is asked by the wrapper, which runs as the agent's own user.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::apart::spawn_apart;
use super::identity::Identity;

/// For each question. A large work tree on a cold disk takes a second.
const LIMIT: Duration = Duration::from_secs(3);
/// Of what it says.
const TEXT_MAX: u64 = 64 << 10;
/// Changed files that are told by name.
const CHANGES_MAX: usize = 200;

const STATUS: [&str; 5] =
    ["status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=all"];

/// A work tree at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitState {
    /// The commit that is checked out; none in a repository without any.
    pub head: Option<String>,
    /// The branch; none if no branch is checked out.
    pub branch: Option<String>,
    /// What is changed, a line for each file as `git status --porcelain` writes it. The first 200.
    pub changes: Vec<String>,
    /// Whether more is changed than that.
    pub changes_cut: bool,
}

impl GitState {
    /// Of the work tree that a directory is in. `None` if it is in none, or there is no `git`, or it takes too long.
    pub fn of(directory: &Path) -> Option<Self> {
        let (text, is_cut) = ask(directory, &STATUS)?;
        let mut state = Self::parse(&text);
        state.changes_cut |= is_cut;
        Some(state)
    }

    fn parse(text: &str) -> Self {
        let mut state = Self { head: None, branch: None, changes: Vec::new(), changes_cut: false };
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("# branch.oid ") {
                state.head = Some(head.to_owned()).filter(|head| head != "(initial)");
            } else if let Some(branch) = line.strip_prefix("# branch.head ") {
                state.branch = Some(branch.to_owned()).filter(|branch| branch != "(detached)");
            } else if let Some(change) = change(line) {
                if state.changes.len() == CHANGES_MAX {
                    state.changes_cut = true;
                    break;
                }
                state.changes.push(change);
            }
        }
        state
    }
}

/// A line of the second format in the words of the first, which people know.
fn change(line: &str) -> Option<String> {
    let (kind, rest) = line.split_once(' ')?;
    // Fields before the path: state, submodule, three modes and two names; a rename has a score besides.
    let (before, is_rename) = match kind {
        "1" => (7, false),
        "2" => (8, true),
        "u" => (9, false),
        "?" => return Some(format!("?? {rest}")),
        _ => return None,
    };
    let mut fields = rest.splitn(before + 1, ' ');
    let state = fields.next()?.replace('.', " ");
    let path = fields.nth(before - 1)?;
    match path.split_once('\t').filter(|_| is_rename) {
        Some((to, from)) => Some(format!("{state} {from} -> {to}")),
        None => Some(format!("{state} {path}")),
    }
}

/// What `git` says, and whether it was cut. `None` if it fails or takes too long.
fn ask(directory: &Path, args: &[&str]) -> Option<(String, bool)> {
    let mut command = Command::new("git");
    command
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(args)
        .current_dir(directory)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let child = spawn_apart(&mut command).ok()?;
    answer(child, Instant::now() + LIMIT)
}

/// Reads on a thread of its own: a program that says nothing holds up nobody beyond its time. Nor does one that says
/// more than is read: its reader goes away, and it ends by itself.
fn answer(mut child: Child, deadline: Instant) -> Option<(String, bool)> {
    let stdout = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.take(TEXT_MAX + 1).read_to_end(&mut text);
        let _ = tell.send(text);
    });
    let text = told.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    let handle = Identity::of(child.id()).and_then(|process| process.open().ok());
    if text.is_err() || !handle.is_some_and(|handle| handle.ends_before(deadline)) {
        let _ = child.kill();
    }
    let is_success = child.wait().is_ok_and(|status| status.success());
    let mut text = text.ok()?;
    let is_cut = text.len() as u64 > TEXT_MAX;
    text.truncate(TEXT_MAX as usize);
    (is_success || is_cut).then(|| (String::from_utf8_lossy(&text).into_owned(), is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_is_told_in_the_words_that_people_know() {
        let text = "# branch.oid 1234abcd\n# branch.head main\n# branch.ab +0 -0\n\
                    1 .M N... 100644 100644 100644 aaaa bbbb src/a file.rs\n\
                    2 R. N... 100644 100644 100644 aaaa bbbb R100 new.rs\told.rs\n\
                    u UU N... 100644 100644 100644 100644 aaaa bbbb cccc both.rs\n\
                    ? notes.md\n";
        let state = GitState::parse(text);
        assert_eq!((state.head.as_deref(), state.branch.as_deref()), (Some("1234abcd"), Some("main")));
        assert_eq!(state.changes, [" M src/a file.rs", "R  old.rs -> new.rs", "UU both.rs", "?? notes.md"]);
        let fresh = GitState::parse("# branch.oid (initial)\n# branch.head (detached)\n");
        assert_eq!((fresh.head, fresh.branch), (None, None));
    }

    #[test]
    fn many_changes_are_cut() {
        let text = "? a\n".repeat(CHANGES_MAX + 1);
        let state = GitState::parse(&text);
        assert!(state.changes_cut && state.changes.len() == CHANGES_MAX);
    }

    #[test]
    fn outside_of_a_work_tree_there_is_nothing_to_tell() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(GitState::of(folder.path()), None);
        assert_eq!(GitState::of(Path::new("/no/such/folder")), None);
    }
}
