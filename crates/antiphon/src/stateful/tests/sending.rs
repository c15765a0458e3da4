//! Tests of the bytes that are sent.

use super::*;

#[test]
fn new_input_is_sent_unchanged() {
    let client = client_with_history();
    let bodies = [
        concat!(
            r#"{ "model" : "m", "conversation":"conv_1", "#,
            r#""input": [ {"role":"user","n":1e2,"content":"So?"} ] }"#,
        ),
        r#"{"conversation":{"id":"conv_1"},"input":"S\u006f?"}"#,
        r#"{"conversation":"conv_1","prompt":{"id":"pmpt_1"}}"#,
        r#"{"conversation":"conv_1","input":null}"#,
    ];
    for body in bodies {
        let mut turn = open(&client, body);
        assert_eq!(sent(&turn), body);
        ends(&mut turn, "");
    }
}

#[test]
fn stored_items_are_left_out_of_input() {
    let client = client_with_history();
    let body = |input: &str| {
        format!(
            "{{ \"n\": 1.0,\n  \"conversation\": \"conv_1\",\n  \"input\": {input},\n  \
             \"x\": [1 ] }}"
        )
    };
    let all = format!("[ {}, {HELLO}, {} ]", user("Hi."), user("So?"));
    let turn = open(&client, &body(&all));
    assert_eq!(sent(&turn), body(&format!("[ {} ]", user("So?"))));
    assert_eq!(turn.report().headers(), [("antiphon-resent", "2".to_owned())]);
}

#[test]
fn stored_call_gets_an_output_before_new_input() {
    let client = client();
    let silence = concat!(
        r#"{"type":"function_call_output","call_id":"call_1","#,
        r#""output":"No output was recorded for this call."}"#,
    );
    let mut turn = open(&client, r#"{"conversation":"conv_1","input":"So?"}"#);
    learns(&mut turn, CALL);
    let message = r#"{"type":"message","role":"user","content":"So?"}"#;
    assert_eq!(
        sent(&turn),
        format!(r#"{{"conversation":"conv_1","input":[{silence},{message}]}}"#)
    );
    ends(&mut turn, "");
    // A body without an input gets one.
    let mut turn = open(&client, r#"{"conversation":"conv_2"}"#);
    turn.record_answer(200, page(CALL));
    assert_eq!(sent(&turn), format!(r#"{{"conversation":"conv_2","input":[{silence}]}}"#));
}

#[test]
fn items_are_deleted_by_the_servers_ids() {
    let client = client();
    let lone = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    let mut turn = within(&client, &user("So?"));
    learns(&mut turn, &format!("{},{lone}", user("Hi.")));
    assert_eq!(asked(&turn), "DELETE /conversations/conv_1/items/rs_1");
    turn.record_answer(200, Bytes::new());
    assert_eq!(sent(&turn), within_body(&user("So?")));
    assert_eq!(turn.report().headers()[1].1, "lone_reasoning=1");
    ends(&mut turn, HELLO);
    // A client that still has the item does not add it again.
    let turn = within(&client, &format!("{lone},{}", user("Bye.")));
    assert_eq!(sent(&turn), within_body(&user("Bye.")));
    assert_eq!(turn.report().headers()[1].1, "deleted_item=1");
}

#[test]
fn request_is_sent_despite_a_failed_deletion() {
    let client = client();
    let lone = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    let mut turn = within(&client, &user("So?"));
    learns(&mut turn, lone);
    turn.record_answer(405, Bytes::new());
    assert_eq!(sent(&turn), within_body(&user("So?")));
    assert_eq!(turn.report().repairs, []);
}

#[test]
fn complete_request_is_known_by_its_response() {
    let client = client();
    let mut turn = open(&client, &format!(r#"{{"input":[{}]}}"#, user("Hi.")));
    ends(&mut turn, HELLO);
    let next = |input: &str| format!(r#"{{"previous_response_id":"resp_1","input":[{input}]}}"#);
    let replay = format!("{},{HELLO},{}", user("Hi."), user("So?"));
    assert_eq!(sent(&open(&client, &next(&replay))), next(&user("So?")));
}

#[test]
fn unstored_response_is_unknown() {
    let client = client();
    let mut turn = open(&client, r#"{"store":false,"input":"Hi."}"#);
    ends(&mut turn, HELLO);
    let next = open(&client, r#"{"previous_response_id":"resp_1","input":"So?"}"#);
    assert_eq!(asked(&next), "GET /responses/resp_1");
}

#[test]
fn ambiguous_request_is_sent_unchanged() {
    let body = r#"{"conversation":"conv_1","previous_response_id":"resp_1","input":"Hi."}"#;
    assert_eq!(sent(&open(&client(), body)), body);
}

#[test]
fn missing_item_counts_as_deleted() {
    let lone = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    for (status, message, is_deleted) in [
        (404, "Item with id 'rs_1' not found.", true),
        (404, "Invalid URL (DELETE /v1/conversations/conv_1/items/rs_1)", false),
        (404, "Conversation with id 'conv_1' not found.", false),
        (405, "Method Not Allowed", false),
        (401, "Incorrect API key provided.", false),
    ] {
        let mut turn = within(&client(), &user("So?"));
        learns(&mut turn, lone);
        turn.record_answer(status, error(message));
        assert_eq!(turn.report().repairs.len(), usize::from(is_deleted), "{message}");
    }
}

#[test]
fn placeholder_without_a_server_id_is_listed_before_its_deletion() {
    let client = client();
    let mut turn = within(&client, &user("So?"));
    learns(&mut turn, CALL);
    ends(&mut turn, HELLO);
    let mut late = within(&client, &output("call_1"));
    let placeholder = concat!(
        r#"{"type":"function_call_output","id":"fco_1","call_id":"call_1","#,
        r#""output":"No output was recorded for this call.","status":"incomplete"}"#,
    );
    learns(&mut late, &format!("{CALL},{placeholder},{},{HELLO}", user("So?")));
    assert_eq!(asked(&late), "DELETE /conversations/conv_1/items/fco_1");
    late.record_answer(405, Bytes::new());
    assert!(matches!(late.step(), Step::Send { .. }), "it was not deleted");
}

#[test]
fn text_that_cannot_be_an_id_is_not_sent() {
    for text in ["../x?y", "..", "a/b", "a%2Fb"] {
        for field in ["conversation", "previous_response_id"] {
            let body = format!(r#"{{"{field}":"{text}","input":"Hi."}}"#);
            assert_eq!(sent(&open(&client(), &body)), body);
        }
        let mut turn = within(&client(), &user("So?"));
        learns(&mut turn, &format!(r#"{{"type":"reasoning","id":"{text}","summary":[]}}"#));
        assert_eq!(sent(&turn), within_body(&user("So?")), "no item is deleted");
    }
}
