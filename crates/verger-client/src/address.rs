//! Where a monitor is: an address of HTTP, or the socket in its data folder.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use reqwest::Url;

/// Where a monitor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Way);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Http(Url),
    Socket(PathBuf),
}

/// A text that is no address of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the address of a monitor; it should be like http://127.0.0.1:8374")]
pub struct AddressError(String);

impl Address {
    /// Where a monitor listens unless it is told otherwise.
    pub const DEFAULT: &'static str = "http://127.0.0.1:8374";

    /// The Unix socket of a monitor on this machine.
    pub fn socket(path: impl Into<PathBuf>) -> Self {
        Self(Way::Socket(path.into()))
    }

    /// Whether it is on this machine, so that its admin's token may go there.
    pub fn is_local(&self) -> bool {
        match &self.0 {
            Way::Socket(_) => true,
            Way::Http(url) => url.host_str().is_some_and(|host| {
                let host = host.trim_start_matches('[').trim_end_matches(']');
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }),
        }
    }

    pub(crate) fn way(&self) -> &Way {
        &self.0
    }

    /// What requests are made to. Over a socket the name is not looked up.
    pub(crate) fn base(&self) -> Url {
        match &self.0 {
            Way::Http(url) => url.clone(),
            Way::Socket(_) => Url::parse("http://localhost/").expect("an address"),
        }
    }
}

impl Default for Address {
    fn default() -> Self {
        Self(Way::Http(Url::parse(Self::DEFAULT).expect("an address")))
    }
}

/// `http://host:port`, `host:port`, or `unix:/path/of/verger.sock`.
impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError(text.chars().filter(|letter| !letter.is_control()).take(100).collect());
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.starts_with('/') { Ok(Self::socket(path)) } else { Err(wrong()) };
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|_| wrong())?;
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        let is_spoken = matches!(url.scheme(), "http" | "https") && !url.cannot_be_a_base() && is_plain;
        if is_spoken { Ok(Self(Way::Http(url))) } else { Err(wrong()) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Way::Http(url) => f.write_str(url.as_str().trim_end_matches('/')),
            Way::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<(String, bool)> {
        text.parse::<Address>().ok().map(|address| (address.to_string(), address.is_local()))
    }

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let found = |shown: &str, local| Some((shown.to_owned(), local));
        assert_eq!(read("127.0.0.1:8374"), found("http://127.0.0.1:8374", true));
        assert_eq!(read("http://localhost:9/"), found("http://localhost:9", true));
        assert_eq!(read("http://[::1]:9"), found("http://[::1]:9", true));
        assert_eq!(read("https://verger.example/at/"), found("https://verger.example/at", false));
        assert_eq!(read("http://127.0.0.1.evil.example"), found("http://127.0.0.1.evil.example", false));
        assert_eq!(read("unix:/run/verger.sock"), found("/run/verger.sock", true));
        for wrong in ["", "ftp://host", "unix:relative", "http://", "http://me:word@host", "http://host?a"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,40}") {
            let _ = read(&text);
        }
    }
}
