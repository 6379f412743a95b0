//! Where the three streams of a program go: to a terminal of its own, into pipes, or where ours go.

use std::io::{self, IsTerminal};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;

use rustix::fs::fstat;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::{stderr, stdout};

use super::keeper::Stage;
use super::relay::Sink;
use super::terminal::Pair;

/// Where the three streams of the program go.
pub(super) struct Streams {
    pub(super) stdin: Stdio,
    pub(super) stdout: Stdio,
    pub(super) stderr: Stdio,
    /// The program's terminal, from outside.
    pub(super) outer: Option<Arc<OwnedFd>>,
    /// What the program writes, and where it goes.
    pub(super) readers: Vec<(Arc<OwnedFd>, Sink)>,
}

impl Streams {
    pub(super) fn of(stage: Stage) -> io::Result<Self> {
        if stage == Stage::Terminal {
            let Pair { outer, inner } = Pair::like_the_persons()?;
            let outer = Arc::new(outer);
            let mut readers = vec![(Arc::clone(&outer), Sink::Out)];
            let stderr = if io::stderr().is_terminal() {
                Stdio::from(inner.try_clone()?)
            } else {
                piped(Sink::Err, &mut readers)?
            };
            let stdout = Stdio::from(inner.try_clone()?);
            return Ok(Self { stdin: inner.into(), stdout, stderr, outer: Some(outer), readers });
        }
        let mut readers = Vec::new();
        // What is a terminal stays one. Two that are the same stay the same, or their order would be lost.
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let (stdout, stderr) = if !out && !err && are_same() {
            let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
            readers.push((Arc::new(from), Sink::Out));
            (Stdio::from(to.try_clone()?), Stdio::from(to))
        } else {
            let stdout = if out { Stdio::inherit() } else { piped(Sink::Out, &mut readers)? };
            (stdout, if err { Stdio::inherit() } else { piped(Sink::Err, &mut readers)? })
        };
        Ok(Self { stdin: Stdio::inherit(), stdout, stderr, outer: None, readers })
    }
}

fn piped(sink: Sink, readers: &mut Vec<(Arc<OwnedFd>, Sink)>) -> io::Result<Stdio> {
    let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
    readers.push((Arc::new(from), sink));
    Ok(to.into())
}

/// Whether standard output and standard error go to the same place.
fn are_same() -> bool {
    let places = [fstat(stdout()), fstat(stderr())].map(|stat| stat.map(|stat| (stat.st_dev, stat.st_ino)));
    matches!(places, [Ok(one), Ok(other)] if one == other)
}
