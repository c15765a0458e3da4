//! The authorities whose certificates a connection accepts.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Certificate authorities that a server's certificate must come from, in place of the public ones.
#[derive(Clone, Debug)]
pub struct Authorities(Arc<RootCertStore>);

/// The reason why a text names no authorities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthorities {
    /// A section of the text is not in PEM format (RFC 7468). The number counts the certificates.
    #[error("its certificate {0} is not in PEM format")]
    Pem(usize),
    /// A section is not a certificate. The number counts from 1.
    #[error("its certificate {0} is invalid: {1}")]
    Certificate(usize, String),
    /// The text has no section `CERTIFICATE`.
    #[error("it has no certificate in PEM format")]
    Empty,
}

impl Authorities {
    /// Reads certificates in PEM format. Other sections and the text between them are ignored.
    pub fn from_pem(text: &[u8]) -> Result<Self, InvalidAuthorities> {
        let mut roots = RootCertStore::empty();
        for (certificate, number) in CertificateDer::pem_slice_iter(text).zip(1..) {
            let certificate = certificate.map_err(|_| InvalidAuthorities::Pem(number))?;
            roots
                .add(certificate)
                .map_err(|error| InvalidAuthorities::Certificate(number, error.to_string()))?;
        }
        match roots.is_empty() {
            true => Err(InvalidAuthorities::Empty),
            false => Ok(Self(Arc::new(roots))),
        }
    }

    /// The settings of TLS connections that accept only these authorities.
    pub(crate) fn client_config(&self) -> ClientConfig {
        ClientConfig::builder().with_root_certificates(Arc::clone(&self.0)).with_no_client_auth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Authorities::from_pem(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn text_without_a_valid_certificate_is_rejected() {
        assert_eq!(error(""), "it has no certificate in PEM format");
        assert_eq!(error("a note"), "it has no certificate in PEM format");
        let other = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
        assert_eq!(error(other), "it has no certificate in PEM format");
        let cut = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        assert_eq!(error(cut), "its certificate 1 is not in PEM format");
        let no_certificate =
            error("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        assert!(no_certificate.starts_with("its certificate 1 is invalid: "), "{no_certificate}");
    }
}
