//! The spans of turns.

use antiphon_mock::{Answer, Reply};
use antiphon_testkit::otlp::{Kind, Value};
use http::StatusCode;
use serde_json::json;

use super::TracedWorld;
use crate::support::{MODEL, MODES, Mode, ask, output};

const TURN: &str = "\
POST /v1/responses
  open
  load
  reconcile
  send
  chat fake-model
    POST /responses
  stream
  commit
";

#[tokio::test]
async fn turn_has_a_span_for_each_stage() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        let client = traced.world.client().with_header("user-agent", "OpenAI/Python 2.1");
        let conversation = client.new_conversation().await;
        let turn = client.turn(mode, &ask("Hello").within(&conversation)).await;

        let trace = traced.trace().await;

        assert_eq!(trace.tree(), TURN);
        let root = trace.span("POST /v1/responses");
        assert_eq!((root.kind, root.is_error, &*root.parent), (Kind::Server, false, ""));
        for (key, text) in [
            ("http.request.method", "POST"),
            ("http.route", "/v1/responses"),
            ("url.path", "/v1/responses"),
            ("user_agent.original", "OpenAI/Python 2.1"),
            ("antiphon.turn.outcome", "completed"),
            ("antiphon.model", MODEL),
            ("gen_ai.response.id", turn.id()),
            ("gen_ai.conversation.id", &conversation),
        ] {
            assert_eq!(root.text(key), text, "{key}");
        }
        assert!(root.text("antiphon.request.id").starts_with("req_"));
        assert!(root.text("antiphon.tenant").starts_with("token-"));
        assert_eq!(root.int("http.response.status_code"), Some(200));
        assert_eq!(root.attributes["antiphon.streamed"], Value::Bool(mode == Mode::Streamed));
        assert_eq!(root.attributes["antiphon.stored"], Value::Bool(true));
        assert_eq!(root.resource["service.name"], Value::Text("antiphon".into()));
        assert!(root.resource.contains_key("service.instance.id"));
    }
}

#[tokio::test]
async fn chat_span_follows_the_convention() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        let answer = Answer::new(MODEL).message("Hello there");
        let reply = match mode {
            Mode::Whole => Reply::json(StatusCode::OK, &answer.json()),
            Mode::Streamed => Reply::sse(answer.frames()),
        };
        traced.world.script(reply.header("x-request-id", "req_theirs"));
        let question = ask("Hello")
            .field("max_output_tokens", 100)
            .field("temperature", 0.5)
            .field("reasoning", json!({"effort": "low"}))
            .field("text", json!({"format": {"type": "json_object"}}));
        let turn = traced.world.client().turn(mode, &question).await;

        let trace = traced.trace().await;

        let chat = trace.chat();
        assert_eq!(chat.kind, Kind::Client);
        for (key, text) in [
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", "openai"),
            ("gen_ai.request.model", MODEL),
            ("gen_ai.request.reasoning.level", "low"),
            ("gen_ai.output.type", "json"),
            ("gen_ai.response.model", MODEL),
            ("gen_ai.response.id", turn.id()),
            ("server.address", "127.0.0.1"),
        ] {
            assert_eq!(chat.text(key), text, "{key}");
        }
        let reasons = Value::List(vec![Value::Text("stop".into())]);
        assert_eq!(chat.attributes["gen_ai.response.finish_reasons"], reasons);
        assert_eq!(chat.int("gen_ai.request.max_tokens"), Some(100));
        assert_eq!(chat.attributes["gen_ai.request.temperature"], Value::Double(0.5));
        let usage = &turn.response["usage"];
        assert_eq!(chat.int("gen_ai.usage.input_tokens"), usage["input_tokens"].as_i64());
        assert_eq!(chat.int("gen_ai.usage.output_tokens"), usage["output_tokens"].as_i64());
        let is_streamed = mode == Mode::Streamed;
        for key in ["gen_ai.request.stream", "gen_ai.response.time_to_first_chunk"] {
            assert_eq!(chat.attributes.contains_key(key), is_streamed, "{key}");
        }
        let [attempt] = trace.attempts()[..] else { panic!("{}", trace.tree()) };
        assert_eq!(
            attempt.text("url.full"),
            format!("{}/responses", traced.world.upstream.base_url())
        );
        assert_eq!(attempt.text("http.response.header.x-request-id"), "req_theirs");
        assert_eq!(attempt.int("http.response.status_code"), Some(200));
    }
}

#[tokio::test]
async fn turns_of_a_tool_loop_count_their_items() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hello"}"#);
    traced.world.script(Reply::json(StatusCode::OK, &answer.json()));
    let first = client.respond(&ask("Echo hello").within(&conversation)).await;
    let answered = json!([output(first.call_id(), "hello")]);
    client.respond(&ask(answered).within(&conversation)).await;

    let traces = traced.traces(2).await;

    let reasons =
        |at: usize| traces[at].chat().attributes["gen_ai.response.finish_reasons"].clone();
    assert_eq!(reasons(0), Value::List(vec![Value::Text("tool_call".into())]));
    assert_eq!(reasons(1), Value::List(vec![Value::Text("stop".into())]));
    let counts = |at: usize| {
        let root = traces[at].span("POST /v1/responses");
        ["received", "new", "known", "sent", "output"]
            .map(|name| root.int(&format!("antiphon.items.{name}")).unwrap_or(-1))
    };
    let made = i64::try_from(first.output().len()).unwrap();
    assert_eq!(counts(0), [1, 1, 0, 1, made]);
    assert_eq!(counts(1)[..4], [1, 1, 0, 2 + made]);
}
