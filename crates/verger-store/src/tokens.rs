//! Who may do what: tokens, of which only hashes are kept.
//!
//! A token is looked up by the hash of what was presented, so nothing here compares secrets byte by byte, and a
//! stolen file lets nobody in.

use rusqlite::{OptionalExtension, Row, params};
use verger_core::id::AgentId;
use verger_core::time::WallTime;

use crate::archive::Archive;
use crate::error::Error;
use crate::receipt::Receipt;

const COLUMNS: &str = "id, scope, agent, label, created_wall_ms, expires_wall_ms, revoked_wall_ms";

/// What is known of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its name, by which people speak of it.
    pub id: String,
    /// `agent`, `read` or `admin`; the server says what that means.
    pub scope: String,
    /// The one agent that it speaks for.
    pub agent: Option<AgentId>,
    /// What it is for, in people's words.
    pub label: Option<String>,
    /// When it was made.
    pub created: WallTime,
    /// When it ends by itself.
    pub expires: Option<WallTime>,
    /// When somebody ended it.
    pub revoked: Option<WallTime>,
}

impl Token {
    /// Whether it opens anything at this time.
    pub fn is_valid(&self, now: WallTime) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|end| now < end)
    }
}

impl Archive {
    /// Keeps a new token by its hash. A name or a hash that is there already is refused.
    pub fn add_token(&self, token: Token, hash: [u8; 32]) -> Receipt<()> {
        self.record("write a token", move |db| {
            let Token { id, scope, agent, label, created, expires, revoked } = &token;
            db.prepare_cached(
                "INSERT INTO tokens
                 (id, scope, agent, label, created_wall_ms, expires_wall_ms, revoked_wall_ms, hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                id,
                scope,
                agent.as_ref().map(AgentId::as_str),
                label,
                created.0,
                expires.map(|end| end.0),
                revoked.map(|end| end.0),
                hash
            ])
            .map(drop)
        })
    }

    /// Ends a token for ever. Answers whether there was one to end.
    pub fn revoke_token(&self, id: String, at: WallTime) -> Receipt<bool> {
        self.record("write a token", move |db| {
            db.prepare_cached(
                "UPDATE tokens SET revoked_wall_ms = ?2 WHERE id = ?1 AND revoked_wall_ms IS NULL",
            )?
            .execute(params![id, at.0])
            .map(|ended| ended > 0)
        })
    }

    /// The token of this hash, valid or not.
    pub fn token(&self, hash: &[u8; 32]) -> Result<Option<Token>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM tokens WHERE hash = ?1");
        self.read(|db| db.prepare_cached(&sql)?.query_row([hash], read).optional())
    }

    /// All tokens, oldest first.
    pub fn tokens(&self) -> Result<Vec<Token>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM tokens ORDER BY created_wall_ms, id");
        self.read(|db| db.prepare_cached(&sql)?.query_map([], read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Token> {
    let wall = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(WallTime));
    Ok(Token {
        id: row.get(0)?,
        scope: row.get(1)?,
        agent: row.get::<_, Option<String>>(2)?.map(AgentId::from),
        label: row.get(3)?,
        created: WallTime(row.get(4)?),
        expires: wall(5)?,
        revoked: wall(6)?,
    })
}
