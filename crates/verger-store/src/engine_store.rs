//! The engine's port: one batch, one commit, shared with whatever else is to be written at that moment.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, params};
use verger_core::effect::EffectKey;
use verger_core::fleet::Row;
use verger_core::time::WallTime;
use verger_engine::{Batch, Blind, Loaded, Mark, Reading, Store, StoreError};

use crate::archive::Archive;
use crate::error::{Error, for_engine};
use crate::journal::{self, EncodeEvent, Entry};
use crate::moment::{millis, timestamp};
use crate::outbox::KeptEffect;
use crate::receipt::Receipt;
use crate::writer::After;
use crate::{blind, outbox, rows};

/// How long the loop stands still for a commit. Longer would be time in which nobody is heard.
const TAKEN_WITHIN: Duration = Duration::from_millis(700);
/// How long it stands still to ask again about a batch that takes longer.
const ASKED_FOR: Duration = Duration::from_millis(20);

/// The store as the engine uses it. There is one, as there is one engine: it numbers the events.
pub struct EngineStore {
    archive: Archive,
    encoder: Arc<dyn EncodeEvent>,
    /// The number of the newest event on disk.
    newest: i64,
    /// A batch that the disk has not taken yet.
    under_way: Option<UnderWay>,
}

/// A batch that was handed over, and of which nothing was heard yet.
struct UnderWay {
    number: u64,
    since: Instant,
    receipt: Receipt<i64>,
}

impl EngineStore {
    pub(crate) fn new(archive: Archive, encoder: Arc<dyn EncodeEvent>) -> Result<Self, Error> {
        let newest = archive.read(journal::newest)?;
        Ok(Self { archive, encoder, newest, under_way: None })
    }

    /// What needs no disk is done here, on the engine's thread, and not on that of the writer. Rows are as they are stored.
    fn encode(&self, batch: &Batch) -> Encoded {
        Encoded {
            mark: batch.mark,
            events: Entry::all(batch, self.newest + 1, &self.encoder),
            effects: batch.effects.iter().map(KeptEffect::new).collect(),
            retried: batch.retried.clone(),
            finished: batch.finished.clone(),
            rows: Arc::clone(&batch.rows),
            blind: batch.blind.clone(),
        }
    }
}

impl fmt::Debug for EngineStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineStore").field("newest", &self.newest).finish_non_exhaustive()
    }
}

impl Store for EngineStore {
    /// A batch that was on disk all along is answered with the numbers that its events have there. A disk that takes
    /// long is asked again when the engine tries again; the batch is not handed over twice.
    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let number = batch.mark.number;
        let under_way = self.under_way.take().filter(|under_way| under_way.number == number);
        let is_first = under_way.is_none();
        let under_way = under_way.unwrap_or_else(|| {
            let encoded = self.encode(batch);
            let write = move |db: &Connection, after: &mut After| {
                encoded.write(db, after).map_err(Error::sql("write a batch to the database"))
            };
            UnderWay { number, since: Instant::now(), receipt: self.archive.submit_first(write) }
        });
        let Some(written) = under_way.receipt.wait_for(if is_first { TAKEN_WITHIN } else { ASKED_FOR })
        else {
            let seconds = under_way.since.elapsed().as_secs();
            self.under_way = Some(under_way);
            return Err(for_engine("write to")(Error::Slow { seconds }));
        };
        self.newest = written.map_err(for_engine("write to"))?;
        Ok(())
    }

    fn load(&mut self) -> Result<Loaded, StoreError> {
        let load = |db: &Connection| {
            Ok(Loaded {
                mark: mark(db).map_err(Error::sql("read the last mark"))?,
                rows: rows::load(db)?,
                unfinished: outbox::unfinished(db)?,
            })
        };
        self.archive.with(load).map_err(for_engine("read from"))
    }
}

/// A batch in the shape in which it is stored.
#[derive(Debug)]
struct Encoded {
    mark: Mark,
    events: Vec<Entry>,
    effects: Vec<KeptEffect>,
    retried: Vec<EffectKey>,
    finished: Vec<EffectKey>,
    rows: Arc<Vec<Row>>,
    blind: Vec<Blind>,
}

impl Encoded {
    /// Answers the number of the newest event that is then on disk.
    fn write(&self, db: &Connection, after: &mut After) -> rusqlite::Result<i64> {
        if mark(db)?.is_some_and(|mark| mark.number >= self.mark.number) {
            return journal::newest(db);
        }
        set_mark(db, &self.mark)?;
        self.events.iter().try_for_each(|event| event.write(db))?;
        self.effects.iter().try_for_each(|effect| effect.write(db, self.mark.taken))?;
        self.retried.iter().try_for_each(|key| outbox::retry(db, key))?;
        let now = millis(self.mark.observed);
        self.finished.iter().try_for_each(|key| outbox::finish(db, key, now))?;
        self.rows.iter().try_for_each(|row| rows::write(db, row))?;
        self.blind.iter().try_for_each(|time| blind::write(db, time, &self.mark))?;
        let newest = journal::newest(db)?;
        after.newest_event = (!self.events.is_empty()).then_some(newest);
        Ok(newest)
    }
}

/// The mark of the last batch.
pub(crate) fn mark(db: &Connection) -> rusqlite::Result<Option<Mark>> {
    db.prepare_cached("SELECT batch, observed_ms, boot_ms, wall_ms FROM mark")?
        .query_row([], |row| {
            let unsigned =
                |column| row.get::<_, i64>(column).map(|number| u64::try_from(number).unwrap_or(0));
            Ok(Mark {
                number: unsigned(0)?,
                observed: timestamp(row.get(1)?),
                taken: Reading { boot: unsigned(2)?, wall: WallTime(row.get(3)?) },
            })
        })
        .optional()
}

fn set_mark(db: &Connection, mark: &Mark) -> rusqlite::Result<()> {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    db.prepare_cached("INSERT OR REPLACE INTO mark VALUES (1, ?1, ?2, ?3, ?4)")?
        .execute(params![
            signed(mark.number),
            millis(mark.observed),
            signed(mark.taken.boot),
            mark.taken.wall.0
        ])
        .map(drop)
}
