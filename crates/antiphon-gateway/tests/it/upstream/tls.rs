//! Upstreams over TLS, with HTTP/1.1 and HTTP/2.

use antiphon_gateway::settings::{Authorities, Settings};
use antiphon_testkit::{Protocol, TlsServer};

use crate::support::{MODES, World, ask};

/// TLS in front of the upstream of a gateway.
async fn front(world: &World, protocols: &[Protocol]) -> TlsServer {
    TlsServer::start(world.upstream.address(), protocols).await.expect("it starts")
}

/// Sends the gateway's requests to this server, whose certificate must come from `authority`.
fn through(server: &TlsServer, authority: Option<&TlsServer>) -> impl FnOnce(&mut Settings) {
    let url = server.base_url().parse().expect("it is a URL");
    let authorities = authority
        .map(|it| Authorities::from_pem(it.authority().as_bytes()).expect("it is a certificate"));
    move |settings| {
        settings.upstreams[0].url = url;
        settings.upstreams[0].authorities = authorities;
    }
}

#[tokio::test]
async fn turns_run_over_both_versions_of_http() {
    for (offered, expected) in [
        (&[Protocol::Http1][..], Protocol::Http1),
        (&[], Protocol::Http1),
        (&[Protocol::Http2, Protocol::Http1], Protocol::Http2),
        (&[Protocol::Http2], Protocol::Http2),
    ] {
        let mut world = World::new().await;
        let server = front(&world, offered).await;
        world.restart_with(through(&server, Some(&server))).await;
        for mode in MODES {
            let answer = world.client().create(mode, &ask("Hello")).await;
            assert_eq!(answer.status(), 200, "{offered:?}");
        }
        // The second request uses the connection of the first.
        assert_eq!(server.negotiated(), [expected], "{offered:?}");
        assert_eq!(world.upstream.requests().len(), 2);
    }
}

#[tokio::test]
async fn certificate_of_another_authority_is_rejected() {
    let mut world = World::new().await;
    let server = front(&world, &[Protocol::Http1]).await;
    let other = front(&world, &[Protocol::Http1]).await;
    for authority in [None, Some(&other)] {
        world.restart_with(through(&server, authority)).await;
        for mode in MODES {
            let answer = world.client().create(mode, &ask("Hello")).await;
            assert_eq!(answer.status(), 502);
            let body = String::from_utf8_lossy(answer.body());
            assert!(body.contains("could not be reached: its certificate is not valid."), "{body}");
        }
    }
    assert_eq!(world.upstream.requests().len(), 0);
}
