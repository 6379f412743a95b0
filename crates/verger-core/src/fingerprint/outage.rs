//! Whether a failure is the provider's or the network's: an outage is not the agent's doing.
//!
//! Messages of this kind are short or stand at an end of the text, so only its ends are read. A server on the
//! agent's own machine is no provider: it refuses connections because the agent did not start it.

/// Bytes that are read at either end.
const END: usize = 1024;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Too much was asked of the provider.
    Limit,
    /// It, or the way to it, is broken.
    Broken,
}

pub(crate) fn is_outage(text: &str) -> bool {
    let bytes = text.as_bytes();
    let head = &bytes[..bytes.len().min(END)];
    let tail = &bytes[bytes.len().saturating_sub(END).max(head.len())..];
    let (mut broken, mut local) = (false, false);
    for part in [head, tail] {
        let mut before = [Word::default(); 2];
        for word in words(part) {
            match kind(before[0].text(), before[1].text(), word.text()) {
                Some(Kind::Limit) => return true,
                Some(Kind::Broken) => broken = true,
                None => local |= matches!(word.text(), b"localhost" | b"127"),
            }
            before = [before[1], word];
        }
    }
    broken && !local
}

fn kind(first: &[u8], before: &[u8], word: &[u8]) -> Option<Kind> {
    match (before, word) {
        (b"rate", b"limit" | b"limits" | b"limited" | b"limiting" | b"limiterror")
        | (b"many", b"requests")
        | (b"quota", b"exceeded")
        | (b"resource", b"exhausted")
        | (_, b"overloaded" | b"ratelimit" | b"ratelimited" | b"ratelimiterror" | b"throttlingexception") => {
            Some(Kind::Limit)
        }
        (b"service", b"unavailable")
        | (b"bad", b"gateway")
        | (b"gateway", b"timeout" | b"time")
        | (b"server", b"error")
        | (b"connection", b"reset" | b"refused" | b"error" | b"timed" | b"aborted")
        | (b"network" | b"is", b"unreachable")
        | (b"name", b"resolution")
        | (b"resolve", b"host")
        | (b"eai", b"again")
        | (_, b"econnrefused" | b"econnreset" | b"etimedout" | b"enotfound" | b"enetunreach") => {
            Some(Kind::Broken)
        }
        (b"status" | b"code" | b"http" | b"error", _) => status(word),
        (b"1" | b"2", _) if first == b"http" || first == b"1" => status(word),
        _ => None,
    }
}

fn status(word: &[u8]) -> Option<Kind> {
    match word {
        b"429" | b"529" => Some(Kind::Limit),
        b"500" | b"502" | b"503" | b"504" | b"520" | b"522" | b"524" => Some(Kind::Broken),
        _ => None,
    }
}

/// A lower-case word, cut at 24 bytes, which no word looked for here reaches.
#[derive(Clone, Copy, Default)]
struct Word {
    bytes: [u8; 24],
    length: usize,
}

impl Word {
    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

fn words(part: &[u8]) -> impl Iterator<Item = Word> {
    part.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).map(|word| {
        let mut lower = Word { length: word.len().min(24), ..Word::default() };
        lower.bytes[..lower.length].copy_from_slice(&word[..lower.length]);
        lower.bytes.make_ascii_lowercase();
        lower
    })
}
