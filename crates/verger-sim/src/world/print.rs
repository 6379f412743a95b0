//! Texts of agents become fingerprints here, as they do at the edge of the product.
//!
//! The texts are made up but whole: a call is its tool and arguments, a result its text without times and
//! counters. What a call is for is judged from its words alone, as a stranger would.

use verger_core::fingerprint::{CallClass, CallPrint, ResultPrint, TextPrint};

/// Words by which anyone recognises a call that waits or looks whether something is done.
const WAITING_WORDS: [&str; 6] = ["sleep", "wait", "watch", "tail", "status", "poll"];

/// The fingerprint of a call with this tool and these arguments.
pub(crate) fn call(text: &str) -> CallPrint {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let waits = words.any(|word| WAITING_WORDS.contains(&word));
    CallPrint { digest: digest(text), class: if waits { CallClass::Waiting } else { CallClass::Plain } }
}

/// The fingerprint of a result that is no failure.
pub(crate) fn result(text: &str) -> ResultPrint {
    ResultPrint { digest: digest(text), failed: false, outage: false, took: None }
}

/// The fingerprint of a failure.
pub(crate) fn failure(text: &str) -> ResultPrint {
    ResultPrint { failed: true, ..result(text) }
}

/// The fingerprint of something said.
pub(crate) fn said(text: &str) -> TextPrint {
    TextPrint(digest(text))
}

/// FNV-1a with a last mixing, so that texts that differ in one digit differ everywhere.
pub(crate) fn digest(text: &str) -> u64 {
    let folded = text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    (folded ^ (folded >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_recognised_by_whole_words() {
        assert_eq!(call("Bash sleep 60; gh run view 7").class, CallClass::Waiting);
        assert_eq!(call("Bash gh pr status 12").class, CallClass::Waiting);
        assert_eq!(call("Read src/waiter.rs").class, CallClass::Plain);
        assert_eq!(call("Edit src/statuses.rs").class, CallClass::Plain);
    }
}
