//! Where in a body each item begins and ends.
//!
//! | the body begins with | and is |
//! |---|---|
//! | `[` | an array |
//! | `{`, and more follows in the lines below that is not part of it | a line each |
//! | `{` | one object |
//!
//! It is found out from the body because `curl -d` says nothing true about it. After a bad item reading goes on at
//! the next line, or behind the item's closing bracket; each byte is looked at a fixed number of times.

use memchr::memchr;
use serde_json::Deserializer;

use super::field::Fields;
use super::limits::Limits;
use super::report::{IngestReport, Rejected};
use crate::{body, scan};

/// What was read of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Ingest<T> {
    /// The body was one object; or nothing that could be told apart into several.
    One(Result<T, String>),
    /// An array, or a line each.
    Many(Batch<T>),
}

/// What was read of a body with several items.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<T> {
    /// The good ones, each with its place in the body.
    pub items: Vec<(usize, T)>,
    /// The bad ones.
    pub rejected: Vec<Rejected>,
}

impl<T> Ingest<T> {
    /// The good ones, and a report that counts them as accepted. Whoever refuses one later corrects it by
    /// [`IngestReport::reject`].
    pub fn into_parts(self) -> (Vec<(usize, T)>, IngestReport) {
        let Batch { items, rejected } = match self {
            Self::One(Ok(item)) => Batch { items: vec![(0, item)], rejected: Vec::new() },
            Self::One(Err(error)) => {
                Batch { items: Vec::new(), rejected: vec![Rejected { index: 0, error }] }
            }
            Self::Many(batch) => batch,
        };
        let report = IngestReport { accepted: items.len(), rejected, pending: None };
        (items, report)
    }
}

impl IngestReport {
    /// An item that was counted as accepted is refused after all.
    pub fn reject(&mut self, index: usize, error: impl Into<String>) {
        self.accepted = self.accepted.saturating_sub(1);
        self.rejected.push(Rejected { index, error: error.into() });
    }
}

/// Makes an item out of its fields, or says what is wrong with them.
pub(crate) type Build<'a, T> = fn(&mut Fields<'a>, &Limits) -> Result<T, String>;

pub(crate) fn read<'a, T>(body: &'a [u8], limits: &Limits, build: Build<'a, T>) -> Ingest<T> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let body = &body[scan::skip_space(body, 0)..];
    match body.first() {
        None => Ingest::One(Err("the body is empty".to_owned())),
        Some(b'[') => Ingest::Many(Reading::new(limits, build).array(body)),
        Some(_) if has_lines(body) => Ingest::Many(Reading::new(limits, build).lines(body)),
        Some(_) => Ingest::One(one(&mut Fields::new(), body, limits, build)),
    }
}

/// Whether the lines of this body are items of their own, and not those of one object that was laid out.
fn has_lines(body: &[u8]) -> bool {
    let Some(end) = memchr(b'\n', body) else { return false };
    let first = body[..end].trim_ascii_end();
    match body.get(scan::skip_space(body, end)) {
        None | Some(b',' | b'}' | b']' | b'"') => false,
        Some(b'{') => !matches!(first.last(), Some(b'{' | b'[' | b':' | b',')),
        Some(_) => first.last() == Some(&b'}') || first.first() != Some(&b'{'),
    }
}

/// Reads one item that is all of `text`.
fn one<'a, T>(
    fields: &mut Fields<'a>,
    text: &'a [u8],
    limits: &Limits,
    build: Build<'a, T>,
) -> Result<T, String> {
    if limits.item_bytes < text.len() {
        return Err(too_large(limits));
    }
    let mut item = Deserializer::from_slice(text);
    fields.refill(&mut item).and_then(|()| item.end()).map_err(|error| told(&error))?;
    build(fields, limits)
}

struct Reading<'l, 'a, T> {
    limits: &'l Limits,
    build: Build<'a, T>,
    batch: Batch<T>,
    index: usize,
}

impl<'l, 'a, T> Reading<'l, 'a, T> {
    fn new(limits: &'l Limits, build: Build<'a, T>) -> Self {
        Self { limits, build, batch: Batch { items: Vec::new(), rejected: Vec::new() }, index: 0 }
    }

    fn lines(mut self, body: &'a [u8]) -> Batch<T> {
        let mut fields = Fields::new();
        let mut rest = body;
        while !rest.is_empty() {
            let (line, after) = memchr(b'\n', rest).map_or((rest, &rest[rest.len()..]), |end| {
                let (line, after) = rest.split_at(end);
                (line, &after[1..])
            });
            rest = after;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if self.is_full() {
                break;
            }
            let item = one(&mut fields, line, self.limits, self.build);
            self.push(item);
        }
        self.batch
    }

    fn array(mut self, body: &'a [u8]) -> Batch<T> {
        let mut at = scan::skip_space(body, 1);
        if body.get(at) == Some(&b']') {
            return self.end(body, at + 1);
        }
        loop {
            if at == body.len() {
                return self.stop("the array is not closed");
            }
            if self.is_full() {
                return self.batch;
            }
            let (item, end) = self.element(body, at);
            self.push(item);
            let Some(end) = end else { return self.stop("the rest of the array cannot be read") };
            at = scan::skip_space(body, end);
            match body.get(at) {
                Some(b',') => at = scan::skip_space(body, at + 1),
                Some(b']') => return self.end(body, at + 1),
                None => return self.stop("the array is not closed"),
                Some(_) => return self.stop("a comma is missing; the rest of the array cannot be read"),
            }
        }
    }

    /// One element of an array, and where it ends.
    fn element(&self, body: &'a [u8], at: usize) -> (Result<T, String>, Option<usize>) {
        if body[at] != b'{' {
            return (Err("an item must be an object".to_owned()), scan::skip_value(body, at));
        }
        let window = &body[at..body.len().min(at.saturating_add(self.limits.item_bytes))];
        let mut items = Deserializer::from_slice(window).into_iter::<Fields<'a>>();
        match items.next() {
            Some(Ok(mut fields)) => {
                let end = at + items.byte_offset();
                ((self.build)(&mut fields, self.limits), Some(end))
            }
            Some(Err(error)) => {
                let end = scan::skip_value(body, at);
                let large = self.limits.item_bytes < end.unwrap_or(body.len()) - at;
                (Err(if large { too_large(self.limits) } else { told(&error) }), end)
            }
            None => (Err("an item must be an object".to_owned()), None),
        }
    }

    fn push(&mut self, item: Result<T, String>) {
        match item {
            Ok(item) => self.batch.items.push((self.index, item)),
            Err(error) => self.batch.rejected.push(Rejected { index: self.index, error }),
        }
        self.index += 1;
    }

    /// Whether there were as many items as may be; then the rest is told as one.
    fn is_full(&mut self) -> bool {
        let full = self.limits.items <= self.index;
        if full {
            self.push(Err(format!("more than {} items; the rest was not read", self.limits.items)));
        }
        full
    }

    fn stop(mut self, why: &str) -> Batch<T> {
        self.push(Err(why.to_owned()));
        self.batch
    }

    fn end(self, body: &[u8], at: usize) -> Batch<T> {
        if scan::skip_space(body, at) == body.len() {
            self.batch
        } else {
            self.stop("text follows the array")
        }
    }
}

fn too_large(limits: &Limits) -> String {
    format!("the item is larger than {} bytes", limits.item_bytes)
}

#[cold]
fn told(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    match error.classify() {
        Category::Data => body::without_place(error),
        Category::Syntax | Category::Eof | Category::Io => {
            format!("not valid JSON: {} at character {}", body::without_place(error), error.column())
        }
    }
}
