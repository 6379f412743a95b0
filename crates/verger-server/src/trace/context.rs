//! W3C trace context: `traceparent` and `tracestate`, read as the standard says and never believed beyond it.
//!
//! A header that is malformed is as good as none. What comes from callers is bounded: an id of 16 bytes, one of 8, a
//! flag, and at most 512 letters of `tracestate`, which is passed on and not looked into.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::HeaderMap;

/// The header by which a trace is passed on.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// And what its participants say to each other.
pub(crate) const TRACESTATE: &str = "tracestate";
/// What must be passed on of it, by the standard.
const STATE_MAX: usize = 512;
/// Members of it.
const MEMBERS_MAX: usize = 32;
/// The one flag that is known: whether somebody records the trace.
const SAMPLED: u8 = 1;

/// A place in a trace: everything that is done because of it hangs below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) sampled: bool,
    pub(super) state: Option<Arc<str>>,
}

impl Context {
    /// What a caller says, if it says so as the standard wants it.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut lines = headers.get_all(TRACEPARENT).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else { return None };
        let context = Self::parse(line.to_str().ok()?)?;
        Some(Self { state: state(headers), ..context })
    }

    /// Reads a `traceparent`. One of a later version may be longer; what is known of it stands at the same places.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.trim().as_bytes();
        let version = hex::<1>(bytes.get(..2)?)?[0];
        let is_whole = match version {
            0 => bytes.len() == 55,
            0xff => false,
            _ => bytes.len() == 55 || bytes.get(55) == Some(&b'-'),
        };
        let are_apart = [2, 35, 52].into_iter().all(|place| bytes.get(place) == Some(&b'-'));
        if !is_whole || !are_apart {
            return None;
        }
        let (trace, span) = (hex(&bytes[3..35])?, hex(&bytes[36..52])?);
        let flags = hex::<1>(&bytes[53..55])?[0];
        let is_some = trace != [0; 16] && span != [0; 8];
        is_some.then_some(Self { trace, span, sampled: flags & SAMPLED != 0, state: None })
    }

    /// Another place of the same trace.
    pub(super) fn child(&self, span: [u8; 8]) -> Self {
        Self { span, ..self.clone() }
    }

    /// The trace's name, as people and logs know it.
    pub fn trace_id(&self) -> String {
        written(&self.trace)
    }

    /// What its participants say to each other, to be passed on.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

/// As a `traceparent`.
impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{}-{}-{flags:02x}", written(&self.trace), written(&self.span))
    }
}

fn written(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Text takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Small letters only, as the standard says.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |letter: u8| match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != N * 2 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// All of it, or nothing if it is not what it should be: then the trace goes on without it.
fn state(headers: &HeaderMap) -> Option<Arc<str>> {
    let lines: Vec<&str> =
        headers.get_all(TRACESTATE).iter().map(|line| line.to_str().ok()).collect::<Option<_>>()?;
    let members: Vec<&str> =
        lines.iter().flat_map(|line| line.split(',')).map(str::trim).filter(|it| !it.is_empty()).collect();
    let is_member = |member: &&str| {
        let is_visible = |byte: u8| matches!(byte, b' '..=b'~');
        member.split_once('=').is_some_and(|(key, value)| !key.is_empty() && !value.is_empty())
            && member.bytes().all(is_visible)
    };
    let whole = members.join(",");
    let is_right = !members.is_empty()
        && members.len() <= MEMBERS_MAX
        && whole.len() <= STATE_MAX
        && members.iter().all(is_member);
    is_right.then(|| whole.into())
}

/// Numbers that nobody else uses: a walk through all of them that begins anywhere, each mixed beyond recognition.
#[derive(Debug)]
pub(super) struct Ids(AtomicU64);

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// Splitmix64: no two of them are the same within one walk.
    fn next(&self) -> u64 {
        let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The name of a span. Zero is no name.
    pub(super) fn span(&self) -> [u8; 8] {
        self.next().max(1).to_be_bytes()
    }

    /// A trace that begins here. Of its name, the last seven bytes decide whether it is recorded.
    pub(super) fn root(&self, sample_percent: u8) -> Context {
        let mut trace = [0; 16];
        trace[..8].copy_from_slice(&self.next().max(1).to_be_bytes());
        trace[8..].copy_from_slice(&self.next().to_be_bytes());
        let drawn = trace[9..].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let sampled = drawn < (1_u64 << 56) / 100 * u64::from(sample_percent) || sample_percent >= 100;
        Context { trace, span: self.span(), sampled, state: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a header"));
        }
        headers
    }

    #[test]
    fn l48_a_context_is_read_and_written_as_the_standard_says() {
        let read = Context::parse(GOOD).expect("it is right");
        assert_eq!(read.to_string(), GOOD);
        assert!(read.sampled);
        assert_eq!(read.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        let other = Context::parse(&GOOD.replace("-01", "-02")).expect("a flag that is not known");
        assert!(!other.sampled, "unknown flags are not passed on: {other}");
        let later = Context::parse(&format!("cc{}-what-the-future-brings", &GOOD[2..]));
        assert_eq!(later.map(|later| later.to_string()).as_deref(), Some(GOOD), "a later version");
    }

    #[test]
    fn l48_what_is_malformed_is_as_good_as_none() {
        let zeros = "0".repeat(32);
        for wrong in [
            String::new(),
            "garbage".to_owned(),
            GOOD.to_uppercase(),
            GOOD.replacen("00", "ff", 1),
            format!("{GOOD}-more"),
            GOOD.replace("0af7651916cd43dd8448eb211c80319c", &zeros),
            GOOD.replace("b7ad6b7169203331", &zeros[..16]),
            GOOD.replace('-', "_"),
            GOOD[..54].to_owned(),
            format!("cc{}.x", &GOOD[2..]),
            GOOD.replace("b7ad", "b7äd"),
        ] {
            assert_eq!(Context::parse(&wrong), None, "{wrong}");
        }
        assert_eq!(Context::of(&headers(&[("traceparent", GOOD), ("traceparent", GOOD)])), None, "twice");
    }

    #[test]
    fn l48_the_state_is_passed_on_whole_or_not_at_all() {
        let of = |lines: &[&str]| {
            let all: Vec<_> = [("traceparent", GOOD)]
                .into_iter()
                .chain(lines.iter().map(|line| ("tracestate", *line)))
                .collect();
            Context::of(&headers(&all)).expect("the trace goes on").state.map(|state| state.to_string())
        };
        assert_eq!(of(&["a=1, b=2", "c=3"]).as_deref(), Some("a=1,b=2,c=3"));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["nonsense"]), None);
        assert_eq!(of(&["a=ä"]), None);
        assert_eq!(of(&[&format!("a={}", "x".repeat(600))]), None);
        assert_eq!(of(&[&vec!["a=1"; 33].join(",")]), None);
    }

    #[test]
    fn l48_the_share_that_is_recorded_is_about_what_was_asked_for() {
        let ids = Ids::new(7);
        let recorded = |percent| (0..10_000).filter(|_| ids.root(percent).sampled).count();
        assert_eq!((recorded(0), recorded(100)), (0, 10_000));
        let quarter = recorded(25);
        assert!((2_200..2_800).contains(&quarter), "{quarter}");
    }

    proptest! {
        #[test]
        fn l48_no_header_breaks_the_reader(text in ".{0,80}|[0-9a-f-]{50,60}") {
            if let Some(read) = Context::parse(&text) {
                prop_assert_eq!(Context::parse(&read.to_string()), Some(read));
            }
        }
    }
}
