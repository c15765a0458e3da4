//! What a provider keeps of a tenant.

use antiphon::{FingerprintKey, HeldItem, Item};
use antiphon_store::{
    Conversation, ConversationId, Destination, LedgerUpdate, NewResponse, ResponseId, SqliteStore,
    Store, Tenant, ThreadId, TurnRecord, UpstreamId,
};
use serde_json::json;

use super::{Kept, lines};

const UPSTREAM: &str = "https://provider.example/v1";
const CONVERSATION: &str = "conv_000000000000000100000000000000000000000000000001";
const RESPONSE: &str = "resp_000000000000000100000000000000000000000000000002";

/// An item that the provider has.
fn elsewhere(id: &str) -> HeldItem {
    let json =
        json!({"type": "message", "id": id, "role": "user", "content": "a secret of theirs"});
    let item = Item::parse(json.to_string().into()).unwrap();
    HeldItem::new(id.into(), &item, FingerprintKey::new([7; 16]), None).without_body()
}

fn named(id: &str) -> UpstreamId {
    UpstreamId { upstream: UPSTREAM.into(), id: id.into() }
}

/// The tenant has a conversation at the provider, with one turn in it.
async fn acme_has_a_conversation_there(store: &SqliteStore) {
    let acme = Tenant::new("acme");
    let id = ConversationId::parse(CONVERSATION).unwrap();
    let conversation =
        Conversation { id: id.clone(), created_at: 1_767_225_600, metadata: "{}".into() };
    let ledgers = store.ledgers();
    ledgers.adopt(&acme, named("conv_theirs"), conversation, ThreadId(1)).await.unwrap();
    ledgers.resync(&acme, &id, ThreadId(2), vec![elsewhere("msg_1")], None).await.unwrap();
    let response = NewResponse {
        id: ResponseId::parse(RESPONSE).unwrap(),
        conversation: Some(id.clone()),
        created_at: 1_767_225_601,
        envelope: json!({"id": "resp_theirs", "object": "response", "output": []})
            .to_string()
            .into(),
        report: "{}".into(),
        copy: None,
    };
    let turn = TurnRecord {
        destination: Destination::Conversation(id),
        input: vec![elsewhere("msg_2")],
        output: vec![elsewhere("msg_3")],
        response: Some(response),
        request: None,
        place: None,
        notices: Vec::new(),
        ledger: Some(LedgerUpdate { response: Some(named("resp_theirs")), is_stale: false }),
    };
    store.commit_turn(&acme, turn).await.unwrap();
}

#[tokio::test]
async fn export_names_state_owners() {
    let kept = Kept::new();
    let store = SqliteStore::open(&kept.path()).unwrap();
    acme_has_a_conversation_there(&store).await;

    let ended = kept.antiphon(&["export", "--tenant", "acme"]);

    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let head = |id: &str| json!({"type": "message", "id": id, "role": "user"});
    let item = |at: u64, id: &str| {
        json!({"object": "conversation.item", "conversation": CONVERSATION, "id": id, "at": at,
               "kept_elsewhere": true, "head": head(id)})
    };
    let thread = json!({"object": "thread", "shard": "0000000000000001", "id": "0000000000000002",
                        "tip": 3, "named": true, "lineage": []});
    let expected = [
        json!({"object": "export", "version": 2, "tenant": "acme"}),
        json!({"object": "ledger", "upstream": UPSTREAM, "id": "conv_theirs",
               "conversation": CONVERSATION}),
        json!({"object": "ledger", "upstream": UPSTREAM, "id": "resp_theirs",
               "response": RESPONSE}),
        thread.clone(),
        json!({"object": "conversation", "id": CONVERSATION, "created_at": 1_767_225_600,
               "metadata": {}}),
        item(0, "msg_1"),
        item(1, "msg_2"),
        item(2, "msg_3"),
        thread,
        json!({"object": "response", "id": "resp_theirs", "output": []}),
        json!({"object": "response.range", "response": RESPONSE, "conversation": CONVERSATION,
               "created_at": 1_767_225_601, "input": 1, "output": 2, "end": 3}),
        json!({"object": "response.report", "response": RESPONSE, "report": {}}),
        json!({"object": "response.input_item", "response": RESPONSE, "id": "msg_2", "at": 1,
               "kept_elsewhere": true, "head": head("msg_2")}),
        json!({"object": "response.output_item", "response": RESPONSE, "id": "msg_3", "at": 2,
               "kept_elsewhere": true, "head": head("msg_3")}),
        json!({"object": "export.end", "lines": 14}),
    ];
    assert_eq!(lines(&ended.stdout), expected);
}

#[tokio::test]
async fn ledgers_are_counted_and_erased_with_their_tenant() {
    let kept = Kept::new();
    let store = SqliteStore::open(&kept.path()).unwrap();
    acme_has_a_conversation_there(&store).await;
    store.close().await;
    drop(store);

    let listed = kept.antiphon(&["tenants"]);
    let erased = kept.antiphon(&["erase", "--tenant", "acme", "--yes"]);

    assert_eq!(lines(&listed.stdout)[0]["ledgers"], 2);
    assert!(erased.stdout.contains("0 open turns, 2 ledgers, 3 items"), "{}", erased.stdout);
    assert_eq!(kept.antiphon(&["tenants"]).stdout, "");
}
