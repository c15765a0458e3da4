//! Estimates the tokens of a request if no server counts them.
//!
//! The estimate counts the text that a model receives: the texts of messages, names, arguments and
//! outputs, the schemas of tools and output formats, and an overhead for each message and tool.
//! Images and files are counted by the rules of the providers. The estimate does not include
//! additions of the server, its serialization of tools, or vocabularies other than OpenAI's.
//!
//! The time is linear, and the number of bytes that are tokenized is bounded.

mod byte_pairs;
mod data_url;
mod items;
mod media;
mod tokenizer;
mod tools;
mod vocabulary;

use antiphon::Item;
use antiphon::json::Object;
use tokio::sync::Semaphore;

use self::vocabulary::Counter;
use crate::error::ApiError;

/// The tokens at the start of each reply. Source: OpenAI's recipe for counting a chat's tokens.
const REPLY: u64 = 3;

/// The maximum number of concurrent counts, because counting uses much CPU time.
const MAX_COUNTS: usize = 4;

static COUNTING: Semaphore = Semaphore::const_new(MAX_COUNTS);

/// The tokens of each part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenEstimate {
    /// All fields except the items: instructions, tools, the output schema.
    pub(crate) fields: u64,
    /// Each item.
    pub(crate) items: Vec<u64>,
}

impl TokenEstimate {
    /// The tokens of the whole request.
    pub(crate) fn total(&self) -> u64 {
        self.items.iter().fold(self.fields, |total, tokens| total.saturating_add(*tokens))
    }
}

/// Counts the tokens of a request on a blocking thread. `fields` is the JSON of all fields except
/// the input, `view` the items that the model receives.
pub(crate) async fn estimate_tokens(
    fields: &str,
    view: &[Item],
) -> Result<TokenEstimate, ApiError> {
    let turn = COUNTING.acquire().await.expect("it is never closed");
    let (fields, view) = (fields.to_owned(), view.to_vec());
    let weighing = tokio::task::spawn_blocking(move || {
        // The count runs to its end, even if its caller stops waiting.
        let _turn = turn;
        let fields = Object::parse(fields.as_bytes()).unwrap_or_default();
        estimate(&fields, &view)
    });
    weighing.await.map_err(|_| ApiError::TokensNotCounted)
}

/// Whether a request certainly has at most `window` tokens. This needs no count, because each token
/// has at least one byte.
pub(crate) fn certainly_fits(fields: &str, view: &[Item], window: u64) -> bool {
    let bytes = view.iter().fold(fields.len(), |sum, item| sum.saturating_add(item.raw().len()));
    bytes as u64 <= window && !view.iter().any(|item| media::may_be_in(item.raw()))
}

fn estimate(fields: &Object<'_>, view: &[Item]) -> TokenEstimate {
    let mut counter = Counter::for_model(&fields.string("model").unwrap_or_default());
    TokenEstimate {
        fields: REPLY + count_fields(&mut counter, fields),
        items: view.iter().map(|item| items::count_item(&mut counter, item)).collect(),
    }
}

fn count_fields(counter: &mut Counter, fields: &Object<'_>) -> u64 {
    let instructions = fields.string("instructions");
    instructions.map_or(0, |text| items::count_message(counter, &text))
        + fields.present("tools").map_or(0, |tools| tools::count_tools(counter, tools))
        + fields.present("text").map_or(0, |text| tools::count_format(counter, text))
}

#[cfg(test)]
mod tests {
    use antiphon::item::parse_items;
    use serde_json::{Value, json};

    use super::*;

    fn tokens(fields: &Value, items: &Value) -> u64 {
        let view = parse_items(&items.to_string().into()).unwrap();
        estimate(&Object::parse(fields.to_string().as_bytes()).unwrap(), &view).total()
    }

    fn count_items(items: &Value) -> u64 {
        tokens(&json!({}), items) - REPLY
    }

    #[test]
    fn json_spelling_does_not_change_the_count() {
        let plain = count_items(&json!([{"role": "user", "content": "Hello there"}]));
        let typed = count_items(&json!([{
            "type": "message", "id": "msg_0123456789", "status": "completed", "role": "user",
            "content": [{"type": "input_text", "text": "Hello there"}],
        }]));
        assert_eq!((plain, typed), (6, 6));
    }

    #[test]
    fn calls_count_by_name_and_arguments() {
        let call = |id: &str| {
            count_items(&json!([{
                "type": "function_call", "id": id, "call_id": id, "name": "echo",
                "arguments": "{\"text\":\"hello\"}",
            }]))
        };
        assert_eq!(call("a"), call("a_very_long_identifier_of_a_call_0123456789"));
        assert!((5..20).contains(&call("a")), "{}", call("a"));
        let output = json!([{"type": "function_call_output", "call_id": "c", "output": "hello"}]);
        assert_eq!(count_items(&output), 5);
    }

    #[test]
    fn instructions_tools_and_schemas_count() {
        let bare = tokens(&json!({"model": "gpt-5"}), &json!([]));
        let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let tool = json!([{"type": "function", "name": "weather", "parameters": parameters}]);
        let format = json!({"format": {"type": "json_schema", "schema": parameters}});
        for fields in [
            json!({"instructions": "Be brief and polite."}),
            json!({"tools": tool}),
            json!({"text": format}),
        ] {
            assert!(tokens(&fields, &json!([])) >= bare + 5, "{fields}");
        }
        assert_eq!(tokens(&json!({"metadata": {"a": "b"}, "user": "someone"}), &json!([])), bare);
    }

    #[test]
    fn sealed_content_does_not_count_as_text() {
        let reasoning = |sealed: String| {
            count_items(&json!([{
                "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed,
            }]))
        };
        let tokens = reasoning("gAAAAB3Xz9".repeat(160));
        assert!((200..400).contains(&tokens), "{tokens}");
    }

    #[test]
    fn requests_that_certainly_fit_are_not_counted() {
        let view = parse_items(&r#"[{"role":"user","content":"Hello"}]"#.into()).unwrap();
        assert!(certainly_fits("{}", &view, 40));
        assert!(!certainly_fits("{}", &view, 20));
        let image = r#"[{"role":"user","content":[{"type":"input_image","image_url":"u"}]}]"#;
        assert!(!certainly_fits("{}", &parse_items(&image.into()).unwrap(), 1000));
    }

    /// With quadratic time, each of these would take hours.
    #[test]
    fn long_texts_and_many_items_are_counted_in_linear_time() {
        for text in ["a".repeat(2 << 20), " ".repeat(2 << 20), "é\n".repeat(1 << 19)] {
            let length = text.len() as u64;
            let counted = count_items(&json!([{"role": "user", "content": text}]));
            assert!(counted > 0 && counted < length, "{counted} of {length}");
        }
        let many = vec![json!({"role": "user", "content": "Hello there"}); 20_000];
        assert_eq!(count_items(&json!(many)), 120_000);
    }
}
