//! A gateway that runs: readiness, greeting, signals, and what keeps it from running.

use std::fs;
use std::net::{SocketAddr, TcpListener};

use serde_json::{Value, json};

use crate::world::{Serving, World};

const ANY_PORT: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn readiness_line_names_the_port() {
    let serving = World::serve(&ANY_PORT).ready();

    assert!(serving.address().ip().is_loopback());
    assert_ne!(serving.address().port(), 0);
    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
}

#[test]
fn signal_stops_the_gateway_gracefully() {
    for signal in ["TERM", "INT"] {
        let serving = World::serve(&ANY_PORT).ready();
        assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");

        serving.signal(signal);

        let (status, stdout, _) = serving.ended();
        assert_eq!(status.code(), Some(0), "SIG{signal}");
        assert_eq!(stdout, "", "nothing follows the readiness line");
    }
}

#[test]
fn open_request_delays_the_stop_until_a_second_signal() {
    let serving = World::serve(&ANY_PORT).ready();
    let _request = serving.open_request();

    serving.signal("TERM");
    serving.says("stopping");

    let (status, _, stderr) = serving.signal_until_ended("INT");
    assert_eq!(status.code(), Some(1));
    let sentence = "error: stopped by a second signal, SIGINT, before every turn had ended\n";
    assert!(stderr.ends_with(sentence), "{stderr}");
}

#[test]
fn signal_sent_twice_is_one_request_to_stop() {
    let serving = World::serve(&ANY_PORT).variable("ANTIPHON_LOG", "debug").ready();
    let request = serving.open_request();

    serving.signal("TERM");
    serving.says("stopping");
    serving.signal("TERM");
    serving.says("signal ignored");
    drop(request);

    let (status, _, stderr) = serving.ended();
    assert_eq!((status.code(), stderr.contains("error")), (Some(0), false), "{stderr}");
}

#[test]
fn sighup_is_logged_and_ends_nothing() {
    let serving = World::serve(&ANY_PORT).ready();
    let _request = serving.open_request();

    serving.signal("HUP");
    serving.says("SIGHUP ignored: settings are read only at the start");
    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");

    serving.signal("TERM");
    serving.says("stopping");
    serving.signal("HUP");
    serving.says("SIGHUP ignored");
}

#[test]
fn greeting_on_stderr_shows_no_key() {
    let args = [&ANY_PORT[..], &["--api-key", "sesame=acme"]].concat();
    let serving = World::serve(&args).ready();
    let base_url = format!("http://{}/v1", serving.address());

    serving.signal("TERM");

    let (_, _, stderr) = serving.ended();
    assert!(stderr.contains(&format!("curl {base_url}/responses")), "{stderr}");
    assert!(stderr.contains(&format!("OpenAI(base_url=\"{base_url}\"")), "{stderr}");
    assert!(!stderr.contains("sesame"), "{stderr}");
}

#[test]
fn greeting_names_the_store_and_the_inspector() {
    let serving = World::serve(&ANY_PORT).ready();
    let address = serving.address();
    serving.signal("TERM");
    let (_, _, stderr) = serving.ended();
    let lines = format!(
        "\nBase URL: http://{address}/v1\nInspector: http://{address}/inspect/\n\
         Store: sqlite:antiphon.db\n"
    );
    assert!(stderr.contains(&lines), "{stderr}");
}

#[test]
fn greeting_names_the_state_owners() {
    let ours = World::serve(&ANY_PORT).ready();
    ours.says("Antiphon owns conversations and responses, in its store.");

    let upstream = ["--upstream", "http://127.0.0.1:9/v1", "--state", "upstream"];
    let theirs = World::serve(&[&ANY_PORT[..], &upstream].concat()).ready();
    theirs.says("upstream=\"127.0.0.1:9\"");
    theirs.says(
        "127.0.0.1:9 owns the conversations that begin with its models. Antiphon owns the others.",
    );
}

/// The text between two marks.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{start}: {text}"));
    rest.split_once(end).unwrap_or_else(|| panic!("{end}: {text}")).0
}

/// The program works as it is, whoever owns the state: these are its requests.
#[test]
fn program_of_the_greeting_works() {
    let at_upstream = ["--upstream", "http://127.0.0.1:9/v1", "--state", "upstream"];
    for args in [&[][..], &at_upstream] {
        let serving = World::serve(&[&ANY_PORT[..], args].concat()).ready();
        let mut greeting = String::new();
        while !greeting.contains("print(response.output_text)") {
            greeting.push_str(&serving.next_line());
        }
        let metadata = match between(&greeting, "conversations.create(", ")\n") {
            "" => json!({}),
            argument => {
                let metadata = argument.strip_prefix("metadata=").unwrap();
                json!({"metadata": serde_json::from_str::<Value>(metadata).unwrap()})
            }
        };
        let (status, conversation) = serving.answer("POST", "/v1/conversations", &metadata);
        assert_eq!(status, 200, "{conversation}");

        let model = between(&greeting, "model=\"", "\"");
        let input = between(&greeting, "input=\"", "\"");
        let body = json!({"model": model, "conversation": conversation["id"], "input": input});
        let (status, response) = serving.answer("POST", "/v1/responses", &body);
        assert_eq!((status, &response["status"]), (200, &json!("completed")), "{response}");
    }
}

#[test]
fn logs_can_be_json() {
    let serving = World::serve(&ANY_PORT).variable("ANTIPHON_LOG_FORMAT", "json").ready();

    serving.signal("TERM");

    let (_, _, stderr) = serving.ended();
    let stopping = stderr.lines().find(|line| line.contains("stopping")).unwrap();
    assert!(stopping.starts_with('{') && stopping.contains(r#""signal":"SIGTERM""#), "{stopping}");
}

#[test]
fn gateway_that_forwards_tokens_listens_on_any_address() {
    let args = ["--listen", "0.0.0.0:0", "--upstream", "http://127.0.0.1:9/v1"];
    assert!(World::serve(&args).ready().address().ip().is_unspecified());
}

#[test]
fn one_flag_can_set_several_api_keys() {
    let args = [&ANY_PORT[..], &["--api-key", "a=acme", "b=globex", "--api-key", "c=acme"]];
    assert_eq!(World::serve(&args.concat()).ready().status_of("/healthz"), "HTTP/1.1 200 OK");
}

#[test]
fn port_in_use_is_a_failure() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let ended = World::serve(&["--listen", &address]).ends();

    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let sentence = format!("error: cannot listen on {address}: ");
    assert!(ended.stderr.starts_with(&sentence), "{}", ended.stderr);
}

#[test]
fn unusable_store_is_a_failure() {
    let args = [&ANY_PORT[..], &["--store", "sqlite:no/such/directory/antiphon.db"]].concat();

    let ended = World::serve(&args).ends();

    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.starts_with("error: the store cannot be opened: "), "{}", ended.stderr);
}

#[test]
fn help_and_version_end_with_code_0() {
    for args in [&["--help"][..], &["serve", "--help"], &["--version"]] {
        let ended = World::antiphon(args).ends();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(ended.stdout.contains("antiphon"), "{}", ended.stdout);
    }
}

#[test]
fn version_names_the_vocabularies_that_the_program_contains() {
    let folder = "../antiphon-gateway/src/tokens/vocabularies";
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = names
        .filter(|path| path.extension().is_some_and(|end| end == "gz"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let version = concat!("antiphon ", env!("CARGO_PKG_VERSION"), "\n");

    assert_eq!(World::antiphon(&["-V"]).ends().stdout, version);
    assert_eq!(
        World::antiphon(&["--version"]).ends().stdout,
        format!("{version}token vocabularies: {}\n", names.join(", ")),
    );
}

#[test]
fn gateway_recovers_from_exhausted_file_descriptors() {
    let serving = World::serve_under("-n 64").ready();

    let connections = serving.connections(100);
    serving.says("connections cannot be accepted");
    drop(connections);

    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
}

#[test]
fn open_file_limit_is_raised() {
    let serving = World::serve_under("-S -n 64").ready();

    let _connections = serving.connections(100);

    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
}

/// The address of the metrics, as a line of the log names it.
fn metrics_address(serving: &Serving) -> SocketAddr {
    loop {
        let line: Value = serde_json::from_str(&serving.next_line()).unwrap();
        if line["fields"]["message"] == "serving metrics" {
            let url = line["fields"]["url"].as_str().unwrap();
            return url["http://".len()..].trim_end_matches("/metrics").parse().unwrap();
        }
    }
}

#[test]
fn metrics_have_a_listener_until_the_last_turn_ends() {
    let world = World::serve(&["--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0"]);
    let serving = world.variable("ANTIPHON_LOG_FORMAT", "json").ready();
    let address = metrics_address(&serving);
    let get = |path: &str, host: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        Serving::exchange_at(address, head.as_bytes())
    };
    for (path, host, status) in [
        ("/metrics", "localhost", "HTTP/1.1 200 OK"),
        ("/metrics", "page.example", "HTTP/1.1 403 Forbidden"),
        ("/v1/models", "localhost", "HTTP/1.1 404 Not Found"),
    ] {
        let answer = get(path, host);
        assert!(answer.starts_with(status), "{path} {host}: {answer}");
    }
    assert_eq!(serving.status_of("/metrics"), "HTTP/1.1 404 Not Found");

    let _request = serving.open_request();
    serving.signal("TERM");
    serving.says("stopping");
    let stopping = get("/metrics", "localhost");
    assert!(stopping.contains("\nantiphon_turns_open 0\n"), "{stopping}");
}
