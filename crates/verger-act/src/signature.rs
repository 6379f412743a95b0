//! Who wrote a document, that nobody changed it, and that it is not an old one sent again.
//!
//! ```text
//! Verger-Timestamp: 1763304000              seconds since 1970
//! Verger-Nonce:     9f86d081884c7d65…       never the same twice
//! Verger-Signature: v1=<hex>                HMAC-SHA256 of "timestamp.nonce.body"
//! ```
//!
//! The same form goes out with a webhook and comes back with the orchestrator's decision. Neither timestamp nor nonce
//! may hold a point, or a part of the body could be passed for the nonce and an old call for a new one. What the
//! signature does not cover is the address: a decision must name its agent in its body.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use crate::secret::Secret;

/// How far a timestamp may lie from the time here, to either side. Long enough for a call that is tried again and for
/// clocks that differ a little; short enough that few nonces have to be remembered.
const WINDOW: Duration = Duration::from_mins(5);
/// Nonces that are remembered. Only who has the secret can use them up, at seven calls a second.
const NONCES_MAX: usize = 4096;
/// The length of a nonce of ours before it becomes text.
const NONCE_BYTES: usize = 16;
/// The longest nonce of others.
const NONCE_CHARS_MAX: usize = 128;

/// What travels beside a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// `Verger-Timestamp`: seconds since 1970.
    pub timestamp: String,
    /// `Verger-Nonce`: letters, digits, `-` and `_`, never the same twice.
    pub nonce: String,
    /// `Verger-Signature`: `v1=` and the signature as hexadecimal digits.
    pub signature: String,
}

/// Signs a body, with a nonce that was never used before.
pub fn sign(secret: &Secret, now: SystemTime, body: &[u8]) -> Stamp {
    let mut random = [0; NONCE_BYTES];
    SystemRandom::new().fill(&mut random).expect("a running system gives random bytes");
    let (timestamp, nonce) = (seconds(now).to_string(), hex(&random));
    let signature = format!("v1={}", hex(tag(secret, &timestamp, &nonce, body).as_ref()));
    Stamp { timestamp, nonce, signature }
}

/// Tells genuine calls from others, and lets each through once.
///
/// It remembers nonces for as long as their timestamps are valid, in memory: a call that came within five minutes
/// before a restart could be sent again after it. What it orders must bear being ordered twice.
#[derive(Debug, Default)]
pub struct Verifier {
    secret: RwLock<Option<Secret>>,
    /// The nonces of calls that were let through, with their timestamps.
    seen: Mutex<BTreeMap<String, u64>>,
}

impl Verifier {
    /// Lets calls through that bear this secret's signature.
    pub fn new(secret: Secret) -> Self {
        Self { secret: RwLock::new(Some(secret)), seen: Mutex::default() }
    }

    /// Another secret holds from now on, or none. Calls that were let through stay known: none of them comes twice.
    pub fn set_secret(&self, secret: Option<Secret>) {
        *self.secret.write().unwrap_or_else(PoisonError::into_inner) = secret;
    }

    /// Whether this body was signed with the secret, just now, and comes for the first time.
    ///
    /// The signature is looked at first, so who does not have the secret learns nothing about the rest.
    pub fn verify(&self, stamp: &Stamp, body: &[u8], now: SystemTime) -> Result<(), SignatureError> {
        let timestamp = decimal(&stamp.timestamp).ok_or(SignatureError::Malformed("Verger-Timestamp"))?;
        if !is_nonce(&stamp.nonce) {
            return Err(SignatureError::Malformed("Verger-Nonce"));
        }
        let given = stamp.signature.strip_prefix("v1=").and_then(unhex);
        let given = given.ok_or(SignatureError::Malformed("Verger-Signature"))?;
        self.is_right(&message(&stamp.timestamp, &stamp.nonce, body), &given)?;
        let now = seconds(now);
        if WINDOW.as_secs() < now.abs_diff(timestamp) {
            return Err(SignatureError::Expired);
        }
        self.remember(&stamp.nonce, timestamp, now)
    }

    /// Without a secret no signature can be right.
    fn is_right(&self, message: &[u8], given: &[u8]) -> Result<(), SignatureError> {
        let secret = self.secret.read().unwrap_or_else(PoisonError::into_inner);
        let secret = secret.as_ref().ok_or(SignatureError::Forged)?;
        // Compares in constant time.
        hmac::verify(secret.key(), message, given).map_err(|_| SignatureError::Forged)
    }

    fn remember(&self, nonce: &str, timestamp: u64, now: u64) -> Result<(), SignatureError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains_key(nonce) {
            return Err(SignatureError::Replayed);
        }
        // What is forgotten here would be refused as expired.
        seen.retain(|_, timestamp| now <= timestamp.saturating_add(WINDOW.as_secs()));
        if NONCES_MAX <= seen.len() {
            return Err(SignatureError::TooMany);
        }
        seen.insert(nonce.to_owned(), timestamp);
        Ok(())
    }
}

/// Why a call is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// A header is missing or not of its form.
    #[error("the header {0} is missing or malformed")]
    Malformed(&'static str),
    /// Another secret, or something was changed on the way.
    #[error("the signature does not fit the secret, the timestamp, the nonce and the body")]
    Forged,
    /// The timestamp lies too far from the time here.
    #[error("the timestamp lies more than five minutes from the monitor's clock")]
    Expired,
    /// The nonce was used before.
    #[error("this call was made before; a new one needs a new nonce")]
    Replayed,
    /// More calls than can be told apart. It passes within minutes.
    #[error("too many calls within five minutes")]
    TooMany,
}

fn tag(secret: &Secret, timestamp: &str, nonce: &str, body: &[u8]) -> hmac::Tag {
    hmac::sign(secret.key(), &message(timestamp, nonce, body))
}

fn message(timestamp: &str, nonce: &str, body: &[u8]) -> Vec<u8> {
    [timestamp.as_bytes(), nonce.as_bytes(), body].join(&b'.')
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// A number without sign or spaces, which `parse` alone would let through.
fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn is_nonce(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=NONCE_CHARS_MAX).contains(&text.len()) && text.bytes().all(allowed)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(((digit(pair.first()?)? << 4) | digit(pair.get(1)?)?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secret() -> Secret {
        Secret::new(b"0123456789abcdef").unwrap()
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_signature_is_what_others_compute() {
        // printf '1700000000.abc.{}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let tag = tag(&secret(), "1700000000", "abc", b"{}");
        assert_eq!(hex(tag.as_ref()), "855ac0b8249a856f0eb786ab0473ee3e28dd88997671ebf79eabde08b4c55378");
    }

    #[test]
    fn l21_a_decision_is_believed_once() {
        let verifier = Verifier::new(secret());
        let stamp = sign(&secret(), at(1000), b"{}");
        assert_eq!(verifier.verify(&stamp, b"{}", at(1001)), Ok(()));
        assert_eq!(verifier.verify(&stamp, b"{}", at(1002)), Err(SignatureError::Replayed));
    }

    #[test]
    fn l21_a_decision_is_believed_for_five_minutes_to_either_side() {
        for (now, expected) in [
            (700, Ok(())),
            (699, Err(SignatureError::Expired)),
            (1300, Ok(())),
            (1301, Err(SignatureError::Expired)),
        ] {
            let stamp = sign(&secret(), at(1000), b"{}");
            assert_eq!(Verifier::new(secret()).verify(&stamp, b"{}", at(now)), expected, "at {now}");
        }
    }

    #[test]
    fn l21_a_nonce_is_remembered_for_as_long_as_its_call_would_be_valid() {
        let verifier = Verifier::new(secret());
        let early = sign(&secret(), at(1300), b"{}");
        assert_eq!(verifier.verify(&early, b"{}", at(1000)), Ok(()));
        assert_eq!(verifier.verify(&sign(&secret(), at(1600), b"{}"), b"{}", at(1600)), Ok(()));
        assert_eq!(verifier.verify(&early, b"{}", at(1600)), Err(SignatureError::Replayed));
        assert_eq!(verifier.verify(&early, b"{}", at(1601)), Err(SignatureError::Expired));
    }

    #[test]
    fn l21_the_memory_of_nonces_is_bounded_and_refuses_rather_than_forgets() {
        let verifier = Verifier::new(secret());
        let stamps: Vec<_> = (0..NONCES_MAX).map(|_| sign(&secret(), at(1000), b"{}")).collect();
        assert!(stamps.iter().all(|stamp| verifier.verify(stamp, b"{}", at(1000)).is_ok()));
        let late = sign(&secret(), at(1200), b"{}");
        assert_eq!(verifier.verify(&late, b"{}", at(1200)), Err(SignatureError::TooMany));
        assert_eq!(verifier.verify(&stamps[0], b"{}", at(1200)), Err(SignatureError::Replayed));
        assert_eq!(verifier.verify(&late, b"{}", at(1301)), Ok(()), "it did not clear by itself");
    }

    #[test]
    fn l21_a_part_of_the_body_does_not_pass_for_a_nonce() {
        let signed = sign(&secret(), at(1000), b"x.y");
        let shifted = Stamp { nonce: format!("{}.x", signed.nonce), ..signed };
        let verified = Verifier::new(secret()).verify(&shifted, b"y", at(1000));
        assert_eq!(verified, Err(SignatureError::Malformed("Verger-Nonce")));
    }

    #[test]
    fn l21_another_secret_does_not_sign_for_this_one() {
        let other = Secret::new(b"fedcba9876543210").unwrap();
        let verified = Verifier::new(secret()).verify(&sign(&other, at(1000), b"{}"), b"{}", at(1000));
        assert_eq!(verified, Err(SignatureError::Forged));
    }

    proptest! {
        #[test]
        fn l21_whatever_was_changed_on_the_way_is_refused(body: Vec<u8>, part in 0..4, at_byte: usize, bit in 0..7) {
            let signed = sign(&secret(), at(1_000), &body);
            let (mut stamp, mut body) = (signed.clone(), body);
            let flip = |text: &str| {
                let mut bytes = text.as_bytes().to_vec();
                let place = at_byte % bytes.len();
                bytes[place] ^= 1_u8 << bit;
                String::from_utf8(bytes).unwrap()
            };
            match part {
                0 => stamp.timestamp = flip(&signed.timestamp),
                1 => stamp.nonce = flip(&signed.nonce),
                2 => stamp.signature = flip(&signed.signature),
                _ => body.push(0),
            }
            // An upper-case hexadecimal digit is the same digit.
            prop_assume!(stamp.signature.to_lowercase() != signed.signature || part != 2);
            prop_assert!(Verifier::new(secret()).verify(&stamp, &body, at(1_000)).is_err());
        }

        #[test]
        fn headers_of_any_kind_are_refused(
            timestamp in "1000|\\PC{0,8}",
            nonce in "[a-z]{4}|\\PC{0,8}",
            signature in "[0-9a-f]{64}|\\PC{0,70}",
            body: Vec<u8>,
        ) {
            let stamp = Stamp { timestamp, nonce, signature: format!("v1={signature}") };
            prop_assert!(Verifier::new(secret()).verify(&stamp, &body, at(1_000)).is_err());
        }

        #[test]
        fn hexadecimal_digits_are_read_as_written(bytes: Vec<u8>) {
            prop_assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        }
    }
}
