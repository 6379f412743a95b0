//! The store as everybody but the engine uses it: reads history, hands in facts, looks after the disk.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::Connection;
use verger_core::time::WallTime;

use crate::carrier::Carrier;
use crate::checkpoint::Bodies;
use crate::directory::{Directory, is_free};
use crate::engine_store::{self, EngineStore};
use crate::error::Error;
use crate::journal::EncodeEvent;
use crate::moment::Moment;
use crate::readers::Readers;
use crate::receipt::Receipt;
use crate::soundness::{self, Soundness};
use crate::writer::{After, OnCommit, Writer};
use crate::{connection, log, schema};

/// How the store is opened.
pub struct Options {
    /// The data directory; made if there is none.
    pub directory: PathBuf,
    /// Readers at one time; one more waits. Default: 4, for a query takes milliseconds.
    pub readers: usize,
    /// The largest the database may become, in bytes. Beyond it the disk counts as full, which leaves room for the
    /// agents' own work. Default: no limit.
    pub size_max: Option<u64>,
    /// Puts events into the words in which they are served.
    pub encoder: Arc<dyn EncodeEvent>,
    /// Told after each commit that holds events, with the number of the newest. Called on the writer's thread: it
    /// must not block. Default: nobody.
    pub on_events: Option<Box<dyn Fn(i64) + Send>>,
}

impl Options {
    /// The defaults, for this directory.
    pub fn new(directory: impl Into<PathBuf>, encoder: Arc<dyn EncodeEvent>) -> Self {
        Self { directory: directory.into(), readers: 4, size_max: None, encoder, on_events: None }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { directory, readers, size_max, .. } = self;
        f.debug_struct("Options")
            .field("directory", directory)
            .field("readers", readers)
            .field("size_max", size_max)
            .finish_non_exhaustive()
    }
}

/// Opens the store, made or brought up to date where it has to be.
///
/// The directory stays locked until the engine's end and every clone of the archive are gone.
pub fn open(options: Options) -> Result<(EngineStore, Archive), Error> {
    let directory = Directory::open(&options.directory)?;
    let path = directory.database();
    let mut db = connection::writer(&path)?;
    schema::check(&db, &path)?;
    connection::set_up_writer(&db)?;
    schema::migrate(&mut db, &path)?;
    if let Some(bytes) = options.size_max {
        connection::limit_size(&db, bytes)?;
    }
    let bodies = Arc::new(Bodies::open(directory.checkpoints())?);
    directory.sync()?;
    let files = vec![path.clone(), log::beside(&path)];
    let readers = Readers::new(&path, options.readers);
    let soundness = Arc::new(Soundness::new(&path));
    let carrier = Carrier::start(&path)?;
    let writer = Writer::start(db, carrier, files, Arc::clone(&soundness), tell(options.on_events))?;
    let (swept, upkeep) = (AtomicI64::new(0), Mutex::new(()));
    let shared = Shared { readers, writer, bodies, soundness, swept, upkeep, directory };
    let archive = Archive(Arc::new(shared));
    let engine = EngineStore::new(archive.clone(), options.encoder)?;
    Ok((engine, archive))
}

/// Looks at a data directory that no monitor uses, and changes nothing: what is wrong with its database.
///
/// Whoever holds it, or a version that is not known, is an error. A directory without a database has nothing wrong.
pub fn examine(directory: &Path) -> Result<Vec<String>, Error> {
    let path = directory.join("verger.db");
    is_free(directory)?;
    match connection::look_at(&path) {
        Ok(true) => {}
        Ok(false) => return Ok(Vec::new()),
        Err(Error::Damaged { what, .. }) => return Ok(vec![what]),
        Err(error) => return Err(error),
    }
    let look = |db: Connection| schema::check(&db, &path).and_then(|_| soundness::look_through(&db, &path));
    match connection::examiner(&path).and_then(look) {
        Err(Error::Damaged { what, .. }) => Ok(vec![what]),
        looked => looked,
    }
}

/// A cheap handle to the store.
///
/// Whatever it writes is answered by a [`Receipt`], after the fsync; whatever it reads comes from connections of its
/// own, which never hold the writer up.
#[derive(Clone, Debug)]
pub struct Archive(Arc<Shared>);

/// In the order in which it is taken down: the last connection to close is the writer's, and it tidies up.
#[derive(Debug)]
struct Shared {
    readers: Readers,
    writer: Writer,
    bodies: Arc<Bodies>,
    soundness: Arc<Soundness>,
    /// Up to which checkpoint retention has looked.
    swept: AtomicI64,
    /// Held while something is forgotten or copied: never both at once.
    upkeep: Mutex<()>,
    directory: Directory,
}

impl Archive {
    /// The data directory.
    pub fn directory(&self) -> &Path {
        self.0.directory.root()
    }

    /// Now, for a fact that comes in at this wall time: observed time as of the last durable mark.
    ///
    /// It is late by at most the time between two marks, ten seconds. Who knows observed time better says it.
    pub fn moment(&self, wall: WallTime) -> Result<Moment, Error> {
        let mark = self.read(engine_store::mark)?;
        Ok(Moment { observed: mark.map(|mark| mark.observed).unwrap_or_default(), wall })
    }

    /// Looks through the whole file, which takes a second for each few hundred megabytes.
    ///
    /// Answers what is wrong with it; nothing if all is well. A file that is damaged is not written to until it was looked
    /// through again and is whole.
    pub fn check(&self) -> Result<Vec<String>, Error> {
        self.0.soundness.look_through()
    }

    /// Whether something was read or written that cannot be right, so that the file should be [checked](Self::check).
    pub fn is_doubtful(&self) -> bool {
        self.0.soundness.is_doubtful()
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        self.with(|db| work(db).map_err(Error::sql("read the database")))
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.0.readers.with(work).inspect_err(|error| self.0.soundness.suspect_if(error))
    }

    /// Hands in a fact.
    pub(crate) fn submit<T, F>(&self, work: F) -> Receipt<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        self.0.writer.submit(work)
    }

    /// Hands in the engine's batch, for which there is always room.
    pub(crate) fn submit_first<T, F>(&self, work: F) -> Receipt<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        self.0.writer.submit_first(work)
    }

    /// Hands in a fact that only `SQLite` can refuse.
    pub(crate) fn record<T, F>(&self, doing: &'static str, work: F) -> Receipt<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.submit(move |db, _| work(db).map_err(Error::sql(doing)))
    }

    /// Writes and waits.
    pub(crate) fn run<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection, &mut After) -> Result<T, Error> + Send + 'static,
    {
        self.0.writer.run(work)
    }

    pub(crate) fn bodies(&self) -> &Arc<Bodies> {
        &self.0.bodies
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.directory.database()
    }

    /// Waits until nothing else looks after the disk.
    pub(crate) fn upkeep(&self) -> MutexGuard<'_, ()> {
        self.0.upkeep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn try_upkeep(&self) -> Option<MutexGuard<'_, ()>> {
        match self.0.upkeep.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn swept(&self) -> &AtomicI64 {
        &self.0.swept
    }
}

fn tell(on_events: Option<Box<dyn Fn(i64) + Send>>) -> OnCommit {
    Box::new(move |after| {
        if let (Some(tell), Some(newest)) = (&on_events, after.newest_event) {
            tell(newest);
        }
    })
}
