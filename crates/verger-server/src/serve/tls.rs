//! Encryption: a certificate chain and its key, and whose certificates clients must have, if they must.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use verger_config::Tls;

use super::ServeError;

/// The name of HTTP/2 when the two sides agree on how to speak.
pub(super) const HTTP2: &[u8] = b"h2";

/// Reads the files. What is wrong with them is said now, not to the first client.
pub(super) fn acceptor(files: &Tls) -> Result<TlsAcceptor, ServeError> {
    let chain = certificates(&files.cert)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| wrong(&files.key, &error))?;
    let provider = Arc::new(default_provider());
    let clients = match &files.client_ca {
        Some(path) => vouched_for(path, Arc::clone(&provider))?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&files.cert, &error))?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&files.cert, &error))?;
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Lets in only clients whose certificate one of these has signed.
fn vouched_for(
    path: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, ServeError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| wrong(path, &error))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    verifier.map_err(|error| wrong(path, &error))
}

/// A file without a single certificate is a mistake.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServeError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| wrong(path, &error))?;
    if found.is_empty() {
        let why = "there is no certificate in it".to_owned();
        return Err(ServeError::Certificate { path: path.to_owned(), why });
    }
    Ok(found)
}

fn wrong(path: &Path, error: &dyn std::error::Error) -> ServeError {
    ServeError::Certificate { path: path.to_owned(), why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn a_file_that_is_no_certificate_is_named() {
        let directory = TempDir::new().expect("a folder");
        let (cert, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
        let named = |what: &str| {
            let files = Tls { cert: cert.clone(), key: key.clone(), client_ca: None };
            let error = acceptor(&files).map(drop).expect_err(what).to_string();
            ["cert.pem", "key.pem"].map(|name| error.contains(name))
        };
        std::fs::write(&cert, "").expect("it is ours");
        assert_eq!(named("nothing in it"), [true, false]);
        let some = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        std::fs::write(&cert, some).expect("it is ours");
        assert_eq!(named("no key"), [false, true]);
        std::fs::write(&key, "hello").expect("it is ours");
        assert_eq!(named("no key in it"), [false, true]);
    }
}
