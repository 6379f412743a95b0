//! Moves bytes between the program and whoever started the wrapper, unchanged, and remembers the last of them.
//!
//! Each direction has a thread that blocks: it is the fastest way, and a reader that is slow slows the program down, as
//! it would without a wrapper in between.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use rustix::stdio::{stderr, stdin, stdout};
use tokio::sync::mpsc::UnboundedSender;
use verger_act::Tail;

use super::terminal;

/// What is moved at once.
const CHUNK: usize = 64 << 10;
/// How much of the last output is kept.
const TAIL_MAX: usize = 64 << 10;
/// Enter, Ctrl-C, Ctrl-D and Ctrl-U: after them the line is empty.
const ENDS_LINE: [u8; 5] = [b'\r', b'\n', 0x03, 0x04, 0x15];
/// A terminal that is the shell's now is looked at again after this.
const NOT_OURS: Duration = Duration::from_millis(200);

/// What is known of the bytes that moved.
pub(super) struct Flow {
    began: Instant,
    output_at: AtomicU64,
    typed_at: AtomicU64,
    /// Whether a line was begun and not finished by whoever types.
    line_open: AtomicBool,
    bytes: AtomicU64,
    /// The program has ended: what is typed from now on is for the shell.
    closed: AtomicBool,
    /// Whoever reads the output does not take more of it at the moment.
    held_up: AtomicBool,
    tail: Mutex<Tail>,
}

/// Where output goes.
#[derive(Clone, Copy)]
pub(super) enum Sink {
    Out,
    Err,
}

impl Flow {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            output_at: AtomicU64::new(0),
            typed_at: AtomicU64::new(0),
            line_open: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            held_up: AtomicBool::new(false),
            tail: Mutex::new(Tail::keeping(TAIL_MAX)),
        })
    }

    /// How many bytes the program wrote.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How long nobody typed anything.
    pub(super) fn untyped_for(&self) -> Duration {
        self.since(&self.typed_at)
    }

    /// Whether a person has begun a line and not finished it.
    pub(super) fn is_line_open(&self) -> bool {
        self.line_open.load(Ordering::Relaxed)
    }

    /// How long it wrote nothing.
    pub(super) fn silent_for(&self) -> Duration {
        self.since(&self.output_at)
    }

    /// Whether the program can only wait, because nobody reads what it writes.
    pub(super) fn is_held_up(&self) -> bool {
        self.held_up.load(Ordering::Relaxed)
    }

    /// The program has ended, and reads nothing any more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// The last that it wrote.
    pub(super) fn tail(&self) -> Tail {
        self.lock().clone()
    }

    fn since(&self, moment: &AtomicU64) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(moment.load(Ordering::Relaxed)))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn on_typed(&self, bytes: &[u8]) {
        self.typed_at.store(self.now(), Ordering::Relaxed);
        let is_open = bytes.last().is_some_and(|last| !ENDS_LINE.contains(last));
        self.line_open.store(is_open, Ordering::Relaxed);
    }

    fn on_output(&self, bytes: &[u8]) {
        self.output_at.store(self.now(), Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.lock().push(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the program writes there goes on to whoever reads it here. The end of it is told.
pub(super) fn outward(
    from: Arc<OwnedFd>,
    sink: Sink,
    flow: Arc<Flow>,
    ended: UnboundedSender<()>,
) -> io::Result<()> {
    let copy = move || {
        let mut buffer = vec![0; CHUNK];
        while let Some(count) = read_some(&from, &mut buffer) {
            flow.on_output(&buffer[..count]);
            flow.held_up.store(true, Ordering::Relaxed);
            let written = match sink {
                Sink::Out => write_all(stdout(), &buffer[..count]),
                Sink::Err => write_all(stderr(), &buffer[..count]),
            };
            flow.held_up.store(false, Ordering::Relaxed);
            // Nobody reads it any more. Our end is closed, so that the program learns of it as it would without us.
            if written.is_err() {
                break;
            }
        }
        drop(from);
        let _ = ended.send(());
    };
    thread::Builder::new().name("output".to_owned()).spawn(copy).map(drop)
}

/// What the person types goes to the program, as long as the terminal is ours.
pub(super) fn inward(to: Arc<OwnedFd>, flow: Arc<Flow>) -> io::Result<()> {
    let copy = move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            match poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            if flow.closed.load(Ordering::Relaxed) {
                return;
            }
            if !terminal::is_foreground() {
                thread::sleep(NOT_OURS);
                continue;
            }
            let Some(count) = read_some(stdin(), &mut buffer) else { return };
            flow.on_typed(&buffer[..count]);
            if write_all(&to, &buffer[..count]).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("input".to_owned()).spawn(copy).map(drop)
}

/// Something to read; nothing at the end, which for a terminal is an error.
fn read_some(from: impl AsFd, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match read(&from, &mut *buffer) {
            Ok(0) => return None,
            Ok(count) => return Some(count),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => await_ready(&from, PollFlags::IN),
            Err(_) => return None,
        }
    }
}

pub(super) fn write_all(to: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(&to, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            // Somebody else who has the same terminal wants not to wait; we do.
            Err(Errno::AGAIN) => await_ready(&to, PollFlags::OUT),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn await_ready(what: impl AsFd, flags: PollFlags) {
    let _ = poll(&mut [PollFd::new(&what, flags)], None);
}
