//! Reports of turns in a stored conversation.

use antiphon::dialect::UpstreamApi;
use serde_json::json;

use super::{assistant, client_of, create, request, user};
use crate::client_apis::world_of;
use crate::support::Mode;

/// A repair of an attached turn is in its report.
#[tokio::test]
async fn report_lists_faults_and_omissions() {
    let world = world_of(UpstreamApi::Anthropic).await;
    let client = client_of(&world);
    let conversation = client.new_conversation().await;
    let named = client.clone().with_header("antiphon-conversation", &conversation);
    let mut asked = request(&json!([user("Hello"), assistant("Well, ")]));
    asked["context_management"] = json!({"edits": []});
    let answer = create(&named, Mode::Whole, &asked).await;
    let repairs = answer.header("antiphon-repairs").expect("there are repairs");
    assert_eq!(repairs, "adapted_field=1, trailing_whitespace=1");
    let report = client.report(answer.header("antiphon-response").expect("it is stored")).await;
    assert_eq!(report["repairs"][0]["fault"], "trailing_whitespace");
    assert_eq!(report["repairs"][0]["action"], "trimmed");
    assert_eq!(report["adapted_fields"][0]["field"], "context_management");
}
