//! Knows tokens by their hashes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use tokio::sync::watch;
use verger_act::{SignatureError, Stamp, Verifier};
use verger_core::id::Actor;
use verger_core::time::WallTime;
use verger_store::{Archive, Error, Token};

use super::caller::Caller;
use super::secret::{self, Secret};
use super::session::Sessions;

/// Tokens whose look-up is remembered. What nobody knows is not: strangers must not fill the memory.
const REMEMBERED: usize = 10_000;

/// Tells who somebody is by what they present.
#[derive(Debug)]
pub struct Doorkeeper {
    archive: Archive,
    /// Compared in constant time.
    admin: blake3::Hash,
    known: Mutex<Known>,
    /// How often everything was forgotten, for those who were let in and stay.
    changes: watch::Sender<u64>,
    sessions: Sessions,
    /// Knows calls of whoever directs the agents by their signature.
    orchestrator: Verifier,
}

/// Tokens whose look-up is remembered.
#[derive(Debug, Default)]
struct Known {
    tokens: BTreeMap<[u8; 32], Token>,
    /// How often everything was forgotten: what was read before that may be wrong after it.
    forgotten: u64,
}

impl Doorkeeper {
    /// For the tokens of this archive, and the local admin.
    pub fn new(archive: Archive, admin: &Secret) -> Self {
        let admin = blake3::Hash::from_bytes(admin.hash());
        Self {
            archive,
            admin,
            known: Mutex::default(),
            changes: watch::Sender::default(),
            sessions: Sessions::default(),
            orchestrator: Verifier::default(),
        }
    }

    /// Lets calls through that bear this secret's signature, as those of whoever directs the agents; none without one.
    pub fn set_orchestrator(&self, secret: Option<verger_act::Secret>) {
        self.orchestrator.set_secret(secret);
    }

    /// Whether a call was signed by whoever directs the agents, just now and for the first time.
    pub fn is_orchestrator(&self, stamp: &Stamp, body: &[u8]) -> Result<(), SignatureError> {
        self.orchestrator.verify(stamp, body, SystemTime::now())
    }

    /// Who presents this; nobody if it opens nothing, or no longer. The disk is asked about what is not remembered,
    /// beside the threads that serve others: strangers must not be able to hold them up.
    pub async fn caller(&self, presented: &str, now: WallTime) -> Result<Option<Caller>, Error> {
        let hash = secret::hash(presented);
        if self.admin == blake3::Hash::from_bytes(hash) {
            return Ok(Some(Caller::Admin(Actor::from("admin"))));
        }
        let known = self.lock().tokens.get(&hash).cloned();
        let token = match known {
            Some(token) => Some(token),
            None => self.look_up(hash).await?,
        };
        Ok(token.filter(|token| token.is_valid(now)).and_then(|token| caller_of(&token)))
    }

    /// Whose browser presents this cookie.
    pub fn in_browser(&self, cookie: &str) -> Option<Caller> {
        self.sessions.whose(cookie, Instant::now()).map(Caller::Admin)
    }

    /// Browsers that are signed in.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// A token was made or ended: what is remembered may be wrong.
    pub fn forget(&self) {
        let mut known = self.lock();
        known.tokens.clear();
        known.forgotten += 1;
        self.changes.send_replace(known.forgotten);
    }

    /// Tells whoever stays that a token may have been revoked.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    async fn look_up(&self, hash: [u8; 32]) -> Result<Option<Token>, Error> {
        let (forgotten, archive) = (self.lock().forgotten, self.archive.clone());
        let found = tokio::task::spawn_blocking(move || archive.token(&hash)).await;
        let found = found.unwrap_or(Err(Error::Closed))?;
        if let Some(token) = &found {
            let mut known = self.lock();
            if known.tokens.len() >= REMEMBERED {
                known.tokens.clear();
            }
            // A token that was revoked while it was read must not be remembered as valid.
            if known.forgotten == forgotten {
                known.tokens.insert(hash, token.clone());
            }
        }
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a token lets its holder be. A scope that is not known lets nobody in.
fn caller_of(token: &Token) -> Option<Caller> {
    let name = || Actor::from(token.label.clone().unwrap_or_else(|| format!("token:{}", token.id)));
    match (token.scope.as_str(), &token.agent) {
        ("agent", Some(agent)) => Some(Caller::Agent(agent.clone())),
        ("read", None) => Some(Caller::Reader(name())),
        ("admin", None) => Some(Caller::Admin(name())),
        _ => None,
    }
}
