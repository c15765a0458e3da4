//! Models of servers keep the contract of a backend, and runs use them.

use antiphon::Item;
use antiphon::item::given;
use antiphon::tracker::Continuation;
use antiphon_agents::model::{
    EventKind, Model, ModelErrorKind, ModelRequest, ModelSettings, OutputFormat, ToolChoice,
    ToolDefinition, failed_request,
};
use antiphon_agents::rules::{FailureKind, GiveUp, LOCKED_DELAYS, Retries, RetryDecision};
use antiphon_agents::session::MemorySessions;
use antiphon_agents::{Agent, Run, RunEvent, State, tool};
use antiphon_mock::{Answer, Api, Frame, OnAbort, Reply, Script, StrictProvider};
use antiphon_testkit::FakeUpstream;
use serde_json::{Value, json};

const MODEL: &str = "plain-1";

fn model(provider: &StrictProvider) -> Model {
    Model::responses(MODEL).at(provider.base_url()).key("sk-test")
}

fn request(items: Vec<Item>, continuation: Option<Continuation>) -> ModelRequest {
    ModelRequest { continuation, ..ModelRequest::new(MODEL).with_items(items) }
}

fn weather_tool() -> ToolDefinition {
    let parameters = json!({"type": "object", "properties": {}, "additionalProperties": false});
    ToolDefinition::function("get_weather", "Gets the weather.", &parameters, true)
}

#[tokio::test]
async fn request_has_all_parts_on_the_wire() {
    let provider = StrictProvider::start().await;
    let settings = ModelSettings {
        temperature: Some(0.5),
        max_output_tokens: Some(100),
        other: [("metadata".to_owned(), json!({"a": "b"}))].into_iter().collect(),
        ..ModelSettings::default()
    };
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let request = ModelRequest {
        instructions: Some("Be brief.".into()),
        tools: vec![weather_tool()],
        tool_choice: Some(ToolChoice::None),
        output_format: Some(OutputFormat { name: "answer".into(), schema, strict: true }),
        settings,
        ..request(vec![given::user("Hi")], None)
    };
    let answer = model(&provider).backend().respond(request).await.unwrap();
    answer.finish().await.unwrap();
    // The first request asked for encrypted reasoning, which this model does not have.
    let turns = provider.turns();
    assert!(turns[0].body["include"].is_array() && turns[0].verdict.is_err());
    let body = &turns[1].body;
    assert!(body["include"].is_null());
    assert_eq!(body["model"], MODEL);
    assert_eq!(body["instructions"], "Be brief.");
    assert_eq!(body["input"][0]["content"], "Hi");
    assert_eq!(body["tools"][0]["name"], "get_weather");
    assert_eq!(body["tools"][0]["strict"], true);
    assert_eq!(body["tool_choice"], "none");
    assert_eq!(body["text"]["format"]["type"], "json_schema");
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["max_output_tokens"], 100);
    assert_eq!(body["metadata"]["a"], "b");
    assert_eq!(body["store"], false);
    assert_eq!(body["stream"], true);
    assert_eq!(turns.len(), 2);
}

#[tokio::test]
async fn conversation_is_created_continued_and_listed() {
    let provider = StrictProvider::start().await;
    let model = model(&provider);
    let backend = model.backend();
    let id = backend.create_conversation(vec![given::user("Remember 7.")]).await.unwrap();
    let conversation = Continuation::Conversation { id: id.clone() };

    provider.script(Answer::new(MODEL).call("call_1", "get_weather", "{}"));
    let go = request(vec![given::user("Go")], Some(conversation.clone()));
    let answered = backend.respond(go).await.unwrap().finish().await.unwrap();
    assert_eq!(answered.calls().count(), 1);
    assert!(answered.response_id.is_some());
    backend.deliver(&id, vec![given::output("call_1", "sun")]).await.unwrap();

    let items = backend.items(&conversation).await.unwrap();
    let kinds: Vec<&str> = items.iter().map(|item| item.head().kind.as_str()).collect();
    assert_eq!(kinds, ["message", "message", "function_call", "function_call_output"]);
    assert_eq!(provider.refusals(), []);
}

#[tokio::test]
async fn chain_is_listed_up_to_its_latest_response() {
    let provider = StrictProvider::start().await;
    let model = model(&provider);
    let mut chain = Continuation::Chain { previous_response_id: None };
    assert_eq!(model.backend().items(&chain).await.unwrap(), []);
    for text in ["One", "Two"] {
        let request = request(vec![given::user(text)], Some(chain));
        let answered = model.backend().respond(request).await.unwrap().finish().await.unwrap();
        chain = Continuation::Chain { previous_response_id: answered.response_id };
    }
    assert_eq!(model.backend().items(&chain).await.unwrap().len(), 4);
    assert_eq!(provider.turns()[1].input().len(), 1);
    assert_eq!(provider.refusals(), []);
    assert_eq!(provider.duplicates(), []);
}

#[tokio::test]
async fn items_are_sent_as_they_are() {
    let provider = StrictProvider::start().await;
    let model = model(&provider);
    let id = model.backend().create_conversation(vec![given::user("Hi")]).await.unwrap();
    let conversation = Some(Continuation::Conversation { id });
    let twice = request(vec![given::user("Hi"), given::call("call_1", "{}")], conversation);
    let error = model.backend().respond(twice).await.unwrap_err();
    assert_eq!(error.state_error().unwrap().name(), "unanswered_call");
    assert_eq!(provider.turns()[0].input().len(), 2);
    assert_eq!(provider.turns().len(), 1);
}

#[tokio::test]
async fn replayed_reasoning_is_accepted_by_its_model() {
    let upstream = FakeUpstream::start().await;
    let model = Model::responses("think-1").at(upstream.base_url()).key("sk-test");
    let reasoned = Answer::new("think-1").reasoning("Hm.").message("Hello.");
    upstream.script(Reply::sse(reasoned.frames()));
    let ask = |items| ModelRequest::new("think-1").with_items(items);
    let first = model.backend().respond(ask(vec![given::user("Hi")])).await.unwrap();
    let output = first.finish().await.unwrap().output;
    let history = [given::user("Hi")].into_iter().chain(output).chain([given::user("More")]);
    let second = model.backend().respond(ask(history.collect())).await.unwrap();
    second.finish().await.unwrap();
    let sent = upstream.requests()[1].input().to_vec();
    assert_eq!(sent[1]["type"], "reasoning");
    assert!(sent[1]["encrypted_content"].is_string());
    assert_eq!(upstream.refusals(), []);
}

#[tokio::test]
async fn other_apis_answer_in_the_same_form() {
    for (api, mock) in [(Model::chat("m"), Api::Chat), (Model::anthropic("m"), Api::Anthropic)] {
        let upstream = FakeUpstream::start().await;
        let model = api.at(upstream.base_url()).key("sk-test");
        let called = Answer::new("m").call("call_1", "get_weather", "{}");
        upstream.script(Reply::sse(called.frames_for(mock)));
        let request = ModelRequest {
            tools: vec![weather_tool()],
            ..request(vec![given::user("Weather?")], None)
        };
        let answer = model.backend().respond(request).await.unwrap().finish().await.unwrap();
        let call: Value = serde_json::from_str(answer.calls().next().unwrap().text()).unwrap();
        assert_eq!(call["name"], "get_weather");
        assert_eq!(answer.response_id, None);

        let chain = Some(Continuation::Conversation { id: "conv_1".into() });
        let stateful = ModelRequest { continuation: chain, ..ModelRequest::new("m") };
        let error = model.backend().respond(stateful).await.unwrap_err();
        assert!(matches!(error.kind(), ModelErrorKind::Unsupported(_)), "{error:?}");
        assert_eq!(upstream.refusals(), []);
    }
}

#[tokio::test]
async fn interrupted_answer_is_listed_with_each_outcome() {
    // The items of the server after the input and the first finished item.
    for (on_abort, kinds) in [
        (OnAbort::StorePart, &["message", "function_call"][..]),
        (OnAbort::StoreWhole, &["message", "function_call", "message"]),
        (OnAbort::StoreNothing, &[]),
    ] {
        let provider = StrictProvider::start().await;
        provider.set_on_abort(on_abort);
        let model = model(&provider);
        let id = model.backend().create_conversation(Vec::new()).await.unwrap();
        let conversation = Continuation::Conversation { id };
        let answer = Answer::new(MODEL).call("call_1", "get_weather", "{}").message("Wait.");
        let is_done = |frame: &Frame| frame.name() == Some("response.output_item.done");
        let done = answer.frames().iter().position(is_done).unwrap();
        let exchange = provider.script(Script::from(answer).hang_after(done + 1));

        let request = request(vec![given::user("Go")], Some(conversation.clone()));
        let mut answer = model.backend().respond(request).await.unwrap();
        while !matches!(answer.next().await.unwrap().unwrap().kind(), EventKind::ItemDone { .. }) {}
        drop(answer);
        exchange.wait_for_disconnect().await;
        provider.wait_until_idle().await;

        let items = model.backend().items(&conversation).await.unwrap();
        let listed: Vec<&str> = items.iter().map(|item| item.head().kind.as_str()).collect();
        assert_eq!(listed, kinds, "{on_abort:?}");
    }
}

#[tokio::test]
async fn locked_conversation_has_its_own_retries() {
    let provider = StrictProvider::start().await;
    let model = model(&provider);
    let id = model.backend().create_conversation(Vec::new()).await.unwrap();
    let conversation = Continuation::Conversation { id };
    let exchange = provider.script(Script::from(Answer::new(MODEL).message("A")).gated());
    let ask = |text: &str| request(vec![given::user(text)], Some(conversation.clone()));
    let open = model.backend().respond(ask("One")).await.unwrap();

    let error = model.backend().respond(ask("Two")).await.unwrap_err();
    let failed = failed_request(&error);
    assert_eq!(failed.failure, FailureKind::Locked);
    let decision = Retries::new(Vec::new()).decide(&failed);
    assert_eq!(decision, RetryDecision::After(LOCKED_DELAYS[0]));

    exchange.release_all();
    open.finish().await.unwrap();
    model.backend().respond(ask("Two")).await.unwrap().finish().await.unwrap();
    assert_eq!(provider.duplicates(), []);
}

#[tokio::test]
async fn broken_stream_is_not_retried_after_output() {
    let provider = StrictProvider::start().await;
    let model = model(&provider);
    let id = model.backend().create_conversation(Vec::new()).await.unwrap();
    let conversation = Some(Continuation::Conversation { id });
    let answer = Answer::new(MODEL).message("One two three four five.");
    provider.script(Script::from(answer).break_after(5));
    let request = request(vec![given::user("Go")], conversation);
    let answer = model.backend().respond(request).await.unwrap();
    let failed = failed_request(&answer.finish().await.unwrap_err());
    assert_eq!(failed.failure, FailureKind::Broken);
    let decision = Retries::new(Vec::new()).decide(&failed);
    assert_eq!(decision, RetryDecision::GiveUp(GiveUp::OutputEmitted));
}

/// Looks a city up.
#[tool]
async fn look_up(city: String) -> String {
    format!("found {city}")
}

#[tokio::test]
async fn every_owner_uses_the_gateway_by_its_url() {
    let model = Model::responses(antiphon_sim::NAME).at(crate::gateway::start().await).key("any");
    let id = model.backend().create_conversation(Vec::new()).await.unwrap();
    let session = State::session(MemorySessions::new(), "s");
    let agent = Agent::new("a").tool(look_up).model(model);
    for mut state in [State::empty(), session, State::conversation(id), State::chain()] {
        let mut text = String::new();
        for input in ["My color is purple", "Use look_up with the city Bonn.", "What is my color?"]
        {
            let result = Run::start(&agent, state, input).unwrap().finish().await.unwrap();
            text += &result.text();
            state = result.next_state();
        }
        assert!(text.contains("found Bonn"), "{state:?}: {text}");
        // The built-in model quotes what its context has twice as often.
        let (_, last) = text.rsplit_once("You told me").expect("it answers the question");
        assert_eq!(last.matches("purple").count(), 1, "{state:?}: {text}");
    }
}

#[tokio::test]
async fn runs_call_tools_over_the_other_apis() {
    for (api, mock) in [(Model::chat("m"), Api::Chat), (Model::anthropic("m"), Api::Anthropic)] {
        let upstream = FakeUpstream::start().await;
        let calls = Answer::new("m").reasoning("Two cities.");
        let calls = calls.call("call_1", "look_up", r#"{"city":"Bonn"}"#);
        let calls = calls.call("call_2", "look_up", r#"{"city":"Rome"}"#);
        for answer in [calls, Answer::new("m").message("Both."), Answer::new("m").message("Yes.")] {
            upstream.script(Reply::sse(answer.frames_for(mock)));
        }
        let model = api.at(upstream.base_url()).key("sk-test");
        let agent = Agent::new("a").tool(look_up).model(model);
        let state = State::session(MemorySessions::new(), "s");
        let first = Run::start(&agent, state, "Look up").unwrap().finish().await.unwrap();
        assert_eq!(first.text(), "Both.", "{mock:?}");
        let run = Run::start(&agent, first.next_state(), "Really?").unwrap();
        assert_eq!(run.finish().await.unwrap().text(), "Yes.", "{mock:?}");
        let last = upstream.requests()[2].body.to_string();
        let places = ["found Bonn", "found Rome", "Both."].map(|text| last.find(text));
        assert!(places.is_sorted() && places[0].is_some(), "{mock:?}: {last}");
        assert_eq!(last.matches("found").count(), 2, "{mock:?}: {last}");
        assert_eq!(upstream.refusals(), []);
    }
}

#[tokio::test]
async fn part_that_an_api_cannot_carry_is_reported() {
    let upstream = FakeUpstream::start().await;
    upstream.script(Reply::sse(Answer::new("m").message("Hello.").frames_for(Api::Chat)));
    let include = vec!["file_search_call.results".to_owned()];
    let agent = Agent::new("a").settings(ModelSettings { include, ..ModelSettings::default() });
    let agent = agent.model(Model::chat("m").at(upstream.base_url()).key("sk-test"));
    let mut run = Run::start(&agent, State::empty(), "Hi").unwrap();
    let mut left_out = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::Omitted(omissions) = event {
            left_out.extend(omissions.iter().map(|it| it.place.to_string()));
        }
    }
    assert_eq!(left_out, ["include[0]"]);
}

#[tokio::test]
async fn reasoning_returns_to_its_model_and_is_reported_for_others() {
    let upstream = FakeUpstream::start().await;
    let model = |name| Model::responses(name).at(upstream.base_url()).key("sk-test");
    let expert = Agent::new("expert").model(model("think-2"));
    let first = Agent::new("first").handoff(&expert).model(model("think-1"));
    let handoff = Answer::new("think-1").reasoning("Hm.").call("c1", "transfer_to_expert", "{}");
    let others = [("think-2", "Expert here."), ("think-1", "Back again.")];
    let others = others.map(|(model, text)| Answer::new(model).message(text));
    for answer in std::iter::once(handoff).chain(others) {
        upstream.script(Reply::sse(answer.frames()));
    }
    let mut run = Run::start(&first, State::empty(), "Hi").unwrap();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::Repaired(repairs) = event {
            events.extend(repairs);
        }
    }
    let result = run.finish().await.unwrap();
    let faults: Vec<_> = events.iter().map(|repair| repair.fault).collect();
    assert_eq!(faults, ["foreign_reasoning"]);
    assert_eq!(result.repairs(), events);

    let run = Run::start(&first, result.next_state(), "And?").unwrap();
    assert_eq!(run.finish().await.unwrap().repairs(), []);
    let requests = upstream.requests();
    let reasoning = requests.iter().map(|request| {
        let is_reasoning = |item: &&Value| item["type"] == "reasoning";
        request.input().iter().filter(is_reasoning).count()
    });
    assert_eq!(reasoning.collect::<Vec<_>>(), [0, 0, 1]);
    assert!(requests[2].input()[1]["encrypted_content"].is_string());
    assert_eq!(upstream.refusals(), []);
}
