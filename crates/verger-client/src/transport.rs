//! Requests and answers: paths that no name can break out of, bounded reading, errors kept whole.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use verger_api::Problem;

use crate::access::{Access, Withheld};
use crate::address::Way;
use crate::error::{Error, root};

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// A monitor on this machine answers in microseconds; one across a network in less than this.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A way to one monitor. Clones share its connections.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    client: Client,
    base: Url,
    /// How the monitor is called in messages.
    at: String,
    token: Option<HeaderValue>,
    withheld: Option<Withheld>,
}

/// A request that is put together.
pub(crate) struct Asked<'a> {
    transport: &'a Transport,
    builder: RequestBuilder,
    within: Duration,
}

impl Transport {
    pub(crate) fn new(access: &Access) -> Result<Self, Error> {
        // It fails if another part of the program was first, and then there is one.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder()
            .user_agent(concat!("verger/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_WITHIN);
        builder = match access.address.way() {
            Way::Socket(path) => builder.unix_socket(path.as_path()).tls_certs_only([]),
            // Reading the machine's certificates takes longer than all else, and nobody needs them here.
            Way::Http(url) if url.scheme() == "http" => builder.tls_certs_only([]),
            Way::Http(_) => builder,
        };
        let token = access.token().map(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"));
            if let Ok(value) = &mut value {
                value.set_sensitive(true);
            }
            value.map_err(|_| Error::Client("the token holds characters that no token has".to_owned()))
        });
        Ok(Self {
            client: builder.build().map_err(|error| Error::Client(root(&error)))?,
            base: access.address.base(),
            at: access.address.to_string(),
            token: token.transpose()?,
            withheld: access.withheld().cloned(),
        })
    }

    /// Whether requests carry a token.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// A request to the path of these segments, each a name that is taken as it is.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<Asked<'_>, Error> {
        let mut url = self.base.clone();
        // Segments like these would be left out, and another address asked.
        if let Some(name) = path.iter().find(|name| matches!(**name, "" | "." | "..")) {
            return Err(Error::Name((*name).to_owned()));
        }
        url.path_segments_mut().map_err(|()| Error::Name(self.at.clone()))?.pop_if_empty().extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut builder = self.client.request(method, url);
        if let Some(token) = &self.token {
            builder = builder.header(AUTHORIZATION, token.clone());
        }
        Ok(Asked { transport: self, builder, within: Duration::from_secs(30) })
    }

    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<T, Error> {
        self.ask(Method::GET, path, query)?.answer().await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &impl Serialize,
    ) -> Result<T, Error> {
        self.ask(Method::POST, path, &[])?.json(body)?.answer().await
    }

    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> Error {
        let why = if error.is_timeout() { "no answer in time".to_owned() } else { root(error) };
        Error::Unreachable { at: self.at.clone(), why }
    }

    pub(crate) fn foreign(&self, what: impl Into<String>) -> Error {
        Error::Foreign { at: self.at.clone(), what: what.into() }
    }
}

impl Asked<'_> {
    /// With this as the body.
    pub(crate) fn json(self, body: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_vec(body).map_err(|error| Error::Client(error.to_string()))?;
        Ok(self.body(body))
    }

    /// With this text, which is JSON.
    pub(crate) fn body(mut self, json: Vec<u8>) -> Self {
        self.builder = self.builder.header(CONTENT_TYPE, "application/json").body(json);
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    /// Given up after so long, instead of half a minute.
    pub(crate) fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// The answer, whose body is `T`.
    pub(crate) async fn answer<T: DeserializeOwned>(self) -> Result<T, Error> {
        let transport = self.transport;
        let (status, body) = self.whole().await?;
        if !(200..300).contains(&status) {
            return Err(transport.refusal(status, &body));
        }
        serde_json::from_slice(&body).map_err(|error| transport.foreign(format!("{status}, {error}")))
    }

    /// That it worked, whatever was answered.
    pub(crate) async fn done(self) -> Result<(), Error> {
        let transport = self.transport;
        let (status, body) = self.whole().await?;
        if (200..300).contains(&status) { Ok(()) } else { Err(transport.refusal(status, &body)) }
    }

    /// The answer of an address that says yes with 200 and no with 503, both times with the same body.
    pub(crate) async fn yes_or_no<T: DeserializeOwned>(self) -> Result<T, Error> {
        let transport = self.transport;
        let (status, body) = self.whole().await?;
        match serde_json::from_slice(&body) {
            Ok(answer) if matches!(status, 200 | 503) => Ok(answer),
            _ => Err(transport.refusal(status, &body)),
        }
    }

    /// The answer as it begins, for whoever reads on. Only its beginning must come in time.
    pub(crate) async fn open(self) -> Result<Response, Error> {
        let transport = self.transport;
        let opened = tokio::time::timeout(self.within, self.builder.send()).await;
        let late = || Error::Unreachable { at: transport.at.clone(), why: "no answer in time".to_owned() };
        let response = opened.map_err(|_| late())?.map_err(|error| transport.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let body = transport.read(response).await?;
        Err(transport.refusal(status, &body))
    }

    async fn whole(self) -> Result<(u16, Vec<u8>), Error> {
        let transport = self.transport;
        let sent = self.builder.timeout(self.within).send().await;
        let response = sent.map_err(|error| transport.unreachable(&error))?;
        let status = response.status().as_u16();
        Ok((status, transport.read(response).await?))
    }
}

impl Transport {
    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if ANSWER_BYTES_MAX < body.len() + chunk.len() {
                return Err(self.foreign(format!("an answer of more than {ANSWER_BYTES_MAX} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// A monitor refuses with a problem document; whatever else refuses is none.
    fn refusal(&self, status: u16, body: &[u8]) -> Error {
        let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
            let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
            let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
            return self.foreign(format!("{status} {text}").trim().to_owned());
        };
        let lacks_token = matches!(problem.status, 401 | 403);
        let withheld = self.withheld.clone().filter(|_| lacks_token);
        Error::Refused { problem: Box::new(problem), withheld }
    }
}
