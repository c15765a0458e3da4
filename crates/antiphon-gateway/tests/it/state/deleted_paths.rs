//! Every path by which a deleted item could come back to a model, and the one by which it may.

use serde_json::{Value, json};

use crate::support::{
    Ask, Client, Mode, Turn, World, ask, assistant, assistant_again, list, output, reference, text,
    typed_user, user,
};

const SECRET: &str = "My color is purple";
const DOG: &str = "My dog is Biscuit";
const QUESTION: &str = "What is my color and my dog?";

/// A conversation of three turns: the secret, a tool's call, and a dog.
struct Past {
    world: World,
    client: Client,
    conversation: String,
    /// The turns in order; the call's answer is a turn of its own.
    turns: Vec<Turn>,
    /// The items in order, as the conversation shows them with encrypted content.
    items: Vec<Value>,
}

impl Past {
    async fn new() -> Self {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation).encrypted();
        let received = client.respond(&say(json!([typed_user(SECRET)]))).await;
        let called = client.respond(&say(json!([typed_user("Echo hello")]))).await;
        let echoed = client.respond(&say(json!([output(called.call_id(), "hello")]))).await;
        let noted = client.respond(&say(json!([typed_user(DOG)]))).await;
        let path = format!("/v1/conversations/{conversation}/items");
        let query = "order=asc&limit=100&include[]=reasoning.encrypted_content";
        let items = client.get(&format!("{path}?{query}")).await.json()["data"].clone();
        let items = list(&items).to_vec();
        Self { world, client, conversation, turns: vec![received, called, echoed, noted], items }
    }

    /// One in which the first item of this kind was deleted; the item as it was.
    async fn without(kind: &str) -> (Self, Value) {
        let past = Self::new().await;
        let deleted =
            past.items.iter().find(|item| item["type"] == kind).expect("it has all kinds").clone();
        past.delete(&deleted).await;
        (past, deleted)
    }

    async fn delete(&self, item: &Value) {
        let (conversation, id) = (&self.conversation, text(&item["id"]));
        self.client.delete(&format!("/v1/conversations/{conversation}/items/{id}")).await.json();
    }

    /// All that a client can know of the conversation, with the ids, and a question.
    fn replay(&self) -> Vec<Value> {
        [self.items.clone(), vec![user(QUESTION)]].concat()
    }

    /// The same request in the conversation, and behind every response from `first` on.
    fn everywhere(&self, first: usize, asking: &Ask) -> Vec<Ask> {
        let behind = self.turns[first..].iter().map(|turn| asking.clone().after(turn.id()));
        behind.chain([asking.clone().within(&self.conversation)]).collect()
    }

    /// The same, and in a new conversation, and behind nothing at all.
    async fn anywhere(&self, asking: &Ask) -> Vec<Ask> {
        let elsewhere = self.client.new_conversation().await;
        let apart = [asking.clone().within(&elsewhere), asking.clone()];
        self.everywhere(0, asking).into_iter().chain(apart).collect()
    }

    /// Asks, and says that the model was not given `secret`.
    async fn ask_without(&self, asking: &Ask, secret: &str) -> Turn {
        let turn = self.client.respond(asking).await;
        let raw = self.world.last_request().raw;
        let raw = String::from_utf8_lossy(&raw);
        assert!(!raw.contains(secret), "{secret} stands in {raw}");
        self.world.last_view().await;
        turn
    }
}

/// A string that stands in this item and nowhere else.
fn mark(item: &Value) -> &str {
    match text(&item["type"]) {
        "message" => "purple",
        "reasoning" => text(&item["encrypted_content"]),
        "function_call" => r#""type":"function_call","#,
        "function_call_output" => "hello\"}",
        other => panic!("{other} is not among them"),
    }
}

#[tokio::test]
async fn deleted_item_is_absent_after_any_response() {
    let (past, _) = Past::without("message").await;
    for asking in past.everywhere(0, &ask(QUESTION)) {
        past.ask_without(&asking, "purple").await;
    }
    for turn in &past.turns {
        let shown = past.client.stored_response(turn.id()).await;
        assert!(!shown.to_string().contains("purple"));
        let input = past.client.get(&format!("/v1/responses/{}/input_items", turn.id())).await;
        assert!(!input.json().to_string().contains("purple"));
    }
}

#[tokio::test]
async fn replay_does_not_restore_a_deleted_item() {
    for kind in ["message", "reasoning", "function_call", "function_call_output"] {
        let (past, deleted) = Past::without(kind).await;
        for asking in past.anywhere(&ask(json!(past.replay())).encrypted()).await {
            let turn = past.ask_without(&asking, mark(&deleted)).await;
            assert!(turn.text().contains("Biscuit"), "{kind}: {}", turn.text());
            let repairs = turn.header("antiphon-repairs").unwrap_or_default();
            assert!(repairs.contains("deleted_item=1"), "{kind}: {repairs}");
        }
    }
}

#[tokio::test]
async fn replay_of_its_text_does_not_restore_an_item() {
    let (past, _) = Past::without("message").await;
    let [received, called, ..] = &past.turns[..] else { unreachable!("there are four turns") };
    let message = [typed_user(SECRET)];
    let by_id = assistant_again(received.item("message"));
    let by_call =
        [assistant("Noted."), typed_user("Echo hello"), called.item("function_call").clone()];
    for known in [vec![by_id], by_call.to_vec()] {
        let replay = [&message[..], &known, &[user(QUESTION)]].concat();
        for asking in past.everywhere(3, &ask(json!(replay))) {
            let turn = past.ask_without(&asking, "purple").await;
            assert_eq!(turn.text(), "Biscuit");
        }
    }
}

#[tokio::test]
async fn reference_does_not_restore_a_deleted_item() {
    let (past, deleted) = Past::without("message").await;
    let refer = ask(json!([reference(&deleted["id"]), user(QUESTION)]));
    for asking in past.everywhere(0, &refer) {
        past.ask_without(&asking, "purple").await;
    }
    let other = past.client.new_conversation().await;
    let asked = past.world.times_asked();
    for elsewhere in [refer.clone(), refer.within(&other)] {
        assert_eq!(past.client.refused(Mode::Whole, &elsewhere).await.status, 404);
    }
    let path = format!("/v1/conversations/{other}/items");
    let added = past.client.post(&path, &json!({"items": [reference(&deleted["id"])]})).await;
    assert_eq!(added.status(), 404);
    assert_eq!(past.world.times_asked(), asked);
}

#[tokio::test]
async fn copy_elsewhere_does_not_restore_a_deleted_item() {
    let past = Past::new().await;
    let secret = past.items[0].clone();
    let other = past.client.new_conversation().await;
    past.client.add_items(&other, std::slice::from_ref(&secret)).await;

    past.delete(&secret).await;

    let inputs = [
        json!([user(QUESTION)]),
        json!([reference(&secret["id"]), user(QUESTION)]),
        json!(past.replay()),
    ];
    for input in inputs {
        for asking in past.everywhere(0, &ask(input)) {
            past.ask_without(&asking, "purple").await;
        }
    }
    let there = past.client.respond(&ask("What is my color?").within(&other)).await;
    assert_eq!(there.text(), "purple", "the copy is an item of its own");
}

#[tokio::test]
async fn retried_request_does_not_restore_a_deleted_item() {
    let past = Past::new().await;
    let client = past.client.clone().with_header("idempotency-key", "once");
    let asking = ask("My cat is Tom").within(&past.conversation);
    let noted = client.respond(&asking).await;
    past.delete(&past.items[0]).await;
    past.delete(noted.item("message")).await;
    let asked = past.world.times_asked();

    let again = client.respond(&asking).await;

    assert_eq!(past.world.times_asked(), asked);
    assert_eq!((again.id(), again.output()), (noted.id(), &[][..]));
    past.ask_without(&ask(QUESTION).within(&past.conversation), "purple").await;
}

#[tokio::test]
async fn earlier_fork_does_not_show_a_deleted_item() {
    let past = Past::new().await;
    let fork = past.client.respond(&ask("Hello").after(past.turns[2].id())).await;
    let deep = past.client.respond(&ask("Hello again").after(fork.id())).await;
    past.delete(&past.items[0]).await;
    for id in [fork.id(), deep.id()] {
        for input in [json!(QUESTION), json!(past.replay())] {
            past.ask_without(&ask(input).after(id), "purple").await;
        }
    }
}

#[tokio::test]
async fn deleted_item_reaches_no_upstream_api() {
    use antiphon::dialect::UpstreamApi;
    for api in [UpstreamApi::Chat, UpstreamApi::Anthropic] {
        let world = World::with(|settings| settings.upstreams[0].api = api).await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        client.respond(&say(json!([typed_user(SECRET)]))).await;
        client.respond(&say(json!([typed_user(DOG)]))).await;
        let items = client.items(&conversation).await;
        let id = text(&items[0]["id"]);
        client.delete(&format!("/v1/conversations/{conversation}/items/{id}")).await.json();

        let replay = [items.clone(), vec![user(QUESTION)]].concat();
        let turn = client.respond(&say(json!(replay))).await;

        assert_eq!(turn.text(), "Biscuit");
        let raw = world.last_request().raw;
        assert!(!String::from_utf8_lossy(&raw).contains("purple"));
        world.last_view().await;
    }
}

#[tokio::test]
async fn recreated_item_is_stored_again() {
    for kind in ["message", "reasoning"] {
        let (past, deleted) = Past::without(kind).await;
        past.client.add_items(&past.conversation, std::slice::from_ref(&deleted)).await;

        let items = past.client.items(&past.conversation).await;
        assert_eq!(items.last().unwrap()["id"], deleted["id"]);
        let question = ask(QUESTION).within(&past.conversation);
        let turn = past.client.respond(&question).await;
        past.world.last_view().await;
        assert!(turn.text().contains("Biscuit"));
        assert!(turn.text().contains("purple"));
    }
}
