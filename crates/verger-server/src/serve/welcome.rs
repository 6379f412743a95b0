//! What a person reads who has just started a monitor: where it is, where the key is, and what to type next.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

/// Where a monitor answers, as an address to type. One that listens everywhere is reached here too.
pub(super) fn url(address: SocketAddr, encrypted: bool) -> String {
    let scheme = if encrypted { "https" } else { "http" };
    let mut near = address;
    if address.ip().is_unspecified() {
        near.set_ip(if address.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1].into() });
    }
    format!("{scheme}://{near}")
}

/// The text.
pub(super) fn text(version: &str, url: &str, data: &Path, token: &Path, agents: usize) -> String {
    let mut text = String::new();
    let remembered = match agents {
        0 => "no agents yet".to_owned(),
        1 => "1 agent remembered".to_owned(),
        agents => format!("{agents} agents remembered"),
    };
    let folder = quoted(&data.display().to_string());
    let (data, token) = (data.display(), token.display());
    let _ = writeln!(text, "verger {version} is watching ({remembered})\n");
    let _ = writeln!(text, "  address  {url}");
    let _ = writeln!(text, "  data     {data}");
    let _ = writeln!(text, "  token    {token}\n");
    let _ = writeln!(text, "Have an agent report, then look at it from another terminal:\n");
    let _ = writeln!(text, "  curl {url}/v1/heartbeats -d '{{\"agentId\":\"hello\"}}'");
    let _ = writeln!(text, "  verger why hello --data-dir {folder}\n");
    let _ = writeln!(text, "Ctrl-C ends it; what it knows is kept.");
    text
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@".contains(&byte);
    if path.bytes().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_means_everywhere_is_typed_as_one_that_leads_here() {
        let typed = |address: &str, encrypted| url(address.parse().expect("an address"), encrypted);
        assert_eq!(typed("127.0.0.1:8374", false), "http://127.0.0.1:8374");
        assert_eq!(typed("0.0.0.0:443", true), "https://127.0.0.1:443");
        assert_eq!(typed("[::]:80", false), "http://[::1]:80");
    }

    #[test]
    fn a_path_with_a_space_is_one_word_for_a_shell() {
        assert_eq!(quoted("/var/lib/verger"), "/var/lib/verger");
        assert_eq!(quoted("/my data/it's"), r"'/my data/it'\''s'");
    }
}
