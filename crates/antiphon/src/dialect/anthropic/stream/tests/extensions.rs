//! Blocks that the Responses API has no item for.

use serde_json::json;

use super::world::{INPUT, answers, block, kinds, left_out, start, stop, text};

#[test]
fn server_search_keeps_its_blocks() {
    let call =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
        {"type": "web_search_result", "url": "https://a.example", "title": "A",
            "encrypted_content": "EqY"}]});
    let received = answers(
        "end_turn",
        &[
            text(0, &["Let me look."]),
            block(1, &call, INPUT, &["", "{\"query\": ", "\"rust\"}"]),
            vec![start(2, &result), stop(2)],
            text(3, &["Found."]),
        ],
    );
    let expected =
        ["message", "anthropic:server_tool_use", "anthropic:web_search_tool_result", "message"];
    assert_eq!(kinds(&received), expected);
    let mut called = call;
    called["input"] = json!({"query": "rust"});
    assert_eq!(received.output()[1]["content"], called);
    assert_eq!(received.output()[1]["status"], "completed");
    assert_eq!(received.output()[2]["content"], result);
}

#[test]
fn unknown_block_becomes_extension_item() {
    let news = json!({"type": "acme_news", "headline": "x"});
    let received = answers("end_turn", &[vec![start(0, &news), stop(0)]]);
    assert_eq!(received.only_item()["type"], "anthropic:acme_news");
    assert_eq!(received.only_item()["content"], news);
}

#[test]
fn invalid_json_input_is_left_out_and_reported() {
    let call =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let received = answers("max_tokens", &[block(0, &call, INPUT, &["{\"query\": "])]);
    assert_eq!(received.only_item()["content"], call);
    assert_eq!(left_out(&received), ["input of content block 'server_tool_use' that is no JSON"]);
}

#[test]
fn block_without_type_is_left_out_and_reported() {
    let received = answers("end_turn", &[vec![start(0, &json!({"x": 1})), stop(0)]]);
    assert!(received.output().is_empty());
    assert_eq!(left_out(&received), ["a content block without a type"]);
}
