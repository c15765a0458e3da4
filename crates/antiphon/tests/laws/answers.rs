//! Properties of inputs for a server whose stored items are unknown.

use antiphon::Item;
use antiphon::repair::{Held, OnAnswer, Policy, check_held, repair_held};
use antiphon::strip::{find_held, strip, strip_with};
use bytes::Bytes;
use proptest::prelude::*;

/// Items of one conversation: the first ones come from clients alone, then from servers alone.
const FROM_CLIENTS: [&str; 9] = [
    r#"{"role":"user","content":"hi"}"#,
    r#"{"type":"function_call_output","call_id":"c","output":"1"}"#,
    r#"{"type":"custom_tool_call_output","call_id":"c","output":"1"}"#,
    r#"{"type":"shell_call_output","call_id":"c","output":[]}"#,
    r#"{"type":"apply_patch_call_output","call_id":"c","status":"completed"}"#,
    r#"{"type":"computer_call_output","call_id":"c","output":{}}"#,
    r#"{"type":"tool_search_output","id":"tso_1","call_id":"c","tools":[]}"#,
    r#"{"type":"local_shell_call_output","call_id":"c","output":"1"}"#,
    r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#,
];
const FROM_SERVERS: [&str; 8] = [
    r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
    r#"{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}"#,
    r#"{"type":"local_shell_call","id":"lsh_1","call_id":"c","action":{}}"#,
    r#"{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}"}"#,
    r#"{"type":"mcp_call","id":"mcp_1","approval_request_id":"mcpr_1"}"#,
    r#"{"type":"mcp_list_tools","id":"mcpl_1","tools":[]}"#,
    r#"{"type":"program_output","id":"progo_1","call_id":"c","result":""}"#,
    r#"{"type":"web_search_call","id":"ws_1","status":"completed"}"#,
];
const ASSISTANT: &str = r#"{"role":"assistant","content":"Hello."}"#;

fn texts() -> impl Strategy<Value = Vec<&'static str>> {
    let all = [&FROM_CLIENTS[..], &FROM_SERVERS, &[ASSISTANT]].concat();
    proptest::collection::vec(proptest::sample::select(all), 0..12)
}

fn items(texts: &[&'static str]) -> Vec<Item> {
    let item = |text: &&'static str| Item::parse(Bytes::from_static(text.as_bytes()));
    texts.iter().map(|text| item(text).expect("an item")).collect()
}

fn request(texts: &[&str], marker: &str) -> Bytes {
    format!(r#"{{{marker}"input":[{}]}}"#, texts.join(" , ")).into()
}

proptest! {
    #[test]
    fn nothing_new_is_left_out(texts in texts()) {
        let held = find_held(&items(&texts), OnAnswer::Keep);
        for (position, text) in texts.iter().enumerate() {
            let later = &texts[position + 1..];
            let is_read = later.contains(&ASSISTANT)
                || text.contains("approval_response") && later.contains(&FROM_SERVERS[4]);
            let may_be_new = FROM_CLIENTS.contains(text) && !is_read;
            prop_assert!(!(may_be_new && held[position]), "{text}");
            prop_assert!(held[position] || !FROM_SERVERS.contains(text), "{text}");
        }
    }

    #[test]
    fn dropping_answers_drops_more(texts in texts()) {
        let (kept, dropped) =
            (find_held(&items(&texts), OnAnswer::Keep), find_held(&items(&texts), OnAnswer::Drop));
        prop_assert!(kept.iter().zip(&dropped).all(|(kept, dropped)| !kept || *dropped));
    }

    #[test]
    fn strip_is_idempotent_and_needs_a_marker(texts in texts(), drops in any::<bool>()) {
        let answers = if drops { OnAnswer::Drop } else { OnAnswer::Keep };
        let bare = request(&texts, "");
        prop_assert_eq!(&strip_with(&bare, answers).unwrap().body, &bare);
        let once = strip_with(&request(&texts, r#""conversation":"conv_1","#), answers).unwrap();
        prop_assert_eq!(strip_with(&once.body, answers).unwrap().body, once.body.clone());
        prop_assert_eq!(&strip(&once.body).unwrap().body, &once.body);
    }

    #[test]
    fn check_and_repair_agree_with_strip(texts in texts()) {
        let incoming = items(&texts);
        let held = find_held(&incoming, OnAnswer::Keep);
        let found = check_held(Held::Unknown, &incoming);
        let repaired = repair_held(Held::Unknown, &incoming, &Policy::default()).unwrap();
        for (position, is_held) in held.into_iter().enumerate().filter(|(_, is_held)| *is_held) {
            prop_assert!(is_held && found.iter().any(|found| found.position == Some(position)));
            prop_assert!(!repaired.sources.contains(&Some(position)));
        }
    }
}
