//! Encryption: a certificate chain and its key, from two files.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use verger_config::Tls;

use super::ServeError;

/// The name of HTTP/2 when the two sides agree on how to speak.
pub(super) const HTTP2: &[u8] = b"h2";

/// Reads both files. What is wrong with them is said now, not to the first client.
pub(super) fn acceptor(files: &Tls) -> Result<TlsAcceptor, ServeError> {
    let chain = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&files.cert, &error))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| wrong(&files.key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&files.cert, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&files.cert, &error))?;
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
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
        std::fs::write(&cert, "").expect("it is ours");
        let missing = acceptor(&Tls { cert: cert.clone(), key: key.clone() }).map(drop).expect_err("no key");
        assert!(missing.to_string().contains("key.pem"), "{missing}");
        std::fs::write(&key, "hello").expect("it is ours");
        let wrong = acceptor(&Tls { cert, key }).map(drop).expect_err("no key in it");
        assert!(wrong.to_string().contains("key.pem"), "{wrong}");
    }
}
