//! Decisions that bear a signature instead of a token.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use verger_act::{Secret, SignatureError, Stamp, Verifier, sign};

use crate::assert_told;

/// What separates the headers in a case from each other and from the body.
const SEPARATOR: u8 = b'\n';

/// Headers and body of a call that only whoever has the secret could have made.
pub fn decisions(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |byte| *byte == SEPARATOR);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let forged = Stamp { timestamp: text(), nonce: text(), signature: text() };
    let body = parts.next().unwrap_or_default();
    let secret = Secret::new(b"0123456789abcdef").expect("long enough");
    let verifier = Verifier::new(Secret::new(b"0123456789abcdef").expect("long enough"));
    let now = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
    refused(&verifier, &forged, body, now);
    let genuine = sign(&secret, now, body);
    // Every part of a genuine call that is taken from another is noticed, and none of that spoils the genuine one.
    let Stamp { timestamp, nonce, signature } = forged;
    for changed in [
        Stamp { timestamp, ..genuine.clone() },
        Stamp { nonce, ..genuine.clone() },
        Stamp { signature, ..genuine.clone() },
    ] {
        if changed != genuine {
            refused(&verifier, &changed, body, now);
        }
    }
    refused(&verifier, &genuine, &[body, b" "].concat(), now);
    assert_eq!(verifier.verify(&genuine, body, now), Ok(()));
    assert_eq!(verifier.verify(&genuine, body, now), Err(SignatureError::Replayed));
}

fn refused(verifier: &Verifier, stamp: &Stamp, body: &[u8], now: SystemTime) {
    match verifier.verify(stamp, body, now) {
        Ok(()) => panic!("believed: {stamp:?}"),
        Err(error) => assert_told(&error.to_string()),
    }
}
