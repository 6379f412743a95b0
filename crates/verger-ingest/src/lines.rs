//! Lines of a file, one at a time, each of bounded length.

use std::io::{self, BufRead};

use memchr::memchr;
use serde_json::{Map, Value};

/// The longest line that is read. A transcript's line holds one tool result, a line of `runs` a whole run; both
/// stay far below, and whatever is longer is not worth a gigabyte of memory.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 20;

/// Gives each line that is not empty to `take` with its number: the JSON object that it holds, or why it holds none.
/// Texts may hold broken characters; they are read as replacement characters.
pub(crate) fn objects(
    mut from: impl BufRead,
    bytes_max: usize,
    take: &mut dyn FnMut(u64, Result<Map<String, Value>, String>),
) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        match next_line(&mut from, bytes_max, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => take(number, Err(format!("longer than {} MiB", bytes_max >> 20))),
            Line::Whole => match object(&line) {
                Ok(None) => {}
                Ok(Some(object)) => take(number, Ok(object)),
                Err(reason) => take(number, Err(reason)),
            },
        }
    }
    Ok(())
}

/// What a line holds: nothing, an object, or a reason why it is neither.
pub(crate) fn object(line: &[u8]) -> Result<Option<Map<String, Value>>, String> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let value = match serde_json::from_slice(line) {
        Ok(value) => value,
        // Broken characters inside a text: the line is worth reading all the same.
        Err(_) if std::str::from_utf8(line).is_err() => {
            serde_json::from_str(&String::from_utf8_lossy(line)).map_err(|error| reason(&error))?
        }
        Err(error) => return Err(reason(&error)),
    };
    match value {
        Value::Object(object) => Ok(Some(object)),
        _ => Err("JSON, but no object".to_owned()),
    }
}

/// What serde says about a document of one line, without the line that it counts itself.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("no valid JSON: {what} at column {}", error.column())
}

enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads up to the next line break. Of a line that is too long, the rest is passed over without being kept.
fn next_line(from: &mut impl BufRead, bytes_max: usize, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let (mut some, mut too_long) = (false, false);
    loop {
        let buffer = match from.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            break;
        }
        some = true;
        let end = memchr(b'\n', buffer);
        let (text, used) = end.map_or((buffer, buffer.len()), |end| (&buffer[..end], end + 1));
        too_long |= bytes_max < line.len() + text.len();
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(text);
        }
        from.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (some, too_long) {
        (false, _) => Line::End,
        (true, true) => Line::TooLong,
        (true, false) => Line::Whole,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8], bytes_max: usize) -> (Vec<u64>, Vec<String>) {
        let (mut taken, mut flaws) = (Vec::new(), Vec::new());
        let from = io::BufReader::with_capacity(7, text);
        objects(from, bytes_max, &mut |number, line| match line {
            Ok(_) => taken.push(number),
            Err(reason) => flaws.push(format!("line {number}: {reason}")),
        })
        .unwrap();
        (taken, flaws)
    }

    #[test]
    fn broken_lines_are_named_and_the_rest_is_read() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\n{\"a\":\n[1]\n{\"a\":\"\xff\"}\n\0\0\n{}";
        let (taken, flaws) = read(text, 100);
        assert_eq!(taken, [1, 5, 7]);
        insta::assert_snapshot!(flaws.join("\n"), @r"
        line 3: no valid JSON: EOF while parsing a value at column 5
        line 4: JSON, but no object
        line 6: no valid JSON: expected value at column 1
        ");
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let text = format!("{{\"a\":\"{}\"}}\n{{}}\n", "x".repeat(3 << 20));
        assert_eq!(read(text.as_bytes(), 1 << 20), (vec![2], vec!["line 1: longer than 1 MiB".to_owned()]));
    }

    #[test]
    fn nesting_without_end_is_a_flaw_and_no_overflow() {
        let deep = format!("{{\"a\":{}", "[".repeat(1 << 20));
        let (taken, flaws) = read(deep.as_bytes(), 2 << 20);
        assert_eq!((taken.len(), flaws.len()), (0, 1));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&text, 50);
        }
    }
}
