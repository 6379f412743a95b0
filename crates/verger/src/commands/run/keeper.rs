//! The process between wrapper and program: leads the session, reaps, and tells how the program stops and ends.
//!
//! ```text
//! wrapper ── socket ── keeper ──► program ──► whatever it starts
//!                        ▲ whoever loses its parent
//! ```
//!
//! Because it leads the session and lives in another process group, the program's group is not orphaned, and Ctrl-Z
//! stops it as it does in a shell. When the wrapper is gone the keeper ends the tree: nobody else may be there to do it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, ioctl_tiocsctty, kill_process, kill_process_group, set_child_subreaper,
    setsid, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use verger_act::process::{Identity, Mark, Patience, RUN_VARIABLE, Tree};

use super::dispositions::is_ignored;
use super::words::{Told, Wanted};

/// The name of the word that has this program be a keeper.
pub(super) const KEEP: &str = "__keep";
/// How long a tree has to clean up whose wrapper vanished, or whose program ended badly.
const PATIENCE: Patience = Patience { grace: Duration::from_secs(5), limit: Duration::from_secs(20) };
/// A program that begins before the terminal is its own is stopped when it touches that; it is continued so often.
const EARLY_MAX: u32 = 100;

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// In a session of its own, with standard input as its terminal.
    Terminal,
    /// In a session of its own, without a terminal.
    Session,
    /// In the session and the process group of whoever started the wrapper.
    Shared,
}

impl Stage {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Session => "session",
            Self::Shared => "shared",
        }
    }

    fn read(word: &str) -> Option<Self> {
        [Self::Terminal, Self::Session, Self::Shared].into_iter().find(|stage| stage.word() == word)
    }
}

/// What this program does when it is called as a keeper: `__keep SOCKET STAGE MARKS PROGRAM ARGUMENTS…`. The
/// marks are given in this way because the keeper itself must not bear them: it is no part of the tree.
pub(super) fn keep(arguments: &[OsString]) -> ExitCode {
    let [socket, stage, marks, program @ ..] = arguments else { return ExitCode::from(2) };
    let (Some(stage), [_, ..]) = (stage.to_str().and_then(Stage::read), program) else {
        return ExitCode::from(2);
    };
    let kept = Builder::new_current_thread().enable_all().build().and_then(|runtime| {
        runtime.block_on(async { Keeper::enter(Path::new(socket), stage, marks).await?.run(program).await })
    });
    // Whoever is told of an error here has seen the connection close, and looks after the tree.
    if kept.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Keeper {
    stage: Stage,
    lines: Lines<BufReader<OwnedReadHalf>>,
    tell: OwnedWriteHalf,
    /// The marks of this run and of those around it.
    marks: OsString,
    program: Option<Pid>,
    tree: Option<Tree>,
    early: u32,
}

impl Keeper {
    async fn enter(socket: &Path, stage: Stage, marks: &OsStr) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        if stage != Stage::Shared {
            setsid()?;
        }
        if stage == Stage::Terminal {
            ioctl_tiocsctty(stdin())?;
        }
        let (hear, tell) = UnixStream::connect(socket).await?.into_split();
        let (lines, marks) = (BufReader::new(hear).lines(), marks.to_owned());
        Ok(Self { stage, lines, tell, marks, program: None, tree: None, early: 0 })
    }

    async fn run(mut self, words: &[OsString]) -> io::Result<()> {
        // What ends the program does not end its keeper. What was ignored stays so, for the program inherits it.
        let mut deaf = Vec::new();
        for kind in
            [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()]
        {
            if !is_ignored(kind.as_raw_value()) {
                deaf.push(signal(kind)?);
            }
        }
        let mut children = signal(SignalKind::child())?;
        if let Err(error) = self.start(words) {
            return self.say(Told::NotStarted(error.raw_os_error().unwrap_or(0))).await;
        }
        let Some(root) = self.tree.as_ref().map(Tree::root) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        self.say(Told::Started(root.pid, root.started, root.serial)).await?;
        let mut ended = None;
        // It may have ended before anybody listened.
        if self.reap(&mut ended).await.is_err() {
            return self.alone(ended).await;
        }
        loop {
            tokio::select! {
                _ = children.recv() => {
                    if self.reap(&mut ended).await.is_err() {
                        return self.alone(ended).await;
                    }
                }
                line = self.lines.next_line() => match line {
                    Ok(Some(line)) => match Wanted::read(&line) {
                        Some(Wanted::Leave) => return Ok(()),
                        Some(Wanted::End) => return self.end().await,
                        Some(wanted) => self.obey(wanted),
                        None => {}
                    },
                    Ok(None) | Err(_) => return self.alone(ended).await,
                },
            }
        }
    }

    /// Starts the program, gives the terminal to it, and lets go of the streams, so that their ends are seen.
    fn start(&mut self, words: &[OsString]) -> io::Result<()> {
        let (name, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(name);
        command.args(arguments).env(RUN_VARIABLE, &self.marks);
        if self.stage != Stage::Shared {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        self.program = Some(pid);
        self.tree = self.tree_of(child.id());
        if self.stage == Stage::Terminal {
            let _ = tcsetpgrp(stdin(), pid);
        }
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        if self.stage != Stage::Terminal {
            dup2_stdin(&nothing)?;
        }
        dup2_stdout(&nothing)?;
        dup2_stderr(&nothing)?;
        Ok(())
    }

    /// Tells what became of the program, and takes whoever else ended off the system's table.
    async fn reap(&mut self, ended: &mut Option<i32>) -> io::Result<()> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        while let Ok(Some((pid, status))) = wait(options) {
            if Some(pid) != self.program {
                continue;
            }
            let told = if let Some(code) = status.exit_status() {
                *ended = Some(code);
                Told::Exited(code)
            } else if let Some(signal) = status.terminating_signal() {
                *ended = Some(-signal);
                Told::Killed(signal)
            } else if let Some(signal) = status.stopping_signal() {
                if self.was_early(signal) {
                    continue;
                }
                Told::Stopped(signal)
            } else {
                Told::Continued
            };
            if ended.is_some() {
                // The terminal is let go of only now: without anybody who has it open it would seem to be gone.
                let nothing = File::open("/dev/null")?;
                dup2_stdin(&nothing)?;
            }
            self.say(told).await?;
        }
        Ok(())
    }

    /// Whether it was stopped for touching the terminal before that was its own, and goes on.
    fn was_early(&mut self, signal: i32) -> bool {
        let touched = signal == Signal::TTIN.as_raw() || signal == Signal::TTOU.as_raw();
        let Some(pid) = self.program.filter(|_| touched && self.stage == Stage::Terminal) else {
            return false;
        };
        let is_its_own = tcgetpgrp(stdin()).is_ok_and(|group| group == pid);
        self.early += 1;
        is_its_own && self.early < EARLY_MAX && kill_process_group(pid, Signal::CONT).is_ok()
    }

    fn obey(&self, wanted: Wanted) {
        let Some(pid) = self.program else { return };
        let signal = match wanted {
            Wanted::Continue => Some(Signal::CONT),
            Wanted::Signal(number) => Signal::from_named_raw(number),
            Wanted::Leave | Wanted::End => None,
        };
        let Some(signal) = signal else { return };
        // In a shared group there are others, whom nobody meant.
        let _ = if self.stage == Stage::Shared {
            kill_process(pid, signal)
        } else {
            kill_process_group(pid, signal)
        };
    }

    async fn say(&mut self, told: Told) -> io::Result<()> {
        self.tell.write_all(format!("{told}\n").as_bytes()).await
    }

    /// The wrapper is gone. What a program left on purpose that ended well stays; everything else ends.
    async fn alone(self, ended: Option<i32>) -> io::Result<()> {
        if ended == Some(0) { Ok(()) } else { self.end().await }
    }

    /// Ends everybody who is left.
    async fn end(mut self) -> io::Result<()> {
        if let Some(tree) = self.tree.take() {
            tree.stop_async(PATIENCE).await;
        }
        Ok(())
    }

    /// All that comes of the program. Whoever loses its parent comes to this process.
    fn tree_of(&self, pid: u32) -> Option<Tree> {
        let mark = self.marks.to_str()?.rsplit(':').next().map(ToOwned::to_owned)?;
        Some(Tree::new(Identity::of(pid)?, Mark::try_from(mark).ok()?).adopting())
    }
}
