//! The one thread that writes: many jobs, one transaction, one fsync.
//!
//! ```text
//! engine ──batch──┐
//! API ────fact────┼─► queue ─► BEGIN ─► job, job, … ─► COMMIT (fsync) ─► everybody is answered
//! upkeep ─chunk───┘              each in a savepoint
//! ```
//!
//! While one group is on its way to the disk the next one gathers in the queue, so the more there is to do, the more
//! share an fsync, and nobody waits on purpose. A job that is refused is rolled back alone. What fails the commit
//! fails for all of its group, and nobody is told that something is safe which is not.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::carrier::Carrier;
use crate::directory::identity;
use crate::error::Error;
use crate::receipt::{Promise, Receipt, receipt};
use crate::soundness::Soundness;

/// Jobs that share a transaction at most. Bounds how long the first of them waits for the last.
const GROUP_MAX: usize = 256;
/// Jobs that wait at most; whoever comes then is told that the disk cannot keep up.
const QUEUE_MAX: usize = 4_096;
/// Places beyond them, for the engine's batch and for upkeep: however many others wait, these two find room.
const RESERVED: usize = 8;

/// What is called on the writer's thread after a commit. It must not block.
pub(crate) type OnCommit = Box<dyn Fn(&After) + Send>;

/// The way to the writer's thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<SyncSender<Box<dyn Job>>>,
    /// Jobs that wait.
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

/// What is to be done once a job is on disk, and only then.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// Files that nothing refers to any more.
    pub(crate) unlink: Vec<PathBuf>,
    /// The id of the newest event, if there are new ones.
    pub(crate) newest_event: Option<i64>,
}

impl After {
    fn join(&mut self, later: Self) {
        self.unlink.extend(later.unlink);
        self.newest_event = later.newest_event.or(self.newest_event);
    }
}

impl Writer {
    /// Starts the thread. `files` must stay what they are for as long as it runs.
    pub(crate) fn start(
        db: Connection,
        carrier: Carrier,
        files: Vec<PathBuf>,
        soundness: Arc<Soundness>,
        on_commit: OnCommit,
    ) -> Result<Self, Error> {
        let (queue, jobs) = sync_channel(QUEUE_MAX + RESERVED);
        let files = files.into_iter().map(Opened::new).collect::<Result<_, _>>()?;
        let waiting = Arc::new(AtomicUsize::new(0));
        let work = Work { carrier, db, files, soundness, waiting: Arc::clone(&waiting), on_commit };
        let thread = thread::Builder::new()
            .name("verger-store".to_owned())
            .spawn(move || work.run(&jobs))
            .map_err(Error::file("start the writer of", "the store".as_ref()))?;
        Ok(Self { queue: Some(queue), waiting, thread: Some(thread) })
    }

    /// Hands in a job. Refused at once when too many wait already: whoever serves others must not block.
    pub(crate) fn submit<T, F>(&self, work: F) -> Receipt<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        self.hand_in(work, QUEUE_MAX)
    }

    /// Hands in a job for which a place is kept, also when too many others wait.
    pub(crate) fn submit_first<T, F>(&self, work: F) -> Receipt<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        self.hand_in(work, QUEUE_MAX + RESERVED)
    }

    fn hand_in<T, F>(&self, work: F, places: usize) -> Receipt<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        let (promise, receipt) = receipt();
        let job: Box<dyn Job> = Box::new(Task { work: Some(work), worked: None, promise });
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= places {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            job.settle(Err(Error::Busy));
            return receipt;
        }
        let refused = match self.queue.as_ref().map(|queue| queue.try_send(job)) {
            Some(Err(TrySendError::Full(job))) => Some((job, Error::Busy)),
            Some(Err(TrySendError::Disconnected(job))) => Some((job, Error::Closed)),
            Some(Ok(())) | None => None,
        };
        if let Some((job, why)) = refused {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            job.settle(Err(why));
        }
        receipt
    }

    /// Hands in a job and waits for it, in the queue as well.
    pub(crate) fn run<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        let (promise, receipt) = receipt();
        let job = Box::new(Task { work: Some(work), worked: None, promise });
        if let Some(queue) = &self.queue {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            // A job that cannot be sent drops its promise, and the receipt says that the store is closed.
            drop(queue.send(job));
        }
        receipt.wait()
    }
}

impl Drop for Writer {
    /// Everything that was handed in is written before the store is closed.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) =
            self.thread.take().filter(|thread| thread.thread().id() != thread::current().id())
        {
            // A panic of the writer was somebody else's error already: all their receipts say so.
            drop(thread.join());
        }
    }
}

/// Something to be written.
trait Job: Send {
    /// Does the work within a transaction. Answers why it must be taken back, if it must.
    fn work(&mut self, db: &Connection, after: &mut After) -> Option<Error>;

    /// Tells whoever handed it in.
    fn settle(self: Box<Self>, committed: Result<(), Error>);
}

struct Task<T, F> {
    work: Option<F>,
    worked: Option<Result<T, Error>>,
    promise: Promise<T>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send,
{
    fn work(&mut self, db: &Connection, after: &mut After) -> Option<Error> {
        let worked = self.work.take().map(|work| work(db, after));
        self.worked.insert(worked?).as_ref().err().cloned()
    }

    fn settle(self: Box<Self>, committed: Result<(), Error>) {
        let result = match (committed, self.worked) {
            (Ok(()), Some(worked)) => worked,
            // Its own error says more than that of the group.
            (Err(_), Some(Err(own))) => Err(own),
            (Err(why), _) => Err(why),
            (Ok(()), None) => Err(Error::Closed),
        };
        self.promise.fill(result);
    }
}

/// What the thread owns. The last connection to be closed is its own, which tidies up.
struct Work {
    carrier: Carrier,
    db: Connection,
    files: Vec<Opened>,
    soundness: Arc<Soundness>,
    waiting: Arc<AtomicUsize>,
    on_commit: OnCommit,
}

impl Work {
    fn run(mut self, jobs: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = jobs.recv() {
            let mut group = vec![first];
            let mut after = After::default();
            let committed = self.commit(jobs, &mut group, &mut after);
            self.waiting.fetch_sub(group.len(), Ordering::Relaxed);
            self.doubt(committed.as_ref().err());
            if committed.is_err() && !self.db.is_autocommit() {
                // It cannot be committed, so it must not stay open; if even this fails, the next BEGIN says so.
                drop(self.db.execute_batch("ROLLBACK"));
            }
            if committed.is_ok() {
                self.finish(&after);
            }
            for job in group {
                job.settle(committed.clone());
            }
        }
    }

    fn commit(
        &self,
        jobs: &Receiver<Box<dyn Job>>,
        group: &mut Vec<Box<dyn Job>>,
        after: &mut After,
    ) -> Result<(), Error> {
        self.files.iter().try_for_each(Opened::is_still_there)?;
        self.soundness.check()?;
        self.sql("BEGIN IMMEDIATE")?;
        let mut done = 0;
        while let Some(job) = group.get_mut(done) {
            self.work(job.as_mut(), after)?;
            done += 1;
            if done == group.len() && done < GROUP_MAX {
                group.extend(jobs.try_recv());
            }
        }
        self.sql("COMMIT")
    }

    /// Does one job so that it can be taken back alone.
    fn work(&self, job: &mut dyn Job, after: &mut After) -> Result<(), Error> {
        self.sql("SAVEPOINT job")?;
        let mut own = After::default();
        let Some(refused) = job.work(&self.db, &mut own) else {
            after.join(own);
            return self.sql("RELEASE job");
        };
        if self.db.is_autocommit() {
            // A full disk ends the whole transaction, and with it what the others of the group have written.
            return Err(refused);
        }
        self.soundness.suspect_if(&refused);
        self.sql("ROLLBACK TO job")?;
        self.sql("RELEASE job")
    }

    /// What was read wrongly must not be remembered: the disk may give the right bytes next time.
    fn doubt(&self, error: Option<&Error>) {
        let Some(error) = error.filter(|error| error.is_damage()) else { return };
        self.soundness.suspect_if(error);
        // If it cannot be forgotten the next look finds the same.
        drop(self.db.execute_batch("PRAGMA shrink_memory"));
    }

    /// Files go here and nowhere else, so that no job finds a file gone that it looked for before it was committed.
    fn finish(&mut self, after: &After) {
        self.carrier.on_commit(self.db.total_changes());
        for path in &after.unlink {
            // What cannot be removed now is found by the next sweep.
            drop(std::fs::remove_file(path));
        }
        (self.on_commit)(after);
    }

    fn sql(&self, statement: &'static str) -> Result<(), Error> {
        let run = || self.db.prepare_cached(statement)?.execute([]);
        run().map(drop).map_err(Error::sql("write to the database"))
    }
}

/// A file that was opened, and must not be exchanged.
struct Opened {
    path: PathBuf,
    identity: (u64, u64),
}

impl Opened {
    fn new(path: PathBuf) -> Result<Self, Error> {
        let identity = identity(&path).map_err(Error::file("look at", &path))?;
        Ok(Self { path, identity })
    }

    /// Writing to a file that has no name any more works, and is lost at the next start.
    fn is_still_there(&self) -> Result<(), Error> {
        match identity(&self.path) {
            Ok(found) if found == self.identity => Ok(()),
            _ => Err(Error::Removed(self.path.clone())),
        }
    }
}
