//! Browsers that are signed in: by a link that works once, for a minute, and then by a cookie.
//!
//! ```text
//! an admin asks ─► link ── opened within 60 s ─► session ── 12 h, signed out, or a token revoked ─► over
//! ```
//!
//! Only hashes are kept, and only in memory: a restart signs everybody out, which costs one `verger open`. Time is
//! that of a clock that cannot be set.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use verger_core::id::Actor;

use super::secret::{self, Secret};

/// How long a link works.
pub const LINK_LASTS: Duration = Duration::from_mins(1);
/// How long a browser stays signed in: a working day, and not the night after it.
pub const SESSION_LASTS: Duration = Duration::from_hours(12);
/// Links that may be out, and browsers that may be signed in. One more ends the oldest.
const MOST: usize = 64;

/// All links and all sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    links: Held,
    sessions: Held,
}

/// Whose each secret is, and until when it opens anything.
#[derive(Debug, Default)]
struct Held(BTreeMap<[u8; 32], (Instant, Actor)>);

impl Held {
    fn add(&mut self, secret: &Secret, until: Instant, whose: Actor, now: Instant) {
        self.0.retain(|_, (until, _)| now < *until);
        while self.0.len() >= MOST {
            let oldest = self.0.iter().min_by_key(|(_, (until, _))| *until).map(|(hash, _)| *hash);
            oldest.map(|hash| self.0.remove(&hash));
        }
        self.0.insert(secret.hash(), (until, whose));
    }

    fn find(&self, presented: &str, now: Instant) -> Option<&Actor> {
        let (until, whose) = self.0.get(&secret::hash(presented))?;
        (now < *until).then_some(whose)
    }
}

impl Sessions {
    /// What the link of this admin carries.
    pub fn link(&self, whose: Actor, now: Instant) -> std::io::Result<Secret> {
        let code = Secret::new()?;
        self.lock().links.add(&code, now + LINK_LASTS, whose, now);
        Ok(code)
    }

    /// Opens a link: what the browser presents from now on. Nothing if it was opened before, or is too old.
    pub fn sign_in(&self, code: &str, now: Instant) -> std::io::Result<Option<(Secret, Actor)>> {
        let mut inner = self.lock();
        let whose = inner.links.find(code, now).cloned();
        inner.links.0.remove(&secret::hash(code));
        let Some(whose) = whose else { return Ok(None) };
        let cookie = Secret::new()?;
        inner.sessions.add(&cookie, now + SESSION_LASTS, whose.clone(), now);
        Ok(Some((cookie, whose)))
    }

    /// Who presents this cookie.
    pub fn whose(&self, cookie: &str, now: Instant) -> Option<Actor> {
        self.lock().sessions.find(cookie, now).cloned()
    }

    /// Ends one session.
    pub fn sign_out(&self, cookie: &str) {
        self.lock().sessions.0.remove(&secret::hash(cookie));
    }

    /// Ends all sessions, and all links that are out.
    pub fn end_all(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(sessions: &Sessions, now: Instant) -> Secret {
        sessions.link("ada".into(), now).expect("randomness")
    }

    fn opens(sessions: &Sessions, code: &Secret, now: Instant) -> Option<Secret> {
        sessions.sign_in(code.reveal(), now).expect("randomness").map(|(cookie, _)| cookie)
    }

    #[test]
    fn a_link_works_once() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let link = linked(&sessions, now);
        let cookie = opens(&sessions, &link, now).expect("it is new");
        assert!(opens(&sessions, &link, now).is_none());
        assert_eq!(sessions.whose(cookie.reveal(), now), Some("ada".into()));
        assert_eq!(sessions.whose(link.reveal(), now), None, "a link is no cookie");
    }

    #[test]
    fn a_link_works_for_a_minute_and_a_session_for_a_day_of_work() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let link = linked(&sessions, now);
        assert!(opens(&sessions, &link, now + LINK_LASTS).is_none(), "it is too old");
        let link = linked(&sessions, now);
        let last = now + LINK_LASTS.saturating_sub(Duration::from_millis(1));
        let cookie = opens(&sessions, &link, last).expect("it is not");
        assert!(sessions.whose(cookie.reveal(), last + SESSION_LASTS).is_none());
    }

    #[test]
    fn who_signs_out_is_out_and_the_others_are_not() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let [one, other] = [0, 1].map(|_| {
            let link = linked(&sessions, now);
            opens(&sessions, &link, now).expect("it is new")
        });
        sessions.sign_out(one.reveal());
        assert_eq!(sessions.whose(one.reveal(), now), None);
        assert!(sessions.whose(other.reveal(), now).is_some());
        sessions.end_all();
        assert_eq!(sessions.whose(other.reveal(), now), None);
    }

    #[test]
    fn links_that_nobody_opens_do_not_fill_the_memory() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let links: Vec<Secret> =
            (0..=MOST as u64).map(|n| linked(&sessions, now + Duration::from_millis(n))).collect();
        assert_eq!(sessions.lock().links.0.len(), MOST);
        assert!(opens(&sessions, &links[0], now).is_none(), "the oldest made room");
        assert!(opens(&sessions, &links[MOST], now).is_some());
    }
}
