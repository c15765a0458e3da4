//! Tests of the questions to the server and of their answers.

use super::*;

#[test]
fn conversation_is_listed_once_page_by_page() {
    let client = client();
    let mut turn = within(&client, &user("So?"));
    assert_eq!(asked(&turn), get(ITEMS));
    let first = format!(r#"{{"data":[{HELLO}],"last_id":"msg_1","has_more":true}}"#);
    turn.record_answer(200, first.into());
    assert_eq!(asked(&turn), get(&format!("{ITEMS}&after=msg_1")));
    turn.record_answer(200, page(&user("Well?")));
    assert_eq!(sent(&turn), within_body(&user("So?")));
    ends(&mut turn, "");
    assert_eq!(sent(&within(&client, &user("Bye."))), within_body(&user("Bye.")));
}

#[test]
fn invalid_id_is_not_requested() {
    let client = client();
    for id in ["../responses", "a b", "conv/1", "%2e"] {
        let body = format!(r#"{{"conversation":"{id}","input":"Hi."}}"#);
        assert_eq!(sent(&open(&client, &body)), body);
        let body = format!(r#"{{"previous_response_id":"{id}","input":"Hi."}}"#);
        assert_eq!(sent(&open(&client, &body)), body);
    }
}

#[test]
fn request_for_missing_conversation_is_sent_unchanged() {
    let client = client();
    let mut turn = within(&client, &format!("{HELLO},{}", user("So?")));
    turn.record_answer(404, error("Conversation with id 'conv_1' not found."));
    assert_eq!(sent(&turn), within_body(&format!("{HELLO},{}", user("So?"))));
    let refusal = error("Conversation with id 'conv_1' not found.");
    turn.record_rejection(404, refusal);
    assert_eq!(turn.step(), Step::GiveUp);
}

#[test]
fn unlisted_items_are_left_out_by_kind() {
    for (status, body) in [
        (404, error("Not Found")),
        (500, Bytes::new()),
        (0, Bytes::new()),
        (200, Bytes::from_static(b"<html>")),
    ] {
        let client = client();
        let mut turn = within(&client, &format!("{CALL},{}", output("call_1")));
        while matches!(turn.step(), Step::Ask { .. }) {
            turn.record_answer(status, body.clone());
        }
        assert_eq!(sent(&turn), within_body(&output("call_1")), "{status}");
        let report = turn.report();
        assert!(report.by_kind);
        assert_eq!(report.headers()[1].1, "duplicate_item=1");
        ends(&mut turn, HELLO);
        assert_eq!(asked(&within(&client, &user("Bye."))), get(ITEMS));
    }
}

#[test]
fn received_items_are_not_resent_without_lists() {
    let client = client();
    let said = r#"{"role":"assistant","content":"Hello."}"#;
    let mut history = user("Hi.");
    for answer in [HELLO, said] {
        let mut turn = within(&client, &history);
        turn.record_answer(403, error("You have insufficient permissions for this operation."));
        ends(&mut turn, HELLO);
        history = format!("{history},{answer},{}", user("So?"));
    }
    let mut turn = within(&client, &history);
    turn.record_answer(403, error("You have insufficient permissions for this operation."));
    assert_eq!(sent(&turn), within_body(&user("So?")));
    assert_eq!(turn.report().resent, 4);
}

#[test]
fn nothing_is_sent_during_a_list_outage() {
    for status in [408, 429, 503] {
        let mut turn = within(&client(), &user("So?"));
        turn.record_answer(status, error("Slow down."));
        assert_eq!(turn.step(), Step::GiveUp, "{status}");
    }
}

#[test]
fn failed_list_request_is_repeated_once() {
    let mut turn = within(&client(), &format!("{HELLO},{}", user("So?")));
    turn.record_answer(500, Bytes::new());
    learns(&mut turn, HELLO);
    assert_eq!(sent(&turn), within_body(&user("So?")));
}

#[test]
fn unknown_items_in_input_require_a_list() {
    let client = client_with_history();
    for input in [CALL.to_owned(), output("call_1")] {
        assert_eq!(asked(&within(&client, &input)), get(ITEMS), "{input}");
    }
    let pair = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;
    let replayed = format!("{},{HELLO},{pair},{}", user("Hi."), output("c"));
    sent(&within(&client, &replayed));
}

#[test]
fn replay_with_several_new_messages_requires_a_list() {
    let client = client_with_history();
    let held = format!("{},{HELLO}", user("Hi."));
    let said = HELLO.replace(r#""id":"msg_1","#, "").replace("Hello.", "Well.");
    for more in [user("So?"), said] {
        let input = format!("{held},{more},{}", user("And?"));
        assert_eq!(asked(&within(&client, &input)), get(ITEMS), "{input}");
    }
    sent(&within(&client, &format!("{held},{}", user("And?"))));
    sent(&within(&client_with_history(), &format!("{},{}", user("So?"), user("And?"))));
}

#[test]
fn chain_is_read_back_to_its_known_part() {
    let client = client();
    let body = |input: &str| format!(r#"{{"previous_response_id":"resp_2","input":[{input}]}}"#);
    let mut turn = open(&client, &body(&format!("{HELLO},{}", output("call_1"))));
    assert_eq!(asked(&turn), "GET /responses/resp_2");
    let kept = |previous: &str, output: &str| {
        Bytes::from(format!(
            r#"{{"status":"completed","previous_response_id":{previous},"output":[{output}]}}"#
        ))
    };
    turn.record_answer(200, kept(r#""resp_1""#, CALL));
    assert_eq!(asked(&turn), "GET /responses/resp_2/input_items?order=asc&limit=100");
    turn.record_answer(200, page(r#"{"id":"msg_u","role":"user","content":"Echo."}"#));
    assert_eq!(asked(&turn), "GET /responses/resp_1");
    turn.record_answer(200, kept("null", HELLO));
    turn.record_answer(200, page(r#"{"id":"msg_v","role":"user","content":"Hi."}"#));
    assert_eq!(sent(&turn), body(&output("call_1")));
    assert_eq!(turn.report().resent, 1);
    // The state is known now.
    sent(&open(&client, &body(&output("call_1"))));
}

#[test]
fn items_without_ids_prevent_a_detour() {
    let body = r#"{"previous_response_id":"resp_1","input":"So?"}"#;
    let mut turn = open(&client(), body);
    let lone = r#"{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[]}]}"#;
    for _ in ["learnt", "gone around"] {
        assert_eq!(asked(&turn), "GET /responses/resp_1");
        turn.record_answer(200, lone.into());
        turn.record_answer(200, page(&user("Hi.")));
    }
    assert_eq!(sent(&turn), body);
}

#[test]
fn image_contents_are_listed_for_inputs_with_images() {
    let image = r#"{"type":"input_image","image_url":"https://example.com/1.png"}"#;
    let image = format!(r#"{{"role":"user","content":[{image}]}}"#);
    let include = "&include%5B%5D=message.input_image.image_url";
    let turn = within(&client(), &format!("{image},{}", user("So?")));
    assert_eq!(asked(&turn), get(&format!("{ITEMS}{include}")));

    let body = format!(r#"{{"previous_response_id":"resp_1","input":[{image}]}}"#);
    let mut turn = open(&client(), &body);
    turn.record_answer(200, response(HELLO).into());
    let listed = "GET /responses/resp_1/input_items?order=asc&limit=100";
    assert_eq!(asked(&turn), format!("{listed}{include}"));
}

#[test]
fn deleted_part_of_a_chain_stays_unknown() {
    let client = client();
    let body = r#"{"previous_response_id":"resp_2","input":"So?"}"#;
    let mut turn = open(&client, body);
    let kept =
        format!(r#"{{"status":"completed","previous_response_id":"resp_1","output":[{HELLO}]}}"#);
    turn.record_answer(200, kept.into());
    turn.record_answer(404, error("Not Found"));
    assert_eq!(asked(&turn), "GET /responses/resp_1");
    turn.record_answer(404, error("Response with id 'resp_1' not found."));
    assert_eq!(sent(&turn), body);
}

#[test]
fn delivery_posts_only_awaited_outputs() {
    let client = client();
    let items = Bytes::from(format!("[{},{}]", output("call_1"), output("call_2")));
    let mut turn = client.deliver("account", "conv_1", &items).unwrap();
    learns(&mut turn, CALL);
    assert_eq!(sent(&turn), format!(r#"{{"items":[{}]}}"#, output("call_1")));
    turn.start(false, NOW);
    let created = output("call_1").replace("\"type\"", "\"id\":\"fco_1\",\"type\"");
    turn.push(&page(&created), NOW);
    turn.finish(NOW);
    let again = client.deliver("account", "conv_1", &items).unwrap();
    assert_eq!(asked(&again), get(ITEMS), "another may have called call_2");
    let items = Bytes::from(format!("[{}]", output("call_1")));
    let again = client.deliver("account", "conv_1", &items).unwrap();
    assert_eq!(again.step(), Step::Nothing);
}

#[test]
fn accounts_have_separate_state() {
    let client = client_with_history();
    let body = Bytes::from(within_body(&user("Hi.")));
    assert_eq!(asked(&client.open("another", body).unwrap()), get(ITEMS));
}
