//! The pages about faults and repairs: their texts, their paths, and the links to them.

use antiphon::faults::{PAGES, Page};
use http::HeaderValue;
use serde_json::Value;

/// The pages of all names in reports: the name, and Markdown.
pub(crate) fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|page| (page.name, page.text)).chain(OWN.iter().copied())
}

/// The text of the page with this name, in Markdown.
pub fn find(name: &str) -> Option<&'static str> {
    pages().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// The path at which the gateway serves the page of this name; `None` if there is no page.
pub(crate) fn path(name: &str) -> Option<String> {
    find(name).map(|_| format!("/faults/{name}"))
}

/// The name of the fault that an error reports, if the fault has a page.
pub(crate) fn recognize(code: Option<&str>, message: &str) -> Option<&'static str> {
    let page = code.and_then(Page::find).or_else(|| Page::recognize(message));
    page.map(|page| page.name)
}

/// The value of the header `Link` for an error, as RFC 8288 defines it. `None` if the error reports
/// no fault that has a page.
pub(crate) fn link(code: Option<&str>, message: &str) -> Option<HeaderValue> {
    let name = recognize(code, message)?;
    HeaderValue::try_from(format!("</faults/{name}>; rel=\"help\"")).ok()
}

/// The same for the body of an error, in the form of OpenAI's or Anthropic's API.
pub(crate) fn link_of_body(body: &[u8]) -> Option<HeaderValue> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = body.get("error")?;
    link(error["code"].as_str(), error["message"].as_str()?)
}

macro_rules! own {
    ($($name:literal: $text:literal),* $(,)?) => {
        &[$(($name, concat!("# ", $name, "\n\n", $text, "\n"))),*]
    };
}

/// The pages of the gateway's own repairs, for which no provider has an error.
const OWN: &[(&str, &str)] = own![
    "adapted_field": "The upstream's API has no such field or tool. The gateway changed it or left \
        it out, and the message says which.\n\n## The fix\n\nNone is needed, unless the model \
        must have the field: then ask a model behind the Responses API.",
    "bare_reasoning": "A reasoning item has an id, but neither encrypted content nor text, and the \
        gateway has stored no reasoning with its id. A provider knows it only if it stored the \
        item itself. Otherwise it answers that the item is not found.\n\n## Causes\n\n\
        - The response was created with `store: false`, without encrypted content.\n\
        - The client keeps the ids of items and drops their content.\n\n\
        ## The fix\n\nRequest `include: [\"reasoning.encrypted_content\"]` and resend the item \
        as it came, or leave it out together with the call that follows it.\n\n\
        ## With Antiphon\n\nThe item is left out. The model answers without that reasoning.",
    "deleted_item": "The item was deleted from the conversation, and the client has sent it again. \
        It stays deleted.\n\n## The fix\n\nSend only items that are new.",
    "different_output": "The call has another output already. The stored one is used, so that the \
        model does not read two results of one call.\n\n## The fix\n\nSend one output for each \
        `call_id`. Call the tool again for a new result.",
    "empty_message": "OpenAI rejects an assistant's message without content and without calls. \
        It gets an empty text.\n\n## The fix\n\nLeave such a message out of the history.",
    "empty_text": "Anthropic rejects a text block without text. It is left out.\n\n\
        ## The fix\n\nLeave empty blocks out of the messages.",
    "empty_tool_calls": "OpenAI rejects an empty list of `tool_calls`. It is left out.\n\n\
        ## The fix\n\nLeave the field out of a message without calls.",
    "failed_compaction": "The history could not be compacted. The turn continued with all of it.",
    "foreign_compaction": "Another model produced the compaction, so this one cannot read it.",
    "foreign_reasoning": "Another model encrypted the reasoning, so this one cannot read it. It is \
        left out; the visible items stay.",
    "late_output": "The call was answered by a placeholder, and its real output came later. The \
        model receives the real one, in the place of the placeholder or as a message.",
    "long_call_id": "OpenAI rejects the id of a call with more than 40 characters. It is replaced \
        by a shorter one, in the call and in its output.",
    "malformed_call_id": "Anthropic rejects the id of a call with other characters than letters, \
        digits, `_` and `-`. It is replaced, in the call and in its result.",
    "misplaced_output": "The output does not directly follow the message with its call, as the API \
        of the client demands. It is moved there.\n\n## The fix\n\nSend the outputs of all calls \
        right after the message that contains the calls.",
    "not_in_dialect": "The upstream's API has no form for the item. It is left out.",
    "output_of_cut_short_call": "A stream announced the call and ended before the call was \
        complete. Its output has nothing to answer, and is left out.",
    "refused_reasoning": "The upstream has rejected the encrypted reasoning, so the prompt was \
        sent again without it.",
    "repeated_text": "A message equals one of the latest stored ones, and nothing shows that the \
        client resends its history. It was taken as new, so it may be stored twice.\n\n\
        ## The fix\n\nSend items with their ids, or only those that are new.",
    "trailing_whitespace": "Anthropic rejects a final message of the assistant that ends with \
        white space. It is removed.",
    "undefined_tools": "The history contains calls, and the request defines no tools. Anthropic \
        rejects it. The tools are defined by their names.\n\n## The fix\n\nSend the tools with \
        each request whose history has calls.",
    "unrecognized_replay": "A message is part of a history that is sent again, but equals no \
        stored one. It was taken as new, so it may be stored twice.\n\n## The fix\n\nSend \
        items with their ids, or only those that are new.",
    "used_id": "The id belongs to another stored item. The item got a new one.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_page() {
        let mut names: Vec<&str> = pages().map(|(name, _)| name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for (name, text) in pages() {
            assert!(text.starts_with(&format!("# {name}\n\n")) && text.ends_with(".\n"), "{text}");
        }
    }

    /// The names that the documentation of reports lists.
    #[test]
    fn documented_names_have_pages() {
        let documentation = include_str!("../../../docs/api.md");
        let table = documentation.split("| fault | reason of the repair |").nth(1);
        let table = table.and_then(|rest| rest.split("\n\n").next()).expect("the table is there");
        let names = table.lines().filter_map(|line| line.split('|').nth(1));
        let names = names.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        let mut count = 0;
        for name in names {
            assert!(find(name).is_some(), "{name}");
            count += 1;
        }
        assert!(count > 10, "{count}");
    }

    #[test]
    fn error_bodies_of_both_providers_are_linked() {
        let link = |body: &str| {
            link_of_body(body.as_bytes()).map(|link| link.to_str().expect("it is text").to_owned())
        };
        let message = r#""message":"No tool output found for function call call_1.""#;
        let expected = Some(r#"</faults/unanswered_call>; rel="help""#.to_owned());
        assert_eq!(link(&format!(r#"{{"error":{{{message},"code":null}}}}"#)), expected);
        let anthropic = format!(r#"{{"type":"error","error":{{"type":"invalid",{message}}}}}"#);
        assert_eq!(link(&anthropic), expected);
        let code = r#"{"error":{"message":"No.","code":"duplicate_item"}}"#;
        assert_eq!(link(code).as_deref(), Some(r#"</faults/duplicate_item>; rel="help""#));
        for other in [r#"{"error":{"message":"Rate limit reached."}}"#, r#"{"error":1}"#, "<html>"]
        {
            assert_eq!(link(other), None);
        }
    }
}
