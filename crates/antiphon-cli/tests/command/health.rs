//! `antiphon health`: gateways that are ready, and addresses without one.

use std::net::TcpListener;

use crate::world::World;

#[test]
fn ready_gateway_is_healthy() {
    let serving = World::serve(&["--listen", "127.0.0.1:0"]).ready();
    let address = serving.address().to_string();

    let by_setting = World::antiphon(&["health"]).variable("ANTIPHON_LISTEN", &address).ends();
    let url = format!("http://{address}/v1");
    let by_url = World::antiphon(&["health", "--url", &url]).ends();

    for ended in [by_setting, by_url] {
        assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (Some(0), "", ""));
    }
}

#[test]
fn address_of_a_gateway_for_all_is_reached_at_loopback() {
    let serving = World::serve(&["--listen", "127.0.0.1:0"]).ready();
    let listen = format!("0.0.0.0:{}", serving.address().port());
    let health = World::antiphon(&["health"]).variable("ANTIPHON_LISTEN", &listen);
    let ended = health.variable("ANTIPHON_API_KEY", "a-key=acme").ends();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
}

#[test]
fn address_without_a_gateway_is_unhealthy() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let ended = World::antiphon(&["health"]).variable("ANTIPHON_LISTEN", &closed).ends();
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""));
    assert!(ended.stderr.starts_with(&format!("error: no gateway answers at http://{closed}: ")));
}

#[test]
fn url_of_no_gateway_is_rejected() {
    let ended = World::antiphon(&["health", "--url", "ftp://127.0.0.1"]).ends();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: --url: give the http or https URL of a gateway"));
}
