//! `antiphon check`: what is told, in every shape, and how the process ends.

use crate::world::{Ended, World};

const CALL: &str =
    r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"call_1","output":"ok"}"#;
const USER: &str = r#"{"role":"user","content":"hi"}"#;
const THOUGHT: &str = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;

const UNANSWERED: &str = "1 fc_1 unanswered_call No tool output found for function call call_1.\n";

fn check(args: &[&str], input: &str) -> Ended {
    World::antiphon(&[&["check"], args].concat()).input(input).ends()
}

fn assert_sound(args: &[&str], input: &str) {
    let sound = Ended { code: Some(0), stdout: String::new(), stderr: String::new() };
    assert_eq!(check(args, input), sound, "{input}");
}

fn assert_found(args: &[&str], input: &str, lines: &str) {
    let found = Ended { code: Some(1), stdout: lines.to_owned(), stderr: String::new() };
    assert_eq!(check(args, input), found, "{input}");
}

#[test]
fn valid_history_prints_nothing_and_succeeds() {
    assert_sound(&[], &format!("[{USER},{CALL},{OUTPUT}]"));
    assert_sound(&[], "[]");
}

#[test]
fn fault_is_one_line_with_the_providers_error() {
    assert_found(&[], &format!("[{USER},{CALL}]"), UNANSWERED);
}

#[test]
fn every_fault_is_one_line_with_id_or_dash() {
    let lines = "\
        1 - output_without_call No tool call found for function call output with call_id call_1.\n\
        2 rs_1 lone_reasoning Item 'rs_1' of type 'reasoning' was provided without its required \
        following item.\n";
    assert_found(&[], &format!("[{USER},{OUTPUT},{THOUGHT},{USER}]"), lines);
}

#[test]
fn every_shape_is_read() {
    let items = format!("[{USER},{CALL}]");
    let shapes = [
        items.clone(),
        format!(r#"{{"model":"m","input":{items}}}"#),
        format!(r#"{{"id":"conv_1","object":"conversation","items":{items}}}"#),
        format!(r#"{{"object":"list","data":{items},"has_more":false}}"#),
        format!("\n  {items}\n\n"),
    ];
    for shape in shapes {
        assert_found(&[], &shape, UNANSWERED);
    }
    assert_sound(&[], r#"{"model":"m","input":"Hello"}"#);
}

#[test]
fn file_is_read_like_standard_input() {
    let file = format!("[{USER},{CALL}]");
    let by_name = World::antiphon(&["check", "history.json"]).file("history.json", &file).ends();
    assert_eq!((by_name.code, by_name.stdout.as_str()), (Some(1), UNANSWERED));
    assert_found(&["-"], &file, UNANSWERED);
}

#[test]
fn newest_first_list_is_read_backwards() {
    let list = |items: &str| format!(r#"{{"object":"list","data":[{items}]}}"#);
    assert_sound(&[], &list(&format!("{OUTPUT},{CALL},{USER}")));
    assert_sound(&[], &list(&format!("{USER},{CALL},{OUTPUT}")));
    let unanswered = "0 fc_1 unanswered_call No tool output found for function call call_1.\n";
    assert_found(&[], &list(&format!("{CALL},{USER}")), unanswered);
}

#[test]
fn report_can_be_json() {
    let line = concat!(
        r#"{"position":1,"id":"fc_1","fault":"unanswered_call","#,
        r#""message":"No tool output found for function call call_1.","#,
        r#""code":null,"param":"input"}"#,
        "\n"
    );
    assert_found(&["--report", "json"], &format!("[{USER},{CALL}]"), line);
}

#[test]
fn id_with_line_breaks_stays_on_one_line() {
    let message = r#"{"id":"msg_1\n2 x","role":"user","content":"hi"}"#;
    let ended = check(&[], &format!("[{message}]"));
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    assert!(ended.stdout.starts_with(r#"0 "msg_1\n2 x" malformed_id "#), "{}", ended.stdout);
}

#[test]
fn ndjson_faults_name_their_line() {
    let input = format!("[{USER}]\n\n[{USER},{CALL}]\n{{\"input\":[{OUTPUT}]}}");
    let lines = format!(
        "3:{UNANSWERED}4:0 - output_without_call No tool call found for function call output with \
         call_id call_1.\n"
    );
    assert_found(&["--ndjson"], &input, &lines);
    let json = check(&["--ndjson", "--report", "json"], &input).stdout;
    assert!(json.starts_with(r#"{"line":3,"position":1,"#), "{json}");
}

#[test]
fn invalid_line_ends_the_command_after_earlier_lines() {
    let ended = check(&["--ndjson"], &format!("[{USER},{CALL}]\n[{USER},\n[{CALL}]\n"));
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, format!("1:{UNANSWERED}"));
    let sentence = "error: <stdin>:2:32: this is not JSON: EOF while parsing a value\n";
    assert_eq!(ended.stderr, sentence);
}

#[test]
fn check_considers_held_items() {
    let held = |incoming: &str| {
        World::antiphon(&["check", "--held", "held.json"])
            .file("held.json", &format!("[{USER},{CALL}]"))
            .input(incoming)
            .ends()
    };
    let sound = held(&format!("[{OUTPUT}]"));
    assert_eq!((sound.code, sound.stdout.as_str()), (Some(0), ""));

    let resent = held(&format!("[{USER},{CALL},{OUTPUT}]"));
    let lines = "\
        0 - resent_item The server holds this item already and would hold it twice.\n\
        1 fc_1 duplicate_item Duplicate item found with id fc_1. Remove duplicate items from your \
        input and try again.\n";
    assert_eq!((resent.code, resent.stdout.as_str()), (Some(1), lines));

    let waiting = held(r#"{"input":"never mind"}"#);
    let line = "- fc_1 unanswered_call No tool output found for function call call_1.\n";
    assert_eq!((waiting.code, waiting.stdout.as_str()), (Some(1), line));
}

#[test]
fn outputs_may_answer_referenced_calls() {
    assert_sound(&[], &format!(r#"[{USER},{{"type":"item_reference","id":"fc_1"}},{OUTPUT}]"#));
}
