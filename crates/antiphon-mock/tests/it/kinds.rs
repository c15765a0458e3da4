//! The provider has lists of its own about the kinds of items. They agree with the engine's.

use antiphon::Kind;
use antiphon::item::StatusField;
use antiphon_mock::StrictProvider;
use serde_json::{Value, json};

use crate::client::{Client, id};

/// The kinds that the provider accepts only with an id.
const NEED_IDS: [Kind; 11] = [
    Kind::FileSearchCall,
    Kind::WebSearchCall,
    Kind::CodeInterpreterCall,
    Kind::ImageGenerationCall,
    Kind::ComputerCall,
    Kind::LocalShellCall,
    Kind::McpListTools,
    Kind::McpApprovalRequest,
    Kind::McpCall,
    Kind::Program,
    Kind::ProgramOutput,
];

#[tokio::test]
async fn stored_items_have_the_id_and_status_of_their_kind() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = format!("/v1/conversations/{}/items", client.conversation().await);
    let is_stored = |kind: &&Kind| !matches!(kind, Kind::Message | Kind::ItemReference);
    let kinds: Vec<&Kind> = Kind::ALL.iter().filter(is_stored).collect();
    for kinds in kinds.chunks(20) {
        let item = |kind: &&Kind| {
            let id = NEED_IDS.contains(kind).then(|| format!("{}_1", kind.id_prefix()));
            // Reasoning without content would be a reference to stored reasoning.
            let content = (**kind == Kind::Reasoning).then(|| json!([{"type": "reasoning_text"}]));
            let call_id = format!("call_{kind}");
            json!({
                "type": kind.as_str(), "id": id, "call_id": call_id, "approval_request_id": call_id,
                "content": content,
            })
        };
        let items: Vec<Value> = kinds.iter().map(item).collect();
        let (status, list) = client.post(&path, json!({"items": items})).await;
        assert_eq!(status, 200, "{list}");
        for (kind, stored) in kinds.iter().zip(list["data"].as_array().unwrap()) {
            let prefix = id(stored).split_once('_').unwrap().0;
            assert!([kind.id_prefix(), "item"].contains(&prefix), "{stored}");
            // The provider shows the status of reasoning, but does not accept it.
            let has_status = kind.status() != StatusField::Rejected || **kind == Kind::Reasoning;
            assert_eq!(stored["status"] == "completed", has_status, "{stored}");
        }
    }
}
