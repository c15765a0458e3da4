//! Turns that go well, and upstreams with which they do not.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;

use super::secrets::{Discreet, assert_refused, telling};

#[test]
fn successful_turns_are_logged_without_content() {
    for api in ["responses", "chat", "anthropic"] {
        for (gateway, format) in
            [(Discreet::keyed(api, "json"), "json"), (Discreet::forwarding(api), "text")]
        {
            for streamed in [false, true] {
                let answer = gateway.turn(&telling(), streamed);
                assert!(answer.starts_with("HTTP/1.1 200 "), "{api} {format}: {answer}");
            }
            gateway.ends_having_told(&["unanswered_call", "completed"]);
        }
    }
}

#[test]
fn answers_are_not_logged() {
    let gateway = Discreet::keyed("responses", "text");
    let answer = Answer::new("fake-model").reasoning("sesame-thought").message("sesame-said");
    let answer = answer.call("call_9", "echo", r#"{"text":"sesame-arguments"}"#);
    for streamed in [false, true] {
        gateway.script(Reply::sse(answer.frames()));
        assert!(gateway.turn(&telling(), streamed).contains("sesame-said"));
    }
    for broken in 1..answer.frames().len() - 1 {
        gateway.script(Reply::sse(answer.frames()).break_after(broken));
        gateway.turn(&telling(), true);
    }
    gateway.ends_having_told(&["completed", "failed"]);
}

#[test]
fn upstream_rejection_reaches_the_caller_but_no_log() {
    let gateway = Discreet::keyed("responses", "text");
    let body = r#"{"error":{"message":"sesame is refused","type":"x","param":"","code":""}}"#;
    for status in [400, 401, 429, 500] {
        for streamed in [false, true] {
            let status = StatusCode::from_u16(status).unwrap();
            gateway.script(Reply::new(status, "application/json", body));
            assert!(gateway.turn(&telling(), streamed).ends_with(body));
        }
    }
    gateway.ends_having_told(&["the upstream refused the request"]);
}

#[test]
fn invalid_upstream_answer_is_not_logged() {
    let gateway = Discreet::keyed("responses", "text");
    for streamed in [false, true] {
        let replies = [
            Reply::new(StatusCode::OK, "text/html", "<p>sesame</p>"),
            Reply::new(StatusCode::FOUND, "text/plain", "sesame").header("location", "/sesame"),
        ];
        for reply in replies {
            gateway.script(reply);
            assert_refused(&gateway.turn(&telling(), streamed), 502);
        }
    }
    for reply in [
        Reply::new(StatusCode::OK, "application/json", "{\"sesame\": "),
        Reply::new(StatusCode::OK, "application/json", "[\"sesame\"]"),
        Reply::new(StatusCode::OK, "text/event-stream", "data: sesame\n\n"),
        Reply::new(StatusCode::OK, "text/event-stream", "data: {\"type\":\"sesame\"}\n\n"),
        Reply::new(StatusCode::OK, "text/event-stream", "sesame"),
    ] {
        gateway.script(reply.clone());
        let failed = gateway.turn(&telling(), false);
        assert!(
            failed.contains("server_error") && !error_of(&failed).contains("sesame"),
            "{failed}"
        );
        gateway.script(reply);
        let failed = gateway.turn(&telling(), true);
        assert!(
            failed.contains("response.failed") && !error_of(&failed).contains("sesame"),
            "{failed}"
        );
    }
    gateway.ends_having_told(&["turn refused", "failed"]);
}

/// The error within a failed response, whose other fields repeat the request.
fn error_of(answer: &str) -> &str {
    let (_, error) = answer.rsplit_once(r#""error":{"#).unwrap();
    error.split_once('}').unwrap().0
}
