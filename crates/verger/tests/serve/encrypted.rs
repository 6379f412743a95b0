//! Encryption: certificates that are exchanged while it runs, and clients that must present one.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::program::{Place, Program, exchange, until};

/// Somebody who vouches for others.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Writes a certificate and its key to two files.
    fn vouch_for(&self, name: &str, cert: &Path, key: &Path) {
        let pair = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let signed = params.signed_by(&pair, &self.issuer).expect("a certificate");
        fs::write(key, pair.serialize_pem()).expect("it is ours");
        fs::write(cert, signed.pem()).expect("it is ours");
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(self.pem.as_bytes()).expect("our own");
        roots.add(certificate).expect("our own");
        roots
    }
}

/// Asks who is there, with this certificate if one is given. Gives the certificate of the monitor.
fn ask(
    program: &Program,
    authority: &Authority,
    own: Option<(&Path, &Path)>,
) -> io::Result<CertificateDer<'static>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("they are there")
        .with_root_certificates(authority.roots());
    let config = match own {
        None => config.with_no_client_auth(),
        Some((cert, key)) => {
            let chain = vec![CertificateDer::from_pem_file(cert).expect("our own")];
            let key = PrivateKeyDer::from_pem_file(key).expect("our own");
            config.with_client_auth_cert(chain, key).expect("they belong together")
        }
    };
    let name = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("it can be set up");
    let stream = TcpStream::connect(&program.address)?;
    let mut stream = StreamOwned::new(connection, stream);
    let got = exchange(&mut stream, "localhost", "GET /health", &[], "")?;
    assert_eq!(got.status, 200);
    let chain = stream.conn.peer_certificates().unwrap_or_default();
    Ok(chain.first().cloned().expect("it presents one").into_owned())
}

fn encrypted(place: &Place, more: &str) -> Program {
    place.configure(&format!(
        "access:\n  tls:\n    cert: \"{{here}}/cert.pem\"\n    key: \"{{here}}/key.pem\"\n{more}"
    ));
    place.start()
}

#[test]
fn x15_a_certificate_is_exchanged_while_it_runs_and_a_wrong_one_is_not() {
    let (place, authority) = (Place::new(), Authority::new());
    let (cert, key) = (place.path("cert.pem"), place.path("key.pem"));
    authority.vouch_for("localhost", &cert, &key);
    let program = encrypted(&place, "");
    let first = ask(&program, &authority, None).expect("it answers");
    assert_eq!(ask(&program, &authority, None).expect("it answers"), first);
    authority.vouch_for("localhost", &cert, &key);
    let second = until("the other certificate", || {
        ask(&program, &authority, None).ok().filter(|found| *found != first)
    });
    // A key that does not belong to the certificate: the old pair stays.
    fs::write(&key, KeyPair::generate().expect("a key").serialize_pem()).expect("it is ours");
    until("it is said", || place.log().contains("so nothing was changed").then_some(()));
    assert_eq!(ask(&program, &authority, None).expect("it answers"), second);
}

#[test]
fn where_clients_must_present_a_certificate_nobody_comes_in_without() {
    let (place, authority, stranger) = (Place::new(), Authority::new(), Authority::new());
    let (cert, key) = (place.path("cert.pem"), place.path("key.pem"));
    authority.vouch_for("localhost", &cert, &key);
    fs::write(place.path("clients.pem"), &authority.pem).expect("it is ours");
    let program = encrypted(&place, "    client_ca: \"{here}/clients.pem\"\n");
    assert!(ask(&program, &authority, None).is_err(), "without one");
    let (own, own_key) = (place.path("own.pem"), place.path("own.key"));
    stranger.vouch_for("somebody", &own, &own_key);
    assert!(ask(&program, &authority, Some((&own, &own_key))).is_err(), "from somebody else");
    authority.vouch_for("somebody", &own, &own_key);
    ask(&program, &authority, Some((&own, &own_key))).expect("it is let in");
    // Local commands come by the socket, and need none.
    let output = place.run(&["agents"], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
