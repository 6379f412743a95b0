//! Whether this process is inside the tree of a watched agent.
//!
//! Whoever starts an agent gives it `VERGER_AGENT_ID`, and its children inherit that. A child may drop the variable, but
//! its parents keep the environment that they were started with, and `/proc` shows it. This stops accidents: a process
//! that means harm under the same user can read the admin's token by itself.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// What an agent's processes have in their environment.
pub(crate) const VARIABLE: &str = "VERGER_AGENT_ID";

/// More generations than any tree of processes has; it bounds the work should `/proc` change meanwhile.
const GENERATIONS_MAX: usize = 128;
/// Longer environments than this are not started by Linux unless it is told to.
const ENVIRONMENT_MAX: u64 = 8 << 20;

/// The tree of a watched agent, and how it was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Whose tree it is.
    pub agent: String,
    /// The ancestor that says so; this process's own environment does if there is none.
    pub ancestor: Option<u32>,
}

impl Watched {
    /// Whether this process is inside the tree of a watched agent.
    pub fn here() -> Option<Self> {
        let own = std::env::var_os(VARIABLE).filter(|id| !id.is_empty());
        if let Some(id) = own {
            return Some(Self { agent: id.to_string_lossy().into_owned(), ancestor: None });
        }
        above(Path::new("/proc"), std::process::id())
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ancestor {
            None => write!(f, "{VARIABLE}={} is set", self.agent),
            Some(pid) => write!(f, "process {pid} above this one was started as agent {}", self.agent),
        }
    }
}

/// The nearest process above this one that was started as an agent, or in its tree.
fn above(proc: &Path, pid: u32) -> Option<Watched> {
    let mut pid = parent(proc, pid)?;
    for _ in 0..GENERATIONS_MAX {
        if let Some(agent) = agent_of(proc, pid) {
            return Some(Watched { agent, ancestor: Some(pid) });
        }
        pid = parent(proc, pid)?;
    }
    None
}

/// The fourth field of `stat`. The second is the program's name in brackets, and may hold anything.
fn parent(proc: &Path, pid: u32) -> Option<u32> {
    let stat = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = String::from_utf8_lossy(&stat[after + 1..]).into_owned();
    fields.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent != 0)
}

/// The environments of other users' processes cannot be read; whoever runs under another user is no agent of ours.
fn agent_of(proc: &Path, pid: u32) -> Option<String> {
    let mut environment = Vec::new();
    let file = File::open(proc.join(pid.to_string()).join("environ")).ok()?;
    file.take(ENVIRONMENT_MAX).read_to_end(&mut environment).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value =
        variables.find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))?;
    (!value.is_empty()).then(|| String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    /// The grandchild of a shell that has these variables, and dropped them for its children.
    fn grandchild(variables: &[(&str, &str)], look: impl FnOnce(u32, u32)) {
        // It ends when its input does, also if this test breaks off. A shell gives what runs in the background an
        // empty input, so the real one is handed over by another number.
        let script = format!("unset {VARIABLE}; exec 3<&0; cat <&3 & echo $!; wait");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env_remove(VARIABLE).envs(variables.iter().copied());
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        let mut line = String::new();
        let out = shell.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("a number");
        look(shell.id(), line.trim().parse().expect("a number"));
        let mut input = shell.stdin.take().expect("it is piped");
        let _ = input.write_all(b"\n");
        drop(input);
        shell.wait().expect("it ends");
    }

    #[test]
    fn a_child_that_drops_the_variable_is_still_known_by_its_parent() {
        grandchild(&[(VARIABLE, "agent-7")], |shell, child| {
            let found = above(Path::new("/proc"), child);
            assert_eq!(found, Some(Watched { agent: "agent-7".to_owned(), ancestor: Some(shell) }));
        });
    }

    #[test]
    fn a_variable_of_another_name_or_without_a_value_says_nothing() {
        grandchild(&[(VARIABLE, ""), ("VERGER_AGENT_ID_OF_OTHERS", "x")], |shell, _| {
            assert_eq!(agent_of(Path::new("/proc"), shell), None);
        });
    }

    #[test]
    fn a_program_with_a_strange_name_has_a_parent_too() {
        let proc = tempfile::tempdir().expect("a folder");
        fs::create_dir(proc.path().join("5")).expect("a folder");
        fs::write(proc.path().join("5/stat"), b"5 (a) S 9 (\xff) S 4 5 5 0").expect("a file");
        assert_eq!(parent(proc.path(), 5), Some(4));
        fs::write(proc.path().join("5/stat"), b"nonsense").expect("a file");
        assert_eq!(parent(proc.path(), 5), None);
        assert_eq!(above(proc.path(), 5), None);
    }
}
