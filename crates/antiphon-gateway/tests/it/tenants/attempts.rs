//! Everything that can be tried with an id.

use http::Method;
use serde_json::{Value, json};

use super::belongings::Ids;
use crate::support::{Ask, MODEL, ask, output, reference, user};

/// A request that names an id.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) header: Option<(&'static str, String)>,
    pub(super) body: Option<Value>,
}

impl Attempt {
    fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), header: None, body: None }
    }

    fn post(path: impl Into<String>, body: Value) -> Self {
        Self { body: Some(body), ..Self::new(Method::POST, path) }
    }
}

/// Methods that paths know, and some that none does.
const METHODS: [Method; 6] =
    [Method::HEAD, Method::POST, Method::DELETE, Method::OPTIONS, Method::PUT, Method::PATCH];
/// Queries of lists and of single objects.
const QUERIES: [&str; 6] = [
    "",
    "?include=reasoning.encrypted_content",
    "?include[]=message.output_text.logprobs&order=asc",
    "?stream=true",
    "?limit=100",
    "?limit=0",
];

/// All of them. `own` is what the caller has itself.
pub(super) fn attempts(ids: &Ids, own: &Ids) -> Vec<Attempt> {
    let mut all = Vec::new();
    all.extend(at_paths(ids));
    all.extend(of_conversations(ids));
    all.extend(of_responses(ids));
    all.extend(within_own_objects(ids, own));
    all.extend(of_other_apis(ids));
    all.extend(of_the_header(ids));
    all.extend(turns(ids, own).into_iter().flat_map(each_way));
    all
}

/// Every path with every method, and with every query.
fn at_paths(ids: &Ids) -> Vec<Attempt> {
    let conversation = format!("/v1/conversations/{}", ids.conversation);
    let response = format!("/v1/responses/{}", ids.response);
    let paths = [
        format!("{conversation}/items/{}", ids.item),
        format!("{conversation}/items"),
        conversation,
        format!("{response}/input_items"),
        format!("{response}/report"),
        format!("{response}/context"),
        format!("{response}/cancel"),
        format!("{response}/end"),
        response,
        format!("/v1/models/{}", ids.item),
        format!("/v1beta/models/{}", ids.item),
    ];
    paths.iter().flat_map(|path| at_path(path, &ids.item)).collect()
}

fn at_path(path: &str, item: &str) -> Vec<Attempt> {
    let queries = QUERIES.iter().map(ToString::to_string).chain([format!("?after={item}")]);
    let reading = queries.map(|query| Attempt::new(Method::GET, format!("{path}{query}")));
    let others = METHODS.map(|method| Attempt::new(method, path));
    let posting = [Attempt::post(path, json!({}))];
    reading.chain(others).chain(posting).collect()
}

fn of_conversations(ids: &Ids) -> Vec<Attempt> {
    let conversation = format!("/v1/conversations/{}", ids.conversation);
    let items = format!("{conversation}/items");
    vec![
        Attempt::post(&conversation, json!({"metadata": {"mine": "now"}})),
        Attempt::post(&conversation, json!({"metadata": 5})),
        Attempt::post(&conversation, json!({"metadata": null})),
        Attempt::post(&items, json!({"items": [user("Hello")]})),
        Attempt::post(&items, json!({"items": [{"role": "zed", "content": "Hello"}]})),
        Attempt::post(&items, json!({"items": [reference(&json!(ids.item))]})),
        Attempt::post(format!("{items}?include=reasoning.encrypted_content"), json!({"items": []})),
    ]
}

fn of_responses(ids: &Ids) -> Vec<Attempt> {
    let response = format!("/v1/responses/{}", ids.response);
    vec![
        Attempt::post(format!("{response}/cancel"), json!({})),
        Attempt::new(Method::GET, format!("{response}?starting_after=1&stream=true")),
        // Ids in the places of others.
        Attempt::new(Method::GET, format!("/v1/responses/{}", ids.conversation)),
        Attempt::new(Method::GET, format!("/v1/conversations/{}", ids.response)),
        Attempt::new(Method::GET, format!("/v1/conversations/{}/items", ids.response)),
    ]
}

/// Conversations that requests of Chat Completions, of Anthropic's and of Google's API name.
fn of_other_apis(ids: &Ids) -> Vec<Attempt> {
    let messages = json!([{"role": "user", "content": "Hello"}]);
    let request = |conversation: &str| {
        let metadata = json!({"conversation": conversation});
        json!({"model": MODEL, "max_tokens": 100, "messages": messages, "metadata": metadata})
    };
    let contents = json!([{"parts": [{"text": "Hello"}]}]);
    let of_gemini = |conversation: &str| {
        let metadata = json!({"conversation": conversation});
        json!({"contents": contents, "metadata": metadata})
    };
    let paths = ["/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens"];
    let actions = ["generateContent", "streamGenerateContent", "countTokens"];
    let mut attempts = Vec::new();
    for id in [&ids.conversation, &ids.response] {
        attempts.extend(paths.iter().map(|path| Attempt::post(*path, request(id))));
        attempts.extend(actions.iter().map(|action| {
            Attempt::post(format!("/v1beta/models/{MODEL}:{action}"), of_gemini(id))
        }));
    }
    attempts
}

/// Conversations that a header names.
fn of_the_header(ids: &Ids) -> Vec<Attempt> {
    let paths = ["/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"];
    let attempts = paths.map(|path| Attempt {
        header: Some(("antiphon-conversation", ids.conversation.clone())),
        ..Attempt::post(path, ask([user("Hello")]).body().clone())
    });
    attempts.to_vec()
}

/// Ids of items within what the caller may see.
fn within_own_objects(ids: &Ids, own: &Ids) -> Vec<Attempt> {
    let items = format!("/v1/conversations/{}/items", own.conversation);
    let item = format!("{items}/{}", ids.item);
    let input = format!("/v1/responses/{}/input_items", own.response);
    let referring = json!({"items": [user("Hello"), reference(&json!(ids.item))]});
    vec![
        Attempt::new(Method::GET, &item),
        Attempt::new(Method::GET, format!("{item}?include=reasoning.encrypted_content")),
        Attempt::new(Method::DELETE, &item),
        Attempt::new(Method::GET, format!("{items}?after={}", ids.item)),
        Attempt::new(Method::GET, format!("{items}?order=asc&limit=1&after={}", ids.item)),
        Attempt::new(Method::GET, format!("{input}?after={}", ids.item)),
        Attempt::post(&items, referring.clone()),
        Attempt::post("/v1/conversations", referring),
    ]
}

fn turns(ids: &Ids, own: &Ids) -> Vec<Ask> {
    let hello = || ask("Hello");
    let object = json!({"id": ids.conversation});
    let referring = || ask(json!([reference(&json!(ids.item)), user("Hello")]));
    let late = || ask(json!([output(&json!(ids.call), "hello")]));
    vec![
        hello().within(&ids.conversation),
        hello().field("conversation", object),
        hello().after(&ids.response),
        hello().after(&ids.conversation),
        hello().within(&ids.response),
        hello().within(&ids.conversation).after(&ids.response),
        hello().within(&own.conversation).after(&ids.response),
        hello().within(&ids.conversation).encrypted(),
        hello().after(&ids.response).encrypted(),
        ask(json!([])).within(&ids.conversation),
        ask(json!([])).after(&ids.response),
        referring(),
        referring().within(&ids.conversation),
        referring().within(&own.conversation),
        referring().after(&ids.response),
        referring().after(&own.response),
        late(),
        late().within(&ids.conversation),
        late().within(&own.conversation),
        late().after(&ids.response),
        late().after(&own.response),
    ]
}

/// A turn whole and streamed, stored and not, and as a request that was made before.
fn each_way(ask: Ask) -> Vec<Attempt> {
    let retried = [("idempotency-key", "the-same"), ("x-stainless-retry-count", "1")];
    let [key, count] = retried.map(|(name, value)| Some((name, value.to_owned())));
    let ways = [
        (ask.clone(), None),
        (ask.clone().field("stream", true), None),
        (ask.clone().unstored(), None),
        (ask.clone(), key),
        (ask.field("stream", true), count),
    ];
    let attempt = |(ask, header): (Ask, _)| Attempt {
        header,
        ..Attempt::post("/v1/responses", ask.body().clone())
    };
    ways.map(attempt).to_vec()
}
