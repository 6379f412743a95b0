//! Reads a recording, whatever its format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;

use crate::expand::Recording;
use crate::flaw::{Flaw, Place, ReadError};
use crate::format::{Format, is_openhands_event};
use crate::formats::{self, Reader, Steps};
use crate::lines::{self, LINE_BYTES_MAX};
use crate::run::{Call, Step};
use crate::stream::{self, DOCUMENT_BYTES_MAX};

/// How `SQLite` databases begin.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Bytes in which a line must end for a file to be taken for one of lines.
const HEAD_BYTES: usize = 1 << 20;

/// Lines that are looked at to find out the format: transcripts begin with lines that tell nothing.
const LINES_LOOKED_AT: usize = 50;

/// Takes what a recording holds, as it is read.
pub trait Sink {
    /// A step of a run was read. Runs may be interleaved.
    fn step(&mut self, run: &str, step: Step);
    /// A call was begun in this run, and never answered.
    fn unanswered(&mut self, run: &str, call: Call) {
        let _ = (run, call);
    }
    /// Nothing more comes of this run.
    fn end(&mut self, run: &str);
    /// Something could not be read.
    fn flaw(&mut self, flaw: Flaw);
}

/// Reads a recording and gives its steps to `sink`; `advanced` hears how many bytes were read, in parts. Without a
/// format it is found out from the content. Answers which it was.
pub fn read(
    recording: &Recording,
    format: Option<Format>,
    sink: &mut dyn Sink,
    advanced: &dyn Fn(u64),
) -> Result<Format, ReadError> {
    let first = recording.first();
    let (found, layout) =
        if recording.is_of_events() { (Some(Format::OpenHands), Layout::Event) } else { look(first)? };
    let Some(format) = format.or(found) else { return Err(ReadError::UnknownFormat(first.to_path_buf())) };
    let mut sink = Noticing { sink, seen: false, first: None };
    let mut steps = Steps::new(&mut sink, recording.default_id());
    let read = if formats::opencode::is_database(layout, format) {
        formats::opencode::read_database(first, &mut steps)
    } else {
        recording.files().iter().try_for_each(|file| read_file(file, format, layout, &mut steps, advanced))
    };
    read.map_err(|error| ReadError::Unreadable { path: first.to_path_buf(), error })?;
    steps.finish();
    if sink.seen {
        Ok(format)
    } else {
        Err(ReadError::NoSteps { path: first.to_path_buf(), format, first: sink.first })
    }
}

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A JSON value a line.
    Lines,
    /// One JSON value.
    Document,
    /// One JSON object, to be taken whole.
    Event,
    /// A database.
    Database,
}

fn read_file(
    path: &Path,
    format: Format,
    layout: Layout,
    steps: &mut Steps<'_>,
    advanced: &dyn Fn(u64),
) -> io::Result<()> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let from = BufReader::with_capacity(1 << 16, Counted { file, advanced });
    let mut reader = formats::reader(format, path);
    match layout {
        Layout::Lines => lines::objects(from, LINE_BYTES_MAX, &mut |number, line| {
            let place = Place::Line(number);
            steps.at(place);
            if let Err(reason) = line.and_then(|line| reader.line(line, steps)) {
                steps.flaw(Flaw { place, reason });
            }
        })?,
        Layout::Event => read_event(path, from, reader.as_mut(), steps)?,
        Layout::Document | Layout::Database if DOCUMENT_BYTES_MAX < size => {
            let reason =
                format!("larger than {} MiB, which only files of lines may be", DOCUMENT_BYTES_MAX >> 20);
            steps.flaw(Flaw { place: Place::Whole, reason });
        }
        Layout::Document | Layout::Database => read_document(from, reader.as_mut(), steps),
    }
    reader.finish(steps);
    Ok(())
}

/// A file that holds one event.
fn read_event(
    path: &Path,
    from: impl Read,
    reader: &mut dyn Reader,
    steps: &mut Steps<'_>,
) -> io::Result<()> {
    let mut text = Vec::new();
    from.take(LINE_BYTES_MAX as u64).read_to_end(&mut text)?;
    let read = match lines::object(&text) {
        Ok(Some(event)) => reader.line(event, steps),
        Ok(None) => Err("the file is empty".to_owned()),
        Err(reason) => Err(reason),
    };
    if let Err(reason) = read {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        steps.flaw(Flaw { place: Place::Whole, reason: format!("{name}: {reason}") });
    }
    Ok(())
}

fn read_document(from: impl BufRead, reader: &mut dyn Reader, steps: &mut Steps<'_>) {
    let read = stream::elements(from, reader.fields(), &mut |name, element| {
        let result = match element {
            Value::Object(element) => reader.element(name, element, steps),
            other => reader.field(name, &other),
        };
        if let Err(reason) = result {
            steps.flaw(Flaw { place: Place::Whole, reason });
        }
        true
    });
    if let Err(flaw) = read {
        steps.flaw(flaw);
    }
}

/// The format that a file's content tells of, and how the file is laid out.
fn look(path: &Path) -> Result<(Option<Format>, Layout), ReadError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound(path.to_path_buf()),
        _ => ReadError::Unreadable { path: path.to_path_buf(), error },
    };
    let mut head = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(unreadable)?;
    if head.starts_with(SQLITE) {
        return Ok((Some(Format::Opencode), Layout::Database));
    }
    if head.trim_ascii().is_empty() {
        return Err(ReadError::Empty(path.to_path_buf()));
    }
    let mut is_lines = false;
    for line in head.split(|byte| *byte == b'\n').take(LINES_LOOKED_AT) {
        let Ok(Some(line)) = lines::object(line) else { continue };
        if let Some(format) = Format::of_line(&line) {
            return Ok((Some(format), Layout::Lines));
        }
        is_lines |= !formats::is_document(&line);
    }
    if is_lines {
        return Ok((None, Layout::Lines));
    }
    let file = File::open(path).map_err(unreadable)?;
    let format = look_at_document(BufReader::new(file));
    // What is written as lines may begin with one that is longer than what was looked at.
    let is_long_line = format.is_some_and(Format::is_of_lines) && !head.contains(&b'\n');
    let is_list = head.trim_ascii_start().starts_with(b"[");
    let is_document = is_list || format.is_some_and(|format| format != Format::Runs);
    let layout = if is_document && !is_long_line { Layout::Document } else { Layout::Lines };
    Ok((format, layout))
}

/// What the elements of a document tell of its format.
fn look_at_document(from: impl BufRead) -> Option<Format> {
    let mut found = None;
    // Whether it can be read to its end is found out when it is read.
    let _ = stream::elements(from, &[], &mut |name, element| {
        found = element.as_object().and_then(|element| formats::of_element(name, element));
        if name.is_empty() && element.as_object().is_some_and(is_openhands_event) {
            found = Some(Format::OpenHands);
        }
        found.is_none()
    });
    found
}

/// Hears how much was read.
struct Counted<'a> {
    file: File,
    advanced: &'a dyn Fn(u64),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        (self.advanced)(read as u64);
        Ok(read)
    }
}

/// Notices whether a recording held anything.
struct Noticing<'a> {
    sink: &'a mut dyn Sink,
    seen: bool,
    first: Option<Flaw>,
}

impl Sink for Noticing<'_> {
    fn step(&mut self, run: &str, step: Step) {
        self.seen = true;
        self.sink.step(run, step);
    }

    fn unanswered(&mut self, run: &str, call: Call) {
        self.seen = true;
        self.sink.unanswered(run, call);
    }

    fn end(&mut self, run: &str) {
        self.seen = true;
        self.sink.end(run);
    }

    fn flaw(&mut self, flaw: Flaw) {
        self.first.get_or_insert_with(|| flaw.clone());
        self.sink.flaw(flaw);
    }
}
