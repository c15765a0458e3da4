//! Answers with counting, dictation, styles and phases.

use serde_json::json;

use super::{ask, user};

#[test]
fn model_counts_up_and_down() {
    for (asked, counted) in [
        ("Count from 1 to 5.", "1, 2, 3, 4, 5"),
        ("Please count to three or to 3!", "1, 2, 3"),
        ("count from 2 to -1", "2, 1, 0, -1"),
    ] {
        assert_eq!(ask(json!({ "input": asked })).text(), counted);
    }
}

#[test]
fn endless_count_is_refused() {
    for asked in ["Count to 1000000", "Count the 3 of 4 and 5", "What counts?"] {
        let answered = ask(json!({ "input": asked }));
        assert!(!answered.text().contains("1, 2"), "{}", answered.text());
    }
}

#[test]
fn notes_of_a_coding_agent_are_not_answered() {
    let note = "<system-reminder>\nWhat is the date? Count to 3.\n</system-reminder>";
    let parts = json!([
        { "type": "input_text", "text": note },
        { "type": "input_text", "text": format!("{note}\n\nMy color is purple") },
    ]);
    let said = ask(json!({ "input": [{ "role": "user", "content": parts }] }));
    assert_eq!(said.text(), "Noted: My color is purple.");
    // Without its end it is a text as any other.
    let open = ask(json!({ "input": "<system-reminder> Reply with OK." }));
    assert_eq!(open.text(), "OK");
}

#[test]
fn user_can_dictate_the_reply() {
    for (asked, reply) in [
        ("Reply with exactly: first", "first"),
        ("Please respond with only: two words", "two words"),
        ("My name is Ada. Reply with OK.", "OK"),
        ("Answer with \"yes\"!", "yes"),
    ] {
        assert_eq!(ask(json!({ "input": asked })).text(), reply);
    }
}

#[test]
fn described_reply_is_not_dictated() {
    let input =
        json!([user("The word is cobalt."), user("What is the word? Reply with the word.")]);
    assert_eq!(ask(json!({ "input": input })).text(), "You told me: word is cobalt.");
}

#[test]
fn instructions_set_the_manner_of_speech() {
    let pirate = json!({ "role": "system", "content": "You are a pirate. Talk like one." });
    let answered = ask(json!({ "input": [pirate, user("Hello!")] }));
    assert_eq!(answered.text(), "Arr! Noted: Hello!");
    let answered = ask(json!({ "instructions": "Answer in all caps.", "input": "Hello!" }));
    assert_eq!(answered.text(), "NOTED: HELLO!");
    let answered =
        ask(json!({ "instructions": "You are a pirate. Reply with: Aye", "input": "Hello!" }));
    assert_eq!(answered.text(), "Aye");
}

#[test]
fn answer_has_a_phase_if_the_input_has_one() {
    let said = json!({ "role": "assistant", "phase": "commentary", "content": "Hm." });
    let answered = ask(json!({ "input": [said, user("Hello!")] }));
    assert_eq!(answered.items()[0]["phase"], "final_answer");
    assert_eq!(
        answered.events_with_type("response.output_item.added")[0]["item"]["phase"],
        "final_answer"
    );
    assert_eq!(ask(json!({ "input": "Hello!" })).items()[0].get("phase"), None);
}
