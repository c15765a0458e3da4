//! Parts of messages.

use serde_json::{Value, json};

use super::{given, messages, refused, send, text, user_of};
use crate::item::given::user;

fn block_of(part: &Value) -> Value {
    messages(&[user_of(&json!([part]))])[0]["content"][0].clone()
}

fn refused_part(part: &Value) -> String {
    let items = [user("one"), user_of(&json!([{"type": "input_text", "text": "two"}, part]))];
    let (place, message) = refused(&json!({}), &items);
    assert!(message.contains(&place), "{message}");
    place
}

#[test]
fn output_text_and_refusals_become_text() {
    let parts = json!([
        {"type": "output_text", "text": "I can.", "annotations": [], "logprobs": []},
        {"type": "refusal", "refusal": "I will not."},
    ]);
    let items = [user("go"), given(&json!({"role": "assistant", "content": parts})), user("why")];
    assert_eq!(messages(&items)[1]["content"], json!([text("I can."), text("I will not.")]));
}

#[test]
fn image_url_is_sent_as_url_source() {
    let part =
        json!({"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"});
    let source = json!({"type": "url", "url": "https://example.com/a.png"});
    assert_eq!(block_of(&part), json!({"type": "image", "source": source}));
}

#[test]
fn image_data_url_becomes_base64_source() {
    let part = json!({"type": "input_image", "image_url": "data:image/webp;base64,UklGRg=="});
    let source = json!({"type": "base64", "media_type": "image/webp", "data": "UklGRg=="});
    assert_eq!(block_of(&part), json!({"type": "image", "source": source}));
}

#[test]
fn image_detail_is_left_out() {
    let part =
        json!({"type": "input_image", "image_url": "https://example.com/a.png", "detail": "high"});
    assert_eq!(
        send(&json!({}), &[user_of(&json!([part]))]).reported,
        ["input[0].content[0].detail"]
    );
}

#[test]
fn unsupported_images_are_rejected() {
    for part in [
        json!({"type": "input_image", "file_id": "file_1"}),
        json!({"type": "input_image", "image_url": null}),
        json!({"type": "input_image", "image_url": "data:image/svg+xml;base64,PHN2Zz4="}),
        json!({"type": "input_image", "image_url": "data:image/png,%89PNG"}),
    ] {
        assert_eq!(refused_part(&part), "input[1].content[1]", "{part}");
    }
}

#[test]
fn pdf_becomes_document_with_title() {
    for file_data in ["data:application/pdf;base64,JVBERi0=", "JVBERi0="] {
        let part = json!({"type": "input_file", "filename": "a.pdf", "file_data": file_data});
        let source = json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="});
        let expected = json!({"type": "document", "source": source, "title": "a.pdf"});
        assert_eq!(block_of(&part), expected);
    }
}

#[test]
fn text_file_becomes_text_document() {
    for file_data in [
        "data:text/plain;base64,R3LDvMOfZQo=",
        "data:text/markdown;charset=utf-8;base64,R3LDvMOfZQo=",
        "data:text/plain,Gr%C3%BC%C3%9Fe%0A",
        "data:,Gr%c3%bc%c3%9fe%0a",
    ] {
        let part = json!({"type": "input_file", "file_data": file_data});
        let source = json!({"type": "text", "media_type": "text/plain", "data": "Grüße\n"});
        assert_eq!(block_of(&part), json!({"type": "document", "source": source}), "{file_data}");
    }
}

#[test]
fn file_url_is_sent_as_url_source() {
    let part = json!({"type": "input_file", "file_url": "https://example.com/a.pdf"});
    let source = json!({"type": "url", "url": "https://example.com/a.pdf"});
    assert_eq!(block_of(&part), json!({"type": "document", "source": source}));
}

#[test]
fn unsupported_files_are_rejected() {
    for part in [
        json!({"type": "input_file", "file_id": "file_1"}),
        json!({"type": "input_file", "filename": "a.docx", "file_data": "UEsDBA=="}),
        json!({"type": "input_file", "file_data": "data:application/zip;base64,UEsDBA=="}),
        json!({"type": "input_file", "file_data": "data:text/plain;base64,/w=="}),
    ] {
        assert_eq!(refused_part(&part), "input[1].content[1]", "{part}");
    }
}

#[test]
fn audio_and_unknown_parts_are_rejected() {
    let audio =
        json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}});
    for part in [audio, json!({"type": "input_video"}), json!("text"), json!({"text": "hi"})] {
        assert_eq!(refused_part(&part), "input[1].content[1]", "{part}");
    }
}

#[test]
fn invalid_content_is_rejected() {
    let items = [given(&json!({"role": "user", "content": 7}))];
    assert_eq!(refused(&json!({}), &items).0, "input[0].content");
}

#[test]
fn assistant_image_is_rejected() {
    let image = json!({"type": "input_image", "image_url": "https://example.com/a.png"});
    let items = [user("hi"), given(&json!({"role": "assistant", "content": [image]}))];
    assert_eq!(refused(&json!({}), &items).0, "input[1].content[0]");
}
