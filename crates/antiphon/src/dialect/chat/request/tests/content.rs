//! Content and its parts.

use super::*;

fn user_content(parts: &Value) -> Value {
    messages(&json!([{"role": "user", "content": parts}]))[0]["content"].clone()
}

fn part_refused(role: &str, part: &Value) -> String {
    let text = json!({"type": "input_text", "text": "see"});
    refused_at(&json!([{"role": role, "content": [text, part]}]))
}

#[test]
fn text_keeps_its_bytes() {
    let raw = r#"{"role":"user","content":[{"type":"input_text","text":"\u00fc \ud83d\ude00\/"}]}"#;
    let encoded = tried(&json!({"model": "m"}), &[item(raw)]).unwrap();
    let body = std::str::from_utf8(&encoded.body).unwrap();
    assert!(body.contains(r#""content":"\u00fc \ud83d\ude00\/""#), "{body}");
}

#[test]
fn texts_are_joined_into_one_string() {
    let parts = json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]);
    assert_eq!(user_content(&parts), "a\n\nb");
    assert_eq!(user_content(&json!([])), "");
}

#[test]
fn text_with_unknown_fields_stays_a_part() {
    let marked = json!([{"type": "input_text", "text": "a", "cache_control": {"type": "x"}}]);
    assert_eq!(
        user_content(&marked),
        json!([{"type": "text", "text": "a",
        "cache_control": {"type": "x"}}])
    );
}

#[test]
fn image_is_sent_by_url() {
    let parts = json!([{"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "https://a/b.png", "detail": "high"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA", "file_id": null}]);
    let expected = json!([{"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "high"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]);
    assert_eq!(user_content(&parts), expected);
}

#[test]
fn image_by_file_id_is_rejected() {
    let part = json!({"type": "input_image", "file_id": "file_1", "detail": "auto"});
    assert_eq!(part_refused("user", &part), "input[0].content[1]");
}

#[test]
fn file_is_sent_by_data_or_id() {
    let parts = json!([
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"},
        {"type": "input_file", "file_id": "file_1"}]);
    let expected = json!([
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA",
            "filename": "a.pdf"}},
        {"type": "file", "file": {"file_id": "file_1"}}]);
    assert_eq!(user_content(&parts), expected);
}

#[test]
fn file_by_url_is_rejected() {
    let part = json!({"type": "input_file", "file_url": "https://a/b.pdf"});
    assert_eq!(part_refused("user", &part), "input[0].content[1]");
}

#[test]
fn audio_is_unchanged() {
    let parts = json!([{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]);
    assert_eq!(user_content(&parts), parts);
}

#[test]
fn unknown_part_is_rejected_with_its_path() {
    let part = json!({"type": "input_smell", "smell": "rose"});
    let input = json!([user("a"), user("b"), user("c"), {"role": "user", "content": [part]}]);
    let (place, message) = refused(&json!({"model": "m"}), &input);
    assert_eq!(place, "input[3].content[0]");
    assert_eq!(
        message,
        "'input[3].content[0]' cannot be sent as Chat Completions: \
         it has no content part 'input_smell'."
    );
}

#[test]
fn image_from_system_or_assistant_is_rejected() {
    let part = json!({"type": "input_image", "image_url": "https://a/b.png"});
    for role in ["system", "developer", "assistant"] {
        assert_eq!(part_refused(role, &part), "input[0].content[1]");
    }
}

#[test]
fn refusal_from_user_is_rejected() {
    assert_eq!(
        part_refused("user", &json!({"type": "refusal", "refusal": "no"})),
        "input[0].content[1]"
    );
}

#[test]
fn content_of_wrong_type_is_rejected() {
    assert_eq!(refused_at(&json!([{"role": "user", "content": 7}])), "input[0].content");
    assert_eq!(refused_at(&json!([{"role": "user", "content": [7]}])), "input[0].content[0]");
    let no_text = json!([{"role": "user", "content": [{"type": "input_text", "text": 7}]}]);
    assert_eq!(refused_at(&no_text), "input[0].content[0]");
}
