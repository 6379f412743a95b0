//! Where the monitor is, and by which token one is known there.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::address::{Address, AddressError};
use crate::ancestry::Watched;

const TOKEN_FILE: &str = "admin.token";
const SOCKET_FILE: &str = "verger.sock";
/// Where a running monitor says at which address it answers.
const ADDRESS_FILE: &str = "verger.url";

/// Where the monitor is, and by which token one is known there.
#[derive(Clone)]
pub struct Access {
    /// Where it is.
    pub address: Address,
    token: Option<String>,
    withheld: Option<Withheld>,
}

/// Why no token is presented.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Withheld {
    /// An agent must not decide about itself.
    Watched(Watched),
    /// The admin's token of this machine is for this machine's monitor.
    Elsewhere,
    /// There is none in the data folder, or it may not be read.
    Unreadable(PathBuf, io::ErrorKind),
    /// Nobody said where the data is.
    NoFolder,
}

/// What a program finds around it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `--url`, else `VERGER_URL`.
    pub url: Option<String>,
    /// `VERGER_TOKEN`.
    pub token: Option<String>,
    /// Where the local monitor's data is.
    pub data_dir: Option<PathBuf>,
    /// The tree of an agent that this program is in.
    pub watched: Option<Watched>,
}

impl Surroundings {
    /// Of this process: its environment and its ancestors. What was given on the command line goes first.
    pub fn here(url: Option<String>, data_dir: Option<PathBuf>) -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        Self {
            url: url.or_else(|| variable("VERGER_URL")),
            token: variable("VERGER_TOKEN"),
            data_dir,
            watched: Watched::here(),
        }
    }
}

impl Access {
    /// To this monitor, with this token.
    pub fn new(address: Address, token: Option<String>) -> Self {
        Self { address, token, withheld: None }
    }

    /// As an agent: by `VERGER_URL` and `VERGER_TOKEN` alone, for it has no business in the monitor's folder.
    pub fn of_agent() -> Result<Self, AddressError> {
        let Surroundings { url, token, .. } = Surroundings::here(None, None);
        let address = url.map_or_else(|| Ok(Address::default()), |url| url.parse())?;
        Ok(Self::new(address, token))
    }

    /// As a person's program: the address that was given, else the socket of the data folder, else the address that the
    /// monitor left there; the usual one only where there is no folder; the token of the environment, else the local admin's.
    ///
    /// The admin's token is not used from inside the tree of a watched agent, nor for a monitor on another machine. What
    /// the monitor then refuses is told with the reason.
    pub fn discover(around: &Surroundings) -> Result<Self, AddressError> {
        let address = match (&around.url, &around.data_dir) {
            (Some(url), _) => url.parse()?,
            (None, Some(folder)) => in_folder(folder),
            (None, None) => Address::default(),
        };
        if let Some(token) = &around.token {
            return Ok(Self::new(address, Some(token.clone())));
        }
        Ok(match admin_token(around, &address) {
            Ok(token) => Self::new(address, Some(token)),
            Err(why) => Self { address, token: None, withheld: Some(why) },
        })
    }

    /// Why there is no token, if there is none.
    pub fn withheld(&self) -> Option<&Withheld> {
        self.withheld.as_ref()
    }

    /// Whether there is a token.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }
}

/// A monitor that runs leaves its socket, or its address. One that was killed leaves them too, and is then found gone.
/// Where there is neither, nobody works: whoever listens at the usual address is another's monitor, or something else
/// altogether, and must not be shown this folder's token.
fn in_folder(folder: &Path) -> Address {
    let socket = folder.join(SOCKET_FILE);
    if fs::metadata(&socket).is_ok_and(|meta| meta.file_type().is_socket()) {
        return Address::socket(socket);
    }
    let left = fs::read_to_string(folder.join(ADDRESS_FILE)).ok();
    left.and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| Address::socket(socket))
}

fn admin_token(around: &Surroundings, address: &Address) -> Result<String, Withheld> {
    if let Some(watched) = &around.watched {
        return Err(Withheld::Watched(watched.clone()));
    }
    if !address.is_local() {
        return Err(Withheld::Elsewhere);
    }
    let path = around.data_dir.as_ref().ok_or(Withheld::NoFolder)?.join(TOKEN_FILE);
    match fs::read_to_string(&path) {
        Ok(text) if text.trim().is_empty() => Err(Withheld::Unreadable(path, io::ErrorKind::UnexpectedEof)),
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) => Err(Withheld::Unreadable(path, error.kind())),
    }
}

/// Without the token: what is printed for debugging ends up in logs.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access({}, token: {})", self.address, self.token.is_some())
    }
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Watched(watched) => write!(
                f,
                "the admin's token is not used here: {watched}, and an agent must not decide about itself"
            ),
            Self::Elsewhere => f.write_str(
                "the admin's token of this machine is not sent to another; set VERGER_TOKEN to one of that monitor's",
            ),
            Self::Unreadable(path, kind) => write!(f, "no token was found: {} ({kind})", path.display()),
            Self::NoFolder => f.write_str("no token was found: set VERGER_TOKEN, or VERGER_DATA_DIR"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn found(around: &Surroundings) -> (String, Option<String>) {
        let access = Access::discover(around).expect("an address");
        (access.address.to_string(), access.token)
    }

    fn with_token() -> (tempfile::TempDir, Surroundings) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(TOKEN_FILE), "vgt_secret\n").expect("a file");
        let around = Surroundings { data_dir: Some(folder.path().to_owned()), ..Surroundings::default() };
        (folder, around)
    }

    #[test]
    fn the_local_admins_token_is_found_and_what_was_given_goes_first() {
        let (folder, mut around) = with_token();
        let local = folder.path().join(SOCKET_FILE).display().to_string();
        assert_eq!(found(&around), (local.clone(), Some("vgt_secret".to_owned())), "nobody else may have it");
        around.token = Some("vgt_other".to_owned());
        assert_eq!(found(&around), (local, Some("vgt_other".to_owned())));
        around.data_dir = None;
        assert_eq!(found(&around).0, "http://127.0.0.1:8374");
    }

    #[test]
    fn a_monitor_is_found_by_its_socket_else_by_the_address_that_it_left() {
        let (folder, mut around) = with_token();
        fs::write(folder.path().join(ADDRESS_FILE), "127.0.0.1:4711\n").expect("a file");
        assert_eq!(found(&around).0, "http://127.0.0.1:4711");
        let _listener = UnixListener::bind(folder.path().join(SOCKET_FILE)).expect("a socket");
        assert_eq!(found(&around).0, folder.path().join(SOCKET_FILE).display().to_string());
        around.url = Some("http://127.0.0.1:9".to_owned());
        assert_eq!(found(&around).0, "http://127.0.0.1:9");
    }

    #[test]
    fn inside_a_watched_tree_the_admins_token_is_not_used_and_an_own_one_is() {
        let (_folder, mut around) = with_token();
        around.watched = Some(Watched { agent: "a".to_owned(), ancestor: Some(7) });
        let access = Access::discover(&around).expect("an address");
        assert_eq!(access.token(), None);
        let why = access.withheld().expect("a reason").to_string();
        assert!(why.contains("process 7") && why.contains("must not decide about itself"), "{why}");
        around.token = Some("vgt_of_the_agent".to_owned());
        assert_eq!(found(&around).1, Some("vgt_of_the_agent".to_owned()));
    }

    #[test]
    fn the_admins_token_stays_on_this_machine_and_out_of_logs() {
        let (_folder, mut around) = with_token();
        let debugged = format!("{:?}", Access::discover(&around).expect("an address"));
        assert!(!debugged.contains("vgt_"), "{debugged}");
        around.url = Some("https://verger.example".to_owned());
        let access = Access::discover(&around).expect("an address");
        assert_eq!((access.token(), access.withheld()), (None, Some(&Withheld::Elsewhere)));
    }

    #[test]
    fn a_missing_token_is_told_by_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let around = Surroundings { data_dir: Some(folder.path().to_owned()), ..Surroundings::default() };
        let access = Access::discover(&around).expect("an address");
        let why = access.withheld().expect("a reason").to_string();
        assert!(why.contains("admin.token") && why.contains("not found"), "{why}");
    }
}
