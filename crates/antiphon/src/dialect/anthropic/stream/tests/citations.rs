//! Citations.

use serde_json::{Value, json};

use super::world::{answers, delta, left_out, start, stop, text};

fn cited(citation: &Value) -> Vec<Value> {
    let mut events = text(0, &["Rust ", "1.95 \u{1f980}"]);
    events.insert(1, delta(0, "citations_delta", "citation", citation));
    events
}

fn web(title: Option<&str>) -> Value {
    json!({"type": "web_search_result_location", "cited_text": "Rust 1.95 is out", "title": title,
        "url": "https://blog.example/1.95", "encrypted_index": "Eo8B"})
}

#[test]
fn search_result_becomes_url_citation_of_whole_text() {
    let received = answers("end_turn", &[cited(&web(Some("Rust 1.95")))]);
    let annotation = json!({"type": "url_citation", "url": "https://blog.example/1.95",
        "title": "Rust 1.95", "start_index": 0, "end_index": 11});
    assert_eq!(received.only_item()["content"][0]["annotations"], json!([annotation]));
    assert_eq!(received.events_named("output_text.annotation.added")[0]["annotation"], annotation);
}

#[test]
fn missing_page_title_becomes_empty() {
    let received = answers("end_turn", &[cited(&web(None))]);
    assert_eq!(received.only_item()["content"][0]["annotations"][0]["title"], "");
}

#[test]
fn document_with_file_id_becomes_file_citation() {
    let received = answers(
        "end_turn",
        &[cited(&json!({"type": "char_location", "cited_text": "x",
        "document_index": 2, "document_title": "Plan.pdf", "file_id": "file_1",
        "start_char_index": 5, "end_char_index": 9}))],
    );
    let annotation = json!({"type": "file_citation", "file_id": "file_1", "filename": "Plan.pdf",
        "index": 2});
    assert_eq!(received.only_item()["content"][0]["annotations"], json!([annotation]));
}

#[test]
fn document_citation_without_file_id_is_reported() {
    let received = answers(
        "end_turn",
        &[cited(&json!({"type": "page_location", "cited_text": "x",
        "document_index": 0, "document_title": "Plan", "file_id": null,
        "start_page_number": 1, "end_page_number": 2}))],
    );
    assert_eq!(received.only_item()["content"][0]["annotations"], json!([]));
    assert_eq!(left_out(&received), ["citation 'page_location'"]);
}

#[test]
fn citations_at_block_start_are_kept() {
    let whole = json!({"type": "text", "text": "Rust", "citations": [web(Some("R"))]});
    let received = answers("end_turn", &[vec![start(0, &whole), stop(0)]]);
    assert_eq!(received.only_item()["content"][0]["annotations"][0]["end_index"], 4);
}

#[test]
fn citation_covers_text_of_its_block() {
    let mut second = text(1, &["Two"]);
    second.insert(2, delta(1, "citations_delta", "citation", &web(Some("R"))));
    let received = answers("end_turn", &[text(0, &["One"]), second]);
    let content = &received.only_item()["content"];
    assert_eq!(content[0]["annotations"], json!([]));
    assert_eq!(content[1]["annotations"][0]["end_index"], 3);
}
