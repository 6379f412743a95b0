//! Tells another program something by a signed request.
//!
//! A request goes straight to the address that was configured, and nowhere else: no redirect is followed and no proxy
//! of the environment is used. Each has a connection of its own, because calls are rare and one that was kept open is
//! often found closed when it is needed. `Verger-Id` is the same when an effect is carried out once more, so that the
//! receiver can tell.

use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;

use crate::secret::Secret;
use crate::signature::sign;
use crate::webhook_reply::{Answer, Delivery, Reply, Unreachable};

/// What is read of an answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Longer than any wait that a receiver may sensibly ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// By which a document, and the request that carries it, say to which trace they belong (W3C trace context).
const TRACE: [&str; 2] = ["traceparent", "tracestate"];

/// Where requests go, and the secret by which they are signed.
#[derive(Clone)]
pub struct Target {
    url: Url,
    secret: Option<Secret>,
}

/// Why an address is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// It is not of the form of an address.
    #[error("this is not an address of the form https://host/path")]
    Malformed,
    /// Another way than HTTP.
    #[error("only http and https are spoken")]
    Scheme,
}

impl Target {
    /// An address; without a secret its requests are not signed.
    pub fn new(url: &str, secret: Option<Secret>) -> Result<Self, TargetError> {
        let url = Url::parse(url).map_err(|_| TargetError::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TargetError::Scheme);
        }
        Ok(Self { url, secret })
    }

    /// The host and its port. Paths and user names often hold secrets, so nothing else is ever shown.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({}, signed: {})", self.host(), self.secret.is_some())
    }
}

/// A document and where it goes.
#[derive(Clone, Debug)]
pub struct Post {
    /// Where.
    pub target: Target,
    /// What. It should hold its id too: the signature covers the document alone.
    pub document: Value,
}

/// The means to make requests cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client could not be set up")]
pub struct ClientError(#[source] reqwest::Error);

/// Makes requests.
#[derive(Clone, Debug)]
pub struct Webhooks {
    client: Client,
}

impl Webhooks {
    /// Sets the client up. Where no certificates are installed, https is refused when it is used, and http works.
    pub fn new(connect_within: Duration) -> Result<Self, ClientError> {
        // It fails if another part of the program was first, and then there is one.
        drop(rustls::crypto::ring::default_provider().install_default());
        let builder = || {
            Client::builder()
                .user_agent(concat!("verger/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .no_proxy()
                .pool_max_idle_per_host(0)
                .connect_timeout(connect_within)
        };
        let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
        Ok(Self { client: client.map_err(ClientError)? })
    }

    /// Posts a document under an id, and gives up after `limit`. If it belongs to a trace, the request says so.
    pub async fn post(&self, id: &str, post: &Post, limit: Duration) -> Delivery {
        let body = post.document.to_string();
        let mut headers = headers(id, post.target.secret.as_ref(), body.as_bytes());
        for name in TRACE {
            let value = post.document.get(name).and_then(Value::as_str);
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        }
        self.send(&post.target, headers, body.into_bytes(), limit).await
    }

    /// Posts bytes as they are, and gives up after `limit`. They are not signed.
    pub async fn send(
        &self,
        target: &Target,
        headers: HeaderMap,
        body: Vec<u8>,
        limit: Duration,
    ) -> Delivery {
        replied(target, self.client.post(target.url.clone()).headers(headers).body(body), limit).await
    }

    /// Asks an address for what is there, and gives up after `limit`.
    pub async fn call(&self, target: &Target, limit: Duration) -> Delivery {
        replied(target, self.client.get(target.url.clone()), limit).await
    }
}

async fn replied(target: &Target, request: RequestBuilder, limit: Duration) -> Delivery {
    let reply = match request.timeout(limit).send().await {
        Ok(response) => read(response).await,
        Err(error) => Reply::Unreachable(Unreachable::from(&error)),
    };
    Delivery { host: target.host(), reply }
}

fn headers(id: &str, secret: Option<&Secret>, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut put = |name: &'static str, value: &str| {
        headers.insert(name, HeaderValue::from_str(value).expect("visible ASCII characters"));
    };
    put(CONTENT_TYPE.as_str(), "application/json");
    put("verger-id", &visible(id));
    if let Some(secret) = secret {
        let stamp = sign(secret, SystemTime::now(), body);
        put("verger-timestamp", &stamp.timestamp);
        put("verger-nonce", &stamp.nonce);
        put("verger-signature", &stamp.signature);
    }
    headers
}

/// An id as a header can carry it: everything but visible ASCII is written as in an address, `%20`.
fn visible(id: &str) -> String {
    id.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_graphic() && byte != b'%' {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string takes everything");
        }
        text
    })
}

/// Reads an answer up to the bound. One that breaks off is none, whatever its status said.
async fn read(mut response: Response) -> Reply {
    let mut body = Vec::new();
    while body.len() < ANSWER_BYTES_MAX {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => return Reply::Unreachable(Unreachable::from(&error)),
        }
    }
    body.truncate(ANSWER_BYTES_MAX);
    Reply::from(Answer {
        status: response.status().as_u16(),
        body: String::from_utf8_lossy(&body).into_owned(),
        retry_after: retry_after(response.headers()),
    })
}

/// Only seconds are read; a receiver that gives a date is tried again as if it had given nothing.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_http_is_spoken() {
        for wrong in ["", "host", "/path", "http://", "https:///"] {
            assert_eq!(Target::new(wrong, None).map(|target| target.host()), Err(TargetError::Malformed));
        }
        for wrong in ["ftp://host/", "file:///etc/passwd", "unix:/run/verger.sock"] {
            assert_eq!(Target::new(wrong, None).map(|target| target.host()), Err(TargetError::Scheme));
        }
    }

    #[test]
    fn nothing_secret_of_an_address_is_shown() {
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let target = Target::new("https://user:word@host:8443/T0/key?token=1", Some(secret)).unwrap();
        assert_eq!(format!("{target:?}"), "Target(host:8443, signed: true)");
    }

    #[test]
    fn an_unreasonable_wait_is_cut_and_an_unreadable_one_ignored() {
        let wait = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_str(text).unwrap());
            retry_after(&headers)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("18446744073709551615"), Some(RETRY_AFTER_MAX));
        assert_eq!(wait("-1"), None);
        assert_eq!(wait("Fri, 31 Dec 1999 23:59:59 GMT"), None);
    }

    proptest! {
        #[test]
        fn every_id_fits_into_a_header_and_stays_itself(id: String, other: String) {
            let header = visible(&id);
            prop_assert!(header.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(visible(&other) == header, other == id);
        }
    }
}
