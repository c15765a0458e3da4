//! `antiphon doctor`: each check of the settings, the upstream, the clock and the store.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use antiphon_testkit::postgres::Server;
use serde_json::Value;

use crate::canned::Canned;
use crate::world::{Ended, World};

/// `antiphon doctor` for a gateway on a free port.
fn doctor(args: &[&str]) -> Ended {
    World::antiphon(&[&["doctor", "--listen", "127.0.0.1:0"], args].concat()).ends()
}

/// The line of a check.
fn line<'a>(ended: &'a Ended, check: &str) -> &'a str {
    let is_it = |line: &&str| line[9..].starts_with(check);
    let line = ended.stdout.lines().find(is_it);
    line.unwrap_or_else(|| panic!("no line of {check}: {}{}", ended.stdout, ended.stderr))
}

/// The exit code and the line of the upstream at a server that answers so.
fn upstream_line(status: &str, body: &str, key: &[&str]) -> (Option<i32>, String) {
    let server = Canned::answering(status, "", body);
    let ended = doctor(&[&["--upstream", &server.url()], key].concat());
    let line = line(&ended, "upstream").replace(&server.address.to_string(), "HOST");
    (ended.code, line)
}

const KEY: [&str; 2] = ["--upstream-key", "sk-sesame-of-the-operator"];

#[test]
fn defaults_are_in_order() {
    let ended = World::antiphon(&["doctor"]).ends();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for (check, expected) in [
        ("version", concat!("ok       version: antiphon ", env!("CARGO_PKG_VERSION"))),
        ("settings file", "ok       settings file: none is used"),
        ("settings:", "ok       settings: all settings are at their defaults."),
        ("upstream", "ok       upstream: none; the gateway answers only with its built-in model"),
        ("clock", "ok       clock: not compared"),
        ("store", "ok       store: SQLite 3."),
        ("secret", "ok       secret: not set"),
    ] {
        let line = line(&ended, check);
        assert!(line.starts_with(expected), "{line}");
    }
    assert!(line(&ended, "store").contains("does not exist yet; the next start creates it"));
    assert!(
        line(&ended, "disk").ends_with(" MB are free for the store.") || !cfg!(target_os = "linux")
    );
}

#[test]
fn doctor_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("antiphon.db").display());
    assert_eq!(doctor(&["--store", &store]).code, Some(0));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn settings_have_their_sources() {
    let server = Canned::listing(&["m"]);
    let file = format!("turn-wait = 5\n[[upstreams]]\nmodels = ['m']\nurl = '{}'\n", server.url());
    let ended = World::antiphon(&["doctor", "--retention", "never"])
        .file("antiphon.toml", &file)
        .variable("ANTIPHON_STORE", "sqlite::memory:")
        .variable("ANTIPHON_STOER", "x")
        .ends();
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let expected = "ok       settings: retention from --retention, store from ANTIPHON_STORE, \
                    turn-wait from antiphon.toml:1, [[upstreams]] from antiphon.toml:2.";
    assert_eq!(line(&ended, "settings: retention"), expected);
    assert_eq!(line(&ended, "settings file"), "ok       settings file: antiphon.toml is read.");
    let warning = "warning  settings: ANTIPHON_STOER has no effect";
    assert!(ended.stdout.contains(warning), "{}", ended.stdout);
    assert!(line(&ended, "store").contains("in memory"));
}

#[test]
fn invalid_setting_fails_with_its_place() {
    let ended = World::antiphon(&["doctor"]).file("antiphon.toml", "\nfaults = 'x'\n").ends();
    let expected = "failed   settings: antiphon.toml:2: faults: 'x' is neither 'repair' nor \
                    'reject'. Correct this setting; `antiphon serve --help` lists all of them.";
    assert_eq!((ended.code, line(&ended, "settings")), (Some(1), expected));
}

#[test]
fn upstream_gets_the_key_in_the_header_of_its_api() {
    let credential = format!("authorization: bearer {}\r\n", KEY[1]);
    let x_api_key = format!("x-api-key: {}\r\n", KEY[1]);
    for (api, path, expected) in [
        ("responses", "get /v1/models http/1.1", &[credential.as_str()][..]),
        ("chat", "get /v1/models http/1.1", &[&credential]),
        ("anthropic", "get /v1/models?limit=1000 ", &[&x_api_key, "anthropic-version: 2023-06-01"]),
    ] {
        let server = Canned::listing(&["a", "b"]);
        let url = server.url();
        let args = [&["--upstream", &url, "--upstream-api", api], &KEY[..]].concat();
        let ended = doctor(&args);
        let head = server.head();
        assert!(head.starts_with(path), "{head}");
        assert!(expected.iter().all(|header| head.contains(header)), "{head}");
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
        let found = line(&ended, "upstream");
        let expected = format!("reachable, API {api}; lists 2 models with the key.");
        assert!(found.ends_with(&expected), "{found}");
        assert!(!ended.stdout.contains("sesame"), "{}", ended.stdout);
    }
}

#[test]
fn rejected_key_fails_and_is_not_repeated() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key: {}."}}}}"#, KEY[1]);
    let (code, line) = upstream_line("401 Unauthorized", &body, &KEY);
    let expected = "failed   upstream HOST: it rejects the key with status 401 Unauthorized: \
                    Incorrect API key: ***. Correct --upstream-key, or `key` or `key-env` of this \
                    upstream.";
    assert_eq!((code, line.as_str()), (Some(1), expected));
}

#[test]
fn upstream_of_the_callers_tokens_needs_no_key() {
    let (code, line) = upstream_line("401 Unauthorized", "{}", &[]);
    let expected = "ok       upstream HOST: reachable; callers' own tokens are forwarded.";
    assert_eq!((code, line.as_str()), (Some(0), expected));
}

#[test]
fn models_are_not_checked_without_a_key() {
    let server = Canned::answering("401 Unauthorized", "", "{}");
    let url = server.url();
    for (args, models) in [(&[][..], ""), (&["--model", "m"], " for m")] {
        let ended = doctor(&[&["--upstream", &url], args].concat());
        let expected = format!(
            "ok       models of {}: its list was not searched{models}: the upstream shows it only \
             to callers with a key. Give --upstream-key to check the models of a key.",
            server.address
        );
        assert_eq!((ended.code, line(&ended, "models of")), (Some(0), expected.as_str()));
    }
}

#[test]
fn free_address_is_in_order() {
    assert_eq!(line(&doctor(&[]), "listen"), "ok       listen: 127.0.0.1:0 is free.");
}

#[test]
fn port_in_use_is_a_warning() {
    let taken = Canned::answering("404 Not Found", "", "{}");
    let (address, port) = (taken.address, taken.address.port());
    let free = "127.0.0.1:0";
    for (setting, [listen, metrics]) in [
        ("listen", [address.to_string(), free.into()]),
        ("metrics-listen", [free.into(), address.to_string()]),
    ] {
        let args = ["doctor", "--listen", &listen, "--metrics-listen", &metrics];
        let ended = World::antiphon(&args).ends();
        let expected = format!(
            "warning  {setting}: another program listens on {address}. End that program (`ss -ltnp \
             'sport = :{port}'` shows it), or give another port in --{setting}."
        );
        assert_eq!((ended.code, line(&ended, setting)), (Some(0), expected.as_str()));
    }
}

#[test]
fn running_gateway_is_recognized() {
    let serving = World::serve(&["--listen", "127.0.0.1:0"]).ready();
    let address = serving.address().to_string();
    let ended = World::antiphon(&["doctor", "--listen", &address]).ends();
    let expected = format!("ok       listen: a gateway is running at {address}.");
    assert_eq!((ended.code, line(&ended, "listen")), (Some(0), expected.as_str()));
}

#[test]
fn address_of_another_machine_fails() {
    let ended =
        World::antiphon(&["doctor", "--listen", "192.0.2.7:80", "--api-key", "k=acme"]).ends();
    let found = line(&ended, "listen");
    let start = "failed   listen: a gateway cannot listen on 192.0.2.7:80: ";
    assert!(ended.code == Some(1) && found.starts_with(start), "{found}");
}

#[test]
fn upstream_without_a_list_is_a_warning() {
    let (code, line) = upstream_line("404 Not Found", "<html>", &KEY);
    assert_eq!(code, Some(0));
    assert!(line.starts_with("warning  upstream HOST: reachable, but it has no list"), "{line}");
}

#[test]
fn failing_upstream_fails() {
    let body = r#"{"error":{"message":"Out of\norder."}}"#;
    let (code, line) = upstream_line("500 Internal Server Error", body, &KEY);
    let status = "it answers the list of models with status 500 Internal Server Error: ";
    let expected = format!(
        "failed   upstream HOST: {status}Out of\\norder. Ask the operator of this upstream."
    );
    assert_eq!((code, line), (Some(1), expected));
}

#[test]
fn unreachable_upstream_fails_with_its_reason() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", closed.local_addr().unwrap());
    drop(closed);
    let ended = doctor(&["--upstream", &url]);
    assert_eq!(ended.code, Some(1));
    let found = line(&ended, "upstream");
    assert!(found.contains("the server could not be reached: "), "{found}");
    assert!(
        found.ends_with(&format!(
            "; its URL is {url}. Check the URL, the network and the firewall."
        )),
        "{found}"
    );
}

#[test]
fn silent_upstream_fails_after_the_timeout() {
    // The system accepts the connection, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    let ended = doctor(&["--upstream", &url, "--timeout", "1"]);
    assert_eq!(ended.code, Some(1));
    let found = line(&ended, "upstream");
    assert!(found.contains("the server's answer was not complete after 1s; its URL is"), "{found}");
}

#[test]
fn server_without_tls_fails_at_an_https_url() {
    let server = Canned::listing(&["m"]);
    let url = format!("https://{}/v1", server.address);
    let ended = doctor(&["--upstream", &url]);
    assert_eq!(ended.code, Some(1));
    let found = line(&ended, "upstream");
    assert!(found.contains("could not be reached"), "{found}");
    assert!(found.contains("http:// for a server without TLS."), "{found}");
}

#[test]
fn models_of_the_settings_are_looked_for() {
    let server = Canned::listing(&["claude-4", "gpt-6"]);
    let file = format!(
        "[[upstreams]]\nname = 'a'\nmodels = ['claude-*', 'gpt-5']\nurl = '{0}'\n\
         [[upstreams]]\nname = 'b'\nmodels = ['gpt-*']\nurl = '{0}'\n",
        server.url()
    );
    let args = ["doctor", "--model", "gpt-6", "--model", "sim", "--model", "other"];
    let ended = World::antiphon(&args).file("antiphon.toml", &file).ends();
    assert_eq!(ended.code, Some(1));
    let missing = "warning  models of a: it does not list gpt-5. Check the names, and whether the \
                   key may use these models.";
    assert_eq!(line(&ended, "models of a"), missing);
    assert_eq!(line(&ended, "models of b"), "ok       models of b: it lists gpt-*, gpt-6.");
    let unserved = "failed   model: no upstream serves the model 'other'.";
    assert!(line(&ended, "model:").starts_with(unserved));
    assert!(!ended.stdout.contains("'sim'"), "{}", ended.stdout);
}

#[test]
fn clock_is_compared_with_the_upstream() {
    let past = "date: Thu, 01 Jan 2015 00:00:00 GMT\r\n";
    let server = Canned::answering("200 OK", past, r#"{"data":[]}"#);
    let ended = doctor(&["--upstream", &server.url()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let clock = line(&ended, "clock");
    assert!(clock.starts_with("warning  clock: "), "{clock}");
    assert!(
        clock.contains(&format!("seconds ahead of the clock of {}", server.address)),
        "{clock}"
    );

    let gateway = World::serve(&["--listen", "127.0.0.1:0"]).ready();
    let url = format!("http://{}/v1", gateway.address());
    let ended = doctor(&["--upstream", &url, "--model", "sim"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let clock = line(&ended, "clock");
    assert!(clock.starts_with("ok       clock: within 30 seconds"), "{clock}");
}

#[test]
fn unusable_store_fails() {
    let ended = doctor(&["--store", "sqlite:no/such/directory/antiphon.db"]);
    assert_eq!(ended.code, Some(1));
    let found = line(&ended, "store");
    assert!(found.starts_with("failed   store: the store cannot be opened: "), "{found}");
    let next = "Check --store, and the permissions of the file and of its directory.";
    assert!(found.ends_with(next), "{found}");

    let ended = doctor(&["--store", "postgres://u:sesame@127.0.0.1:1/a"]);
    assert_eq!(ended.code, Some(1));
    assert!(line(&ended, "store").contains("PostgreSQL cannot be reached"));
    assert!(!ended.stdout.contains("sesame"), "{}", ended.stdout);
}

#[test]
fn store_of_a_gateway_has_a_version_a_secret_and_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("antiphon.db");
    let store = format!("sqlite:{}", path.display());
    let args = ["--store", &store, "--secret", "the-secret-of-2026"];
    let _serving = World::serve(&[&["--listen", "127.0.0.1:0"], &args[..]].concat()).ready();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();

    let ended = doctor(&args);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    assert!(line(&ended, "store:").contains("opens and can be written; its tables have version 1"));
    assert_eq!(line(&ended, "secret"), "ok       secret: opens the key in the store.");
    let name = path.display();
    let shared = format!(
        "warning  store files: other users can access {name} (mode 0644). Run: chmod 600 {name}"
    );
    assert_eq!(line(&ended, "store files"), shared);

    let ended = doctor(&["--store", &store, "--secret", "another-secret-entirely"]);
    assert_eq!(ended.code, Some(1));
    let found = line(&ended, "secret");
    assert!(found.starts_with("failed   secret: the gateway cannot start: "), "{found}");
    assert!(!ended.stdout.contains("another-secret"), "{}", ended.stdout);
}

#[test]
fn settings_file_with_keys_should_be_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let name = path.display().to_string();
    let file_line = |text: &str, mode: u32| {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let ended = doctor(&["--config", &name]);
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
        line(&ended, "settings file").to_owned()
    };
    let keys = "api-keys = ['sesame=acme']\n";
    let read = format!("ok       settings file: {name} is read.");
    assert_eq!(file_line(keys, 0o600), read);
    assert_eq!(file_line("turn-wait = 5\n", 0o644), read);
    let warning = format!(
        "warning  settings file: {name} contains keys, and other users can access it (mode 0640). \
         Run: chmod 600 {name}"
    );
    assert_eq!(file_line(keys, 0o640), warning);
}

#[test]
fn findings_can_be_json() {
    let server = Canned::listing(&["m"]);
    let ended = doctor(&["--json", "--upstream", &server.url(), "--model", "other"]);
    let findings: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let checks: Vec<&str> = findings.iter().map(|it| it["check"].as_str().unwrap()).collect();
    assert_eq!(checks[..3], ["version", "settings file", "settings"]);
    let missing = findings.iter().find(|it| it["status"] == "warning").unwrap();
    assert_eq!(missing["detail"], "it does not list other");
    assert!(missing["next"].as_str().unwrap().starts_with("Check the names"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn database_has_its_version() {
    let database = Server::shared().await.create_database().await;
    tokio::task::spawn_blocking(move || {
        let ended = doctor(&["--store", &database]);
        assert_eq!(ended.code, Some(0), "{}", ended.stdout);
        let absent = line(&ended, "store");
        assert!(absent.starts_with("ok       store: PostgreSQL 1"), "{absent}");
        assert!(absent.contains("does not exist yet"), "{absent}");

        let _serving = World::serve(&["--listen", "127.0.0.1:0", "--store", &database]).ready();
        let ended = doctor(&["--store", &database]);
        let present = line(&ended, "store");
        assert!(present.contains("its tables have version 1"), "{present}");
        assert!(!ended.stdout.contains("disk"), "{}", ended.stdout);

        let separator = if database.contains('?') { '&' } else { '?' };
        let read_only = "options=-c%20default_transaction_read_only%3Don";
        let ended = doctor(&["--store", &format!("{database}{separator}{read_only}")]);
        let found = line(&ended, "store");
        assert_eq!(ended.code, Some(1), "{found}");
        assert!(found.contains("the database accepts no writes"), "{found}");
    })
    .await
    .unwrap();
}
