//! Secrets: made at random, shown once, kept as hashes.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How secrets begin, so that scanners of public code find those that were committed.
const PREFIX: &str = "vgt_";
const FILE: &str = "admin.token";

/// A secret. Its text is never printed by accident.
#[derive(Clone)]
pub struct Secret(String);

/// Why the admin's secret could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be read or made.
    #[error("could not use {0}")]
    File(PathBuf, #[source] io::Error),
    /// Others may read it.
    #[error("{0} may be read by others; `chmod 600` it, or remove it to have a new one made")]
    Exposed(PathBuf),
    /// It holds no token.
    #[error("{0} does not hold a token; remove it to have a new one made")]
    Unreadable(PathBuf),
}

impl Secret {
    /// A new one, with 256 bits of the operating system's randomness.
    pub fn new() -> io::Result<Self> {
        let mut random = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let hex = random.iter().fold(String::with_capacity(64), |mut hex, byte| {
            use fmt::Write as _;
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Ok(Self(format!("{PREFIX}{hex}")))
    }

    /// The text, for whoever has to show or present it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    fn is_well_formed(text: &str) -> bool {
        text.strip_prefix(PREFIX)
            .is_some_and(|rest| rest.len() >= 32 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The hash of what somebody presents. Hashes are compared, so the time it takes tells nothing about a secret.
pub(super) fn hash(presented: &str) -> [u8; 32] {
    *blake3::hash(presented.as_bytes()).as_bytes()
}

/// The admin's secret of this data directory, made when there is none.
pub fn admin_secret(directory: &Path) -> Result<Secret, SecretError> {
    let path = directory.join(FILE);
    let failed = |error| SecretError::File(path.clone(), error);
    match fs::metadata(&path) {
        Ok(meta) if meta.mode() & 0o077 != 0 => Err(SecretError::Exposed(path)),
        Ok(_) => {
            let text = fs::read_to_string(&path).map_err(failed)?.trim().to_owned();
            if Secret::is_well_formed(&text) { Ok(Secret(text)) } else { Err(SecretError::Unreadable(path)) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let secret = Secret::new().map_err(failed)?;
            write_new(&path, secret.reveal()).map_err(failed)?;
            Ok(secret)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Written beside and moved into place, so that nobody ever reads half of it.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("token.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    #[test]
    fn the_admins_secret_is_made_once_and_only_its_owner_may_read_it() {
        let directory = TempDir::new().expect("a folder");
        let first = admin_secret(directory.path()).expect("it is made");
        let second = admin_secret(directory.path()).expect("it is read");
        assert_eq!(first.reveal(), second.reveal());
        let mode = fs::metadata(directory.path().join(FILE)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_ne!(first.hash(), Secret::new().expect("randomness").hash());
        assert_eq!(format!("{first:?}"), "Secret", "it is not printed by accident");
    }

    #[test]
    fn a_secret_that_others_may_read_or_that_is_none_is_refused() {
        let directory = TempDir::new().expect("a folder");
        let path = directory.path().join(FILE);
        admin_secret(directory.path()).expect("it is made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(matches!(admin_secret(directory.path()), Err(SecretError::Exposed(_))));
        fs::write(&path, "hello").expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        assert!(matches!(admin_secret(directory.path()), Err(SecretError::Unreadable(_))));
    }
}
