//! Failures as they were reported of frameworks, mended from the command line.

use crate::world::{Ended, World};

/// What the server of a conversation holds after the model called `echo`.
const HELD: &str = r#"{"object": "list", "data": [
    {"type":"message","id":"msg_1","role":"user","status":"completed",
      "content":[{"type":"input_text","text":"Echo hello"}]},
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"echo",
      "arguments":"{\"text\":\"hello\"}","status":"completed"}
  ], "first_id": "msg_1", "last_id": "fc_1", "has_more": false}"#;

const DUPLICATE: &str = "Duplicate item found with id fc_1. Remove duplicate items from your input \
                         and try again.";

/// What an agent's loop sends next: everything again, and the output.
const WHOLE: &str = r#"{"model": "gpt-5.4-mini", "conversation": "conv_1", "input": [
    {"role":"user","content":"Echo hello"},
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"echo",
      "arguments":"{\"text\": \"hello\"}"},
    {"type":"function_call_output","call_id":"call_1","output":"hello"}
  ]}"#;

const OUTPUT_ALONE: &str = r#"{"model": "gpt-5.4-mini", "conversation": "conv_1", "input": [
    {"type":"function_call_output","call_id":"call_1","output":"hello"}
  ]}"#;

fn with_held(command: &str, input: &str) -> Ended {
    World::antiphon(&[command, "--held", "conversation.json"])
        .file("conversation.json", HELD)
        .input(input)
        .ends()
}

#[test]
fn held_call_resent_with_its_output_is_found() {
    let checked = with_held("check", WHOLE);
    let resent = "0 - resent_item The server holds this item already and would hold it twice.\n";
    assert_eq!(checked.code, Some(1));
    assert_eq!(checked.stdout, format!("{resent}1 fc_1 duplicate_item {DUPLICATE}\n"));

    let repaired = with_held("repair", WHOLE);
    assert_eq!((repaired.code, repaired.stdout.as_str()), (Some(0), OUTPUT_ALONE));
    assert!(repaired.stderr.contains(&format!("1 fc_1 duplicate_item dropped {DUPLICATE}\n")));

    let sound = Ended { code: Some(0), stdout: String::new(), stderr: String::new() };
    assert_eq!(with_held("check", OUTPUT_ALONE), sound);
}

#[test]
fn conversation_with_orphaned_call_continues() {
    let next = r#"{"conversation":"conv_1","input":[{"role":"user","content":"My color?"}]}"#;
    let checked = with_held("check", next);
    let words = "No tool output found for function call call_1.";
    assert_eq!(checked.stdout, format!("- fc_1 unanswered_call {words}\n"));

    let repaired = with_held("repair", next);
    assert_eq!(repaired.code, Some(0));
    let answer = r#""input":[{"type":"function_call_output","call_id":"call_1","#;
    assert!(repaired.stdout.contains(answer), "{}", repaired.stdout);
    assert_eq!(with_held("check", &repaired.stdout).code, Some(0));
}

#[test]
fn only_reasoning_orphaned_by_an_abort_is_removed() {
    let given = r#"[
  {"role":"user","content":"hi"},
  {"type":"reasoning","id":"rs_1","summary":[]},
  {"role":"user","content":"Are you there?"},
  {"type":"reasoning","id":"rs_2","summary":[]},
  {"role":"assistant","content":"Yes."},
  {"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}
]"#;
    let orphan = "  {\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]},\n";
    let expected = given.replace(orphan, "");
    let repaired =
        World::antiphon(&["repair", "--policy", "orphaned-reasoning"]).input(given).ends();
    assert_eq!((repaired.code, repaired.stdout), (Some(0), expected));
    let report = "1 rs_1 lone_reasoning dropped Item 'rs_1' of type 'reasoning' was provided \
                  without its required following item.\n";
    assert_eq!(repaired.stderr, report);
}

/// A second turn that replays the first, with what a framework kept of it.
fn replayed(marker: &str, server_held: &str) -> String {
    format!(
        r#"{{"model": "m",{marker} "input": [
  {{"role":"user","content":"Weather?"}},{server_held}
  {{"type":"function_call_output","call_id":"call_1","output":"10 degrees"}}
]}}"#
    )
}

const SERVER_HELD: &str = r#"
  {"type":"reasoning","id":"rs_1","summary":[]},
  {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"},
  {"type":"mcp_approval_request","id":"mcpr_1","name":"g","arguments":"{}","server_label":"s"},
  {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true},
  {"type":"local_shell_call","id":"lsh_1","call_id":"call_2","action":{},"status":"completed"},
  {"type":"local_shell_call_output","id":"lsho_1","call_id":"call_2","output":"ok"},"#;

#[test]
fn held_items_are_dropped_and_outputs_stay() {
    for marker in [r#""previous_response_id": "resp_1","#, r#""conversation": {"id":"conv_1"},"#] {
        let given = replayed(marker, SERVER_HELD);
        let args = ["repair", "--policy", "answers=drop"];
        let repaired = World::antiphon(&args).input(&given).ends();
        assert_eq!((repaired.code, repaired.stdout), (Some(0), replayed(marker, "")));
        assert_eq!(repaired.stderr.lines().count(), 6, "{}", repaired.stderr);
        assert!(repaired.stderr.contains(&format!("2 fc_1 duplicate_item dropped {DUPLICATE}\n")));
    }
}

#[test]
fn without_storage_the_same_request_is_byte_identical() {
    let given = replayed("", SERVER_HELD);
    let repaired = World::antiphon(&["repair"]).input(&given).ends();
    assert_eq!(repaired, Ended { code: Some(0), stdout: given, stderr: String::new() });
}
