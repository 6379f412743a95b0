//! One life of a program: started, its bytes moved, its signals passed on, its end seen.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixDatagram, UnixListener};
use tokio::signal::unix::{Signal as Heard, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use verger_act::process::{Identity, Mark, Patience, Sample, Seen, Tree, look};
use verger_api::{AgentStatus, PendingItem, PendingKind};
use verger_ingest::sd_notify::DATAGRAM_MAX;

use super::dispositions::is_ignored;
use super::ending::Ending;
use super::keeper::{KEEP, Stage};
use super::monitor::{Finder, Known};
use super::notify::{self, Watchdog};
use super::place::Folder;
use super::record::Record;
use super::relay::{self, Flow};
use super::reporter::Reporter;
use super::streams::Streams;
use super::terminal::{self, Raw};
use super::typist::Typist;
use super::words::{Told, Wanted};

/// A keeper that does not answer within this was killed.
const KEEPER_WITHIN: Duration = Duration::from_secs(30);
/// How often it is told at most that the program writes something.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long it is looked for a monitor again.
const FIND_EVERY: Duration = Duration::from_secs(5);
/// What a program left that ended badly has this long to clean up.
const PATIENCE: Patience = Patience { grace: Duration::from_secs(5), limit: Duration::from_secs(20) };
/// And its keeper a little longer.
const KEEPER_ENDS_WITHIN: Duration = Duration::from_secs(25);
/// Output that comes after the end of the program is waited for as long as it comes at least this often.
const QUIET: Duration = Duration::from_millis(100);
/// And no longer than this altogether.
const DRAIN_MAX: Duration = Duration::from_secs(5);
/// How often it is tried to type what could not be typed before.
const TYPE_EVERY: Duration = Duration::from_millis(200);
/// Who has printed nothing for so long while it is being stopped prints nothing more.
const SETTLED: Duration = Duration::from_millis(20);
const SETTLED_WITHIN: Duration = Duration::from_millis(200);
/// Who stopped itself has been stopped by then, or never will be.
const STOPS_WITHIN: Duration = Duration::from_millis(300);

/// Signals that are handed on to the program.
const PASSED_ON: [SignalKind; 4] =
    [SignalKind::terminate(), SignalKind::hangup(), SignalKind::user_defined1(), SignalKind::user_defined2()];
/// Those that a shared terminal sends to the program by itself.
const OF_TERMINALS: [SignalKind; 2] = [SignalKind::interrupt(), SignalKind::quit()];

/// What a life needs to begin.
pub(super) struct Plan {
    pub(super) words: Vec<OsString>,
    pub(super) stage: Stage,
    pub(super) variables: Vec<(&'static str, OsString)>,
    pub(super) mark: Mark,
    /// That one, and those of the runs around this one.
    pub(super) marks: String,
}

/// Why no life began.
#[derive(Debug)]
pub(super) enum NotBegun {
    /// The program itself: the system's number of the error.
    Program(i32),
    /// Something of ours.
    Own(io::Error),
}

impl From<io::Error> for NotBegun {
    fn from(error: io::Error) -> Self {
        Self::Own(error)
    }
}

/// A program that runs.
pub(super) struct Life {
    stage: Stage,
    keeper: Pid,
    told: Lines<BufReader<OwnedReadHalf>>,
    tell: OwnedWriteHalf,
    program: u32,
    mark: Mark,
    tree: Tree,
    /// How the tree stood when it was last looked at, while it is stopped.
    stopped: Option<Sample>,
    flow: Arc<Flow>,
    /// The program's terminal, from outside.
    terminal: Option<(Arc<OwnedFd>, Raw)>,
    streams: UnboundedReceiver<()>,
    streams_open: usize,
    notify: UnixDatagram,
    watchdog: Watchdog,
    typist: Typist,
    /// Where a program without a terminal finds its reminders.
    inbox: PathBuf,
    ending: Option<Ending>,
    signals: Signals,
}

/// What is heard from outside.
struct Signals {
    resized: Heard,
    children: Heard,
    continued: Heard,
    stops: Option<Heard>,
    passed_on: UnboundedReceiver<SignalKind>,
}

/// Where the program is to run, from where this process runs.
pub(super) fn stage() -> Stage {
    if terminal::is_used() {
        Stage::Terminal
    } else if terminal::is_there() {
        Stage::Shared
    } else {
        Stage::Session
    }
}

impl Life {
    /// Starts the program.
    pub(super) async fn begin(plan: &Plan, folder: &Folder) -> Result<Self, NotBegun> {
        let signals = Signals::listen(plan.stage)?;
        let socket = folder.file("keeper");
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket)?;
        let place = folder.file("notify");
        let _ = std::fs::remove_file(&place);
        let notify = UnixDatagram::bind(&place)?;
        let streams = Streams::of(plan.stage)?;
        let mut command = Command::new(super::own_program());
        command.arg(KEEP).arg(&socket).args([plan.stage.word(), &plan.marks]).args(&plan.words);
        command.stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
        command.envs(plan.variables.iter().map(|(name, value)| (name, value)));
        let inbox = folder.file("inbox.jsonl");
        command
            .env("VERGER_INBOX", &inbox)
            .env("NOTIFY_SOCKET", &place)
            .env_remove("WATCHDOG_USEC")
            .env_remove("WATCHDOG_PID");
        let keeper = command.spawn()?;
        let keeper = i32::try_from(keeper.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::from(io::ErrorKind::Other))?;
        // With it goes our hold on the program's ends of the streams.
        drop(command);
        let accepted = timeout(KEEPER_WITHIN, listener.accept()).await;
        let (connection, _) = accepted.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let (hear, tell) = connection.into_split();
        let mut told = BufReader::new(hear).lines();
        let program = match next(&mut told).await {
            // It may have ended already, and then only its keeper has seen it.
            Some(Told::Started(pid, started, serial)) => Identity { pid, started, serial, ..Identity::own() },
            Some(Told::NotStarted(errno)) => return Err(NotBegun::Program(errno)),
            _ => return Err(NotBegun::Own(io::ErrorKind::BrokenPipe.into())),
        };
        let tree = Tree::new(program, plan.mark.clone());
        let flow = Flow::new();
        let (ended, ends) = unbounded_channel();
        let streams_open = streams.readers.len();
        let terminal = match streams.outer {
            Some(outer) => {
                let raw = Raw::enter()?;
                relay::inward(Arc::clone(&outer), Arc::clone(&flow))?;
                Some((outer, raw))
            }
            None => None,
        };
        for (from, sink) in streams.readers {
            relay::outward(from, sink, Arc::clone(&flow), ended.clone())?;
        }
        let stage = plan.stage;
        Ok(Self {
            stage,
            keeper,
            told,
            tell,
            program: program.pid,
            mark: plan.mark.clone(),
            tree,
            stopped: None,
            flow,
            terminal,
            streams: ends,
            streams_open,
            notify,
            watchdog: Watchdog::new(),
            typist: Typist::default(),
            inbox,
            ending: None,
            signals,
        })
    }

    pub(super) fn program(&self) -> u32 {
        self.program
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn keeper(&self) -> u32 {
        self.keeper.as_raw_nonzero().get().unsigned_abs()
    }

    /// Lives until the program has ended.
    pub(super) async fn run(
        mut self,
        reporter: &mut Reporter,
        items: &mut UnboundedReceiver<PendingItem>,
        record: &Record,
        (finder, known): (&Finder, &mut Option<Known>),
    ) -> Ended {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut find_at = Instant::now() + FIND_EVERY;
        let (mut bytes, mut buffer) = (0, vec![0; DATAGRAM_MAX + 1]);
        while self.ending.is_none() {
            tokio::select! {
                told = next(&mut self.told) => match told {
                    Some(told) => self.on_told(told, reporter).await,
                    None => self.on_keeper_gone().await,
                },
                _ = self.signals.children.recv() => self.reap(),
                Some(kind) = self.signals.passed_on.recv() => {
                    self.want(Wanted::Signal(kind.as_raw_value())).await;
                }
                _ = self.signals.resized.recv() => self.on_resized(),
                _ = self.signals.continued.recv() => self.on_continued(),
                () = stopping(&mut self.signals.stops) => self.suspend(Signal::STOP, reporter).await,
                Some(item) = items.recv() => self.on_item(&item, reporter).await,
                Ok(length) = self.notify.recv(&mut buffer) => {
                    notify::take(&buffer[..length], &mut self.watchdog, reporter);
                }
                () = sleep(TYPE_EVERY), if !self.typist.is_idle() => self.try_to_type(),
                _ = look.tick() => {
                    let now = self.flow.bytes();
                    if std::mem::replace(&mut bytes, now) != now && self.stopped.is_none() {
                        reporter.active();
                    }
                    if !reporter.is_connected() && find_at <= Instant::now() {
                        *known = finder.find().await.ok();
                        if let Some(known) = known {
                            reporter.connect(known);
                        }
                        find_at = Instant::now() + FIND_EVERY;
                    }
                }
            }
        }
        let ending = self.ending.unwrap_or(Ending::Signal(Signal::KILL.as_raw()));
        self.finish(ending, record).await
    }

    async fn on_told(&mut self, told: Told, reporter: &mut Reporter) {
        match told {
            Told::Stopped(signal) if self.is_a_persons(signal) => self.suspend(Signal::TSTP, reporter).await,
            // The terminal stops all who share it, and we are stopped ourselves in a moment.
            Told::Stopped(signal) if self.stage == Stage::Shared && signal != Signal::STOP.as_raw() => {}
            Told::Stopped(_) => self.stopped = Some(self.tree.sample()),
            Told::Continued => self.on_going_on(reporter),
            Told::Exited(code) => self.ending = Some(Ending::Code(code)),
            Told::Killed(signal) => self.ending = Some(Ending::Signal(signal)),
            Told::Started(..) | Told::NotStarted(_) => {}
        }
    }

    /// Whether a person stopped it by a key, and wants to have the shell back.
    fn is_a_persons(&self, signal: i32) -> bool {
        self.terminal.is_some() && signal != Signal::STOP.as_raw()
    }

    /// Stops as the program did, so that the shell takes over; goes on when the shell says so.
    async fn suspend(&mut self, by: Signal, reporter: &mut Reporter) {
        reporter.pause();
        self.settle().await;
        if let Some((_, raw)) = &self.terminal {
            raw.pause();
        }
        let _ = kill_process(getpid(), by);
        // Here it stands. If nothing stopped it, because there is no shell that could, nothing continues it either.
        let _ = timeout(STOPS_WITHIN, self.signals.continued.recv()).await;
        self.on_continued();
        self.want(Wanted::Continue).await;
        reporter.resume();
        reporter.say(AgentStatus::Healthy, None, None);
    }

    /// What it printed is shown before the shell takes over.
    async fn settle(&self) {
        let until = Instant::now() + SETTLED_WITHIN;
        loop {
            let bytes = self.flow.bytes();
            sleep(SETTLED).await;
            if until <= Instant::now() || (self.flow.bytes() == bytes && !self.flow.is_held_up()) {
                return;
            }
        }
    }

    fn on_continued(&mut self) {
        if let Some((_, raw)) = &self.terminal {
            raw.resume();
        }
        self.on_resized();
    }

    fn on_resized(&self) {
        if let Some((outer, _)) = &self.terminal {
            terminal::resize(outer);
        }
    }

    async fn on_item(&mut self, item: &PendingItem, reporter: &mut Reporter) {
        match item.kind {
            PendingKind::Ping => {
                if let Some(seq) = item.seq.filter(|_| !self.is_frozen()) {
                    reporter.pinged(seq);
                }
            }
            PendingKind::Superseded => self.want(Wanted::Signal(Signal::TERM.as_raw())).await,
            PendingKind::Nudge | PendingKind::Handoff if self.terminal.is_some() => {
                self.typist.take(item.message.as_deref().unwrap_or_default());
                self.try_to_type();
            }
            PendingKind::Nudge | PendingKind::Handoff | PendingKind::Cancel => self.leave(item),
            PendingKind::Interval => {}
        }
    }

    /// Leaves something where the program finds it, if it looks.
    fn leave(&self, item: &PendingItem) {
        let file = File::options().append(true).create(true).mode(0o600).open(&self.inbox);
        if let (Ok(mut file), Ok(line)) = (file, serde_json::to_string(item)) {
            // A disk that is full loses a reminder, and another will come.
            let _ = writeln!(file, "{line}");
        }
    }

    /// Where there is no terminal nobody can type.
    fn try_to_type(&mut self) {
        if let Some((outer, _)) = &self.terminal {
            self.typist.try_to_type(outer, &self.flow);
        }
    }

    async fn want(&mut self, wanted: Wanted) {
        // A keeper that does not hear is gone, which is seen elsewhere.
        let _ = self.tell.write_all(format!("{wanted}\n").as_bytes()).await;
    }

    /// Takes what ended off the system's table. Whoever the keeper kept falls to this process when that is killed.
    fn reap(&mut self) {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        while let Ok(Some((pid, status))) = wait(options) {
            if pid == self.keeper && status.stopped() {
                // Somebody stopped it, or a shared terminal did with all others; then it is continued with them.
                if self.stage != Stage::Shared {
                    let _ = kill_process(pid, Signal::CONT);
                }
            } else if pid.as_raw_nonzero().get().unsigned_abs() == self.program {
                let code = status.exit_status().map(Ending::Code);
                self.ending = code.or(status.terminating_signal().map(Ending::Signal)).or(self.ending);
            }
        }
    }

    /// The keeper was killed. Its tree is ours now, and is ended: nobody could say any more how it does.
    async fn on_keeper_gone(&mut self) {
        let root = self.tree.root();
        let tree = Tree::new(root, self.mark.clone()).adopting();
        tree.stop_async(PATIENCE).await;
        self.reap();
        self.ending = self.ending.or(Some(Ending::Signal(Signal::KILL.as_raw())));
    }

    /// Whether nothing of a stopped program moves, by two looks at its tree and its output.
    fn is_frozen(&mut self) -> bool {
        let Some(before) = &self.stopped else { return self.watchdog.is_overdue() };
        let now = self.tree.sample();
        let output_age = (self.flow.bytes() > 0).then(|| self.flow.silent_for());
        let aliveness = look(Some(before), &now, &Seen { output_age, ..Seen::default() });
        self.stopped = Some(now);
        aliveness.is_freeze()
    }

    fn on_going_on(&mut self, reporter: &mut Reporter) {
        if self.stopped.take().is_some() {
            reporter.active();
        }
    }

    /// What the program left behind is ended, unless it ended well; what it wrote last is passed on.
    async fn finish(mut self, ending: Ending, record: &Record) -> Ended {
        self.flow.close();
        if ending.is_clean() && !record.is_end_announced() {
            self.drain().await;
            self.want(Wanted::Leave).await;
        } else {
            self.want(Wanted::End).await;
            let over = async { while next(&mut self.told).await.is_some() {} };
            let _ = timeout(KEEPER_ENDS_WITHIN, over).await;
            self.drain().await;
        }
        Ended { ending, flow: Arc::clone(&self.flow) }
    }

    async fn drain(&mut self) {
        let until = Instant::now() + DRAIN_MAX;
        while self.streams_open > 0 && Instant::now() < until {
            let bytes = self.flow.bytes();
            match timeout(QUIET, self.streams.recv()).await {
                Ok(_) => self.streams_open -= 1,
                // Somebody else has the stream open, and writes nothing; or it waits for a reader.
                Err(_) if self.flow.bytes() == bytes && !self.flow.is_held_up() => return,
                Err(_) => {}
            }
        }
    }
}

/// How a life was, at its end.
pub(super) struct Ended {
    pub(super) ending: Ending,
    pub(super) flow: Arc<Flow>,
}

impl Signals {
    fn listen(stage: Stage) -> io::Result<Self> {
        let (pass, passed_on) = unbounded_channel();
        for kind in PASSED_ON.into_iter().chain(OF_TERMINALS) {
            // What this was started to ignore, the program ignores too.
            if is_ignored(kind.as_raw_value()) {
                continue;
            }
            let mut heard = signal(kind)?;
            let is_shared = stage == Stage::Shared && OF_TERMINALS.contains(&kind);
            let pass = pass.clone();
            tokio::spawn(async move {
                while heard.recv().await.is_some() {
                    if !is_shared && pass.send(kind).is_err() {
                        return;
                    }
                }
            });
        }
        // By a key, it stops all who share the terminal; the monitor is told before it stops us.
        let stops = SignalKind::from_raw(Signal::TSTP.as_raw());
        let stops = if stage == Stage::Shared { Some(signal(stops)?) } else { None };
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            children: signal(SignalKind::child())?,
            continued: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            stops,
            passed_on,
        })
    }
}

async fn stopping(stops: &mut Option<Heard>) {
    match stops {
        Some(stops) => drop(stops.recv().await),
        None => std::future::pending().await,
    }
}

async fn next(lines: &mut Lines<BufReader<OwnedReadHalf>>) -> Option<Told> {
    loop {
        let line = lines.next_line().await.ok()??;
        if let Some(told) = Told::read(&line) {
            return Some(told);
        }
    }
}
