//! Knows tokens by their hashes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use verger_act::{SignatureError, Stamp, Verifier};
use verger_core::id::Actor;
use verger_core::time::WallTime;
use verger_store::{Archive, Error, Token};

use super::caller::Caller;
use super::secret::{self, Secret};

/// Tokens whose look-up is remembered. What nobody knows is not: strangers must not fill the memory.
const REMEMBERED: usize = 10_000;

/// Tells who somebody is by what they present.
#[derive(Debug)]
pub struct Doorkeeper {
    archive: Archive,
    /// Compared in constant time.
    admin: blake3::Hash,
    known: Mutex<BTreeMap<[u8; 32], Token>>,
    /// Knows calls of whoever directs the agents by their signature.
    orchestrator: Option<Verifier>,
}

impl Doorkeeper {
    /// For the tokens of this archive, and the local admin.
    pub fn new(archive: Archive, admin: &Secret) -> Self {
        Self {
            archive,
            admin: blake3::Hash::from_bytes(admin.hash()),
            known: Mutex::default(),
            orchestrator: None,
        }
    }

    /// Lets calls through that bear this secret's signature, as those of whoever directs the agents.
    #[must_use]
    pub fn with_orchestrator(self, secret: verger_act::Secret) -> Self {
        Self { orchestrator: Some(Verifier::new(secret)), ..self }
    }

    /// Whether a call was signed by whoever directs the agents, just now and for the first time.
    pub fn is_orchestrator(&self, stamp: &Stamp, body: &[u8]) -> Result<(), SignatureError> {
        // Without a secret no signature can be right.
        let verifier = self.orchestrator.as_ref().ok_or(SignatureError::Forged)?;
        verifier.verify(stamp, body, SystemTime::now())
    }

    /// Who presents this; nobody if it opens nothing, or no longer.
    pub fn caller(&self, presented: &str, now: WallTime) -> Result<Option<Caller>, Error> {
        let hash = secret::hash(presented);
        if self.admin == blake3::Hash::from_bytes(hash) {
            return Ok(Some(Caller::Admin(Actor::from("admin"))));
        }
        let known = self.lock().get(&hash).cloned();
        let token = match known {
            Some(token) => Some(token),
            None => self.look_up(hash)?,
        };
        Ok(token.filter(|token| token.is_valid(now)).and_then(|token| caller_of(&token)))
    }

    /// A token was made or ended: what is remembered may be wrong.
    pub fn forget(&self) {
        self.lock().clear();
    }

    fn look_up(&self, hash: [u8; 32]) -> Result<Option<Token>, Error> {
        let found = self.archive.token(&hash)?;
        if let Some(token) = &found {
            let mut known = self.lock();
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(hash, token.clone());
        }
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], Token>> {
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
