//! The outbox: what is to be done, how often it may have been tried, and what is done with.

use rusqlite::{Connection, params};
use verger_core::effect::{Action, Effect, EffectKey};
use verger_core::record::{effect_from_bytes, effect_to_bytes};
use verger_core::time::WallTime;
use verger_engine::{Reading, Unfinished};

use crate::archive::Archive;
use crate::error::Error;

/// An effect as it is stored.
#[derive(Debug)]
pub(crate) struct KeptEffect {
    key: EffectKey,
    action: &'static str,
    content: Vec<u8>,
}

impl KeptEffect {
    pub(crate) fn new(effect: &Effect) -> Self {
        Self { key: effect.key.clone(), action: word(&effect.action), content: effect_to_bytes(effect) }
    }

    /// It is about to leave for the first time.
    pub(crate) fn write(&self, db: &Connection, decided: Reading) -> rusqlite::Result<()> {
        let EffectKey { agent, incarnation, seq } = &self.key;
        let boot = i64::try_from(decided.boot).unwrap_or(i64::MAX);
        db.prepare_cached(
            "INSERT OR REPLACE INTO effects
             (agent, incarnation, seq, action, attempts, decided_boot_ms, decided_wall_ms, content)
             VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7)",
        )?
        .execute(params![agent.as_str(), incarnation.0, seq, self.action, boot, decided.wall.0, self.content])
        .map(drop)
    }
}

impl Archive {
    /// How many effects are decided and not done with.
    pub fn effects_out(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM effects WHERE finished_observed_ms IS NULL";
        let out: i64 = self.read(|db| db.prepare_cached(sql)?.query_row([], |row| row.get(0)))?;
        Ok(u64::try_from(out).unwrap_or(0))
    }
}

/// It is about to leave once more.
pub(crate) fn retry(db: &Connection, key: &EffectKey) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE effects SET attempts = attempts + 1 WHERE agent = ?1 AND incarnation = ?2 AND seq = ?3",
    )?
    .execute(params![key.agent.as_str(), key.incarnation.0, key.seq])
    .map(drop)
}

/// It is done with. The row stays for a while, so that people can see what was done.
pub(crate) fn finish(db: &Connection, key: &EffectKey, observed_ms: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE effects SET finished_observed_ms = ?4 WHERE agent = ?1 AND incarnation = ?2 AND seq = ?3",
    )?
    .execute(params![key.agent.as_str(), key.incarnation.0, key.seq, observed_ms])
    .map(drop)
}

/// What is not done with, in the order of its keys.
pub(crate) fn unfinished(db: &Connection) -> Result<Vec<Unfinished>, Error> {
    let doing = "read the outbox";
    let mut query = db
        .prepare(
            "SELECT agent || '#' || incarnation || '/' || seq, content, attempts, decided_boot_ms, decided_wall_ms
             FROM effects WHERE finished_observed_ms IS NULL ORDER BY agent, incarnation, seq",
        )
        .map_err(Error::sql(doing))?;
    let mut rows = query.query([]).map_err(Error::sql(doing))?;
    let mut left = Vec::new();
    while let Some(row) = rows.next().map_err(Error::sql(doing))? {
        left.push(read(row).map_err(Error::sql(doing))??);
    }
    Ok(left)
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Result<Unfinished, Error>> {
    let key: String = row.get(0)?;
    let content: Vec<u8> = row.get(1)?;
    let attempts = row.get::<_, u32>(2)?.min(u32::from(u8::MAX)) as u8;
    let boot = u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0);
    let decided = Reading { boot, wall: WallTime(row.get(4)?) };
    Ok(effect_from_bytes(&content)
        .map(|effect| Unfinished { effect, attempts, decided })
        .map_err(|source| Error::Effect { key, source }))
}

fn word(action: &Action) -> &'static str {
    match action {
        Action::Ping => "ping",
        Action::Inquire { .. } => "inquire",
        Action::Nudge { .. } => "nudge",
        Action::Escalate(_) => "escalate",
        Action::Interrupt { .. } => "interrupt",
        Action::RequestHandoff { .. } => "request handoff",
        Action::Stop { .. } => "stop",
        Action::Survey { .. } => "survey",
        Action::Spawn(_) => "spawn",
        Action::Withdraw { .. } => "withdraw",
        Action::Deliver { .. } => "deliver",
        Action::RemindOfMessage { .. } => "remind of message",
        Action::TellSender { .. } => "tell sender",
        Action::WriteCheckpoint { .. } => "write checkpoint",
        Action::Probe(_) => "probe",
        Action::AskAdvice(_) => "ask advice",
    }
}
