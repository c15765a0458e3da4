//! `--upstream-ca-file`: the authority of an upstream's certificate.

use antiphon_testkit::{Protocol, TlsServer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::canned::Canned;
use crate::world::World;

/// A model server with TLS, which runs in `runtime`.
fn tls_server(runtime: &Runtime, server: &Canned) -> TlsServer {
    let starting = TlsServer::start(server.address, &[Protocol::Http1]);
    runtime.block_on(starting).unwrap()
}

#[test]
fn upstream_with_a_certificate_of_the_file_is_reached() {
    let runtime = Runtime::new().unwrap();
    let server = Canned::listing(&["m"]);
    let tls = tls_server(&runtime, &server);
    let url = tls.base_url();
    let table = format!("[[upstreams]]\nmodels = ['m']\nurl = '{url}'\nca-file = 'ca.pem'\n");
    let flags = ["doctor", "--upstream", &url, "--upstream-ca-file", "ca.pem"];
    let variables = World::antiphon(&["doctor"])
        .variable("ANTIPHON_UPSTREAM", &url)
        .variable("ANTIPHON_UPSTREAM_CA_FILE", "ca.pem");
    let worlds = [
        World::antiphon(&flags),
        variables,
        World::antiphon(&["doctor"]).file("antiphon.toml", &table),
    ];
    for world in worlds {
        let ended = world.file("ca.pem", tls.authority()).ends();
        assert!(ended.stdout.contains("reachable over TLS"), "{}{}", ended.stdout, ended.stderr);
    }

    let ended = World::antiphon(&["doctor", "--upstream", &url]).ends();
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("Give --upstream-ca-file"), "{}", ended.stdout);
}

#[test]
fn gateway_answers_through_the_upstream() {
    let runtime = Runtime::new().unwrap();
    let server = Canned::listing(&["m"]);
    let tls = tls_server(&runtime, &server);
    let args = ["--upstream", &tls.base_url(), "--upstream-ca-file", "ca.pem"];
    let listen = ["--listen", "127.0.0.1:0", "--store", "sqlite::memory:"];
    let world = World::serve(&[&args[..], &listen].concat());
    let serving = world.file("ca.pem", tls.authority()).ready();
    let (status, models) = serving.answer("GET", "/v1/models", &json!(null));
    let ids: Vec<&Value> = models["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!((status, json!(ids)), (200, json!(["sim", "m"])));
}

#[test]
fn doctor_names_a_file_of_another_authority() {
    let runtime = Runtime::new().unwrap();
    let server = Canned::listing(&["m"]);
    let (tls, other) = (tls_server(&runtime, &server), tls_server(&runtime, &server));
    let args = ["doctor", "--upstream", &tls.base_url(), "--upstream-ca-file", "ca.pem"];
    let ended = World::antiphon(&args).file("ca.pem", other.authority()).ends();
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("whether the file has its authority"), "{}", ended.stdout);
}

#[test]
fn file_without_an_upstream_is_not_read() {
    let world = World::antiphon(&["serve", "--check", "--store", "sqlite::memory:"]);
    let ended = world.variable("ANTIPHON_UPSTREAM_CA_FILE", "absent.pem").ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn unusable_file_is_rejected() {
    let args = ["--upstream", "https://models.example/v1", "--upstream-ca-file", "ca.pem"];
    let start = "error: --upstream-ca-file: the file 'ca.pem' ";
    for (text, sentence) in [
        (None, "cannot be read: "),
        (Some("no certificate"), "is unusable: it has no certificate in PEM format\n"),
    ] {
        let world = World::serve(&args);
        let ended = text.into_iter().fold(world, |world, text| world.file("ca.pem", text)).ends();
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.starts_with(&format!("{start}{sentence}")), "{}", ended.stderr);
    }
}

#[test]
fn file_without_an_effect_is_rejected() {
    let runtime = Runtime::new().unwrap();
    let tls = tls_server(&runtime, &Canned::listing(&["m"]));
    let no_tls = "this has an effect only with an https URL: other servers have no certificate\n";
    let no_upstream = "this has no effect without --upstream; ";
    let option = ["--upstream-ca-file", "ca.pem"];
    let http = ["--upstream", "http://127.0.0.1:9/v1"];
    for (args, sentence) in [(&http[..], no_tls), (&[], no_upstream)] {
        let world = World::serve(&[args, &option].concat()).file("ca.pem", tls.authority());
        let ended = world.ends();
        assert_eq!(ended.code, Some(2));
        let start = format!("error: --upstream-ca-file: {sentence}");
        assert!(ended.stderr.starts_with(&start), "{}", ended.stderr);
    }
}
