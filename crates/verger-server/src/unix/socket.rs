//! The socket itself: made so that nobody else can use it, never taken from a living monitor, and removed at the end.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::peer::LocalPeer;

/// The longest path that the kernel takes for a socket.
const PATH_MAX: usize = 107;
/// What is added to the name while the socket is made.
const UNFINISHED: &str = ".new";

/// A socket that listens. Its file is removed when this is dropped, unless it is somebody else's by then.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    file: OwnFile,
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Another monitor answers there.
    #[error("a monitor listens on {0} already")]
    Taken(PathBuf),
    /// Something else lies there, and is left alone.
    #[error("{0} is not a socket; move it out of the way")]
    NotASocket(PathBuf),
    /// The path is longer than the kernel takes.
    #[error(
        "the path {0} is too long for a socket (at most {PATH_MAX} bytes); choose a shorter data directory"
    )]
    TooLong(PathBuf),
    /// The operating system refused.
    #[error("could not listen on {0}")]
    Io(PathBuf, #[source] io::Error),
}

impl Socket {
    /// Listens at this path. What a dead monitor left there is replaced; a living one keeps its place.
    ///
    /// To be called within a runtime, by whoever holds the lock of the data directory: two monitors that begin at the
    /// same moment are kept apart by that.
    pub fn bind(path: &Path) -> Result<Self, BindError> {
        let failed = |error| BindError::Io(path.to_owned(), error);
        let unfinished = with_suffix(path);
        if unfinished.as_os_str().len() > PATH_MAX {
            return Err(BindError::TooLong(path.to_owned()));
        }
        make_sure_nobody_is_there(path)?;
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        // Under another name until nobody else may use it: there is no moment at which others could.
        let listener = UnixListener::bind(&unfinished).map_err(failed)?;
        fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        fs::rename(&unfinished, path).map_err(failed)?;
        let file = OwnFile { identity: identity(path).map_err(failed)?, path: path.to_owned() };
        Ok(Self { listener, file })
    }

    /// The next who connects, and who that is.
    pub async fn accept(&self) -> io::Result<(UnixStream, LocalPeer)> {
        let (stream, _) = self.listener.accept().await?;
        let peer = LocalPeer::of(&stream);
        Ok((stream, peer))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.file.path
    }
}

/// A file that was made here.
#[derive(Debug)]
struct OwnFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // What cannot be removed is replaced by the next monitor.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Nothing is there, or only what a dead monitor left.
fn make_sure_nobody_is_there(path: &Path) -> Result<(), BindError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(BindError::Io(path.to_owned(), error)),
        Ok(found) if !found.file_type().is_socket() => return Err(BindError::NotASocket(path.to_owned())),
        Ok(_) => {}
    }
    match net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Also one whose queue is full: it is alive, and busy.
        Ok(_) => Err(BindError::Taken(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(BindError::Taken(path.to_owned())),
        Err(error) => Err(BindError::Io(path.to_owned(), error)),
    }
}

fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn path(directory: &TempDir) -> PathBuf {
        directory.path().join("verger.sock")
    }

    #[tokio::test]
    async fn only_its_owner_may_use_it_and_it_goes_when_the_monitor_goes() {
        let directory = TempDir::new().expect("a folder");
        let socket = Socket::bind(&path(&directory)).expect("it is free");
        let mode = fs::metadata(path(&directory)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(socket);
        assert_eq!(fs::read_dir(directory.path()).expect("a folder").count(), 0, "nothing is left");
    }

    #[tokio::test]
    async fn what_a_dead_monitor_left_is_replaced_and_a_living_one_keeps_its_place() {
        let directory = TempDir::new().expect("a folder");
        // A listener of the standard library leaves its file behind, as a process does that is killed.
        drop(net::UnixListener::bind(path(&directory)).expect("it is free"));
        let living = Socket::bind(&path(&directory)).expect("nobody listens any more");
        assert!(matches!(Socket::bind(&path(&directory)), Err(BindError::Taken(_))));
        net::UnixStream::connect(living.path()).expect("it still listens");
    }

    #[tokio::test]
    async fn what_is_no_socket_is_left_alone() {
        let directory = TempDir::new().expect("a folder");
        fs::write(path(&directory), "precious").expect("it can be written");
        assert!(matches!(Socket::bind(&path(&directory)), Err(BindError::NotASocket(_))));
        assert_eq!(fs::read_to_string(path(&directory)).expect("it is there"), "precious");
    }

    #[tokio::test]
    async fn a_file_that_is_another_monitors_by_now_is_not_removed() {
        let directory = TempDir::new().expect("a folder");
        let first = Socket::bind(&path(&directory)).expect("it is free");
        fs::remove_file(path(&directory)).expect("somebody tidied up");
        let second = Socket::bind(&path(&directory)).expect("it is free");
        drop(first);
        net::UnixStream::connect(second.path()).expect("it is still there");
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_told_with_what_to_do() {
        let long = Path::new("/tmp").join("x".repeat(PATH_MAX));
        let error = Socket::bind(&long).expect_err("the kernel takes no such path");
        assert!(error.to_string().contains("shorter data directory"), "{error}");
    }
}
