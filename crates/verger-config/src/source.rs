//! The file as it was read: its name, its text, and nothing that a parser should not see.
//!
//! Reading is the only thing in this crate that touches the world. What is no text (another encoding, NUL bytes) or
//! more than [`BYTES_MAX`] is refused here, with a sentence, because a parser's complaint about byte 0 helps nobody.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::problem::{Place, Problem, Problems};

/// A configuration larger than this is a mistake: the full example has a few hundred lines.
pub const BYTES_MAX: usize = 1 << 20;

/// A configuration file that was read and is text.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    text: Arc<str>,
}

impl Source {
    /// Reads a file; every way in which it can be no configuration is a problem with a sentence.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) => Self::from_bytes(path, &bytes),
            Err(error) => Err(refused(path, format!("cannot be read: {error}"))),
        }
    }

    /// What was read from `path` by other means.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, Problems> {
        if BYTES_MAX < bytes.len() {
            return Err(refused(path, "is larger than 1 MiB; that is no configuration".into()));
        }
        if let [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..] = bytes {
            return Err(refused(path, "is UTF-16 or UTF-32; save it as UTF-8".into()));
        }
        let bytes = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let place = Place::of_offset(&String::from_utf8_lossy(bytes), error.valid_up_to());
                return Err(refused_at(path, place, "is not UTF-8 from here on"));
            }
        };
        match text.find('\0') {
            Some(at) => Err(refused_at(path, Place::of_offset(text, at), "has a NUL byte here")),
            None => Ok(Self { path: path.to_path_buf(), text: text.into() }),
        }
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The folder against which relative paths in it are meant.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

fn refused(path: &Path, what: String) -> Problems {
    Problems::one(path, Problem::of_file(what))
}

fn refused_at(path: &Path, place: Place, what: &str) -> Problems {
    Problems::one(path, Problem::of_file(what).at(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        Source::from_bytes(Path::new("v.yaml"), bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_text_is_refused_with_a_sentence() {
        assert_eq!(refusal(b"\xFF\xFEa\0"), "v.yaml: is UTF-16 or UTF-32; save it as UTF-8\n");
        assert_eq!(refusal(b"a\0:\0"), "v.yaml: is UTF-16 or UTF-32; save it as UTF-8\n");
        assert_eq!(refusal(b"a: 1\nb: \xC3\x28"), "v.yaml:2:4: is not UTF-8 from here on\n");
        assert_eq!(refusal(b"a: 1\nb: \0"), "v.yaml:2:4: has a NUL byte here\n");
        assert!(refusal(&vec![b'#'; BYTES_MAX + 1]).contains("larger than 1 MiB"));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let source = Source::from_bytes(Path::new("v.yaml"), b"\xEF\xBB\xBFmode: full").unwrap();
        assert_eq!(source.text(), "mode: full");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let missing = Source::read(Path::new("/nowhere/verger.yaml")).unwrap_err().to_string();
        assert!(missing.starts_with("/nowhere/verger.yaml: cannot be read: "), "{missing}");
    }
}
