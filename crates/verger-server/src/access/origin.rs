//! Whether a request may have been made by a web page, or under a name that was rebound to this machine.
//!
//! A browser sends the name that its user typed as `Host`, and the page's address as `Origin`. A page from elsewhere
//! can make it send requests here, but cannot change either.

use std::net::{IpAddr, SocketAddr};

/// The names under which this monitor may be called.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Names beyond those of loopback, in small letters.
    names: Vec<String>,
    /// Whether any address will do: whoever listens beyond loopback is protected by tokens.
    any_address: bool,
    listen: SocketAddr,
    /// Whether it is reached through TLS.
    secure: bool,
}

/// Who is turned away, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stranger {
    /// The request says no host, or one that cannot be read.
    #[error("the request does not say for which host it is")]
    NoHost,
    /// The request is for another host.
    #[error("this monitor is not called `{0}`")]
    Host(String),
    /// A page from elsewhere made the request.
    #[error("a page of `{0}` may not speak to this monitor")]
    Page(String),
}

impl Origin {
    /// A monitor that listens at this address, and is also called by these names.
    pub fn new(listen: SocketAddr, names: impl IntoIterator<Item = String>) -> Self {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { names, any_address: !listen.ip().is_loopback(), listen, secure: false }
    }

    /// The same, reached through TLS.
    #[must_use]
    pub fn through_tls(self) -> Self {
        Self { secure: true, ..self }
    }

    /// Whether it is reached through TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Where a browser finds this monitor, as `http://127.0.0.1:8374`.
    pub fn base_url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        let port = self.listen.port();
        match self.names.first() {
            Some(name) => format!("{scheme}://{name}:{port}"),
            None if self.listen.ip().is_unspecified() => format!("{scheme}://localhost:{port}"),
            None => format!("{scheme}://{}", self.listen),
        }
    }

    /// Lets a request pass by its `Host` and `Origin`.
    pub fn check(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Stranger> {
        let host = host.filter(|host| !host.is_empty()).ok_or(Stranger::NoHost)?;
        if !self.is_own(name_of(host)) {
            return Err(Stranger::Host(shown(host)));
        }
        let Some(origin) = origin else { return Ok(()) };
        let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        // A page that was opened from a file, or hides where it is from, says `null`.
        match page {
            Some(page) if page.eq_ignore_ascii_case(host) => Ok(()),
            _ => Err(Stranger::Page(shown(origin))),
        }
    }

    fn is_own(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        // Through TLS a rebound name gets nowhere: no certificate is valid for it.
        if self.secure || name == "localhost" || self.names.contains(&name) {
            return true;
        }
        name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback() || self.any_address)
    }
}

/// The name in `name:port`, without the brackets of an address.
fn name_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').map_or("", |(address, _)| address);
    }
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// What a stranger sent, short enough to be read.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> Origin {
        Origin::new("127.0.0.1:8374".parse().expect("an address"), [])
    }

    #[test]
    fn a_browser_is_sent_where_it_is_let_in() {
        let at = |listen: &str| Origin::new(listen.parse().expect("an address"), []);
        let named = Origin::new("0.0.0.0:443".parse().expect("an address"), ["verger.example".to_owned()]);
        for (origin, url) in [
            (local(), "http://127.0.0.1:8374"),
            (at("[::1]:80"), "http://[::1]:80"),
            (at("0.0.0.0:8374"), "http://localhost:8374"),
            (named.through_tls(), "https://verger.example:443"),
        ] {
            assert_eq!(origin.base_url(), url);
            let host = url.split_once("//").map(|(_, host)| host);
            assert_eq!(origin.check(host, Some(url)), Ok(()), "{url}");
        }
    }

    #[test]
    fn through_tls_every_name_is_that_of_its_certificate_and_pages_from_elsewhere_are_still_turned_away() {
        let open = Origin::new("0.0.0.0:443".parse().expect("an address"), []);
        assert!(open.check(Some("verger.example"), None).is_err(), "in the clear it may be rebound");
        let secure = open.through_tls();
        assert_eq!(secure.check(Some("verger.example"), Some("https://verger.example")), Ok(()));
        assert!(secure.check(Some("verger.example"), Some("https://evil.example")).is_err());
        assert!(secure.check(None, None).is_err());
    }

    #[test]
    fn names_of_this_machine_pass() {
        for host in
            ["localhost:8374", "127.0.0.1:8374", "[::1]:8374", "LOCALHOST", "127.9.9.9:1", "localhost"]
        {
            assert_eq!(local().check(Some(host), None), Ok(()), "{host}");
        }
    }

    #[test]
    fn a_name_that_was_rebound_to_this_machine_does_not_pass() {
        let hosts = [
            "evil.example:8374",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.7:8374",
            "",
            "[::1",
            "0x7f.1",
        ];
        for host in hosts {
            assert!(local().check(Some(host), None).is_err(), "{host}");
        }
        assert_eq!(local().check(None, None), Err(Stranger::NoHost));
    }

    #[test]
    fn a_page_from_elsewhere_does_not_pass_and_the_monitors_own_does() {
        let check = |origin| local().check(Some("localhost:8374"), Some(origin));
        assert_eq!(check("http://localhost:8374"), Ok(()));
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost:3000",
            "http://localhost:8374.evil.example",
            "",
        ] {
            assert!(matches!(check(origin), Err(Stranger::Page(_))), "{origin}");
        }
    }

    #[test]
    fn whoever_listens_beyond_this_machine_is_called_by_any_address_and_by_its_names() {
        let open = Origin::new("0.0.0.0:8374".parse().expect("an address"), ["Verger.Example".to_owned()]);
        for host in ["10.0.0.7:8374", "verger.example:8374", "localhost:8374"] {
            assert_eq!(open.check(Some(host), None), Ok(()), "{host}");
        }
        assert!(open.check(Some("evil.example"), None).is_err());
    }
}
