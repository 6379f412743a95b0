//! A secret that two programs share, read from a file that nobody else may read.
//!
//! It is turned into a key at once and its bytes are not kept, so no log or report can show them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ring::hmac;

/// The shortest secret: what is shorter can be guessed.
const BYTES_MIN: usize = 16;
/// The longest: more is a wrong file.
const BYTES_MAX: usize = 4096;

/// A shared secret, ready to sign and to verify.
#[derive(Clone)]
pub struct Secret(hmac::Key);

impl Secret {
    /// A secret made of these bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, LengthError> {
        if !(BYTES_MIN..=BYTES_MAX).contains(&bytes.len()) {
            return Err(LengthError(bytes.len()));
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, bytes)))
    }

    /// Reads the secret from a file. The line break at its end, which editors and `echo` leave, is no part of it.
    pub fn read(path: &Path) -> Result<Self, SecretError> {
        let failed = |source| SecretError::File { path: path.to_owned(), source };
        // Asked before opening: to open a pipe would wait for a writer.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(SecretError::NotAFile(path.to_owned()));
        }
        let file = File::open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SecretError::Exposed { path: path.to_owned(), mode });
        }
        let mut bytes = Vec::new();
        file.take(BYTES_MAX as u64 + 3).read_to_end(&mut bytes).map_err(failed)?;
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Self::new(line).map_err(|source| SecretError::Length { path: path.to_owned(), source })
    }

    pub(crate) fn key(&self) -> &hmac::Key {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A secret that is too short to be one, or so long that it must be something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret has {BYTES_MIN} to {BYTES_MAX} bytes, and this one {}", bytes(*.0))]
pub struct LengthError(usize);

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be read.
    #[error("could not read the secret in {}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is something, but no file.
    #[error("{} should hold a secret and is not a file", .0.display())]
    NotAFile(PathBuf),
    /// Other users may read it.
    #[error("{path} holds a secret and others may read it (mode {mode:04o}); run `chmod 600 {path}`", path = path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// What it holds is no secret.
    #[error("{} holds no secret", path.display())]
    Length {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: LengthError,
    },
}

fn bytes(count: usize) -> String {
    if count > BYTES_MAX { "has more".to_owned() } else { format!("has {count}") }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::time::SystemTime;

    use super::*;
    use crate::signature::{Verifier, sign};

    /// A file with this content and these permissions, in a directory that lives as long as the test.
    fn file(content: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (directory, path)
    }

    #[test]
    fn the_line_break_at_the_end_is_no_part_of_the_secret() {
        let plain = Secret::new(b"0123456789abcdef").unwrap();
        for content in ["0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\n"] {
            let (_directory, path) = file(content.as_bytes(), 0o600);
            let (now, stamp) = (SystemTime::now(), sign(&plain, SystemTime::now(), b"{}"));
            assert_eq!(Verifier::new(Secret::read(&path).unwrap()).verify(&stamp, b"{}", now), Ok(()));
        }
    }

    #[test]
    fn a_secret_that_others_may_read_is_refused_with_the_way_to_mend_it() {
        for mode in [0o640, 0o604, 0o660] {
            let (_directory, path) = file(b"0123456789abcdef", mode);
            let error = Secret::read(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("{mode:04o}")), "{error}");
            assert!(error.ends_with(&format!("run `chmod 600 {}`", path.display())), "{error}");
        }
        let (_directory, path) = file(b"0123456789abcdef", 0o400);
        Secret::read(&path).unwrap();
    }

    #[test]
    fn a_secret_that_is_too_short_too_long_or_no_file_is_refused() {
        let (directory, short) = file(b"0123456789abcde\n", 0o600);
        assert!(matches!(Secret::read(&short), Err(SecretError::Length { source: LengthError(15), .. })));
        let (_directory, long) = file(&[b'a'; BYTES_MAX + 1], 0o600);
        assert!(matches!(Secret::read(&long), Err(SecretError::Length { .. })));
        assert!(matches!(Secret::read(directory.path()), Err(SecretError::NotAFile(_))));
        assert!(matches!(Secret::read(&directory.path().join("none")), Err(SecretError::File { .. })));
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        assert_eq!(format!("{:?}", Secret::new(b"0123456789abcdef").unwrap()), "Secret(…)");
    }
}
