//! Whether a process runs inside the tree of a watched agent.
//!
//! `verger run` gives its child [`VERGER_AGENT_ID`](AGENT_ID), and children inherit it; one that cleared its own
//! environment still has a parent. So a process and its ancestors are looked through in `/proc`.
//!
//! Processes end and their numbers are given out again while this is read. A process is what it was if it began when it
//! did before, and a parent is no younger than its child; otherwise it is read again, a few times, and then it is not
//! known. Ancestors of other users cannot be read, and are none of ours.

use std::fs::{self, File};
use std::io::{self, Read};

use verger_core::id::AgentId;

/// The name under which a watched process finds whom it is.
pub const AGENT_ID: &str = "VERGER_AGENT_ID";

/// Ancestors that are looked at; nobody nests so deep.
const ANCESTORS_MAX: usize = 256;
/// Most of an environment that is read: what the kernel takes of one by default.
const ENVIRONMENT_MAX: u64 = 8 << 20;
/// How often it is read again when it changed meanwhile.
const TRIES: usize = 4;

/// Why it is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AncestryError {
    /// The process cannot be read, or is gone.
    #[error("process {0} cannot be looked at")]
    Unreadable(u32, #[source] io::Error),
    /// It changed again and again, or has too many ancestors.
    #[error("where process {0} comes from cannot be found out")]
    Unclear(u32),
}

/// The agent whose process tree this process is in, if it is in one.
pub fn watched_by(pid: u32) -> Result<Option<AgentId>, AncestryError> {
    for _ in 0..TRIES {
        match walk(pid)? {
            Walk::Found(agent) => return Ok(Some(agent)),
            Walk::Root => return Ok(None),
            Walk::Changed => {}
        }
    }
    Err(AncestryError::Unclear(pid))
}

/// Where a walk up the tree ended.
enum Walk {
    Found(AgentId),
    Root,
    Changed,
}

fn walk(first: u32) -> Result<Walk, AncestryError> {
    let unreadable = |error| AncestryError::Unreadable(first, error);
    let mut pid = first;
    let mut child_began = u64::MAX;
    for _ in 0..ANCESTORS_MAX {
        let before = match Stat::of(pid) {
            Ok(stat) => stat,
            Err(error) if pid == first => return Err(unreadable(error)),
            // A parent that is gone has left its children to another.
            Err(_) => return Ok(Walk::Changed),
        };
        if child_began < before.began {
            return Ok(Walk::Changed);
        }
        match agent_of(pid) {
            Ok(Some(agent)) => return Ok(Walk::Found(agent)),
            Err(error) if pid == first => return Err(unreadable(error)),
            Ok(None) | Err(_) => {}
        }
        if Stat::of(pid).ok().as_ref() != Some(&before) {
            return Ok(Walk::Changed);
        }
        if before.parent == 0 {
            return Ok(Walk::Root);
        }
        (pid, child_began) = (before.parent, before.began);
    }
    Err(AncestryError::Unclear(first))
}

/// Whom its environment says it is.
fn agent_of(pid: u32) -> io::Result<Option<AgentId>> {
    let mut environment = Vec::new();
    File::open(format!("/proc/{pid}/environ"))?.take(ENVIRONMENT_MAX).read_to_end(&mut environment)?;
    Ok(agent_in(&environment))
}

fn agent_in(environment: &[u8]) -> Option<AgentId> {
    let mut entries = environment.split(|byte| *byte == 0);
    let value = entries.find_map(|entry| entry.strip_prefix(AGENT_ID.as_bytes())?.strip_prefix(b"="))?;
    (!value.is_empty()).then(|| AgentId::from(String::from_utf8_lossy(value).into_owned()))
}

/// What tells a process from a later one of the same number.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// In ticks since the machine began.
    began: u64,
}

impl Stat {
    fn of(pid: u32) -> io::Result<Self> {
        let text = fs::read(format!("/proc/{pid}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// A program may call itself anything, `) R 1` too: its name ends at the last bracket.
    fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = str::from_utf8(text.get(end + 1..)?).ok()?;
        // The state comes first; the parent is the next, and the start the 22nd of all.
        let mut fields = rest.split_ascii_whitespace().skip(1);
        let parent = fields.next()?.parse().ok()?;
        let began = fields.nth(17)?.parse().ok()?;
        Some(Self { parent, began })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::{Child, Command, Stdio};

    /// A shell that says how to see its child: it runs another, and waits for the end of its input.
    fn shell(script: &str, agent: Option<&str>) -> (Child, u32) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env_remove(AGENT_ID).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(agent) = agent {
            command.env(AGENT_ID, agent);
        }
        let mut child = command.spawn().expect("a shell");
        let mut line = String::new();
        let mut output = io::BufReader::new(child.stdout.take().expect("its output"));
        io::BufRead::read_line(&mut output, &mut line).expect("it says its number");
        (child, line.trim().parse().expect("a number"))
    }

    fn end(mut child: Child) {
        drop(child.stdin.take());
        child.wait().expect("it ends");
    }

    #[test]
    fn a_child_is_known_by_what_it_inherited() {
        let (child, pid) = shell("echo $$; read line", Some("agent-7"));
        assert_eq!(watched_by(pid).expect("it runs"), Some("agent-7".into()));
        end(child);
    }

    #[test]
    fn a_grandchild_that_cleared_its_environment_is_known_by_its_parent() {
        let script = "env -i sh -c 'echo $$; read line'; true";
        let (child, pid) = shell(script, Some("agent-7"));
        assert_ne!(pid, child.id(), "it is another process");
        assert_eq!(watched_by(pid).expect("it runs"), Some("agent-7".into()));
        end(child);
    }

    #[test]
    fn who_is_nobodys_child_is_not_watched() {
        // Whoever runs these tests may be watched: then so is the shell.
        let (child, pid) = shell("echo $$; read line", None);
        assert_eq!(watched_by(pid).expect("it runs"), watched_by(std::process::id()).expect("we run"));
        end(child);
    }

    #[test]
    fn of_a_process_that_is_gone_nothing_is_known() {
        let (child, pid) = shell("echo $$; read line", None);
        end(child);
        assert!(matches!(watched_by(pid), Err(AncestryError::Unreadable(..))));
    }

    #[test]
    fn no_name_of_a_program_passes_for_its_parent() {
        let fields = "0 ".repeat(17);
        let stat = |name: &str| Stat::parse(format!("7 ({name}) S 42 {fields}99 0 0").as_bytes());
        for name in ["sh", "a) R 1 (b", ") S 1 1 1", "a b\nc"] {
            assert_eq!(stat(name), Some(Stat { parent: 42, began: 99 }), "{name}");
        }
    }

    #[test]
    fn an_empty_or_longer_name_is_none() {
        let agent = |text: &str| agent_in(text.as_bytes());
        assert_eq!(agent("A=1\0VERGER_AGENT_ID=x\0B=2"), Some("x".into()));
        assert_eq!(agent("VERGER_AGENT_ID=\0"), None);
        assert_eq!(agent("NOT_VERGER_AGENT_ID=x\0VERGER_AGENT_ID_2=y\0"), None);
    }

    proptest! {
        #[test]
        fn nothing_in_proc_is_too_strange(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Stat::parse(&text), agent_in(&text));
        }
    }
}
