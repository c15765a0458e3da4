//! Compactions that the key of another store sealed.

use super::*;

/// Imports everything of acme into a new store.
fn moved(from: &Kept) -> Kept {
    let to = Kept::new();
    let exported = file(&from.folder, "acme.ndjson", &export(&from.url()));
    report(&import(&to.url(), &exported, &[]), 0);
    to
}

/// A turn that only compacts.
fn compaction(continued: (&str, &str)) -> Value {
    json!({"model": "sim", "input": [{"type": "compaction_trigger"}], continued.0: continued.1})
}

#[test]
fn compaction_of_the_thread_is_expanded() {
    let from = Kept::new();
    let serving = from.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let compact = compaction(("conversation", &had.conversation));
    ask(&serving, "key-of-acme", "POST", "/v1/responses", &compact);
    stop(serving);

    let serving = moved(&from).serve();
    let next = json!({"model": "sim", "input": "What is my color?",
                      "conversation": had.conversation});
    let key = "authorization: Bearer key-of-acme";
    let answer = serving.ask_with("POST", "/v1/responses", key, &next.to_string());

    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\r\nantiphon-repairs: foreign_compaction=1\r\n"), "{answer}");
    assert!(answer.contains("red"), "{answer}");
}

#[test]
fn compaction_of_a_client_is_named() {
    let from = Kept::new();
    let serving = from.serve();
    let post = |body: &Value| ask(&serving, "key-of-acme", "POST", "/v1/responses", body);
    let first = post(&json!({"model": "sim", "input": "My color is red."}));
    let compacted = post(&compaction(("previous_response_id", id(&first))));
    let item = &compacted["output"][0];
    let input = json!([item, {"role": "user", "content": "Hello"}]);
    let brought = post(&json!({"model": "sim", "input": input}));
    stop(serving);

    let serving = moved(&from).serve();
    let next = json!({"model": "sim", "input": "And?", "previous_response_id": id(&brought)});
    let key = "authorization: Bearer key-of-acme";
    let answer = serving.ask_with("POST", "/v1/responses", key, &next.to_string());

    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let message = format!(
        "The compaction item '{}' cannot be read: the key of another store sealed it, or it was \
         changed. The items that it replaces are not stored here. Delete the item from its \
         conversation, or continue a response from before it.",
        id(item)
    );
    assert!(answer.contains(&message), "{answer}");
}

#[test]
fn sealed_item_in_a_list_is_refused() {
    let from = Kept::new();
    let serving = from.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let compact = compaction(("conversation", &had.conversation));
    let compacted = ask(&serving, "key-of-acme", "POST", "/v1/responses", &compact);
    stop(serving);
    let to = Kept::new();
    let list = json!([message("msg_1", "one"), compacted["output"][0]]);
    let list = file(&to.folder, "list.json", &list.to_string());

    let ended = import(&to.url(), &list, &[]);

    let sentence = format!(
        "error: {}:1: 'item[1].encrypted_content' cannot be read: another store or tenant sealed \
         it, or it was changed; leave this item out\n",
        list.display()
    );
    assert_eq!((ended.code, ended.stderr), (Some(2), sentence));
}
